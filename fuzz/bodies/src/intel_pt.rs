//! An Intel PT trace: packets and errors cover it without gaps, in perf's manner too, and the time does not go back. The events of its
//! two halves are those of buffers that follow each other: their time does not go back either, and their texts are short. A capture of the
//! trace makes samples, and all bytes are read as raw data of samples.

use std::fmt::Write;
use std::io::Cursor;

use perf_abi::event::SynthId;
use perf_abi::record::RecordType;
use perf_aux::pt::{Clock, Config, Context, Event, EventState, Info, Packets, RawEvent};
use perf_parse::Reader;
use perf_parse::list::List;
use perf_parse::record::user::AuxtraceInfo;
use perf_profile::edit::{ItraceOptions, TraceSamples};
use testdata::intel_pt::{self, REFERENCE, WITHOUT_BRANCHES, info};

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
    paused(data, &info);
    samples(data);
    raw(data);
    !data.is_empty()
}

/// The events are the same if they are taken one at a time.
fn paused(data: &[u8], info: &Info<'_>) {
    let shown =
        |event: &Event<'_>| (event.offset, event.tsc, event.ip, event.kind.name(), event.kind.to_string());
    let state = || {
        let mut state = EventState::new(info, Config(WITHOUT_BRANCHES));
        state.start(REFERENCE);
        state
    };
    let whole: Vec<_> = state().events(data).map(|event| shown(&event)).collect();
    let mut state = state();
    let mut events = state.events(data);
    let mut all = Vec::new();
    while let Some(event) = events.next() {
        all.push(shown(&event));
        if let Some(position) = events.position() {
            events = state.events_from(data, position);
        }
    }
    assert_eq!(all, whole);
}

/// The account of the samples of a capture has each of them.
fn samples(data: &[u8]) {
    let capture = intel_pt::capture(WITHOUT_BRANCHES, &[data.to_vec()]);
    let reader = Reader::new(&capture).expect("a capture");
    let options = ItraceOptions::default();
    let samples = TraceSamples::of(&reader, &options).expect("it has ids").expect("a trace");
    let (edited, account) =
        samples.write_file(&reader, Cursor::new(Vec::new()), |_| {}).expect("memory can be written");
    let made = edited.out.into_inner();
    let made = Reader::new(&made).expect("a capture");
    let count =
        |kind| made.records().filter(|record| record.as_ref().is_ok_and(|it| it.kind() == kind)).count();
    assert_eq!(count(RecordType::SAMPLE) as u64, account.samples);
    assert!(count(RecordType::AUXTRACE_ERROR) as u64 <= account.bad_bytes + account.overflows);
}

/// Raw data has a text of bounded length.
fn raw(data: &[u8]) {
    let Some((&id, data)) = data.split_first() else { return };
    if let Some(event) = RawEvent::parse(SynthId(u64::from(id % 10)), data) {
        assert!(event.to_string().len() <= 64 + 4 * data.len());
    }
}
