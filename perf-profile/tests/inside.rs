//! Names and build ids that an edit puts into a capture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Cursor, Error, ErrorKind, Result as IoResult};
use std::path::Path;
use std::sync::Arc;

use perf_parse::Reader;
use perf_parse::feature::FeatureData;
use perf_parse::file::RecordCheck;
use perf_parse::record::Record;
use perf_parse::rewrite::EditAccount;
use perf_profile::edit::{CaptureEdit, EditError, Redaction, SecretKind};
use perf_profile::{Samples, Symbols};
use perf_symbol::{FileBytes, Files, SymbolOptions};

/// A machine without files.
#[derive(Debug)]
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path, _: u64) -> IoResult<FileBytes> {
        Err(Error::from(ErrorKind::NotFound))
    }
}

fn edited(reader: &Reader<'_>, symbols: &Symbols, edit: CaptureEdit) -> Vec<u8> {
    edit.write_file(reader, symbols, Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner()
}

/// Returns the names of frames by their addresses, except inlined functions; those that are guesses are marked.
fn names(reader: &Reader<'_>, symbols: &Symbols) -> Vec<(u64, u64, Option<String>, bool)> {
    let mut all = Vec::new();
    for sample in Samples::of(reader).named(symbols) {
        let sample = sample.unwrap();
        for frame in sample.stack().iter().filter(|frame| !frame.is_inlined()) {
            let function = frame.symbol();
            let name = function.and_then(|it| it.name.as_ref()).map(|it| String::from_utf8_lossy(it).into());
            let offset = function.and_then(|it| it.offset).unwrap_or_default();
            all.push((frame.ip(), offset, name, function.is_some_and(|it| it.guess.is_some())));
        }
    }
    all
}

#[test]
fn names_are_known_without_the_files() {
    let mut stored = 0;
    for name in ["callchain.data", "plain.data", "system_wide.data", "threads.dir"] {
        let reader = Reader::open(testdata::path(name)).unwrap();
        let mut options = SymbolOptions::default();
        options.inlines = false;
        let symbols = Symbols::new(reader.features(), options.clone());
        let bytes = edited(&reader, &symbols, CaptureEdit::new().symbols_inside());
        let result = Reader::new(&bytes).unwrap();
        let elsewhere = |reader: &Reader<'_>| {
            names(reader, &Symbols::with_files(reader.features(), options.clone(), Arc::new(NoFiles)))
        };
        let account = EditAccount::of(&result.feature(EditAccount::FEATURE).unwrap()).unwrap();
        let (before, after) = (names(&reader, &symbols), elsewhere(&result));
        assert_eq!(before.len(), after.len(), "{name}");
        let mut missing = 0;
        for ((ip, offset, before, is_guess), (_, offset_after, after, _)) in before.iter().zip(&after) {
            match after {
                Some(after) => {
                    assert_eq!((Some(after), offset), (before.as_ref(), offset_after), "{name} {ip:#x}");
                    assert!(!is_guess, "{name} {ip:#x} is a guess");
                }
                None => missing += u64::from(before.is_some()),
            }
        }
        assert!(missing <= account.names_left_out, "{name}: {missing} of {account:?}");
        stored += account.names;
        assert!(!result.features().is_of_simpleperf());
        let check = RecordCheck::new(&[]);
        result.records().for_each(|record| check.record(&record.unwrap()).unwrap());
        let again = edited(&result, &symbols, CaptureEdit::new().symbols_inside());
        let file2 =
            |reader: &Reader<'_>| reader.features().iter().map(|it| it.bytes.to_vec()).collect::<Vec<_>>();
        assert!(file2(&Reader::new(&again).unwrap()).len() == file2(&result).len());
    }
    assert!(stored > 0);
}

#[test]
fn names_are_not_stored_where_texts_are_removed() {
    let reader = Reader::open(testdata::path("plain.data")).unwrap();
    let symbols = Symbols::of(&reader);
    for (kind, is_refused) in
        [(SecretKind::Paths, true), (SecretKind::Strings, true), (SecretKind::Hostname, false)]
    {
        let edit = CaptureEdit::new().symbols_inside().redact(Some(Redaction::new(&[kind])));
        let result = edit.write_file(&reader, &symbols, Cursor::new(Vec::new()), |_| {});
        assert_eq!(matches!(result, Err(EditError::NamesRedacted)), is_refused, "{kind:?}");
    }
}

