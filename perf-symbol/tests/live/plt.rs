//! Names of entries of PLTs, against objdump.

use std::path::Path;
use std::process::Command;

use perf_symbol::{SymbolOptions, Symbolizer, demangle};

pub(crate) const TESTS: &[needs::Test] = needs::tests![names_are_those_of_objdump];

/// Programs and libraries that many machines have. libc has ifuncs, whose relocations come last.
const FILES: [&str; 5] = [
    "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/bin/bash",
    "/usr/bin/git",
    "/usr/bin/gcc",
];

fn names_are_those_of_objdump() {
    needs::all(&[needs::Need::Runs(&["objdump", "--version"])]);
    let mut compared = 0;
    for file in FILES.iter().filter(|file| Path::new(file).is_file()) {
        let listing =
            Command::new("objdump").args(["-d", "-j", ".plt", "-j", ".plt.sec", file]).output().unwrap();
        let mut symbolizer = Symbolizer::new(SymbolOptions::default());
        for line in String::from_utf8_lossy(&listing.stdout).lines() {
            let label = line.strip_suffix("@plt>:").and_then(|label| label.split_once(" <"));
            let Some((address, name)) = label else { continue };
            let address = u64::from_str_radix(address, 16).unwrap();
            let found = symbolizer.functions_in(file.as_bytes(), address);
            let found = found.last().and_then(|it| it.raw_name.clone()).unwrap_or_default();
            let found = String::from_utf8_lossy(&found).into_owned();
            // objdump has the version of a symbol, too.
            let name = name.split('@').next().unwrap_or(name);
            let name = demangle(name.as_bytes(), 1 << 14);
            assert_eq!(found, format!("{}@plt", String::from_utf8_lossy(&name)), "{file}: {address:#x}");
            compared += 1;
        }
    }
    if compared == 0 {
        needs::skip("a file with a PLT", "none of the known ones is here");
    }
}
