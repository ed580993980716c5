//! Programs of Python, whose functions have names and no unwind information.

use std::fs;

use super::{perfdata, succeeds};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events: functions_of_python_in_copied_stacks,
];

const PROGRAM: &str = "import os, sys
def leaf():
    return sum(i * i % 7 for i in range(500))
def key(x):
    return leaf() + x
def outer():
    for _ in range(2000):
        sorted([3, 1, 2], key=key)
print(os.getpid())
outer()
";

/// The stacks go on through the trampolines, to the first function of the program.
fn functions_of_python_in_copied_stacks() {
    needs::all(&[needs::Need::PythonPerf]);
    let folder = needs::folder();
    fs::write(folder.join("work.py"), PROGRAM).unwrap();
    let options =
        ["record", "-q", "-e", "cpu-clock:u", "-F", "499", "--call-graph", "dwarf,32768", "-o", "py.data"];
    let mut recorder = perfdata();
    recorder.current_dir(&folder).args(options).args(["--", "python3", "-X", "perf", "work.py"]);
    let out = succeeds(&mut recorder);
    let folded =
        succeeds(perfdata().current_dir(&folder).args(["fold", "--interpreter-frames", "fold", "py.data"]));
    let pid = out.trim();
    assert!(fs::remove_file(format!("/tmp/perf-{pid}.map")).is_ok(), "{out}");
    let path = folder.join("work.py");
    let nested = ["outer", "key", "leaf"].map(|name| format!("py::{name}:{}", path.display())).join(";");
    let (mut all, mut found) = (0, 0);
    for (stack, weight) in folded.lines().filter_map(|line| line.rsplit_once(' ')) {
        if stack.contains("py::leaf") {
            let weight: u64 = weight.parse().unwrap();
            all += weight;
            let is_whole = stack.contains(&nested)
                && stack.contains("_start;")
                && !stack.contains("_PyEval_EvalFrameDefault");
            found += if is_whole { weight } else { 0 };
        }
    }
    assert!(all > 0 && found * 10 >= all * 9, "{found} of {all}: {folded}");
}
