//! A handmade `perf.data`: the container, and a clock that gives each record its time.

use core::marker::PhantomData;

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{Endian, Endianness};
use perf_abi::feature::Feature;
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{RawRecord, Record, Sample, SampleLayout};
use testdata::Bytes;
use testdata::file::Builder;

/// The process of all records.
pub(crate) const PID: i32 = 100;
/// Its thread.
pub(crate) const TID: i32 = 101;
/// The number of CPUs of the machine.
const CPUS: u32 = 4;

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
    pub(crate) fn raw(&mut self, kind: RecordType, misc: Misc, payload: Bytes) {
        self.data.extend(payload.record(kind.0, misc.0));
    }

    /// Appends data that follows a record and belongs to it.
    pub(crate) fn data_after(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }

    fn features(&self) -> Vec<(Feature, Bytes)> {
        let string = |feature, text| (feature, Bytes::of::<O>().string(text));
        let nr = self.events.len() as u32;
        let events = self.events.iter().enumerate();
        let event_desc =
            events.fold(Bytes::of::<O>().u32(nr).u32(self.attr_size.size()), |bytes, (index, event)| {
                let ids: Vec<_> = Self::ids(index).collect();
                bytes
                    .attr(&event.attr, self.attr_size.size() as usize)
                    .u32(CPUS)
                    .string(event.name)
                    .u64s(&ids)
            });
        vec![
            string(Feature::HOSTNAME, "synthetic"),
            string(Feature::OSRELEASE, "7.3.0"),
            string(Feature::VERSION, "7.3.0"),
            string(Feature::ARCH, "x86_64"),
            (Feature::NRCPUS, Bytes::of::<O>().u32(CPUS).u32(CPUS)),
            (Feature::CMDLINE, Bytes::of::<O>().u32(2).string("perf").string("record")),
            (Feature::EVENT_DESC, event_desc),
        ]
    }

    /// Returns the file: header, ids, attrs, data, table of features, features.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut file = Builder { version: self.attr_size, ..Builder::new(O::ENDIANNESS == Endianness::Big) };
        for (index, event) in self.events.iter().enumerate() {
            file = file.event(event.attr, &Self::ids(index).collect::<Vec<_>>());
        }
        for (feature, bytes) in self.features() {
            file = file.feature(feature.0, bytes.out);
        }
        file.data(self.data).build().bytes
    }
}
