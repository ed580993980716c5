//! Many addresses in one call.

use perf_symbol::{Function, Symbolizer};

use crate::{Memory, Records, symbolizer};

const LINES: &[u8] = include_bytes!("../fixtures/lines");

fn fixture() -> Symbolizer {
    symbolizer(Memory::default().with("/bin/a", LINES))
}

#[test]
fn addresses_of_a_file_as_each_alone() {
    let end = 0x2000;
    // Not in order, and each three times.
    let addresses: Vec<u64> = (0..3 * end).map(|number| 0x40_0000 + number * 1237 % end).collect();
    let found = fixture().functions_of(b"/bin/a", &addresses).unwrap();
    assert_eq!(found.len(), addresses.len());
    let mut alone = fixture();
    let expected: Vec<_> = addresses.iter().map(|&address| alone.functions_in(b"/bin/a", address)).collect();
    assert!(found.iter().eq(expected.iter().map(Vec::as_slice)));
    assert!(expected.iter().any(|functions| functions.len() == 3));
    assert!(found.get(addresses.len()).is_empty());
}

#[test]
fn frames_as_each_alone() {
    let session = Records::default()
        .map(5, 0x7000_0000, 0x2000, &[], "/bin/a")
        .map(6, 0x1000_0000, 0x2000, &[], "/bin/a")
        .session();
    let frames: Vec<_> = (0..2000_u64)
        .map(|number| {
            let offset = number * 1237 % 0x2000;
            let (pid, start) = if number % 3 == 0 { (5, 0x7000_0000) } else { (6, 0x1000_0000) };
            (crate::frame(&session, pid, start + offset), number % 2 == 0)
        })
        .chain([(perf_session::Frame { mapping: None, ..crate::frame(&session, 5, 0) }, false)])
        .collect();
    let found = fixture().functions_of_frames(&session, &frames).unwrap();
    let mut alone = fixture();
    for ((frame, is_caller), found) in frames.iter().zip(found.iter()) {
        assert_eq!(alone.functions(&session, frame, *is_caller, None), found);
    }
    assert!(found.iter().any(|functions| functions.len() == 3));
}

#[test]
fn none_and_no_file() {
    let mut it = symbolizer(Memory::default());
    assert!(it.functions_of(b"/bin/a", &[]).unwrap().is_empty());
    let found = it.functions_of(b"/bin/a", &[1, 2]).unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), [&[] as &[Function]; 2]);
}

/// What a clone is sent to, and what is shared.
#[test]
fn public_types_on_other_threads() {
    fn is_send<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    is_shared::<perf_symbol::FileBytes>();
    is_shared::<perf_symbol::Cancellation>();
    is_shared::<perf_symbol::FileFinder>();
    is_shared::<perf_symbol::DsoFiles>();
    is_shared::<Function>();
    is_shared::<perf_symbol::FunctionLists>();
    is_shared::<perf_symbol::ElfImage>();
    is_shared::<perf_symbol::Jitdump>();
    is_shared::<perf_symbol::Kallsyms>();
    is_shared::<perf_symbol::LoadAhead>();
    is_shared::<perf_symbol::SymbolLookup>();
    is_shared::<perf_symbol::SymbolOptions>();
    is_shared::<perf_symbol::PerfMap>();
    is_shared::<perf_symbol::ElfSection>();
    is_shared::<perf_symbol::Symtab>();
    is_shared::<perf_symbol::StackFrame<'_>>();
    is_shared::<perf_symbol::StackFinder>();
    is_shared::<perf_symbol::NoSymbols>();
    is_shared::<std::sync::Arc<dyn perf_symbol::Files>>();
    is_shared::<perf_symbol::unwind::PartialStack>();
    is_shared::<perf_symbol::unwind::ThreadRoots>();
    is_shared::<perf_symbol::unwind::Module>();
    is_shared::<perf_symbol::unwind::Unwinder>();
    // Each look-up parses more of them, so each thread has its own.
    is_send::<Symbolizer>();
    is_send::<perf_symbol::DwarfLines>();
}
