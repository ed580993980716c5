//! Edits: without fields, without samples, in other containers.

use std::io::Cursor;

use perf_parse::abi::attr::{Attr, AttrVersion};
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteFileError, WriteOptions};
use perf_parse::file::{Reader, RecordCheck};
use perf_parse::rewrite::{
    Edit, EditAccount, EditedRecord, FileCopy, MergeOptions, RepairOrder, merge, repair,
};
use perf_parse::sample::Reading;
use perf_parse::write::SampleFields;

/// The captures that an edit can read whole: of every mode. One in five, unless all are wanted.
fn captures() -> Vec<Vec<u8>> {
    let every = if testdata::is_thorough() { 1 } else { 5 };
    let small = |path: &std::path::PathBuf| path.metadata().is_ok_and(|it| it.len() < 4 << 20);
    let paths = testdata::captures().into_iter().filter(small).step_by(every);
    let named = ["everything.data", "dwarf.data", "ids.data", "tracing.pipe.data", "touch.zstd.data"];
    let paths = paths.chain(named.map(testdata::path));
    let read = |path| std::fs::read(path).unwrap();
    paths.map(read).filter(|bytes| Reader::new(bytes).is_ok()).collect()
}

fn file(edit: Edit<'_>, bytes: &[u8]) -> Vec<u8> {
    let reader = Reader::new(bytes).unwrap();
    edit.write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner()
}

fn repaired(bytes: &[u8]) -> Vec<u8> {
    let reader = Reader::new(bytes).unwrap();
    repair(&reader, RepairOrder::Capture, Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner()
}

/// A reader by windows skips the data of AUX areas; it is in the result nevertheless.
#[test]
fn readers_by_windows_are_edited_as_those_in_memory() {
    let synthetic = |name: &str| testdata::captures().into_iter().find(|path| path.ends_with(name)).unwrap();
    let named = ["auxtrace.le.data", "auxtrace.be.data"].map(synthetic);
    let captures = captures().into_iter().chain(named.map(|path| std::fs::read(path).unwrap()));
    for bytes in captures {
        let windows = Reader::from_seekable(Cursor::new(&bytes)).unwrap();
        let memory = Reader::new(&bytes).unwrap();
        let edited = |reader: &Reader<'_>| {
            let edited = Edit::new().write_file(reader, Cursor::new(Vec::new()), |_| {}).unwrap();
            (edited.out.into_inner(), edited.written, edited.dropped)
        };
        assert_eq!(edited(&windows), edited(&memory));
        let merged = |reader: &Reader<'_>| {
            let merged = merge(&[reader], &MergeOptions::default(), Cursor::new(Vec::new()), |_, _| {});
            merged.map(|it| (it.out.into_inner(), it.written, it.dropped)).map_err(|it| it.to_string())
        };
        assert_eq!(merged(&windows), merged(&memory));
        let copied = |reader: &Reader<'_>| {
            let mut copy = FileCopy::like(reader, Cursor::new(Vec::new())).unwrap();
            let errors = reader.records().flatten().filter(|record| copy.copy(record).is_err()).count();
            (copy.finish().unwrap().into_inner(), errors)
        };
        assert_eq!(copied(&windows), copied(&memory));
    }
}

/// Returns the fields of all samples, and the bytes of the other records except those that name events. The capture is clean.
fn contents(bytes: &[u8]) -> (Vec<SampleFields>, Vec<Vec<u8>>) {
    let reader = Reader::new(bytes).unwrap();
    let check = RecordCheck::new(reader.feature(Feature::TRACING_DATA).map_or(&[], |it| it.bytes));
    let (mut samples, mut others) = (Vec::new(), Vec::new());
    let mut records = reader.records();
    for record in &mut records {
        let record = record.unwrap();
        check.record(&record).unwrap();
        match record.sample() {
            Some(sample) => samples.push(sample.to_fields().unwrap()),
            // EVENT_UPDATE, and what the start of a pipe has.
            None if (64..68).contains(&record.kind().0) || [78, 80].contains(&record.kind().0) => {}
            None => others.push(record.raw().as_bytes().to_vec()),
        }
    }
    assert_eq!(records.check_features(), []);
    assert!(records.account().is_clean(), "{:?}", records.account().diagnostics);
    (samples, others)
}

