//! CoreSight. Blocks of metadata follow each other and end within the words. Every byte of a trace is data with its offset, or
//! counted as incomplete, or of an id, a low bit or a synchronisation word.

use perf_abi::endian::Endianness;
use perf_aux::coresight::{CsFrames, CsMetadata, CsPart};
use perf_aux::perf_text::PerfText;
use perf_parse::list::List;

/// The first byte of `data` selects what the others are.
pub fn run(data: &[u8]) -> bool {
    let Some((choice, data)) = data.split_first() else { return false };
    match choice % 4 {
        0 => metadata(List::new_in(Endianness::Little, data)),
        1 => metadata(List::new_in(Endianness::Big, data)),
        2 => frames(data, CsFrames::new(data), false),
        _ => frames(data, CsFrames::with_syncs(data), true),
    }
}

fn metadata(words: List<'_, u64>) -> bool {
    let Ok(metadata) = CsMetadata::new(words) else { return false };
    let mut cpus = metadata.cpus();
    let (mut end, mut count) = (cpus.position(), 0);
    while let Some(cpu) = cpus.next() {
        let Ok(cpu) = cpu else {
            assert_eq!((cpus.position(), cpus.next().is_none()), (end, true));
            break;
        };
        assert_eq!(words.get(end), Some(cpu.magic.0));
        assert!(cpus.position() > end + cpu.register_count());
        end = cpus.position();
        count += 1;
        if let Ok(unit) = cpu.unit() {
            assert!(unit.trace_id().is_none_or(|id| id.0 <= 0x7f));
        }
    }
    assert!(end <= words.len() && count <= metadata.cpu_count());
    for release in [PerfText::V6_1, PerfText::V7_2] {
        let lines = metadata.text(release).to_string().lines().count();
        assert!((3..=end + 1).contains(&lines));
    }
    true
}

fn frames(trace: &[u8], mut parts: CsFrames<'_>, has_syncs: bool) -> bool {
    let (mut end, mut data, mut rest) = (0, 0, 0);
    for part in parts.by_ref() {
        let (offset, len) = match part {
            CsPart::Slice(slice) => {
                for (at, byte) in (slice.offset..).zip(slice.bytes()) {
                    // The low bit may come from the end of the frame.
                    assert_eq!(trace[at] | 1, byte | 1);
                }
                data += slice.bytes().len();
                (slice.offset, slice.bytes().len())
            }
            CsPart::Barrier { offset } => {
                assert!(!has_syncs);
                rest += 16;
                (offset, 16)
            }
            CsPart::Incomplete { offset, len } => {
                rest += len;
                (offset, len)
            }
            other => panic!("{other:?}"),
        };
        assert!(len > 0 && offset >= end);
        end = offset + len;
    }
    assert!(end <= trace.len() && parts.next().is_none());
    // At least half of a frame is data.
    assert!(has_syncs || (7 * (trace.len() - rest) / 16..=15 * (trace.len() - rest) / 16).contains(&data));
    data > 0
}
