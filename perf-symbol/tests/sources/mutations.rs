//! Damaged files: whatever is damaged, each look-up ends, without a panic.

use std::sync::Arc;

use perf_symbol::{ElfImage, FileBytes, Jitdump, Kallsyms, PerfMap, SymbolLimits, Symbolizer};
use proptest::prelude::*;

use crate::{Memory, options};

const FILES: [&[u8]; 4] = [
    include_bytes!("../fixtures/lines"),
    include_bytes!("../fixtures/lines-v4"),
    include_bytes!("../fixtures/lines-zlib"),
    include_bytes!("../fixtures/lines-split"),
];

fn damaged(file: &[u8], changes: &[(prop::sample::Index, u8)], end: prop::sample::Index) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for (at, byte) in changes {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    // Some are cut short.
    bytes.truncate(end.index(2 * file.len()).max(64));
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_elf_files(
        file in 0usize..4,
        changes in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..12),
        end in any::<prop::sample::Index>(),
    ) {
        let bytes = damaged(FILES[file], &changes, end);
        let _ = ElfImage::parse(FileBytes::new(bytes.clone()));
        let mut options = options();
        options.limits.decompressed = 1 << 20;
        let split = include_bytes!("../fixtures/lines-split-lines.dwo");
        let files = Memory::default()
            .with("/bin/a", bytes)
            .with("/bin/lines-split-lines.dwo", damaged(split, &changes, end));
        let mut it = Symbolizer::with_files(options, Arc::new(files));
        for address in (0x40_1000..0x40_1040).step_by(4) {
            let functions = it.functions_in(b"/bin/a", address);
            prop_assert!(functions.last().is_none_or(|function| !function.is_inlined));
        }
    }

    #[test]
    fn of_texts(text in "([0-9a-f]{0,17}[ \\t]?[0-9a-fTtWx]{0,3} ?[a-z_$]{0,4}\n?){0,20}") {
        let limits = SymbolLimits::default();
        let _ = Kallsyms::parse(FileBytes::new(text.clone()), &limits);
        let _ = PerfMap::parse(FileBytes::new(text), &limits).find(5);
    }

    #[test]
    fn of_jitdumps(bytes in prop::collection::vec(any::<u8>(), 0..400), size in 0u32..80) {
        let mut dump = b"DTiJ\x01\0\0\0\x28\0\0\0".to_vec();
        dump.resize(40, 0);
        for part in bytes.chunks(40) {
            dump.extend_from_slice(&[part[0] % 6, 0, 0, 0]);
            dump.extend_from_slice(&size.to_le_bytes());
            dump.extend_from_slice(part);
        }
        let dump = Jitdump::parse(FileBytes::new(dump), &SymbolLimits::default()).unwrap();
        let _ = dump.find(0, Some(5));
    }
}
