//! The records of a jitdump, in memory and while the file grows.

use std::cell::Cell;
use std::io::{self, Read};

use perf_symbol::jitdump::{
    JitLoad, JitMove, JitRecord, JitRecordBody, Jitdump, JitdumpError, JitdumpHeader, JitdumpReader,
};
use perf_symbol::{FileBytes, SymbolLimits};
use testdata::JitdumpBytes;

/// A file that grows: reads end at what was written.
struct GrowingFile<'a> {
    bytes: &'a [u8],
    written: &'a Cell<usize>,
    at: usize,
}

impl Read for GrowingFile<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.at..self.written.get()];
        let size = rest.len().min(out.len());
        out[..size].copy_from_slice(&rest[..size]);
        self.at += size;
        Ok(size)
    }
}

/// A dump with a record of each kind.
fn every_record(big: bool) -> Vec<u8> {
    let tables = testdata::Bytes::new(big).u64s(&[7, 3, 9]).raw(b"framehdr");
    JitdumpBytes::new(big)
        .lines(0x100, &[(0x100, 4, "a.js"), (0x102, 5, "b.js")])
        .record(4, 8, &tables.out)
        .load(10, 0x100, 3, 7, "f")
        .moved(20, 0x100, 0x300, 3, 7)
        .record(99, 25, b"later")
        .record(3, 30, &[])
        .load(40, 0x100, 3, 8, "after the end")
        .out
}

fn kind(record: &JitRecord<'_>) -> String {
    match &record.body {
        JitRecordBody::Load(load) => format!("{} load {}", record.time, load.name.escape_ascii()),
        JitRecordBody::Move(_) => format!("{} move", record.time),
        JitRecordBody::DebugInfo(info) => format!("{} {} lines", record.time, info.lines().count()),
        JitRecordBody::Close => format!("{} close", record.time),
        JitRecordBody::UnwindingInfo(_) => format!("{} tables", record.time),
        JitRecordBody::Other { id, bytes } => format!("{} {id} {}", record.time, bytes.escape_ascii()),
        other => panic!("{other:?}"),
    }
}

const KINDS: [&str; 6] = ["1 2 lines", "8 tables", "10 load f", "20 move", "25 99 later", "30 close"];

#[test]
fn every_kind_of_record() {
    for big in [false, true] {
        let bytes = every_record(big);
        let header = JitdumpHeader::parse(&bytes).unwrap();
        assert_eq!((header.version, header.total_size, header.elf_mach, header.pid), (1, 40, 62, 5));
        assert!(!header.has_arch_times());
        let mut records = header.records(&bytes);
        let all: Vec<_> = records.by_ref().map(Result::unwrap).collect();
        assert!(!records.is_truncated());
        assert_eq!(all.iter().map(kind).collect::<Vec<_>>(), KINDS);
        assert_eq!((all[0].offset, all[1].offset), (40, 40 + u64::from(all[0].size)));
        let JitRecordBody::DebugInfo(info) = all[0].body else { panic!() };
        let lines: Vec<_> = info.lines().map(|it| (it.code_addr, it.line, it.discrim, it.file)).collect();
        assert_eq!(lines, [(0x100, 4, 3, &b"a.js"[..]), (0x102, 5, 3, b"b.js")]);
        let JitRecordBody::UnwindingInfo(tables) = all[1].body else { panic!() };
        assert_eq!(
            (tables.eh_frame, tables.eh_frame_hdr, tables.mapped_size),
            (&b"fram"[..], &b"ehd"[..], 9)
        );
        let JitRecordBody::Load(load) = all[2].body else { panic!() };
        let (name, code) = (&b"f"[..], &[0x90; 3][..]);
        let expected =
            JitLoad { pid: 5, tid: 5, vma: 0x100, code_addr: 0x100, code_size: 3, code_index: 7, name, code };
        assert_eq!(load, expected);
        let JitRecordBody::Move(moved) = all[3].body else { panic!() };
        let (old_code_addr, new_code_addr) = (0x100, 0x300);
        let expected =
            JitMove { pid: 5, tid: 5, vma: 0x300, old_code_addr, new_code_addr, code_size: 3, code_index: 7 };
        assert_eq!(moved, expected);
    }
}

/// At each byte, the reader has returned the records that end there, and no other.
#[test]
fn a_file_that_grows() {
    for big in [false, true] {
        let bytes = every_record(big);
        let header = JitdumpHeader::parse(&bytes).unwrap();
        let ends: Vec<_> =
            header.records(&bytes).map(|it| it.unwrap()).map(|it| it.offset + u64::from(it.size)).collect();
        let written = Cell::new(0);
        let mut reader = JitdumpReader::new(GrowingFile { bytes: &bytes, written: &written, at: 0 });
        let mut kinds = Vec::new();
        let mut functions = Jitdump::default();
        let mut second = JitdumpReader::new(GrowingFile { bytes: &bytes, written: &written, at: 0 });
        for end in 0..=bytes.len() {
            written.set(end);
            assert_eq!(reader.header().unwrap().is_some(), end >= 40);
            while let Some(record) = reader.next_record().unwrap() {
                assert_eq!(record.offset + u64::from(record.size), end as u64);
                kinds.push(kind(&record));
            }
            let expected = ends.iter().filter(|&&it| it <= end as u64).count();
            assert_eq!((kinds.len(), reader.is_closed()), (expected, expected == KINDS.len()));
            functions.read_more(&mut second, &SymbolLimits::default()).unwrap();
            let whole = Jitdump::parse(FileBytes::new(bytes[..end].to_vec()), &SymbolLimits::default());
            for (address, time) in [(0x101, None), (0x101, Some(15)), (0x302, Some(15)), (0x302, Some(25))] {
                let expected = whole.as_ref().ok().and_then(|dump| dump.find(address, time));
                assert_eq!(functions.find(address, time), expected, "{address:x} {time:?} {end}");
            }
        }
        assert_eq!(kinds, KINDS);
    }
}