/// Returns whether a sample has the stray word that some kernels write after a stack of 0 bytes.
fn has_stray_word(bytes: &[u8]) -> bool {
    let is_stray = |tail: perf_parse::sample::Tail<'_>| tail.readings.stack_user == Reading::Other;
    let reader = Reader::new(bytes).unwrap();
    reader.records().any(|record| record.is_ok_and(|it| it.tail().is_ok_and(|it| it.is_some_and(is_stray))))
}

#[test]
fn fields_are_removed_from_samples_and_attrs() {
    type Clear = fn(&mut SampleFields);
    let steps: [(SampleType, Clear); 7] = [
        (SampleType::CALLCHAIN, |it| it.callchain = None),
        (SampleType::RAW, |it| it.raw = None),
        (SampleType::BRANCH_STACK, |it| it.branch_stack = None),
        (SampleType::STACK_USER | SampleType::REGS_USER, |it| (it.stack_user, it.regs_user) = (None, None)),
        (SampleType::REGS_INTR, |it| it.regs_intr = None),
        (SampleType::PHYS_ADDR, |it| it.phys_addr = None),
        (SampleType::DATA_SRC | SampleType::WEIGHT_TYPE | SampleType::TRANSACTION, |it| {
            (it.data_src, it.weight, it.weight_struct, it.transaction) = (None, None, None, None);
        }),
    ];
    let mut removed = [0; 7];
    for bytes in captures() {
        let whole = repaired(&bytes);
        let (before, others) = contents(&whole);
        for (index, (fields, clear)) in steps.into_iter().enumerate() {
            let edited = file(Edit::new().remove(fields), &bytes);
            let (mut expected, (after, kept)) = (before.clone(), contents(&edited));
            expected.iter_mut().for_each(clear);
            removed[index] += usize::from(expected != before);
            assert_eq!(expected.len(), after.len());
            // Without the stack, the field that the stray word cut off is there again, as zeros.
            let is_restored = fields.contains(SampleType::STACK_USER) && has_stray_word(&whole);
            assert!(is_restored || expected == after, "{fields}");
            assert!(kept.len() <= others.len() && (kept == others || fields == SampleType::CALLCHAIN));
            let reader = Reader::new(&edited).unwrap();
            assert!(reader.events().iter().all(|event| event.attr.sample_type.0 & fields.0 == 0));
            match reader.feature(EditAccount::FEATURE) {
                Some(section) => {
                    let account = EditAccount::of(&section).unwrap();
                    assert_eq!((account.removed, account.one_in), (fields, 1));
                }
                // In a big-endian file, high features need HOSTNAME.
                None => assert!(reader.feature(Feature::HOSTNAME).is_none()),
            }
            // The same edit again changes nothing but the account.
            assert!(file(Edit::new().remove(fields), &edited) == edited, "{fields}");
        }
    }
    assert!(removed[..5].iter().all(|&captures| captures > 0), "{removed:?}");
}

#[test]
fn samples_are_left_out_and_counted() {
    for bytes in captures() {
        let whole = repaired(&bytes);
        let (before, others) = contents(&whole);
        let mut index = 0;
        let edit = Edit::new().samples(|_| {
            index += 1;
            if index % 3 == 1 { EditedRecord::Kept } else { EditedRecord::LeftOut }
        });
        let reader = Reader::new(&bytes).unwrap();
        let edited = edit.write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap();
        let (after, kept) = contents(edited.out.get_ref());
        assert!(after == before.iter().step_by(3).cloned().collect::<Vec<_>>());
        assert!(kept == others);
        assert_eq!(edited.left_out as usize, before.len() - after.len());
        let out = edited.out.into_inner();
        let reader = Reader::new(&out).unwrap();
        let account = reader.feature(EditAccount::FEATURE).map(|it| EditAccount::of(&it).unwrap());
        assert_eq!(account.map_or(0, |it| it.left_out), edited.left_out);
        if let Some(section) = reader.feature(Feature::SAMPLE_TIME) {
            let times = after.iter().filter_map(|it| it.time);
            let perf_parse::feature::FeatureData::SampleTime(it) = section.decode().unwrap() else {
                unreachable!()
            };
            assert_eq!(Some(it.first), times.clone().min());
            assert_eq!(Some(it.last), times.max());
        }
    }
}

