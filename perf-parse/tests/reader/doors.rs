//! A capture has the same records however it is opened: in memory, by its path, as an open file, as anything that can seek,
//! and, if a pipe wrote it, as a stream.

use std::fs::{self, File};
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;

use perf_parse::file::{FileErrorKind, Limits, Mode, Section};
use perf_parse::{FileError, Index, Reader};

use crate::{Walk, capture, walk};

/// Something with one position that returns few bytes at a time.
struct Shy<'a> {
    bytes: Cursor<&'a [u8]>,
    most: usize,
}

impl<'a> Shy<'a> {
    fn new(bytes: &'a [u8], most: usize) -> Self {
        let mut bytes = Cursor::new(bytes);
        // Wherever it was before.
        bytes.set_position(77);
        Self { bytes, most }
    }
}

impl Read for Shy<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.most.min(buffer.len());
        self.bytes.read(&mut buffer[..most])
    }
}

impl Seek for Shy<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// Reads a capture in both orders, each twice, from each fourth record on, and by its index.
fn read(reader: &Reader<'_>) -> (Vec<Walk>, Option<Index>) {
    let mut walks = vec![walk(reader.records()), walk(reader.records().in_time_order())];
    if !reader.can_walk_again() {
        return (walks, None);
    }
    assert_eq!(walk(reader.records()), walks[0]);
    assert_eq!(walk(reader.records().in_time_order()), walks[1]);
    let places: Vec<_> = reader.records().flatten().map(|record| record.position()).collect();
    walks.extend(places.iter().step_by(places.len() / 4 + 1).map(|&place| walk(reader.records_from(place))));
    (walks, Index::from_records(reader.records()).ok())
}

/// Opens a capture in each way, and compares its records, errors, accounts and indexes. `path` is a file with `bytes`.
fn compare(path: &Path, bytes: &[u8], limits: &Limits) -> Result<(), FileError> {
    let memory = Reader::new_within(bytes, limits);
    let expected = memory.as_ref().map(read).map_err(|&error| error);
    let same = |door: &str, reader: Result<Reader<'_>, FileError>| {
        let what = format!("{}: {door}", path.display());
        match (reader.as_ref().map(read), &expected) {
            (Ok((walks, index)), Ok((expected, expected_index))) => {
                for (walk, expected) in walks.iter().zip(expected) {
                    assert_eq!(walk.errors, expected.errors, "{what}");
                    assert_eq!(walk.account, expected.account, "{what}");
                    assert!(walk == expected, "{what}");
                }
                assert_eq!(walks.len(), expected.len(), "{what}");
                assert!(index == *expected_index, "{what}");
            }
            (read, expected) => assert_eq!(read.err(), expected.as_ref().err(), "{what}"),
        }
        if let (Ok(reader), Ok(memory)) = (&reader, &memory) {
            assert_eq!(reader.mode(), memory.mode(), "{what}");
            assert_eq!(reader.account(), memory.account(), "{what}");
        }
    };
    let open = || File::open(path).unwrap();
    same("by its path", Reader::open_within(path, limits));
    same("an open file", Reader::from_file_within(open(), limits));
    same("a seekable file", Reader::from_seekable_within(open(), limits));
    same("a cursor", Reader::from_seekable_within(Cursor::new(bytes), limits));
    same("few bytes at a time", Reader::from_seekable_within(Shy::new(bytes, 1000), limits));
    let (memory, expected) = (memory?, expected?);
    if let Mode::Pipe = memory.mode() {
        let stream = || Reader::stream_within(bytes, limits).unwrap();
        assert_eq!(walk(stream().records()), expected.0[0], "{path:?}: a stream");
        assert_eq!(walk(stream().records().in_time_order()), expected.0[1], "{path:?}: a stream");
    }
    Ok(())
}

#[test]
fn every_capture_is_the_same_through_every_door() {
    let mut pipes = 0;
    for path in testdata::captures() {
        let bytes = fs::read(&path).unwrap();
        // A file that cannot be opened has the same error in each way.
        let _ = compare(&path, &bytes, &Limits::default());
        pipes += u64::from(Reader::new(&bytes).is_ok_and(|reader| matches!(reader.mode(), Mode::Pipe)));
    }
    assert!(pipes > 3);
}