#[test]
fn records_that_are_wrong_are_skipped() {
    let unended = [&[0; 40][..], b"no end"].concat();
    let cases: [(u32, &[u8], &str); 4] = [
        (0, &unended, "0x28: record of a jitdump: function name: must be ended by a NUL"),
        (1, &[0; 8], "0x28: record of a jitdump: vma: must be within the record"),
        (4, &[1; 24], "0x28: record of a jitdump: unwind_data_size: must be within the record"),
        (2, &[0; 8], "0x28: record of a jitdump: nr_entry: must be within the record"),
    ];
    for (id, payload, expected) in cases {
        let bytes = JitdumpBytes::new(false).record(id, 1, payload).load(10, 0x100, 3, 7, "f").out;
        let header = JitdumpHeader::parse(&bytes).unwrap();
        let in_memory: Vec<_> = header.records(&bytes).map(|it| it.map(|it| kind(&it))).collect();
        let [Err(error), Ok(load)] = &in_memory[..] else { panic!("{in_memory:?}") };
        assert_eq!((error.to_string().as_str(), load.as_str()), (expected, "10 load f"));
        let mut reader = JitdumpReader::new(&bytes[..]);
        assert_eq!(reader.next_record().unwrap_err().to_string(), expected);
        assert_eq!(kind(&reader.next_record().unwrap().unwrap()), "10 load f");
        let mut functions = Jitdump::default();
        assert_eq!(
            functions.read_more(&mut JitdumpReader::new(&bytes[..]), &SymbolLimits::default()).unwrap(),
            2
        );
        assert_eq!(functions.skipped(), 1);
    }
    let tables = testdata::Bytes::new(false).u64s(&[2, 3, 0]).raw(b"ab").out;
    let bytes = JitdumpBytes::new(false).record(4, 1, &tables).out;
    let error = JitdumpHeader::parse(&bytes).unwrap().records(&bytes).next().unwrap().unwrap_err();
    assert!(matches!(error, JitdumpError::Record { field: "eh_frame_hdr_size", offset: 40, .. }), "{error}");
}

#[test]
fn a_record_without_an_end() {
    let mut bytes = JitdumpBytes::new(false).load(10, 0x100, 3, 7, "f").out;
    bytes[44] = 15;
    let header = JitdumpHeader::parse(&bytes).unwrap();
    let mut records = header.records(&bytes);
    assert!(matches!(records.next(), Some(Err(JitdumpError::RecordSize { offset: 40, .. }))));
    assert!(records.next().is_none() && records.is_truncated());
    let mut reader = JitdumpReader::new(&bytes[..]);
    for _ in 0..2 {
        let error = reader.next_record().unwrap_err();
        assert!(matches!(error, JitdumpError::RecordSize { offset: 40, .. }));
        assert!(error.to_string().starts_with("0x28: record of a jitdump: total_size: must be 16 or more"));
    }
    let error = Jitdump::default().read_more(&mut reader, &SymbolLimits::default()).unwrap_err();
    assert!(matches!(error, JitdumpError::RecordSize { .. }));
}

#[test]
fn a_record_that_is_too_large() {
    let bytes =
        JitdumpBytes::new(false).load(10, 0x100, 0x1000, 7, "large").load(20, 0x100, 3, 8, "small").out;
    let mut reader = JitdumpReader::new(&bytes[..]).with_max_record(100);
    let error = reader.next_record().unwrap_err();
    assert!(matches!(error, JitdumpError::TooLarge { offset: 40, size: 4158 }), "{error:?}");
    assert!(error.to_string().contains("4158 bytes are more"));
    assert_eq!(kind(&reader.next_record().unwrap().unwrap()), "20 load small");
}

#[test]
fn headers_that_are_wrong() {
    let whole = JitdumpBytes::new(false).out;
    let error = |bytes: &[u8]| JitdumpHeader::parse(bytes).unwrap_err().to_string();
    assert_eq!(error(b"JiTE"), "header of the jitdump: magic: must be that of a jitdump");
    assert_eq!(error(&whole[..39]), "header of the jitdump: total_size: must be 40 bytes or more");
    let with = |at: usize, byte| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        error(&bytes)
    };
    assert_eq!(with(4, 2), "header of the jitdump: version: must be 1");
    assert_eq!(with(8, 39), "header of the jitdump: total_size: must be 40 bytes or more");
    let mut reader = JitdumpReader::new(&[b'x'; 40][..]);
    assert!(matches!(reader.next_record(), Err(JitdumpError::Header { field: "magic", .. })));
}

#[test]
fn a_file_that_cannot_be_read() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
    let error = JitdumpReader::new(Broken).next_record().unwrap_err();
    assert_eq!(error.to_string(), "the jitdump cannot be read: permission denied");
    assert!(std::error::Error::source(&error).is_some());
}
