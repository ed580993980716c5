//! The output path of the page.

use needs::Folder;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(env!("CARGO_BIN_EXE_perfdata"), name);
    std::fs::copy(testdata::path("plain.data"), folder.path("perf.data")).unwrap();
    folder
}

#[test]
fn the_page_is_written_to_the_current_folder() {
    let folder = folder("flamegraph_default");
    let run = folder.run(&["flamegraph", "perf.data"]);
    let said = "perfdata: wrote flamegraph.html; open it in a browser\n";
    assert_eq!((run.status, &*run.out, &*run.err), (0, "", said));
    assert!(folder.read("flamegraph.html").starts_with(b"<!doctype html>"));
    let before = folder.read("flamegraph.html");
    std::fs::write(folder.path("flamegraph.html"), "an older page").unwrap();
    folder.run(&["flamegraph", "perf.data"]).succeeds();
    assert_eq!(folder.read("flamegraph.html"), before);
    assert_eq!(folder.names(), ["flamegraph.html", "perf.data"]);
}

#[test]
fn the_ending_decides_what_is_written() {
    let folder = folder("flamegraph_ending");
    for (name, start) in [("a.SVG", "<svg"), ("b.htm", "<!doctype"), ("c", "<!doctype")] {
        folder.run(&["flamegraph", "perf.data", "-o", name]).succeeds();
        assert!(folder.read(name).starts_with(start.as_bytes()), "{name}");
    }
    folder.run(&["flamegraph", "perf.data", "-o", "d.png"]).fails(&["d.png", "ends in .html or .svg"]);
    // Before the capture is read.
    folder.run(&["flamegraph", "none", "-o", "d.pdf"]).fails(&["d.pdf"]);
    folder.run(&["flamegraph", "none"]).fails(&["none: No such file"]);
    folder.run(&["flamegraph", "perf.data", "-o", "perf.data"]).fails(&["perf.data", ".html or .svg"]);
    std::fs::copy(folder.path("perf.data"), folder.path("in.html")).unwrap();
    folder.run(&["flamegraph", "in.html", "-o", "in.html"]).fails(&["in.html"]);
    assert_eq!(folder.names(), ["a.SVG", "b.htm", "c", "in.html", "perf.data"]);
}
