//! A jitdump: what is found at an address and a time covers the address, and was loaded by then; the name without a time is
//! the only one. A reader returns the same records as the file in memory, and so do its functions. Its ELF file can be read, and is
//! no larger than a few times the jitdump.

use std::io::{self, Cursor};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::{Comm, Mmap};
use perf_parse::rewrite::Edit;
use perf_parse::write::{RecordEncoder, SampleIdFields};
use perf_parse::{Reader, Record, SampleLayout};
use perf_profile::Symbols;
use perf_profile::edit::GeneratedCode;
use perf_symbol::jitdump::{JitRecord, JitRecordBody, JitdumpHeader, JitdumpReader};
use perf_symbol::{ElfImage, FileBytes, Files, Jitdump, SymbolLimits, SymbolOptions};

/// `data` is the file.
pub fn run(data: &[u8]) -> bool {
    let Ok(dump) = Jitdump::parse(FileBytes::new(data.to_vec()), &SymbolLimits::default()) else {
        return false;
    };
    let header = JitdumpHeader::parse(data).expect("it was parsed");
    let mut reader = JitdumpReader::new(data).with_max_record(u32::MAX);
    for expected in header.records(data) {
        match (reader.next_record(), expected) {
            (Ok(Some(record)), Ok(expected)) => {
                check_bounds(&record);
                assert_eq!(format!("{record:?}"), format!("{expected:?}"));
            }
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected.to_string()),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }
    let mut again = Jitdump::default();
    // A record without an end ends both.
    let _ =
        again.read_more(&mut JitdumpReader::new(data).with_max_record(u32::MAX), &SymbolLimits::default());
    let words = data.chunks_exact(8).filter_map(|word| word.first_chunk().copied());
    for word in words.flat_map(|word| [u64::from_le_bytes(word), u64::from_be_bytes(word)]).take(256) {
        let last = dump.find(word, Some(u64::MAX));
        let sole = dump.find(word, None);
        for time in [0, word, u64::MAX] {
            let found = dump.find(word, Some(time));
            assert_eq!(again.find(word, Some(time)), found);
            assert!(found.is_none_or(|found| found.symbol.start <= word && word < found.symbol.end));
            // The last code at an address was loaded after any earlier one.
            assert!(found.map(|found| found.load) <= last.map(|last| last.load));
            // Without a time, the name is one that all code at the address had.
            let has_name = |name| found.is_none_or(|found| found.symbol.name == name);
            assert!(sole.is_none_or(|sole| has_name(sole.symbol.name)));
        }
    }
    code(data);
    true
}

/// A jitdump that is the only file.
struct OnlyDump(FileBytes);

impl Files for OnlyDump {
    fn read(&self, path: &Path, _limit: u64) -> io::Result<FileBytes> {
        if path == Path::new(DUMP) { Ok(self.0.clone()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

const DUMP: &str = "/tmp/jit-1.dump";

/// A capture of a process that has mapped the jitdump.
static CAPTURE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let attr = Attr {
        sample_type: SampleType::TID | SampleType::TIME,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::USE_CLOCKID,
        clockid: 1,
        ..Attr::default()
    };
    let layout = SampleLayout::new(&attr).expect("it can be decoded");
    let options = WriteOptions::default();
    let event = EventFields { attr, ..EventFields::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &options).expect("it is in memory");
    let (pid, tid) = (1, 1);
    let mmap = Mmap { pid, tid, addr: 0x1000, len: 0x1000, pgoff: 0, filename: DUMP.as_bytes() };
    for record in [Record::Comm(Comm { pid, tid, comm: b"jit" }), Record::Mmap(mmap)] {
        let mut bytes = Vec::new();
        let ids = SampleIdFields { pid, tid, time: 1, ..SampleIdFields::default() };
        let encoder = RecordEncoder::new_in(options.endianness, &layout);
        encoder.record(&mut bytes, Misc(2), &record, &ids).expect("a kernel writes it");
        writer.records(&bytes).expect("it is in memory");
    }
    writer.finish().expect("it is in memory").into_inner()
});

/// The ELF file of the code, and the capture that maps it.
fn code(data: &[u8]) {
    let reader = Reader::new(&CAPTURE).expect("it was written");
    let files = Arc::new(OnlyDump(FileBytes::new(data.to_vec())));
    let symbols = Symbols::with_files(reader.features(), SymbolOptions::default(), files);
    let code = GeneratedCode::of(&reader, &symbols, Path::new("/code"), |image| {
        assert!(image.bytes().len() <= 8 * data.len() + 16_384, "{} bytes", image.bytes().len());
        ElfImage::parse(FileBytes::new(image.bytes().to_vec())).expect("it was made");
        Ok(())
    });
    let edit = code.expect("nothing is written").add_to(Edit::new());
    let edited = edit.write_file(&reader, Cursor::new(Vec::new()), |_| {}).expect("it is in memory");
    assert!(edited.account.is_clean() && edited.dropped == 0);
    let bytes = edited.out.into_inner();
    let again = Reader::new(&bytes).expect("it was written");
    assert!(again.records().all(|record| record.is_ok_and(|record| record.decode().is_ok())));
}

/// What a record has is within its bytes.
fn check_bounds(record: &JitRecord<'_>) {
    let size = record.size as usize;
    match &record.body {
        JitRecordBody::Load(load) => assert!(load.name.len() + load.code.len() < size),
        JitRecordBody::UnwindingInfo(it) => assert!(it.eh_frame.len() + it.eh_frame_hdr.len() < size),
        JitRecordBody::DebugInfo(it) => assert!(it.lines().count() <= size / 17),
        _ => {}
    }
}
