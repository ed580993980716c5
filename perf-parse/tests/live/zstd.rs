//! The installed perf reads compressed records.

use std::io::Cursor;

use perf_parse::abi::record::RecordType;
use perf_parse::file::write::{FileWriter, WriteOptions, ZstdOptions};

use crate::perf::{SCRIPT, as_pipe, expected, read};
use compare::rewrite::{File, events, rewrite};

pub(crate) const TESTS: &[needs::Test] = needs::tests![plain, callchain, group_read, identifier, raw];

fn reads_as_the_original(name: &str) {
    let original = testdata::path(&format!("{name}.data"));
    let expected = expected(SCRIPT, &original);
    let options = WriteOptions {
        zstd: Some(ZstdOptions { level: 1, record: RecordType::COMPRESSED }),
        ..WriteOptions::default()
    };
    let bytes = std::fs::read(&original).unwrap();
    let file = File::open(&bytes).unwrap();
    let writer = FileWriter::new(Cursor::new(Vec::new()), &events(&file), &options).unwrap();
    for written in [rewrite(&file, writer), as_pipe(&file, &options)] {
        let read = read(SCRIPT, &written);
        let records = |printed: &str| -> Vec<_> {
            printed.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
        };
        assert!(read.contains("# compressed : Zstd, level = 1, ratio = "), "{read}");
        assert_eq!(records(&read), records(&expected));
    }
}

fn plain() {
    reads_as_the_original("plain");
}

fn callchain() {
    reads_as_the_original("callchain");
}

fn group_read() {
    reads_as_the_original("group_read");
}

fn identifier() {
    reads_as_the_original("identifier");
}

fn raw() {
    reads_as_the_original("raw");
}
