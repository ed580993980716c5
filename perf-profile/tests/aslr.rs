//! Edits that move addresses: files, offsets in them and threads stay, and no address of the capture is left.

use std::collections::HashSet;
use std::io::Cursor;

use perf_parse::Reader;
use perf_parse::abi::sample_type::SampleType;
use perf_profile::edit::CaptureEdit;
use perf_profile::{Samples, Symbols, event_name};
use perf_session::{DsoKind, Mapping};

/// Addresses from here on are those of the kernel.
const UPPER_HALF: u64 = 1 << 63;

fn moved(reader: &Reader<'_>, seed: Option<&[u8]>) -> Vec<u8> {
    let edit = CaptureEdit::new().move_addresses(seed);
    let edited = edit.write_file(reader, &Symbols::of(reader), Cursor::new(Vec::new()), |_| {});
    edited.unwrap_or_else(|error| panic!("{error}")).out.into_inner()
}

/// A place in a file, or an address of memory.
fn place(mapping: Option<&Mapping>, ip: u64) -> Option<(Vec<u8>, Option<u64>)> {
    let mapping = mapping?;
    let in_file = matches!(mapping.dso().kind(), DsoKind::File | DsoKind::Vdso);
    Some((mapping.dso().path().to_vec(), in_file.then(|| mapping.offset_of(ip))))
}

/// Returns what a capture has of samples, and the user addresses at which something is mapped.
fn samples(reader: &Reader<'_>) -> (Vec<String>, HashSet<u64>) {
    let mut addresses = HashSet::new();
    let shown = Samples::of(reader).named(&Symbols::of(reader)).map(|sample| {
        let sample = sample.unwrap();
        // Copied stacks are left out.
        let is_copied = sample.event().attr.sample_type.contains(SampleType::STACK_USER);
        let frames = sample.stack().iter().filter(|it| !it.is_inlined() && it.ip() < UPPER_HALF);
        let places = frames.clone().map(|it| place(it.mapping(), it.ip()));
        let places: Vec<_> = places.take(if is_copied { 0 } else { usize::MAX }).collect();
        addresses.extend(frames.filter(|it| it.mapping().is_some()).map(|it| it.ip()));
        let thread = sample.thread();
        let task = (thread.pid(), thread.tid(), thread.comm());
        format!(
            "{:?} {task:?} {:?} {} {places:?}",
            event_name(sample.event()),
            sample.time(),
            sample.period()
        )
    });
    (shown.collect(), addresses)
}

#[test]
fn files_and_offsets_stay() {
    let mut addresses_in_all = 0;
    for name in
        ["callchain.data", "everything.data", "maps.data", "tasks.data", "touch.zstd.data", "uprobe.data"]
    {
        let bytes = std::fs::read(testdata::path(name)).unwrap();
        let reader = Reader::new(&bytes).unwrap();
        let out = moved(&reader, Some(b"seed"));
        assert!(moved(&reader, Some(b"seed")) == out, "{name}: the same seed has other distances");
        assert!(moved(&reader, None) != out, "{name}: no other distances");
        let edited = Reader::new(&out).unwrap();
        let ((before, addresses), (after, _)) = (samples(&reader), samples(&edited));
        assert_eq!(after, before, "{name}");
        let words: HashSet<_> =
            out.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
        // Small numbers are counts, too.
        let left: Vec<_> = addresses.iter().filter(|&&it| it > 1 << 20 && words.contains(&it)).collect();
        assert!(left.is_empty(), "{name}: {left:x?}");
        addresses_in_all += addresses.len();
    }
    assert!(addresses_in_all > 100, "{addresses_in_all}");
}

#[test]
fn names_are_not_stored_for_addresses_that_are_moved() {
    let bytes = std::fs::read(testdata::path("callchain.data")).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let edit = CaptureEdit::new().move_addresses(None).symbols_inside();
    let refused = edit.write_file(&reader, &Symbols::of(&reader), Cursor::new(Vec::new()), |_| {});
    let error = refused.map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("symbols-inside: names are stored for addresses"), "{error}");
}
