//! A handmade `perf.data`: the container, and a clock that gives each record its time.

use core::marker::PhantomData;

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{Endian, U16, U32, U64};
use perf_abi::feature::Feature;
use perf_abi::file;
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{RawRecord, Record, Sample, SampleLayout};

/// The process of all records.
pub(crate) const PID: i32 = 100;
/// Its thread.
pub(crate) const TID: i32 = 101;
/// The number of CPUs of the machine.
const CPUS: u32 = 4;

/// Bytes in one byte order, appended field by field.
#[derive(Debug)]
pub(crate) struct Bytes<O>(pub(crate) Vec<u8>, PhantomData<O>);

impl<O: Endian> Bytes<O> {
    pub(crate) fn new() -> Self {
        Self(Vec::new(), PhantomData)
    }

    pub(crate) fn u16(mut self, value: u16) -> Self {
        self.0.extend(U16::<O>::new(value).to_bytes());
        self
    }

    pub(crate) fn u32(mut self, value: u32) -> Self {
        self.0.extend(U32::<O>::new(value).to_bytes());
        self
    }

    /// Appends a process ID, thread ID or CPU.
    pub(crate) fn i32(self, value: i32) -> Self {
        self.u32(value as u32)
    }

    pub(crate) fn u64(mut self, value: u64) -> Self {
        self.0.extend(U64::<O>::new(value).to_bytes());
        self
    }

    pub(crate) fn u64s(self, values: &[u64]) -> Self {
        values.iter().fold(self, |bytes, &value| bytes.u64(value))
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends `bytes`, padded with zeros to `size`.
    pub(crate) fn padded(mut self, bytes: &[u8], size: usize) -> Self {
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len() + size - bytes.len(), 0);
        self
    }

    /// Appends a string of a feature section: its length with NUL and padding, and its bytes.
    pub(crate) fn string(self, string: &str) -> Self {
        let size = (string.len() + 1).next_multiple_of(64);
        self.u32(size as u32).padded(string.as_bytes(), size)
    }
}

/// An event, with one ID per CPU.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) attr: Attr,
}

impl Event {
    pub(crate) fn new(name: &'static str, attr: Attr) -> Self {
        Self { name, attr }
    }
}

/// A capture under construction.
pub(crate) struct Capture<O: Endian> {
    events: Vec<Event>,
    layouts: Vec<SampleLayout>,
    attr_size: AttrVersion,
    data: Vec<u8>,
    /// The number of records so far, which determines the clock, the instruction pointer and the CPU.
    tick: u64,
    order: PhantomData<O>,
}

impl<O: Endian> Capture<O> {
    /// Creates a capture of `events`, with attrs of the size of perf 6.1's.
    pub(crate) fn new(events: Vec<Event>) -> Self {
        Self::with_attrs_of(AttrVersion::VER7, events)
    }

    pub(crate) fn with_attrs_of(attr_size: AttrVersion, events: Vec<Event>) -> Self {
        let layouts = events.iter().map(|event| SampleLayout::new(&event.attr).unwrap()).collect();
        Self { events, layouts, attr_size, data: Vec::new(), tick: 0, order: PhantomData }
    }

    /// Returns the ID of `event` on `cpu`.
    pub(crate) fn id(event: usize, cpu: u32) -> u64 {
        1000 + 10 * event as u64 + u64::from(cpu)
    }

    fn ids(event: usize) -> impl Iterator<Item = u64> {
        (0..CPUS).map(move |cpu| Self::id(event, cpu))
    }

    /// Advances the clock. Returns the trailer of the next record.
    fn now(&mut self, event: usize) -> SampleIdFields {
        let cpu = (self.tick % u64::from(CPUS)) as u32;
        let id = Self::id(event, cpu);
        let time = 1_000_000_000_000 + 1_000 * self.tick;
        self.tick += 1;
        SampleIdFields { pid: PID, tid: TID, time, id, stream_id: id + 500, cpu }
    }

    /// Returns the leading fields of the next sample of `event`.
    pub(crate) fn head(&mut self, event: usize) -> SampleFields {
        let now = self.now(event);
        let sample_type = self.events[event].attr.sample_type;
        let ip = 0x40_1000 + 4 * self.tick;
        let word = |field, value| sample_type.contains(field).then_some(value);
        SampleFields {
            identifier: word(SampleType::IDENTIFIER, now.id),
            ip: word(SampleType::IP, ip),
            pid_tid: sample_type.contains(SampleType::TID).then_some((now.pid, now.tid)),
            time: word(SampleType::TIME, now.time),
            addr: word(SampleType::ADDR, 0x7f00_dead_0000 + 8 * self.tick),
            id: word(SampleType::ID, now.id),
            stream_id: word(SampleType::STREAM_ID, now.stream_id),
            cpu: sample_type.contains(SampleType::CPU).then_some(now.cpu),
            period: word(SampleType::PERIOD, 100_003),
            ..SampleFields::default()
        }
    }