#[test]
fn a_pipe_has_the_same_records() {
    for bytes in captures() {
        // A file without records gets one.
        let bytes = repaired(&bytes);
        let (before, others) = contents(&bytes);
        let pipe = |bytes: &[u8]| {
            let reader = Reader::new(bytes).unwrap();
            Some(Edit::new().write_pipe(&reader, Vec::new(), |_| {}).ok()?.out)
        };
        // An event with more ids than a record has room for.
        let Some(edited) = pipe(&bytes) else { continue };
        let (after, kept) = contents(&edited);
        assert!(after == before && kept == others);
        assert!(pipe(&edited).unwrap() == edited, "a second edit changes the pipe");
        assert!(contents(&file(Edit::new(), &edited)) == (after, kept));
    }
}

#[cfg(feature = "zstd")]
#[test]
fn compressed_records_are_the_same() {
    use perf_parse::file::write::ZstdOptions;

    for bytes in captures() {
        let whole = repaired(&bytes);
        let edited = file(Edit::new().compress(Some(ZstdOptions::default())), &bytes);
        assert!(contents(&edited) == contents(&whole));
        assert!(repaired(&edited) == whole);
    }
}

#[test]
fn attrs_have_the_chosen_size() {
    let bytes = std::fs::read(testdata::path("plain.data")).unwrap();
    for version in [AttrVersion::VER7, AttrVersion::VER9] {
        let edited = file(Edit::new().attr_version(Some(version)), &bytes);
        let reader = Reader::new(&edited).unwrap();
        assert!(reader.events().iter().all(|event| event.attr.size == version.size()));
        assert!(contents(&edited) == contents(&repaired(&bytes)));
    }
    let reader = Reader::new(&bytes).unwrap();
    let small = Edit::new().attr_version(Some(AttrVersion::VER0));
    let everything = std::fs::read(testdata::path("user_regs.data")).unwrap();
    let refused = small.write_file(&Reader::new(&everything).unwrap(), Cursor::new(Vec::new()), |_| {});
    assert!(matches!(refused, Err(WriteFileError::Attr { .. })), "{refused:?}");
    let time = Edit::new().remove(SampleType::TIME).write_file(&reader, Cursor::new(Vec::new()), |_| {});
    assert!(matches!(time, Err(WriteFileError::Option { option: "remove", .. })), "{time:?}");
}

#[test]
fn the_account_adds_up_over_edits() {
    let bytes = std::fs::read(testdata::path("plain.data")).unwrap();
    let half = |bytes: &[u8]| {
        let mut index = 0;
        let edit = Edit::new().one_in(2).samples(move |_| {
            index += 1;
            if index % 2 == 1 { EditedRecord::Kept } else { EditedRecord::LeftOut }
        });
        file(edit, bytes)
    };
    let (samples, _) = contents(&bytes);
    let quarter = half(&half(&bytes));
    let reader = Reader::new(&quarter).unwrap();
    let account = EditAccount::of(&reader.feature(EditAccount::FEATURE).unwrap()).unwrap();
    let left = contents(&quarter).0.len() as u64;
    assert_eq!(
        account,
        EditAccount { left_out: samples.len() as u64 - left, one_in: 4, ..EditAccount::default() }
    );
}

#[test]
fn a_pipe_names_an_event_without_ids() {
    let event = EventFields { name: Some(b"a".to_vec()), ..EventFields::default() };
    let writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &WriteOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let pipe = Edit::new().write_pipe(&Reader::new(&bytes).unwrap(), Vec::new(), |_| {}).unwrap().out;
    let reader = Reader::new(&pipe).unwrap();
    let mut records = reader.records();
    records.by_ref().for_each(|record| drop(record.unwrap()));
    assert!(records.account().is_clean(), "{:?}", records.account().diagnostics);
    assert_eq!(records.events().iter().next().unwrap().name.as_deref(), Some(&b"a"[..]));
    assert!(repaired(&pipe) == repaired(&repaired(&pipe)));
}

