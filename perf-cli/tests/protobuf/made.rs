//! Captures made for one test.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::LittleEndian;
use perf_abi::event::EventType;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::feature::{ClockData, FeatureData};
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::{Comm, Mmap};
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{ByteStr, Record, SampleLayout};

pub(crate) const USER: u64 = CallchainContext::USER.0;

/// The times of samples are after this one.
pub(crate) const START: u64 = 5_000_000_000;

/// The wall clock's time at [`START`].
pub(crate) const WALL: u64 = 1_700_000_000_000_000_000;

/// A capture.
pub(crate) struct Made {
    attrs: Vec<Attr>,
    layout: SampleLayout,
    records: Vec<Vec<u8>>,
    has_clocks: bool,
}

impl Made {
    /// A capture of some events with call chains, which count everything.
    pub(crate) fn new(events: u64) -> Self {
        let kinds = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME;
        let sample_type = kinds | SampleType::CPU | SampleType::CALLCHAIN;
        let attr = |config| Attr {
            kind: EventType::RAW,
            config,
            sample_type,
            flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::COMM,
            sample_period: 3,
            ..Attr::default()
        };
        let attrs: Vec<_> = (0..events).map(attr).collect();
        let layout = SampleLayout::new(&attrs[0]).unwrap();
        Self { attrs, layout, records: Vec::new(), has_clocks: false }
    }

    /// Adds a moment on both clocks.
    pub(crate) fn with_clocks(mut self) -> Self {
        self.has_clocks = true;
        self
    }

    fn now(&self) -> u64 {
        START + 1000 * self.records.len() as u64
    }

    fn record(mut self, tid: i32, record: &Record<'_, LittleEndian>) -> Self {
        let trailer = SampleIdFields { pid: tid, tid, time: self.now(), ..SampleIdFields::default() };
        let mut bytes = Vec::new();
        write::record::<LittleEndian>(&mut bytes, &self.layout, Misc(2), record, &trailer).unwrap();
        self.records.push(bytes);
        self
    }

    pub(crate) fn comm(self, tid: i32, comm: &[u8]) -> Self {
        self.record(tid, &Record::Comm(Comm { pid: tid, tid, comm }))
    }

    /// Adds a mapping of 4096 bytes.
    pub(crate) fn mmap(self, tid: i32, addr: u64, filename: &[u8]) -> Self {
        self.mmap_from(tid, addr, 0, filename)
    }

    /// Adds a mapping of 4096 bytes from an offset in a file.
    pub(crate) fn mmap_from(self, tid: i32, addr: u64, pgoff: u64, filename: &[u8]) -> Self {
        self.record(tid, &Record::Mmap(Mmap { pid: tid, tid, addr, len: 0x1000, pgoff, filename }))
    }

    /// Adds a sample of an event on CPU 0.
    pub(crate) fn sample(mut self, event: u64, tid: i32, chain: &[u64]) -> Self {
        let fields = SampleFields {
            identifier: Some(event + 1),
            ip: chain.first().copied(),
            pid_tid: Some((tid, tid)),
            time: Some(self.now()),
            cpu: Some(0),
            callchain: Some([&[USER], chain].concat()),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &self.layout, Misc(2), &fields).unwrap();
        self.records.push(bytes);
        self
    }

    /// Writes the capture as a file.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let ids: Vec<[u64; 1]> = (1..=self.attrs.len() as u64).map(|id| [id]).collect();
        let events = self.attrs.iter().zip(&ids);
        let events: Vec<_> = events
            .map(|(attr, ids)| EventFields { attr: *attr, ids: ids.to_vec(), ..EventFields::default() })
            .collect();
        let out = Cursor::new(Vec::new());
        let mut writer = FileWriter::new(out, &events, &WriteOptions::default()).unwrap();
        self.records.iter().for_each(|record| writer.record(record).unwrap());
        if self.has_clocks {
            let clocks = ClockData { version: 1, clockid: 1, wall_clock_ns: WALL, clockid_time_ns: START };
            writer.features().set(&FeatureData::ClockData(clocks)).unwrap();
            writer.features().set(&FeatureData::Hostname(ByteStr::new(b"the host"))).unwrap();
            writer.features().set(&FeatureData::Arch(ByteStr::new(b"aarch64"))).unwrap();
        }
        let path = needs::folder().join(name);
        fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
        path
    }
}
