//! The programs in perf-export's `examples` print what the program prints.

use std::fs;
use std::process::Command;

pub(crate) const TESTS: &[needs::Test] = needs::tests![a_flame_graph];

fn a_flame_graph() {
    let folder = needs::folder();
    for name in ["callchain.data", "everything.data", "touch.zstd.data"] {
        let capture = testdata::path(name);
        let [ours, theirs] = ["example.svg", "program.svg"].map(|name| folder.join(name));
        assert_eq!(needs::example("flamegraph", &[&capture, &ours]), "");
        let mut program = Command::new(env!("CARGO_BIN_EXE_perfdata"));
        let ended = program.arg("flamegraph").arg(&capture).arg("-o").arg(&theirs).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        assert!(fs::read(&ours).unwrap() == fs::read(&theirs).unwrap(), "{name}");
        fs::remove_file(ours).unwrap();
    }
}
