//! An Intel PT trace: packets and errors cover it without gaps, in perf's manner too, and the time does not go back. The events of its
//! two halves are those of buffers that follow each other: their time does not go back either, and their texts are short.

use std::fmt::Write;

use perf_aux::pt::{Clock, Config, Context, EventState, Info, Packets};
use perf_parse::list::List;
use perf_parse::record::user::AuxtraceInfo;
use testdata::intel_pt::{REFERENCE, WITHOUT_BRANCHES, info};

/// Maximum length of an event's text: 64 event data of 33 characters take most of it.
const TEXT: usize = 64 * 40;

/// `data` is the trace.
pub fn run(data: &[u8]) -> bool {
    let words: Vec<u8> = info().iter().flat_map(|word| word.to_le_bytes()).collect();
    let words = List::new_in(perf_abi::endian::Endianness::Little, &words);
    let record = AuxtraceInfo { kind: perf_abi::auxtrace::AuxtraceType::INTEL_PT, words };
    let info = Info::new(&record).expect("it has all words");
    let mut text = String::new();
    for mut packets in [Packets::new(data), Packets::as_perf(data)] {
        let lines = packets.clone().lines();
        let (mut context, mut clock) = (Context::default(), Clock::new(&info, Config(WITHOUT_BRANCHES)));
        let mut end = 0;
        while let Some(found) = packets.next() {
            let before = clock.tsc();
            let (offset, size) = match found {
                Ok(found) => {
                    context.apply(&found.packet);
                    clock.apply(&found.packet, &packets);
                    (found.offset, found.bytes.len())
                }
                Err(error) => (error.offset, 1),
            };
            assert!(offset == end && size > 0 && clock.tsc() >= before);
            end += size;
        }
        assert_eq!(end, data.len());
        let end = lines.fold(0, |end, line| {
            assert_eq!(line.offset, end);
            text.clear();
            write!(text, "{line}").expect("it is in memory");
            assert!(text.len() < 160, "{text}");
            end + line.bytes.len()
        });
        assert_eq!(end, data.len());
    }
    let mut state = EventState::new(&info, Config(WITHOUT_BRANCHES));
    state.start(REFERENCE);
    let (first, second) = data.split_at(data.len() / 2);
    let mut last = None;
    for part in [first, second] {
        for event in state.events(part) {
            assert!(event.offset < part.len() && event.tsc >= last);
            last = event.tsc;
            text.clear();
            write!(text, "{}", event.kind).expect("it is in memory");
            assert!(text.len() <= TEXT.max(4 * part.len()), "{text}");
        }
    }
    !data.is_empty()
}