#[test]
fn what_a_release_of_perf_refuses_is_left_out() {
    use perf_parse::abi::attr::AttrFlags;
    use perf_parse::abi::branch::BranchSampleType;
    use perf_parse::feature::{EMachine, FeatureData};
    use perf_parse::rewrite::PerfRelease;

    let attr = Attr {
        sample_type: SampleType::TIME | SampleType::BRANCH_STACK,
        branch_sample_type: BranchSampleType::ANY | BranchSampleType::COUNTERS,
        flags: AttrFlags::DEFER_CALLCHAIN | AttrFlags::FREQ,
        config3: 7,
        config4: 8,
        size: 144,
        ..Attr::default()
    };
    let event = EventFields { attr, attr_tail: vec![1; 8], ..EventFields::default() };
    let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &options).unwrap();
    writer.features().set(&FeatureData::EMachine(EMachine { e_machine: 62, e_flags: 0 })).unwrap();
    let word = |word: u64| word.to_le_bytes();
    let sample = [&[9, 0, 0, 0, 0, 0, 24, 0][..], &word(5), &word(0)].concat();
    for record in [
        &sample[..],
        &[90, 0, 0, 0, 0, 0, 8, 0],
        &[22, 0, 0, 0, 0, 0, 24, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ] {
        writer.record(record).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    let reader = Reader::new(&bytes).unwrap();
    let edit = || Edit::new().for_release(Some(PerfRelease::V6_1));
    let edited = edit().write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap();
    let expected = [
        "E_MACHINE",
        "config3 of event 0",
        "config4 of event 0",
        "bytes after 128 of the attr of event 0",
        "defer_callchain of event 0",
        "1 of type CALLCHAIN_DEFERRED",
        "1 of type 90",
    ];
    assert_eq!(edited.left_out_for_release, expected);
    let out = edited.out.into_inner();
    let reader = Reader::new(&out).unwrap();
    let event = reader.events().iter().next().unwrap();
    assert_eq!((event.attr.size, event.attr.config3, event.attr.flags), (128, 0, AttrFlags::FREQ));
    assert_eq!((event.attr.sample_type, event.attr_tail.len()), (SampleType::TIME, 0));
    assert!(reader.feature(Feature::E_MACHINE).is_none());
    let account = EditAccount::of(&reader.feature(EditAccount::FEATURE).unwrap()).unwrap();
    assert_eq!((account.release.as_deref(), account.removed), (Some("perf-6.1"), SampleType::BRANCH_STACK));
    assert_eq!(contents(&out).0.len(), 1);
    // A second time, nothing is left to leave out.
    let again = edit().write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap();
    assert!(again.left_out_for_release.is_empty() && again.out.into_inner() == out);
}

#[test]
fn records_are_sorted_within_the_limits() {
    use perf_parse::file::Limits;

    // Backwards, with many records of one time, and some without.
    let times = (0..600_u64).rev().map(|it| if it % 3 == 0 { 1500 } else { 1 + it * it * 1000 });
    let times: Vec<u64> = times.chain([0, u64::MAX, 7, 0]).collect();
    let attr = Attr { sample_type: SampleType::TIME | SampleType::ADDR, ..Attr::default() };
    let event = EventFields { attr, ..EventFields::default() };
    let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &options).unwrap();
    for (index, time) in (0_u64..).zip(&times) {
        let words = [time.to_le_bytes(), index.to_le_bytes()].concat();
        writer.record(&[&[9, 0, 0, 0, 0, 0, 24, 0], &words[..]].concat()).unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    let mut expected: Vec<_> = times.iter().copied().zip(0_u64..).collect();
    expected.sort_by_key(|&(time, index)| (time, index));
    for (held_records, held_bytes) in [(usize::MAX, usize::MAX), (100, 64 << 10), (100, 3000), (1, 1)] {
        let mut limits = Limits::default();
        (limits.held_records, limits.held_bytes) = (held_records, held_bytes);
        let reader = Reader::new_within(&bytes, &limits).unwrap();
        let edit = Edit::new().order(RepairOrder::Time);
        let sorted = edit.write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner();
        let reader = Reader::new(&sorted).unwrap();
        let fields = reader.records().map(|record| {
            let record = record.unwrap();
            let sample = record.sample().unwrap();
            (sample.time().unwrap(), sample.addr().unwrap())
        });
        assert!(fields.collect::<Vec<_>>() == expected, "{held_records} {held_bytes}");
    }
}
