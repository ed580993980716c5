//! A capture that is being written, one record for each unit of time.

use std::io::Cursor;

use perf_parse::SampleLayout;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::record::Misc;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::Record;
use perf_parse::write::{RecordEncoder, SampleFields, SampleIdFields};

pub(crate) struct Recording {
    layout: SampleLayout,
    writer: FileWriter<Cursor<Vec<u8>>>,
    /// The time of the last record.
    pub(crate) time: u64,
    /// The thread of the next records.
    pub(crate) tid: i32,
}

impl Recording {
    pub(crate) fn new(attr: Attr) -> Self {
        let layout = SampleLayout::new(&attr).unwrap();
        let event = EventFields { attr, ids: vec![7], ..EventFields::default() };
        let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
        let writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &options).unwrap();
        Self { layout, writer, time: 0, tid: 0 }
    }

    /// Continues after a time.
    pub(crate) fn at(&mut self, time: u64) -> &mut Self {
        self.time = time;
        self
    }

    pub(crate) fn record(&mut self, misc: Misc, record: Record<'_>) -> &mut Self {
        self.time += 1;
        let mut bytes = Vec::new();
        let ids =
            SampleIdFields { pid: self.tid, tid: self.tid, time: self.time, ..SampleIdFields::default() };
        let encoder = RecordEncoder::new_in(Endianness::Little, &self.layout);
        encoder.record(&mut bytes, misc, &record, &ids).unwrap();
        self.writer.records(&bytes).unwrap();
        self
    }

    /// Adds a sample with these fields and the time.
    #[allow(dead_code, reason = "not each test has samples")]
    pub(crate) fn sample(&mut self, misc: Misc, fields: SampleFields) -> &mut Self {
        self.time += 1;
        let fields = SampleFields { time: Some(self.time), ..fields };
        let mut bytes = Vec::new();
        let encoder = RecordEncoder::new_in(Endianness::Little, &self.layout);
        encoder.sample(&mut bytes, misc, &fields).unwrap();
        self.writer.records(&bytes).unwrap();
        self
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.writer.finish().unwrap().into_inner()
    }
}
