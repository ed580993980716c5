//! Programs that Go's linker wrote, stripped: equal to what symbols and DWARF of the same programs say.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use crate::{Memory, symbolizer};

/// The bytes of a fixture of `testdata/go`, and the lines of its text.
fn fixture(name: &str) -> (Vec<u8>, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/go");
    let mut bytes = Vec::new();
    let file = std::fs::File::open(folder.join(format!("{name}.elf.gz"))).unwrap();
    GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    (bytes, std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap())
}

/// A name as Go 1.18 and 1.19 have it in the table: without type arguments.
fn without_type_arguments(place: &str) -> String {
    match (place.find('['), place.rfind(']')) {
        (Some(start), Some(end)) => format!("{}[...]{}", &place[..start], &place[end + 1..]),
        _ => place.into(),
    }
}

/// Compares each line of a fixture, and returns how many inlined functions there are.
fn check(name: &str, has_type_arguments: bool) -> usize {
    let (bytes, text) = fixture(name);
    let mut it = symbolizer(Memory::default().with("/bin/a", bytes));
    let mut inlined = 0;
    for line in text.lines() {
        let (address, places) = line.split_once(' ').unwrap();
        // Bytes after the code of a function have no line.
        if places.contains("??") {
            continue;
        }
        let found: Vec<_> = it
            .functions_in(b"/bin/a", u64::from_str_radix(address, 16).unwrap())
            .iter()
            .map(|function| {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                inlined += usize::from(function.is_inlined);
                let (name, file) = (function.name.as_deref().unwrap(), function.file.as_deref().unwrap());
                // DWARF has a folder, which is none here.
                let file = text(file.strip_prefix(b"./").unwrap_or(file));
                format!("{} {file}:{}", text(name), function.line.unwrap())
            })
            .collect();
        let expected: Vec<_> = places
            .split(" < ")
            .map(|place| if has_type_arguments { place.into() } else { without_type_arguments(place) })
            .collect();
        assert_eq!(found, expected, "{name} at {address}");
    }
    inlined
}

#[test]
fn a_program_of_go_1_19() {
    assert!(check("go1.19", false) > 10);
}

#[test]
fn a_program_of_go_1_27() {
    assert!(check("go1.27", true) > 20);
}

/// 32 bits, and big-endian.
#[test]
fn a_program_of_go_for_mips() {
    assert!(check("go1.19-mips", false) > 10);
}

/// Go's linker appends `.abi0` to the symbols of functions in assembly that have a second entry.
#[test]
fn names_of_functions_in_assembly() {
    for (name, suffix) in [("go1.19", ".abi0"), ("go1.27", ".abi0"), ("go1.19-mips", "")] {
        let (bytes, _) = fixture(name);
        let image = perf_symbol::ElfImage::parse(perf_symbol::FileBytes::new(bytes.clone())).unwrap();
        let mut it = symbolizer(Memory::default().with("/bin/a", bytes));
        let text = image.section(".text").unwrap();
        let mut found = std::collections::BTreeSet::new();
        for address in (text.address..text.address + text.size).step_by(8) {
            for function in it.functions_in(b"/bin/a", address) {
                found.extend(function.raw_name.map(|it| String::from_utf8(it.to_vec()).unwrap()));
            }
        }
        for function in ["runtime.goexit", "runtime.systemstack"] {
            assert!(found.contains(&format!("{function}{suffix}")), "{name}: {function} of {found:?}");
        }
        assert!(found.contains("runtime.memequal"), "{name}");
        assert_eq!(found.contains("runtime.goexit"), suffix.is_empty(), "{name}");
    }
}