/// A capture whose mapping is of this program, with its inode or with another one.
#[cfg(target_os = "linux")]
mod build_ids {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    use perf_parse::SampleLayout;
    use perf_parse::abi::attr::{Attr, AttrFlags};
    use perf_parse::abi::record::Misc;
    use perf_parse::abi::sample_type::SampleType;
    use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
    use perf_parse::record::{FileId, Mmap2};
    use perf_parse::sample::Reading;
    use perf_parse::write::{RecordEncoder, SampleIdFields};

    fn capture(path: &str, ino: u64) -> Vec<u8> {
        let (sample_type, flags) = (SampleType::TID | SampleType::TIME, AttrFlags::SAMPLE_ID_ALL);
        let attr = Attr { sample_type, flags, ..Attr::default() };
        let layout = SampleLayout::new(&attr).unwrap();
        let event = EventFields { attr, ids: vec![7], ..EventFields::default() };
        let mut writer =
            FileWriter::new(Cursor::new(Vec::new()), &[event], &WriteOptions::default()).unwrap();
        let dev = fs::metadata(path).unwrap().dev();
        let (maj, min) = ((dev >> 8 & 0xfff) as u32, (dev & 0xff | dev >> 12 & 0xfff00) as u32);
        let mmap = Mmap2 {
            pid: 1,
            tid: 1,
            addr: 0x1000,
            len: 0x1000,
            pgoff: 0,
            id: FileId::Inode { maj, min, ino, ino_generation: 0 },
            prot_flags: Some((5, 2)),
            reading: Reading::Certain,
            filename: path.as_bytes(),
        };
        let mut bytes = Vec::new();
        let ids = SampleIdFields { time: 5, pid: 1, tid: 1, ..SampleIdFields::default() };
        RecordEncoder::new(&layout).record(&mut bytes, Misc(2), &Record::Mmap2(mmap), &ids).unwrap();
        writer.records(&bytes).unwrap();
        writer.finish().unwrap().into_inner()
    }

    /// Returns the build ids of records and of the feature.
    fn ids(bytes: &[u8]) -> (BTreeSet<Vec<u8>>, BTreeMap<String, Vec<u8>>) {
        let reader = Reader::new(bytes).unwrap();
        let mut of_records = BTreeSet::new();
        for record in reader.records().flatten() {
            assert_eq!(record.time(), Some(5));
            if let Ok(Record::Mmap2(it)) = record.decode() {
                of_records.extend(it.id.build_id().map(<[u8]>::to_vec));
            }
        }
        let mut listed = BTreeMap::new();
        for section in reader.features() {
            if let Ok(FeatureData::BuildId(ids)) = section.decode() {
                listed.extend(ids.iter().map(|it| (it.filename.to_string(), it.build_id.to_vec())));
            }
        }
        (of_records, listed)
    }

    #[test]
    fn build_ids_of_the_recorded_files_are_added() {
        let path = "/usr/bin/env";
        let (Ok(bytes), Ok(metadata)) = (fs::read(path), fs::metadata(path)) else { return };
        let build_id = perf_symbol::ElfImage::parse(FileBytes::new(bytes)).unwrap().build_id();
        let Some(build_id) = build_id.map(|it| it.as_bytes().to_vec()) else { return };
        let edit = |bytes: &[u8]| {
            let reader = Reader::new(bytes).unwrap();
            edited(&reader, &Symbols::of(&reader), CaptureEdit::new().build_ids())
        };
        let result = edit(&capture(path, metadata.ino()));
        let (of_records, listed) = ids(&result);
        // A file system can report other devices than the kernel records: then it is not known to be the file.
        if !of_records.is_empty() {
            assert_eq!(of_records, BTreeSet::from([build_id.clone()]));
            assert_eq!(listed, BTreeMap::from([(path.to_owned(), build_id)]));
        }
        assert!(edit(&result) == result);
        // Another file of the path.
        let other = capture(path, metadata.ino() + 1);
        assert_eq!(ids(&edit(&other)), (BTreeSet::new(), BTreeMap::new()));
    }
}
