//! `perfdata top`: its updates, and the browser on a terminal of its own.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    updates_have_the_functions_that_run,
    text_has_the_rows_of_the_report,
    an_ordinary_user_sees_his_own_processes,
    a_capture_is_shown_while_it_is_written,
    keys_on_a_terminal,
    values_are_checked,
];

/// A program whose functions take three and one parts of its time.
const PROGRAM: &str = r"
__attribute__((noinline)) unsigned spin(unsigned n) {
    unsigned x = n | 1;
    for (unsigned i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; }
    return x;
}
__attribute__((noinline)) unsigned heavy(void) { return spin(3000000) + 1; }
__attribute__((noinline)) unsigned light(void) { return spin(1000000) + 2; }
static volatile unsigned sum;
int main(void) {
    for (;;)
        sum += heavy() + light();
}
";

/// Compiles the program, and returns its path.
pub(crate) fn program() -> String {
    needs::all(&[needs::Need::Runs(&["gcc", "--version"])]);
    let folder = needs::folder();
    std::fs::write(folder.join("busy.c"), PROGRAM).unwrap();
    let options = ["-O0", "-g"];
    let compiled =
        Command::new("gcc").args(options).args(["-o", "busy", "busy.c"]).current_dir(&folder).status();
    assert!(compiled.unwrap().success());
    folder.join("busy").to_str().unwrap().to_owned()
}

fn top(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.current_dir(needs::folder()).arg("top").args(["-e", "cpu-clock:u"]).args(args).output().unwrap()
}

fn updates_have_the_functions_that_run() {
    let program = program();
    let updates = ["--format", "jsonl", "--updates", "3", "-d", "0.5", "-F", "999", "-g", "-s", "comm,sym"];
    let output = top(&[&updates[..], &["--", &program]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{text} {}", String::from_utf8_lossy(&output.stderr));
    let times: Vec<f64> = lines.iter().map(|line| line["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] > 1e9, "{times:?}");
    let last = &lines[2];
    assert!(
        last["samples"].as_u64() > lines[0]["samples"].as_u64(),
        "the window has more than one update: {text}"
    );
    assert!(last["own_percent"].as_f64().unwrap() >= 0.0 && last["seconds"] == 10.0, "{last}");
    let rows = last["rows"].as_array().unwrap();
    let of = |name: &str, part: &str| {
        let row = rows.iter().find(|row| row["symbol"] == name).unwrap_or_else(|| panic!("{name}: {last}"));
        assert_eq!(row["comm"], "busy");
        row[part][0]["percent"].as_f64().unwrap()
    };
    let (heavy, light, spin) = (of("heavy", "children"), of("light", "children"), of("spin", "self"));
    assert!(heavy > 1.5 * light && light > 5.0 && spin > 80.0, "{heavy} {light} {spin}: {last}");
}

fn text_has_the_rows_of_the_report() {
    let program = program();
    let output = top(&["--stdio", "--updates", "1", "-d", "0.5", "-n", "-E", "1", "--", &program]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("# ") && text.contains(" samples of 10 s, 0 lost; perfdata takes "), "{text}");
    let rows: Vec<_> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert_eq!(rows.len(), 1, "{text}");
    assert!(rows[0].contains("busy") && rows[0].contains("[.] spin"), "{text}");
    // The command ends first.
    let output = top(&["--stdio", "-d", "0.2", "--", "sleep", "0.5"]);
    assert!(output.status.success(), "{output:?}");
}

fn an_ordinary_user_sees_his_own_processes() {
    needs::all(&[needs::Need::OrdinaryUser]);
    let mut command = needs::as_ordinary_user(Path::new("/bin/sh"));
    let script = "sleep 4 & \"$0\" top -e page-faults:u --format jsonl --updates 1 -d 0.2";
    command.current_dir("/").args(["-c", script, env!("CARGO_BIN_EXE_perfdata")]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let line: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(line["rows"].is_array(), "{line}");
}

fn a_capture_is_shown_while_it_is_written() {
    let program = program();
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.current_dir(needs::folder()).args(["record", "--live", "-e", "cpu-clock:u", "-F", "499", "-g"]);
    let output = command.args(["--", "timeout", "5", &program]).output().unwrap();
    assert_eq!(output.status.code(), Some(124), "the status is that of the command: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(" samples of 10 s, 0 lost") && text.contains("[.] heavy"), "{text}");
    let mut report = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = report.current_dir(needs::folder()).args(["report", "--stdio"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("[.] heavy"), "{text}");
    for args in [&["-o", "-"][..], &["--overwrite"], &["--threads"], &["--switch-output"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
        let output = command.args(["record", "--live"]).args(args).args(["--", "true"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("--live needs one file"),
            "{args:?}: {said}"
        );
    }
}

/// A terminal of Python's module `pty`: the script presses keys, and checks what the screen shows and what is written.
fn keys_on_a_terminal() {
    needs::all(&[needs::Need::Runs(&["python3", "--version"])]);
    let program = program();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/check/top.py");
    let mut command = Command::new("python3");
    command.arg(script).args([env!("CARGO_BIN_EXE_perfdata"), &program]).current_dir(needs::folder());
    crate::check(&mut command);
}

fn values_are_checked() {
    for (args, why) in [
        (&["-d", "0.01"][..], "must be seconds from 0.1 to 86400"),
        (&["--window", "x"], "must be seconds from 0.1 to 86400"),
        (&["--updates", "1", "-d", "0.1", "-s", "nonsense", "--", "sleep", "9"], "nonsense"),
    ] {
        let output = top(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(why), "{args:?}: {said}");
    }
}
