//! The committed header is the one that cbindgen makes. `BLESS=1` writes it.

use std::path::Path;

#[test]
fn header_is_that_of_the_crate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_config(config).with_crate(folder).generate().unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = without_safety(&String::from_utf8(made).unwrap());
    let path = folder.join("include/perfdata.h");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    let differs = made.lines().zip(committed.lines()).find(|(made, committed)| made != committed);
    assert_eq!(differs, None, "make it anew: BLESS=1 cargo test --release header");
    assert_eq!(made.lines().count(), committed.lines().count());
}

/// Returns a header whose docs have the condition of a call as a sentence, and not under Rust's heading.
fn without_safety(header: &str) -> String {
    header.replace(" *\n * # Safety\n *\n * ", " *\n * Demands: ")
}
