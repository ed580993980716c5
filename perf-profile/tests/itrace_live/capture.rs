//! Captures with Arm SPE data of several CPUs.

use std::io::Cursor;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::Endianness;
use perf_abi::event::EventType;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;
use perf_parse::feature::FeatureData;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use testdata::Bytes;

/// The PMU's type number.
const PMU_TYPE: u32 = 8;
/// The id of the event.
const ID: u64 = 5;
/// The time of the first record of an area.
const START: u64 = 2000;

/// What a capture has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capture {
    pub(crate) is_timed: bool,
    /// Whether records name their threads.
    pub(crate) has_contexts: bool,
    pub(crate) has_switches: bool,
    /// Number of AUX areas, one for each CPU.
    pub(crate) areas: u32,
    /// Number of records of each.
    pub(crate) records: u64,
}

impl Capture {
    /// Returns the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let fields = SampleType::IP
            | SampleType::TID
            | SampleType::ADDR
            | SampleType::CPU
            | SampleType::PERIOD
            | SampleType::WEIGHT
            | SampleType::DATA_SRC
            | SampleType::PHYS_ADDR
            | SampleType::IDENTIFIER;
        let attr = Attr {
            kind: EventType(PMU_TYPE),
            sample_period: 1024,
            sample_type: if self.is_timed { fields | SampleType::TIME } else { fields },
            read_format: ReadFormat::ID,
            flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP | AttrFlags::COMM | AttrFlags::TASK,
            ..Attr::default()
        };
        let event = EventFields {
            attr,
            ids: vec![ID],
            name: Some(b"arm_spe_0//".to_vec()),
            ..EventFields::default()
        };
        let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
        let mut file =
            FileWriter::new(Cursor::new(Vec::new()), &[event], &options).expect("an event of a file");
        file.features().set(&FeatureData::Arch("aarch64".into())).expect("a feature");
        let mut add = |record: Vec<u8>| file.record(&record).expect("a record");
        if self.is_timed {
            let conv = bytes().u64s(&[1, 2, 0, 0, u64::MAX]).u8(1).zeros(7);
            add(conv.record(79, 0));
        }
        add(bytes().u32(4).u32(0).u64s(&[PMU_TYPE.into(), 0]).record(70, 0));
        let comm = |tid: i32, name: &[u8], time| {
            self.trailer(bytes().i32(7).i32(tid).padded(name, 8), 7, time, 0).record(3, 0)
        };
        add(comm(7, b"prog", 1));
        let mmap = bytes().i32(7).i32(7).u64s(&[0x40_0000, 0x1_0000, 0]).padded(b"/bin/prog", 16);
        add(self.trailer(mmap, 7, 2, 0).record(1, 2));
        add(comm(8, b"other", START + 500));
        if self.has_switches {
            for (step, cpu) in (0..40).zip((0..self.areas.max(1)).cycle()) {
                let next = 7 + (step / 3) % 2;
                let switch = bytes().i32(7).i32(next);
                add(self
                    .trailer(switch, 7, START + 150 + 133 * step.unsigned_abs() as u64, cpu)
                    .record(15, 1 << 13));
            }
        }
        add(comm(7, b"renamed", START + 4000));
        let fork = bytes().i32(9).i32(7).i32(9).i32(7).u64(START + 5000);
        add(self.trailer(fork, 7, START + 5000, 0).record(7, 0));
        let end = bytes().i32(8).i32(7).i32(8).i32(7).u64(START + 100_000);
        add(self.trailer(end, 7, START + 100_000, 0).record(4, 0));
        for cpu in 0..self.areas {
            let data = self.data(cpu);
            let area = bytes()
                .u64s(&[data.len() as u64, 0, 0])
                .u32(cpu)
                .i32(7 + cpu.cast_signed() % 2)
                .u32(cpu)
                .u32(0);
            file.record_with_data(&area.record(71, 0), &data).expect("a record with data");
        }
        file.end_round().expect("a record");
        file.finish().expect("memory").into_inner()
    }

    fn trailer(&self, record: Bytes, tid: i32, time: u64, cpu: u32) -> Bytes {
        let record = record.i32(7).i32(tid);
        let record = if self.is_timed { record.u64(time) } else { record };
        record.u32(cpu).u32(0).u64(ID)
    }

    /// Returns the records of an area. They are of operations that each perf decodes alike.
    fn data(&self, cpu: u32) -> Vec<u8> {
        let mut out = bytes();
        for number in 0..self.records {
            let kind = (number + u64::from(cpu)) % 5;
            let address = |out: Bytes, index: u8, address| out.u8(0xb0 | index).u64(address);
            out = address(out, 0, 0x40_0000 + number % 64 * 16);
            out = match kind {
                // A load, a store, and three branches.
                0 => out.u8(0x49).u8(0),
                1 => out.u8(0x49).u8(1),
                2 => out.u8(0x4a).u8(1),
                3 => out.u8(0x4a).u8(2),
                _ => out.u8(0x4a).u8(0),
            };
            let when = |is: bool, event: u32| if is { event } else { 0 };
            let is_memory = kind < 2;
            let events = 2
                | when(is_memory, 1 << 2 | 1 << 4)
                | when(is_memory && number % 3 == 0, 1 << 3)
                | when(is_memory && number % 7 == 0, 1 << 5)
                | when(is_memory && number % 4 == 0, 1 << 8)
                | when(is_memory && number % 8 == 0, 1 << 9 | 1 << 10)
                | when(kind == 2 && number % 2 == 0, 1 << 6)
                | when(!is_memory && number % 3 == 0, 1 << 7);
            out = out.u8(0x62).u32(events).u8(0x98).u16(10 + (number % 50) as u16).u8(0x99).u16(3);
            if is_memory {
                out = address(out, 2, 0x7f00_0000_1000 + number * 8);
                out = address(out, 3, 0x1_0000 + number * 8);
                out = out.u8(0x43).u8((number % 14) as u8);
            } else {
                out = address(out, 1, 0x40_8000 + number % 32 * 8);
                if number % 2 == 1 {
                    out = address(out, 4, 0x40_4000 + number);
                }
            }
            if self.has_contexts && number % 3 != 1 {
                out = out.u8(0x64).u32(7 + ((number / 20) % 3) as u32);
            }
            // perf's conversion by a shift of 1 and a factor of 2: one tick is one nanosecond.
            out = if self.is_timed {
                out.u8(0x71).u64(START + number * 37 + u64::from(cpu) * 11)
            } else {
                out.u8(1)
            };
        }
        let len = out.len();
        out.zeros(len.next_multiple_of(8) - len).out
    }
}

fn bytes() -> Bytes {
    Bytes::new(false)
}
