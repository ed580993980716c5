//! Only the owner can read a file that contains a capture.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::{with_capture, with_rings};

const UMASKS: [&str; 2] = ["umask 022", "umask 000"];

#[test]
fn a_repaired_file_is_for_its_owner_alone() {
    let folder = with_capture("mode_repaired");
    // The mode of the input, and that of a file made from it.
    for (umask, (input, output)) in UMASKS.into_iter().flat_map(|umask| {
        [(0o644, 0o600), (0o666, 0o600), (0o600, 0o600), (0o400, 0o400), (0o440, 0o400)]
            .map(|modes| (umask, modes))
    }) {
        fs::set_permissions(folder.path("in.data"), Permissions::from_mode(input)).unwrap();
        folder.run_after(umask, &["repair", "in.data", "-o", "out"]).succeeds();
        assert_eq!(folder.mode("out"), output, "{umask}, {input:o}");
        fs::remove_file(folder.path("out")).unwrap();
        // The mode of a file that is replaced has no effect.
        fs::write(folder.path("out"), "").unwrap();
        fs::set_permissions(folder.path("out"), Permissions::from_mode(0o666)).unwrap();
        folder.run_after(umask, &["repair", "in.data", "-o", "out"]).succeeds();
        assert_eq!(folder.mode("out"), output, "{umask}, {input:o}");
        fs::remove_file(folder.path("out")).unwrap();
    }
}

#[test]
fn what_is_made_of_rings_is_for_its_owner_alone() {
    let folder = with_rings("mode_rings");
    for umask in UMASKS {
        let args = ["ring", "0.ring", "--attr", "attr.data", "-o", "out", "--aux-output", "trace"];
        folder.run_after(umask, &args).succeeds();
        for name in ["out", "trace"] {
            assert_eq!(folder.mode(name), 0o600, "{umask}, {name}");
            fs::remove_file(folder.path(name)).unwrap();
        }
    }
    // Of several inputs, the strictest mode counts.
    fs::set_permissions(folder.path("1.ring"), Permissions::from_mode(0o400)).unwrap();
    folder.run(&["ring", "0.ring", "1.ring", "--attr", "attr.data", "-o", "out"]).succeeds();
    assert_eq!(folder.mode("out"), 0o400);
}

/// A report contains only counts and offsets of the capture.
#[test]
fn a_report_has_the_mode_of_any_file() {
    let folder = with_capture("mode_report");
    for (umask, mode) in [("umask 022", 0o644), ("umask 000", 0o666), ("umask 077", 0o600)] {
        folder.run_after(umask, &["repair", "in.data", "-o", "out", "--report", "report"]).succeeds();
        assert_eq!(folder.mode("report"), mode, "{umask}");
        fs::remove_file(folder.path("report")).unwrap();
    }
    fs::write(folder.path("report"), "").unwrap();
    fs::set_permissions(folder.path("report"), Permissions::from_mode(0o640)).unwrap();
    folder.run(&["repair", "in.data", "-o", "out", "--report", "report"]).succeeds();
    assert_eq!(folder.mode("report"), 0o640, "one that is there keeps its mode");
}
