//! `--attr`: the events of the records.

use std::io::Cursor;

use perf_abi::attr::AttrFlags;
use perf_abi::endian::{BigEndian, LittleEndian};
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};

use crate::{clean, fails, jsonl, made, recorded, scratch};

const RING: &str = "forward-wrapped.ring";

fn capture(name: &str, flags: &[AttrFlags]) -> String {
    let event = |flags: &AttrFlags| {
        let attr = made::attr();
        EventFields {
            attr: perf_abi::attr::Attr { flags: attr.flags | *flags, ..attr },
            ..EventFields::default()
        }
    };
    let events: Vec<_> = flags.iter().map(event).collect();
    let mut file = Cursor::new(Vec::new());
    FileWriter::new(&mut file, &events, &WriteOptions::default()).unwrap().finish().unwrap();
    scratch(name, &file.into_inner())
}

#[test]
fn a_capture_tells_as_its_attr_does() {
    let records = [made::sample::<LittleEndian>(0), made::sample::<LittleEndian>(1)].concat();
    let dump = scratch("attr.ring", &made::dump::<LittleEndian>(0, &records, &[]));
    let attr = scratch("plain.attr", &made::attr_bytes::<LittleEndian>());
    let expected = clean(&[&dump, "--attr", &attr]);
    assert_eq!(expected.len(), 2);
    assert_eq!(clean(&[&dump, "--attr", &capture("plain.data", &[AttrFlags::NONE])]), expected);
}

/// Only the events of the capture are used, not its records.
#[test]
fn of_a_capture_the_events_alone_are_taken() {
    let plain = testdata::path("plain.data").into_os_string().into_string().unwrap();
    let records = [made::sample::<LittleEndian>(0), made::sample::<LittleEndian>(1)].concat();
    let dump = scratch("of-capture.ring", &made::dump::<LittleEndian>(0, &records, &[]));
    let shown = jsonl(&[&dump, "--attr", &plain]);
    assert_eq!((shown.status, shown.records.len()), (0, 2), "{}", shown.err);
    assert_eq!(shown.header["attrs"][0]["name"], "page-faults");
}

#[test]
fn what_is_neither_an_attr_nor_a_capture_is_refused() {
    let refused = |name: &str, bytes: &[u8], why: &str| {
        let attr = scratch(name, bytes);
        fails(&[RING, "--attr", &attr], &format!("{attr}: {why}"));
    };
    let attr = recorded("forward-wrapped.attr");
    refused("text", b"neither of them, but long enough to be one", "is neither a perf.data file nor an attr");
    refused("nothing", b"", "is neither a perf.data file nor an attr");
    refused("half", &attr[..100], "attr");
    refused("trailing", &[&attr[..], &[0; 4]].concat(), "attr.size: 4 bytes follow the attr of 128");
    refused("cut-capture", b"PERFILE2 and no more", "0x");
    fails(&[RING, "--attr", "no-such.attr"], "no-such.attr: No such file");
    fails(&[RING], "--attr");

    // An attr of a newer kernel may have unknown bytes, but they must not be in use.
    let mut newer = attr;
    newer.resize(200, 0);
    newer[4..8].copy_from_slice(&200_u32.to_le_bytes());
    let of_newer = scratch("newer.attr", &newer);
    assert_eq!(clean(&[RING, "--attr", &of_newer]), clean(&[RING, "--attr", "forward-wrapped.attr"]));
    newer[199] = 1;
    refused("in-use", &newer, "attr.size: 200 bytes, with fields of a newer kernel in use");
}

#[test]
fn rings_written_both_ways_are_to_be_told_apart() {
    let both = capture("both.data", &[AttrFlags::NONE, AttrFlags::WRITE_BACKWARD]);
    let records = made::sample::<LittleEndian>(0);
    let dump = scratch("both.ring", &made::dump::<LittleEndian>(0, &records, &[]));
    fails(
        &[&dump, "--attr", &both],
        "some of its events are written forward and some backward (write_backward)",
    );
    fails(&[&dump, "--attr", &both], "with --forward or --backward");
    // Nothing shows which of the two events the sample belongs to.
    let shown = jsonl(&[&dump, "--attr", &both, "--forward"]);
    assert_eq!((shown.status, shown.records.len()), (3, 1), "{}", shown.err);
    assert!(shown.err.contains("0x1000: SAMPLE: id: "), "{}", shown.err);
}

/// The words of `made::attr`.
const WORDS: &str =
    "type=SOFTWARE,config=PAGE_FAULTS,sample_type=IP|TID|TIME,sample_id_all,disabled,sample_period=1";

#[test]
fn an_attr_in_words_is_the_attr() {
    let records = [made::sample::<LittleEndian>(0), made::sample::<LittleEndian>(1)].concat();
    let dump = scratch("words.ring", &made::dump::<LittleEndian>(0, &records, &[]));
    let attr = scratch("words.attr", &made::attr_bytes::<LittleEndian>());
    let by_file = jsonl(&[&dump, "--attr", &attr, "--endian", "little"]);
    let by_words = jsonl(&[&dump, "--attr", WORDS, "--endian", "little"]);
    assert_eq!((by_words.status, &*by_words.err, &by_words.records), (0, "", &by_file.records));
    assert_eq!(by_file.records.len(), 2);
    let mut events = [by_file.header, by_words.header].map(|mut header| header["attrs"][0].take());
    for event in &mut events {
        event.as_object_mut().unwrap().remove("size");
    }
    assert_eq!(events[0], events[1]);

    let big = scratch("words-big.ring", &made::dump::<BigEndian>(0, &made::sample::<BigEndian>(0), &[]));
    let shown = jsonl(&[&big, "--attr", "sample_type=IP|TID|TIME", "--endian", "big"]);
    assert_eq!(
        (shown.status, &shown.records[0]["fields"]),
        (0, &by_file.records[0]["fields"]),
        "{}",
        shown.err
    );

    let words_file = scratch("sample_type=IP", &made::attr_bytes::<LittleEndian>());
    assert_eq!(clean(&[&dump, "--attr", &words_file]), by_file.records, "a path is a file");
    fails(
        &[&dump, "--attr", "sample_type=IP|NONE"],
        "--attr sample_type=IP|NONE: sample_type: `NONE` is neither",
    );
    fails(&[&dump, "--attr", "bpf-output,raw"], "`raw` is not a flag of struct perf_event_attr");
}

#[test]
fn a_preset_reads_the_ring_of_a_bpf_program() {
    // PERF_RECORD_SAMPLE, misc 0, 24 bytes: a raw size of 12, and the data.
    let sample = [&9_u32.to_le_bytes()[..], &[0, 0, 24, 0], &12_u32.to_le_bytes(), b"hello, bpf!\0"].concat();
    let dump = scratch("bpf.ring", &made::dump::<LittleEndian>(0, &sample, &[]));
    let shown = jsonl(&[&dump, "--attr", "bpf-output", "--endian", "little"]);
    assert_eq!((shown.status, &*shown.err), (0, ""));
    assert_eq!(shown.records[0]["fields"], serde_json::json!({"raw": "68656c6c6f2c206270662100"}));
    assert_eq!(shown.header["attrs"][0]["config"], 10);
}