    /// Appends a sample of `event`. Its fields are [`head`](Self::head) and more, and must decode to the same.
    pub(crate) fn sample(&mut self, event: usize, misc: Misc, fields: &SampleFields) {
        let start = self.data.len();
        let layout = &self.layouts[event];
        write::sample::<O>(&mut self.data, layout, misc, fields).unwrap();
        let (raw, _) = RawRecord::<O>::parse(&self.data[start..]).unwrap();
        assert_eq!(Sample::parse(layout, &raw).unwrap().to_fields().as_ref(), Ok(fields));
    }

    /// Appends a kernel record, with the trailer of `event`. It must decode to the same.
    pub(crate) fn record(&mut self, event: usize, misc: Misc, record: &Record<'_, O>) {
        let now = self.now(event);
        let start = self.data.len();
        let layout = &self.layouts[event];
        write::record(&mut self.data, layout, misc, record, &now).unwrap();
        let (raw, _) = RawRecord::<O>::parse(&self.data[start..]).unwrap();
        assert_eq!(format!("{:?}", raw.decode(layout).unwrap()), format!("{record:?}"));
    }

    /// Appends a record with a handmade payload.
    pub(crate) fn raw(&mut self, kind: RecordType, misc: Misc, payload: Bytes<O>) {
        let size = u16::try_from(8 + payload.0.len()).unwrap();
        let header = Bytes::<O>::new().u32(kind.0).u16(misc.0).u16(size);
        self.data.extend(header.0);
        self.data.extend(payload.0);
    }

    /// Appends data that follows a record and belongs to it.
    pub(crate) fn behind(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }

    fn attr(&self, event: &Event) -> Vec<u8> {
        event.attr.write::<O>(self.attr_size).unwrap().to_vec()
    }

    fn features(&self) -> Vec<(Feature, Bytes<O>)> {
        let string = |feature, text| (feature, Bytes::new().string(text));
        let nr = self.events.len() as u32;
        let events = self.events.iter().enumerate();
        let event_desc =
            events.fold(Bytes::new().u32(nr).u32(self.attr_size.size()), |bytes, (index, event)| {
                let ids: Vec<_> = Self::ids(index).collect();
                bytes.bytes(&self.attr(event)).u32(CPUS).string(event.name).u64s(&ids)
            });
        vec![
            string(Feature::HOSTNAME, "synthetic"),
            string(Feature::OSRELEASE, "7.3.0"),
            string(Feature::VERSION, "7.3.0"),
            string(Feature::ARCH, "x86_64"),
            (Feature::NRCPUS, Bytes::new().u32(CPUS).u32(CPUS)),
            (Feature::CMDLINE, Bytes::new().u32(2).string("perf").string("record")),
            (Feature::EVENT_DESC, event_desc),
        ]
    }

    /// Returns the file: header, ids, attrs, data, table of features, features.
    pub(crate) fn finish(self) -> Vec<u8> {
        let features = self.features();
        let stride = u64::from(self.attr_size.size()) + 16;
        let ids_size = 8 * u64::from(CPUS);
        let nr = self.events.len() as u64;
        let attrs = HEADER + nr * ids_size;
        let data = attrs + nr * stride;
        let bitmap = features.iter().fold(0, |bits, (feature, _)| bits | 1 << feature.0);

        let mut out = Bytes::<O>::new().u64(file::MAGIC).u64s(&[HEADER, stride, attrs, nr * stride]);
        out = out.u64s(&[data, self.data.len() as u64, 0, 0, bitmap, 0, 0, 0]);
        for index in 0..self.events.len() {
            out = out.u64s(&Self::ids(index).collect::<Vec<_>>());
        }
        for (index, event) in self.events.iter().enumerate() {
            out = out.bytes(&self.attr(event)).u64(HEADER + index as u64 * ids_size).u64(ids_size);
        }
        out = out.bytes(&self.data);
        let mut section = out.0.len() + 16 * features.len();
        for (_, bytes) in &features {
            out = out.u64(section as u64).u64(bytes.0.len() as u64);
            section += bytes.0.len();
        }
        features.iter().fold(out, |out, (_, bytes)| out.bytes(&bytes.0)).0
    }
}

/// The size of the file's header.
const HEADER: u64 = 104;
