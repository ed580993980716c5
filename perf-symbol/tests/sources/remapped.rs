//! Code of a file in memory that was laid over it.

use perf_session::Session;
use perf_symbol::Guess;

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{Memory, Records, frame, symbolizer};

/// The address of the file's first byte.
const BASE: u64 = 0x7000_0000;

/// A file of one executable segment of 0x2000 bytes.
fn file() -> Vec<u8> {
    Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, "f")]).build()
}

/// Process 5 has mapped `file` bytes of `/bin/a`, and then memory over it.
fn session(file: u64, (start, size): (u64, u64)) -> Session {
    Records::default().map(5, BASE, file, &[], "/bin/a").map(5, BASE + start, size, &[], "//anon").session()
}

/// The names at the address in `f` with their guesses, and the number of the last one's offset.
fn found(files: Memory, session: &Session) -> Vec<(String, Option<Guess>, Option<u64>)> {
    let mut it = symbolizer(files);
    let mut look_up = || {
        let functions = it.functions(session, &frame(session, 5, BASE + 0x1014), false, None).to_vec();
        functions
            .iter()
            .map(|it| (it.name.as_deref().unwrap().escape_ascii().to_string(), it.guess, it.offset))
            .collect()
    };
    let first: Vec<_> = look_up();
    assert_eq!(look_up(), first, "what is kept is what was found");
    first
}

fn files() -> Memory {
    Memory::default().with("/bin/a", file())
}

#[test]
fn code_that_a_program_moved() {
    let assumed = [("f".into(), Some(Guess::Remapped), Some(4))];
    assert_eq!(found(files(), &session(0x2000, (0x1000, 0x1000))), assumed);
    assert_eq!(found(files(), &session(0x2000, (0, 0x2000))), assumed);
}

/// A mapping may be longer than the code of its file.
#[test]
fn memory_that_does_not_fit_the_code_has_no_names() {
    assert!(found(files(), &session(0x4000, (0x1000, 0x2000))).is_empty());
    assert!(found(files(), &session(0x4000, (0, 0x4000))).is_empty());
    // Nothing is known of the file.
    assert!(found(Memory::default(), &session(0x2000, (0x1000, 0x1000))).is_empty());
}

/// What a program says itself of its code is no assumption.
#[test]
fn names_of_generated_code_come_first() {
    let session = session(0x2000, (0x1000, 0x1000));
    let at = |map: &'static str| found(files().with("/tmp/perf-5.map", map), &session);
    assert_eq!(at("70001010 20 generated\n"), [("generated".into(), None, Some(4))]);
    assert_eq!(at("70001020 20 generated\n"), [("f".into(), Some(Guess::Remapped), Some(4))]);
}

#[test]
fn the_file_itself_is_no_guess() {
    let session = Records::default().map(5, BASE, 0x2000, &[], "/bin/a").session();
    assert_eq!(found(files(), &session), [("f".into(), None, Some(4))]);
}
