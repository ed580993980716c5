//! Captures made for one test.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::event::EventType;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FeaturePayloads, FileWriter, PipeWriter, WriteOptions};
use perf_parse::list::List;
use perf_parse::record::{CallchainDeferred, Comm};
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};

pub(crate) const KERNEL: u64 = CallchainContext::KERNEL.0;
pub(crate) const USER: u64 = CallchainContext::USER.0;
pub(crate) const DEFERRED: u64 = CallchainContext::USER_DEFERRED.0;

/// A capture of an event with call chains. Each record is 1 us after the one before it.
pub(crate) struct Made {
    attr: Attr,
    layout: SampleLayout,
    records: Vec<Vec<u8>>,
}

impl Made {
    pub(crate) fn new() -> Self {
        let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CALLCHAIN;
        let flags = AttrFlags::SAMPLE_ID_ALL | AttrFlags::COMM | AttrFlags::DEFER_CALLCHAIN;
        let attr = Attr {
            kind: EventType::SOFTWARE,
            sample_type,
            flags: flags | AttrFlags::DEFER_OUTPUT,
            sample_period: 1,
            ..Attr::default()
        };
        Self { attr, layout: SampleLayout::new(&attr).unwrap(), records: Vec::new() }
    }

    fn now(&self) -> u64 {
        1_000_000_000_000 + 1000 * self.records.len() as u64
    }

    fn record(mut self, tid: i32, record: &Record<'_, LittleEndian>) -> Self {
        let trailer = SampleIdFields { pid: tid, tid, time: self.now(), ..SampleIdFields::default() };
        let mut bytes = Vec::new();
        write::record::<LittleEndian>(&mut bytes, &self.layout, Misc(2), record, &trailer).unwrap();
        self.records.push(bytes);
        self
    }

    pub(crate) fn comm(self, tid: i32, name: &str) -> Self {
        self.record(tid, &Record::Comm(Comm { pid: tid, tid, comm: name.as_bytes() }))
    }

    /// Adds a sample with a call chain. Its own address is 0x1234.
    pub(crate) fn sample(mut self, tid: i32, chain: &[u64]) -> Self {
        let fields = SampleFields {
            ip: Some(0x1234),
            pid_tid: Some((tid, tid)),
            time: Some(self.now()),
            callchain: Some(chain.to_vec()),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &self.layout, Misc(2), &fields).unwrap();
        self.records.push(bytes);
        self
    }

    /// Adds a user part of call chains.
    pub(crate) fn deferred(self, tid: i32, cookie: u64, words: &[u64]) -> Self {
        let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let ips = List::new_in(Endianness::Little, &bytes);
        self.record(tid, &Record::CallchainDeferred(CallchainDeferred { cookie, ips }))
    }

    fn events(&self) -> [EventFields; 1] {
        [EventFields { attr: self.attr, ..EventFields::default() }]
    }

    /// Writes the capture as a file.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let out = Cursor::new(Vec::new());
        let mut writer = FileWriter::new(out, &self.events(), &WriteOptions::default()).unwrap();
        self.records.iter().for_each(|record| writer.record(record).unwrap());
        let path = needs::folder().join(name);
        fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
        path
    }

    /// Returns the capture as a pipe.
    pub(crate) fn pipe(&self) -> Vec<u8> {
        let features = FeaturePayloads::default();
        let mut writer =
            PipeWriter::new(Vec::new(), &self.events(), &features, &WriteOptions::default()).unwrap();
        self.records.iter().for_each(|record| writer.record(record).unwrap());
        writer.finish().unwrap()
    }
}
