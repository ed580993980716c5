//! A capture of a whole system: as `perf record -o -` pipes it, made while another program reads it, or as a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::LittleEndian;
use perf_abi::record::{CpuMode, Header, Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::file::write::{
    EventFields, FeaturePayloads, FileWriter, PipeWriter, WriteFileError, WriteOptions,
};
use perf_parse::record::{Comm, FileId, Mmap2, Task};
use perf_parse::sample::Reading;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};
use zerocopy::IntoBytes;

use crate::failure::Failure;

/// What the processes of the system do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// Processes come and go, a few at a time, such as the compilers of a build.
    Short,
    /// A few processes run all the time.
    Long,
}

/// Mappings of a process, processes that are alive at a time, and samples of a process that exits.
const MAPPINGS: u64 = 40;
const ALIVE: u64 = 16;
const SAMPLES: u64 = 100;

/// Frames of a call chain, the marker not counted.
const FRAMES: u64 = 20;

/// Records between two FINISHED_ROUND records.
const ROUND: u64 = 5000;

/// Process ids are used again after as many.
const PIDS: u64 = 4_000_000;

/// The process that forks all others.
const PARENT: i32 = 1;

const ID: u64 = 1000;

/// Writes a stream of about `size` bytes. Returns the number of samples.
///
/// # Errors
///
/// If the stream cannot be written.
pub(crate) fn write(out: impl Write, load: Load, size: u64) -> Result<u64, Failure> {
    let event = event();
    let features = FeaturePayloads::default();
    let mut writer = PipeWriter::new(out, &[event], &features, &WriteOptions::default())?;
    let samples = System::run(|record| writer.record(record), load, size)?;
    writer.finish()?;
    Ok(samples)
}

/// Writes a file of about `size` bytes. Returns the number of samples.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn write_file(path: &Path, load: Load, size: u64) -> Result<u64, Failure> {
    let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut writer = FileWriter::new(out, &[event()], &WriteOptions::default())?;
    let samples = System::run(|record| writer.record(record), load, size)?;
    writer.finish()?.flush()?;
    Ok(samples)
}

/// The event of all samples.
fn event() -> EventFields {
    let sample_type = SampleType::IP
        | SampleType::TID
        | SampleType::TIME
        | SampleType::CPU
        | SampleType::PERIOD
        | SampleType::CALLCHAIN;
    let attr = Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    EventFields { attr, ids: vec![ID], name: Some(b"cycles".to_vec()), ..EventFields::default() }
}

struct System<W> {
    /// Writes a record.
    write: W,
    layout: SampleLayout,
    /// The next record.
    record: Vec<u8>,
    records: u64,
    bytes: u64,
    samples: u64,
}

impl<W: FnMut(&[u8]) -> Result<(), WriteFileError>> System<W> {
    /// Writes all records. Returns the number of samples.
    fn run(write: W, load: Load, size: u64) -> Result<u64, Failure> {
        let layout = Events::from_iter([(event().attr, vec![ID])])[0].layout;
        let mut system = Self { write, layout, record: Vec::new(), records: 0, bytes: 0, samples: 0 };
        let alive = |number: u64| 2 + (number % PIDS) as i32;
        (0..ALIVE).try_for_each(|number| system.begin(alive(number)))?;
        let mut first = 0;
        while system.bytes < size {
            // The processes run in turn.
            for number in 0..SAMPLES * ALIVE {
                system.sample(alive(first + number % ALIVE), number)?;
            }
            if matches!(load, Load::Short) {
                for number in first..first + ALIVE {
                    system.exit(alive(number))?;
                    system.begin(alive(number + ALIVE))?;
                }
                first += ALIVE;
            }
        }
        Ok(system.samples)
    }

    fn time(&self) -> u64 {
        1_000_000_000_000 + self.records * 1000
    }

    /// Writes the record that was made.
    fn put(&mut self) -> Result<(), Failure> {
        (self.write)(&self.record)?;
        self.bytes += self.record.len() as u64;
        self.records += 1;
        self.record.clear();
        if self.records.is_multiple_of(ROUND) {
            let round = Header::<LittleEndian>::new(RecordType::FINISHED_ROUND, Misc(0), 8);
            (self.write)(round.as_bytes())?;
        }
        Ok(())
    }

    fn other(&mut self, pid: i32, misc: Misc, record: &Record<'_, LittleEndian>) -> Result<(), Failure> {
        let time = self.time();
        let trailer = SampleIdFields { pid, tid: pid, time, id: ID, ..SampleIdFields::default() };
        write::record(&mut self.record, &self.layout, misc, record, &trailer)?;
        self.put()
    }

    /// A process is forked, executes a program and maps its libraries.
    fn begin(&mut self, pid: i32) -> Result<(), Failure> {
        let task = Task { pid, ppid: PARENT, tid: pid, ptid: PARENT, time: self.time() };
        self.other(PARENT, Misc(0), &Record::Fork(task))?;
        let comm = format!("cc1-{pid}");
        self.other(pid, Misc::COMM_EXEC, &Record::Comm(Comm { pid, tid: pid, comm: comm.as_bytes() }))?;
        for number in 0..MAPPINGS {
            let filename = format!("/usr/lib/x86_64-linux-gnu/lib{number}.so.1");
            let id = FileId::Inode { maj: 8, min: 1, ino: number, ino_generation: 0 };
            let (prot_flags, filename) = (Some((5, 2)), filename.as_bytes());
            let (addr, len) = (address(number), SIZE);
            let mapping = Mmap2 {
                pid,
                tid: pid,
                addr,
                len,
                pgoff: 0,
                id,
                prot_flags,
                reading: Reading::Certain,
                filename,
            };
            self.other(pid, CpuMode::USER.into(), &Record::Mmap2(mapping))?;
        }
        Ok(())
    }

    fn sample(&mut self, pid: i32, number: u64) -> Result<(), Failure> {
        let frame = |depth| address((number + depth / 2) % MAPPINGS) + (number * 31 + depth * 0x123) % SIZE;
        let callchain: Vec<u64> = [perf_abi::callchain::CallchainContext::USER.0]
            .into_iter()
            .chain((0..FRAMES).map(frame))
            .collect();
        let fields = SampleFields {
            ip: Some(frame(0)),
            pid_tid: Some((pid, pid)),
            time: Some(self.time()),
            cpu: Some((number % ALIVE) as u32),
            period: Some(1),
            callchain: Some(callchain),
            ..SampleFields::default()
        };
        write::sample::<LittleEndian>(&mut self.record, &self.layout, CpuMode::USER.into(), &fields)?;
        self.samples += 1;
        self.put()
    }

    fn exit(&mut self, pid: i32) -> Result<(), Failure> {
        let task = Task { pid, ppid: PARENT, tid: pid, ptid: PARENT, time: self.time() };
        self.other(pid, Misc(0), &Record::Exit(task))
    }
}

/// Bytes of a mapping.
const SIZE: u64 = 0x8000;

/// The address of a mapping.
fn address(number: u64) -> u64 {
    0x7f00_0000_0000 + number * 0x10_0000
}
