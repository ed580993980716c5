//! Look-ups that are cancelled: at each place at which they ask whether they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use perf_session::Session;
use perf_symbol::{Cancellation, Cancelled, SymbolOptions, Symbolizer};

use crate::elf::{Elf, FUNC, SYMTAB, Symbol, xz};
use crate::{Memory, Records, names, options};

const ID: [u8; 4] = [0xab, 1, 2, 3];
const TEXT: u64 = 0xffff_ffff_8100_0000;
const LINES: &[u8] = include_bytes!("../fixtures/lines");
const LINES_ZLIB: &[u8] = include_bytes!("../fixtures/lines-zlib");
const LINES_ZSTD: &[u8] = include_bytes!("../fixtures/lines-zstd");
const LINES_SPLIT: &[u8] = include_bytes!("../fixtures/lines-split");

/// Returns a flag that is set when it is asked for after so many times.
fn after(times: usize) -> Cancellation {
    let asked = AtomicUsize::new(0);
    Cancellation::when(move || asked.fetch_add(1, Ordering::Relaxed) >= times)
}

/// Cancels the look-up of an address each time when it asks, and looks it up again. Returns how often it asked.
#[track_caller]
fn cancel_each(options: &SymbolOptions, files: impl Fn() -> Memory, session: &Session, ip: u64) -> usize {
    let whole = names(&mut Symbolizer::with_files(options.clone(), Arc::new(files())), session, 5, ip);
    assert!(!whole.is_empty());
    for times in 0.. {
        let mut it = Symbolizer::with_files(options.clone(), Arc::new(files()));
        let mut clone = it.clone();
        it.set_cancellation(after(times));
        let found = names(&mut it, session, 5, ip);
        if !it.cancellation().is_cancelled() {
            assert_eq!(found, whole);
            return times;
        }
        assert!(found.len() <= whole.len());
        // Nothing of it is kept, neither here nor by clones.
        assert_eq!(names(&mut clone, session, 5, ip), whole, "{times}");
        it.set_cancellation(Cancellation::new());
        assert_eq!(names(&mut it, session, 5, ip), whole, "{times}");
    }
    unreachable!()
}

fn of_file(file: &[u8]) -> usize {
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &[], "/bin/a").session();
    cancel_each(&options(), || Memory::default().with("/bin/a", file), &session, 0x7000_100b)
}

#[test]
fn symbol_tables() {
    let symbols: Vec<Symbol> = (0..20_000)
        .map(|number| (FUNC, 0x40_1000 + number, if number == 0 { 0x20 } else { 1 }, "f"))
        .collect();
    let few = of_file(&Elf::new(0x40_0000).symbols(SYMTAB, &symbols[..100]).build());
    let many = of_file(&Elf::new(0x40_0000).symbols(SYMTAB, &symbols).build());
    assert_eq!(many - few, 20_000 >> 12);
}

#[test]
fn dwarf() {
    let without = of_file(&Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1000, 0x20, "f")]).build());
    for file in [LINES, LINES_ZLIB, LINES_ZSTD, LINES_SPLIT] {
        assert!(of_file(file) > without);
    }
}

#[test]
fn compressed_files() {
    let plain = Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1000, 0x20, "f")]).code(200_000).build();
    assert!(of_file(&xz(&plain)) >= of_file(&plain) + 200_000 / (1 << 16));
}

#[test]
fn kernels_and_generated_code() {
    let mut map = String::new();
    let mut kallsyms = String::new();
    for number in 0..10_000 {
        map += &format!("{:x} 10 f{number}\n", 0x7000_0000 + 16 * number);
        kallsyms += &format!("{:x} T f{number}\n", TEXT + 16 * number);
    }
    let session = Records::default().map(5, 0x7000_0000, 0x10_0000, &[], "//anon").session();
    let files = || Memory::default().with("/tmp/perf-5.map", map.clone());
    assert!(cancel_each(&options(), files, &session, 0x7000_1000) > 2);
    let session = Records::default().kernel(TEXT, 0x10_0000, TEXT, "[kernel.kallsyms]_text");
    let session = session.session();
    let mut with_kallsyms = options();
    with_kallsyms.kallsyms = Some("/kallsyms".into());
    let files = Memory::default().with("/kallsyms", kallsyms);
    let mut it = Symbolizer::with_files(with_kallsyms, Arc::new(files));
    let name = |it: &mut Symbolizer| names(it, &session, 0, TEXT + 0x1000);
    it.set_cancellation(after(3));
    assert!(name(&mut it).is_empty());
    it.set_cancellation(Cancellation::new());
    assert_eq!(name(&mut it), ["f256+0x0 kallsyms"]);
}

#[test]
fn many_addresses() {
    let file = Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, "f")]).build_id(&ID).build();
    let mut it = Symbolizer::with_files(options(), Arc::new(Memory::default().with("/bin/a", file)));
    let addresses: Vec<_> = (0x40_1000..0x40_2000).collect();
    let cancellation = after(1000);
    it.set_cancellation(cancellation.clone());
    assert_eq!(it.functions_of(b"/bin/a", &addresses), Err(Cancelled));
    it.set_cancellation(Cancellation::new());
    assert_eq!(it.functions_of(b"/bin/a", &addresses).unwrap().len(), addresses.len());
    it.set_cancellation(cancellation);
    assert_eq!(it.functions_of(b"/bin/a", &[]), Err(Cancelled), "it stays set");
}
