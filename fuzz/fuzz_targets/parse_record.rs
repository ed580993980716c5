//! A record of any type and any attr: its decoding equals the oracle, in what it accepts and in every value.
#![no_main]

use fuzz::Input;
use libfuzzer_sys::{Corpus, fuzz_target};
use perf_abi::endian::{BigEndian, Endian, LittleEndian};
use perf_abi::record::RecordType;
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{RawRecord, Record, SampleLayout};
use testdata::oracle::{self, Body, Mmap2Id, SampleId};

fuzz_target!(|input: Input<'_>| -> Corpus {
    if input.big { check::<BigEndian>(&input) } else { check::<LittleEndian>(&input) }
});

fn check<O: Endian>(input: &Input<'_>) -> Corpus {
    let kind = RecordType(input.kind.into());
    // Samples have a target of their own.
    if kind == RecordType::SAMPLE {
        return Corpus::Reject;
    }
    let (attr, Some(bytes)) = (input.attr(), input.record::<O>(kind)) else { return Corpus::Reject };
    let Ok(layout) = SampleLayout::new(&attr) else { return Corpus::Reject };
    let expected = oracle::record(&attr, input.big, &bytes);
    let (raw, _) = RawRecord::<O>::parse(&bytes).expect("the header was made for the payload");
    if kind.is_user() {
        // The oracle leaves the perf tool's own records alone.
        let _ = raw.decode(&layout).map(|record| format!("{record:?}"));
        return Corpus::Keep;
    }
    match (fuzz::body(&raw, &layout), expected) {
        (Ok(decoded), Ok(expected)) => {
            // A trailer of no fields, which the oracle gives for a sample_type without any, is none.
            let sample_id = expected.sample_id.filter(|id| *id != SampleId::default());
            assert_eq!(decoded, (expected.body, sample_id));
        }
        // The one thing that is refused here and not by the oracle: a build id longer than its room.
        (Err(error), Ok(expected)) => assert!(
            matches!(expected.body, Body::Mmap2 { file: Mmap2Id::BuildId { build_id_size: 21.., .. }, .. }),
            "{error}, and the oracle decodes {expected:#?}"
        ),
        (Ok(decoded), Err(error)) => panic!("the oracle: {error}, and this decodes {decoded:#?}"),
        (Err(error), Err(_)) => assert!(error.offset as usize <= bytes.len(), "{error}"),
    }
    write_back::<O>(input, &layout, &raw);
    Corpus::Keep
}

/// A record that is written is read back as it was.
fn write_back<O: Endian>(input: &Input<'_>, layout: &SampleLayout, raw: &RawRecord<'_, O>) {
    let (Ok(record), Ok((body, _))) = (raw.decode(layout), fuzz::body(raw, layout)) else { return };
    let mut bytes = Vec::new();
    let id = SampleIdFields { pid: -1, tid: 2, time: 3, id: 4, stream_id: 5, cpu: 6 };
    if write::record(&mut bytes, layout, input.misc(), &record, &id).is_err() {
        assert!(bytes.is_empty());
        return;
    }
    let (again, _) = RawRecord::<O>::parse(&bytes).expect("it was just written");
    let (body_again, sample_id) = fuzz::body(&again, layout).expect("it was just written");
    assert_eq!(body_again, body);
    // A record of unknown type is copied with its trailer.
    if let (false, Some(sample_id)) = (matches!(record, Record::Other(_)), sample_id) {
        assert!(sample_id.pid.is_none_or(|pid| pid == id.pid));
        assert!(sample_id.tid.is_none_or(|tid| tid == id.tid));
        assert!(sample_id.time.is_none_or(|time| time == id.time));
        assert!(sample_id.id.is_none_or(|same| same == id.id));
        assert!(sample_id.stream_id.is_none_or(|stream_id| stream_id == id.stream_id));
        assert!(sample_id.cpu.is_none_or(|cpu| cpu == id.cpu));
        assert!(sample_id.identifier.is_none_or(|identifier| identifier == id.id));
    }
}