#[test]
fn every_damaged_capture_is_the_same_through_every_door() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged");
    for name in testdata::captures() {
        let mut bytes = fs::read(&name).unwrap();
        let size = bytes.len();
        bytes[size / 2..].iter_mut().take(16).for_each(|byte| *byte = 0);
        bytes.truncate(size - size / 5);
        fs::write(&path, &bytes).unwrap();
        println!("{}", name.display());
        let _ = compare(&path, &bytes, &Limits::default());
    }
}

#[test]
fn limits_hold_through_every_door() {
    let mut limits = Limits::default();
    (limits.held_records, limits.events) = (5, 1);
    for name in ["everything.data", "tracing.pipe.data"] {
        compare(&testdata::path(name), &capture(name), &limits).unwrap();
    }
    let bytes = capture("everything.data");
    let mut none = Limits::default();
    none.metadata = 100;
    let refused = [
        Reader::from_file_within(File::open(testdata::path("everything.data")).unwrap(), &none),
        Reader::from_seekable_within(Cursor::new(&bytes), &none),
    ];
    for reader in refused {
        let kind = reader.unwrap_err().kind;
        assert!(matches!(kind, FileErrorKind::Limit { field: "file", limit: 100, .. }), "{kind:?}");
    }
}

#[test]
fn a_folder_is_the_same_from_files_and_bytes_in_any_mix() {
    let folder = testdata::path("threads.dir");
    let names = ["data", "data.0", "data.1"];
    let bytes = names.map(|name| fs::read(folder.join(name)).unwrap());
    let file = |number: usize| File::open(folder.join(names[number])).unwrap();
    let mut memory = Reader::new(&bytes[0]).unwrap();
    bytes[1..].iter().for_each(|bytes| memory.add_data(bytes));
    let expected = read(&memory);
    assert!(expected.0[0].seen.iter().any(|it| it.data_file == 2));

    let mut files = Reader::from_file(file(0)).unwrap();
    (1..3).for_each(|number| files.add_file(file(number)).unwrap());
    let mut mixed = Reader::from_seekable(Cursor::new(&bytes[0])).unwrap();
    mixed.add_data(&bytes[1]);
    mixed.add_seekable(Shy::new(&bytes[2], 1000)).unwrap();
    let mut late = Reader::new(&bytes[0]).unwrap();
    late.add_data(&bytes[1]);
    late.add_file(file(2)).unwrap();
    assert!(read(&Reader::open(&folder).unwrap()) == expected);
    assert!(read(&files) == expected);
    assert!(read(&mixed) == expected);
    assert!(read(&late) == expected);
}

#[test]
fn several_walks_of_a_seekable_reader_at_once() {
    let bytes = capture("everything.data");
    let reader = Reader::from_seekable(Shy::new(&bytes, 500)).unwrap();
    let expected = walk(reader.records());
    let (mut one, mut other) = (reader.records(), reader.records());
    for seen in &expected.seen {
        assert_eq!(one.next().unwrap().unwrap().raw().as_bytes(), seen.raw);
        assert_eq!(other.next().unwrap().unwrap().raw().as_bytes(), seen.raw);
    }
    thread::scope(|scope| {
        let walks = [(); 3].map(|()| scope.spawn(|| walk(reader.records())));
        walks.into_iter().for_each(|walk| assert!(walk.join().unwrap() == expected));
    });
}

#[test]
fn aux_data_through_every_door() {
    let path = testdata::captures().into_iter().find(|path| path.ends_with("auxtrace.le.data")).unwrap();
    let bytes = fs::read(&path).unwrap();
    let memory = Reader::new(&bytes).unwrap();
    let sections: Vec<_> = memory.records().map(Result::unwrap).filter(|it| it.trailing_size() > 0).collect();
    assert!(!sections.is_empty());
    let check = |reader: &Reader<'_>| {
        for record in &sections {
            let offset = record.offset() + u64::from(record.raw().size());
            let section = Section { offset, size: record.trailing_size() };
            assert_eq!(reader.bytes_at(section).unwrap(), record.trailing());
            assert_eq!(memory.bytes_at(section).unwrap(), record.trailing());
        }
        for section in [
            Section { offset: 0, size: 8 },
            Section { offset: bytes.len() as u64, size: 1 },
            Section { offset: 200, size: u64::MAX },
        ] {
            let error = reader.bytes_at(section).unwrap_err();
            assert!(matches!(error.kind, FileErrorKind::Truncated { .. }), "{error}");
            assert_eq!(error.offset, section.offset);
        }
    };
    check(&Reader::open(&path).unwrap());
    check(&Reader::from_seekable(Shy::new(&bytes, 3)).unwrap());
    let stream = Reader::stream(fs::File::open(testdata::path("tracing.pipe.data")).unwrap()).unwrap();
    assert!(stream.bytes_at(Section { offset: 16, size: 8 }).is_err());

    let data_of = |reader: &Reader<'_>| {
        let records = reader.records().flatten().filter(|it| it.trailing_size() > 0);
        records.map(|it| reader.trailing(&it).unwrap().into_owned()).collect::<Vec<_>>()
    };
    let expected: Vec<_> = sections.iter().map(|it| it.trailing()).collect();
    assert_eq!(data_of(&memory), expected);
    assert_eq!(data_of(&Reader::open(&path).unwrap()), expected);
    assert_eq!(data_of(&Reader::from_seekable(Shy::new(&bytes, 3)).unwrap()), expected);
    // After a record of another data file.
    let Mode::File(header) = memory.mode() else { panic!("{:?}", memory.mode()) };
    let records = memory.bytes_at(header.data).unwrap();
    let mut files = Reader::from_seekable(Shy::new(&bytes, 300)).unwrap();
    files.add_seekable(Shy::new(&records, 300)).unwrap();
    assert_eq!(data_of(&files), [expected.clone(), expected].concat());
    // The same by the places of the data, and no bytes of other data files.
    for record in files.records() {
        let record = record.unwrap();
        let offset = record.offset() + u64::from(record.raw().size());
        let (data_file, data) =
            (record.position().data_file, Section { offset, size: record.trailing_size() });
        assert_eq!(files.aux_data_at(data_file, data).unwrap(), files.trailing(&record).unwrap());
        assert_eq!(files.bytes_in(data_file, data).unwrap(), files.trailing(&record).unwrap());
    }
    let error = files.bytes_in(2, Section { offset: 8, size: 8 }).unwrap_err();
    assert!(matches!(error.kind, FileErrorKind::Truncated { .. }) && error.offset == 8, "{error}");
}

/// A source whose reads fail from `reads_to` on, and whose seeks fail unless `seeks`.
struct Failing<'a> {
    bytes: Cursor<&'a [u8]>,
    seeks: bool,
    reads_to: u64,
}

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bytes.position() >= self.reads_to {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let most = (self.reads_to - self.bytes.position()).min(buffer.len() as u64) as usize;
        self.bytes.read(&mut buffer[..most])
    }
}

impl Seek for Failing<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if self.seeks { self.bytes.seek(to) } else { Err(ErrorKind::NotSeekable.into()) }
    }
}

#[test]
fn a_source_that_fails_is_an_error_that_says_how() {
    let bytes = capture("tracing.pipe.data");
    let failing = |seeks, reads_to| Failing { bytes: Cursor::new(&bytes[..]), seeks, reads_to };
    let kind = |error: FileError| error.kind;
    let not_seekable = FileErrorKind::Io(ErrorKind::NotSeekable);
    assert_eq!(Reader::from_seekable(failing(false, 0)).map(drop).map_err(kind), Err(not_seekable));
    let broken = FileErrorKind::Io(ErrorKind::BrokenPipe);
    assert_eq!(Reader::from_seekable(failing(true, 0)).map(drop).map_err(kind), Err(broken));
    let reader = Reader::from_seekable(failing(true, bytes.len() as u64 - 1)).unwrap();
    for _ in 0..2 {
        let walk = walk(reader.records());
        assert!(!walk.seen.is_empty());
        assert_eq!(walk.kinds(), [broken]);
    }

    let mut folder = Reader::new(&bytes).unwrap();
    assert_eq!(folder.add_seekable(failing(false, 0)).map_err(kind), Err(not_seekable));
    let mut stream = Reader::stream(&bytes[..]).unwrap();
    let unsupported = Err(FileErrorKind::Io(ErrorKind::Unsupported));
    assert_eq!(stream.add_seekable(Cursor::new(&bytes[..])).map_err(kind), unsupported);
    let plain = || File::open(testdata::path("plain.data")).unwrap();
    assert_eq!(stream.add_file(plain()).map_err(kind), unsupported);
    #[cfg(unix)]
    {
        let device = || File::open("/dev/null").unwrap();
        let invalid = Err(FileErrorKind::Io(ErrorKind::InvalidInput));
        assert_eq!(folder.add_file(device()).map_err(kind), invalid);
        assert_eq!(
            Reader::from_file(device()).map(drop).map_err(kind),
            Reader::stream(&[][..]).map(drop).map_err(kind)
        );
    }
}
