//! Captures that the writer of perf-parse makes in memory, identical to the byte in each run.

use std::cell::RefCell;
use std::io::Cursor;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::LittleEndian;
use perf_abi::record::{CpuMode, Misc, RecordType};
use perf_abi::regs::RegsAbi;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::{Comm, FileId, Lost, Mmap2, Task};
use perf_parse::sample::Reading;
use perf_parse::write::{self, RegsFields, SampleFields, SampleIdFields, StackUserFields};
use perf_parse::{Record, SampleLayout};
use perf_session::Session;

use crate::processes::{self, PAIRS, RUNS, Shape};

/// Records, and their events.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    /// Contiguous little-endian records, or a whole file.
    pub(crate) bytes: Vec<u8>,
    /// Number of records.
    pub(crate) records: u64,
    /// Their events, which all have the same layout.
    pub(crate) events: Events,
    /// What is known of processes before the first of the records. Samples of known threads do not change it.
    pub(crate) session: RefCell<Session>,
}

/// The fields that the samples of all inputs have: three words after the header.
const PLAIN: SampleType = SampleType::IP.union(SampleType::TID).union(SampleType::TIME);

/// The fields of [`PLAIN`] and two more words: 48 bytes with the header.
const USUAL: SampleType = PLAIN.union(SampleType::CPU).union(SampleType::PERIOD);

/// The user registers that `perf record --call-graph dwarf` records on x86-64: all but `ds`, `es`, `fs` and `gs`.
const REGS_USER: u64 = 0xff_0fff;

/// Bytes of user stack that `perf record --call-graph dwarf` records.
const STACK_USER: u32 = 8192;

/// Number of events of [`ten_events`].
pub(crate) const EVENTS: u64 = 10;
/// Number of ids of each of these events, and of cpus of [`file`].
pub(crate) const CPUS: u64 = 4;

/// The first id of an event. The kernel assigns consecutive ids.
pub(crate) const FIRST_ID: u64 = 1000;

/// Number of samples of a cpu between two FINISHED_ROUND records of [`file`].
const ROUND: u64 = 64;

/// Returns samples of 32 bytes, as perf writes them for one event with a fixed period.
pub(crate) fn plain_32() -> Capture {
    samples(4096, Attr { sample_type: PLAIN, ..Attr::default() }, |_| SampleFields::default())
}

/// Returns samples of 48 bytes.
pub(crate) fn plain_48() -> Capture {
    samples(4096, Attr { sample_type: USUAL, ..Attr::default() }, |_| SampleFields::default())
}

/// Returns samples of a tracepoint with 68 bytes of raw data.
pub(crate) fn raw() -> Capture {
    samples(2048, Attr { sample_type: USUAL | SampleType::RAW, ..Attr::default() }, |n| {
        let raw = (0..68).map(|at: u8| at.wrapping_mul(n as u8)).collect();
        SampleFields { raw: Some(raw), ..SampleFields::default() }
    })
}

/// Returns samples with a call chain of 4 to 67 words, which has a kernel part and a user part.
pub(crate) fn callchain() -> Capture {
    samples(1024, Attr { sample_type: USUAL | SampleType::CALLCHAIN, ..Attr::default() }, |n| {
        let address = |base: u64| move |depth: u64| base + (n * 31 + depth * 0x123) % 0x10_0000;
        let mut chain = vec![CallchainContext::KERNEL.0];
        chain.extend((0..1 + n % 16).map(address(0xffff_ffff_8100_0000)));
        chain.push(CallchainContext::USER.0);
        chain.extend((0..1 + n * 7 % 49).map(address(0x5555_5555_0000)));
        SampleFields { callchain: Some(chain), ..SampleFields::default() }
    })
}

/// Returns samples for unwinding by DWARF, with user registers and a copy of the user stack.
pub(crate) fn dwarf() -> Capture {
    let attr = Attr {
        sample_type: USUAL | SampleType::REGS_USER | SampleType::STACK_USER,
        sample_regs_user: REGS_USER,
        sample_stack_user: STACK_USER,
        ..Attr::default()
    };
    samples(256, attr, |n| {
        let values = (0..u64::from(REGS_USER.count_ones())).map(|reg| n * 0x1_0001 + reg).collect();
        let data = (0..STACK_USER).map(|at| (n as u8).wrapping_add(at as u8)).collect();
        let dyn_size = Some(1 + n * 97 % u64::from(STACK_USER));
        SampleFields {
            regs_user: Some(RegsFields { abi: RegsAbi::ABI_64, values }),
            stack_user: Some(StackUserFields { data, dyn_size }),
            ..SampleFields::default()
        }
    })
}

/// Returns samples of ten events. The id at the start of a sample identifies the event.
pub(crate) fn ten_events() -> Capture {
    let attr = Attr { sample_type: USUAL | SampleType::IDENTIFIER, ..Attr::default() };
    let mut capture = samples(4096, attr, |n| {
        // Branch predictors and decoders must not be able to predict the order.
        let identifier = Some(FIRST_ID + n * n * 7 % (EVENTS * CPUS));
        SampleFields { identifier, ..SampleFields::default() }
    });
    let ids = |event| (0..CPUS).map(|cpu| FIRST_ID + event * CPUS + cpu).collect();
    capture.events = (0..EVENTS).map(|event| (attr, ids(event))).collect();
    capture
}

/// Number of events of [`many_events`].
const MANY: u64 = 65_536;

/// Returns samples of 65,536 events, in no order.
pub(crate) fn many_events() -> Capture {
    let attr = Attr { sample_type: USUAL | SampleType::IDENTIFIER, ..Attr::default() };
    let mut capture = samples(4096, attr, |n| {
        let identifier = Some(FIRST_ID + n * 7919 % MANY);
        SampleFields { identifier, ..SampleFields::default() }
    });
    capture.events = (0..MANY).map(|event| (attr, vec![FIRST_ID + event])).collect();
    capture
}

/// Returns rounds of samples of 1,024 cpus: four samples of one cpu, then four of the next. Their times interleave.
pub(crate) fn many_cpus() -> Capture {
    let events = Events::from_iter([(Attr { sample_type: USUAL, ..Attr::default() }, vec![FIRST_ID])]);
    let layout = layout(&events);
    let (cpus, of_cpu, mut bytes) = (1024, 4, Vec::new());
    for round in 0..4 {
        for cpu in 0..cpus {
            for at in 0..of_cpu {
                sample(&mut bytes, &layout, (round * of_cpu + at) * cpus + cpu, SampleFields::default());
            }
        }
        finished_round(&mut bytes);
    }
    Capture { bytes, records: 4 * (cpus * of_cpu + 1), events, session: RefCell::default() }
}

/// The program whose stack [`unwound`] has.
pub(crate) const I686: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/unwind/i686.elf");

/// Returns a capture of one sample with user registers and a copy of the stack, to be unwound as often as it counts records.
pub(crate) fn unwound() -> Capture {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/unwind/i686.data");
    let bytes = std::fs::read(path).expect("a file of the repository");
    Capture { bytes, records: 1024, events: Events::default(), session: RefCell::default() }
}

/// Returns the address of a symbol of [`kallsyms`].
pub(crate) fn symbol(number: u64) -> u64 {
    0xffff_ffff_8100_0000 + number * 256
}

/// Returns the list of a kernel's symbols.
pub(crate) fn kallsyms() -> Capture {
    let records = 20_000;
    let line = |number| format!("{:x} t function_with_a_name_{number}\n", symbol(number));
    let bytes = (0..records).flat_map(|number| line(number).into_bytes()).collect();
    Capture { bytes, records, events: Events::default(), session: RefCell::default() }
}

/// A small program with inlined functions, the first address of its code, and the number of its bytes.
pub(crate) const LINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../perf-symbol/tests/fixtures/lines");
pub(crate) const LINES_ADDRESS: u64 = 0x40_1000;

/// Returns the number of the addresses of [`LINES`].
pub(crate) fn lines() -> Capture {
    Capture { bytes: Vec::new(), records: 0x3c, events: Events::default(), session: RefCell::default() }
}

/// Returns samples, and the same number of other records of the kernel: MMAP2, COMM, FORK, EXIT and LOST.
pub(crate) fn records_mix() -> Capture {
    let attr = Attr { sample_type: USUAL, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    let events = Events::from_iter([(attr, vec![FIRST_ID])]);
    let layout = layout(&events);
    let (mut bytes, records) = (Vec::new(), 4096);
    for n in 0..records {
        let (pid, tid) = pid_tid(n);
        let task = Task { pid, ppid: 1, tid, ptid: 1, time: time(n) };
        let filename = &b"/usr/lib/x86_64-linux-gnu/libpthread-2.31.so"[..20 + (n % 25) as usize];
        let id = FileId::Inode { maj: 8, min: 1, ino: n, ino_generation: 7 };
        let (addr, len) = (ip(n) & !0xfff, 0x1000 * (1 + n % 64));
        let mmap2 = Mmap2 {
            pid,
            tid,
            addr,
            len,
            pgoff: 0,
            id,
            prot_flags: Some((5, 2)),
            reading: Reading::Certain,
            filename,
        };
        let other = match n % 10 {
            0 => Record::Mmap2(mmap2),
            2 => Record::Comm(Comm { pid, tid, comm: &b"kworker/u16:3"[..4 + (n % 9) as usize] }),
            4 => Record::Fork(task),
            6 => Record::Exit(task),
            8 => Record::Lost(Lost { id: FIRST_ID, lost: n }),
            _ => {
                sample(&mut bytes, &layout, n, SampleFields::default());
                continue;
            }
        };
        let trailer = SampleIdFields { pid, tid, time: time(n), cpu: cpu(n), ..SampleIdFields::default() };
        write::record::<LittleEndian>(&mut bytes, &layout, Misc(0), &other, &trailer)
            .expect("the record can be written");
    }
    Capture { bytes, records, events, session: RefCell::default() }
}

/// Returns a file with samples of four cpus. In each round, the samples of one cpu follow those of another. The times
/// of a round overlap with those of the previous round.
pub(crate) fn file() -> Capture {
    let attr = Attr { sample_type: USUAL, ..Attr::default() };
    let events = Events::from_iter([(attr, vec![FIRST_ID])]);
    let layout = layout(&events);
    let event = EventFields { attr, ids: vec![FIRST_ID], ..EventFields::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &WriteOptions::default())
        .expect("the event can be written");
    let mut put = |record: &[u8]| writer.record(record).expect("the record can be written");
    let (rounds, mut record, mut records) = (32, Vec::new(), 0);
    for round in 0..rounds {
        for cpu in 0..CPUS {
            for at in 0..ROUND {
                // The ring of a later cpu is read later, so it also contains the samples written in the meantime.
                let n = (round * ROUND + at + cpu * ROUND / 8) * CPUS + cpu;
                record.clear();
                sample(&mut record, &layout, n, SampleFields::default());
                put(&record);
                records += 1;
            }
        }
        record.clear();
        finished_round(&mut record);
        put(&record);
        records += 1;
    }
    let bytes = writer.finish().expect("a write to memory succeeds").into_inner();
    Capture { bytes, records, events, session: RefCell::default() }
}

/// Number of samples of the captures of processes.
const OF_PROCESSES: u64 = 4096;

/// Samples in a thousand processes with a hundred mappings each, in no order.
pub(crate) fn processes() -> Capture {
    in_processes(Shape::new(false))
}

/// The same with call chains. Every other frame is in another mapping than the one before.
pub(crate) fn stacks() -> Capture {
    in_processes(Shape { chain: Some(PAIRS), ..Shape::new(false) })
}

/// Samples in the same processes. Each process runs for a while.
pub(crate) fn scheduled() -> Capture {
    in_processes(Shape::new(true))
}

/// The same with call chains of the kernel and of the process.
pub(crate) fn sched_stacks() -> Capture {
    in_processes(Shape { chain: Some(RUNS), ..Shape::new(true) })
}

fn in_processes(shape: Shape) -> Capture {
    let events = processes::events(&shape);
    let bytes = processes::samples(&events, &shape, OF_PROCESSES);
    let session = RefCell::new(processes::session(&events, &shape));
    Capture { bytes, records: OF_PROCESSES, events, session }
}

/// Returns `records` samples of one event. Each has the leading fields that the event records, and `fields`.
fn samples(records: u64, attr: Attr, fields: impl Fn(u64) -> SampleFields) -> Capture {
    let events = Events::from_iter([(attr, vec![FIRST_ID])]);
    let layout = layout(&events);
    let mut bytes = Vec::new();
    for n in 0..records {
        sample(&mut bytes, &layout, n, fields(n));
    }
    Capture { bytes, records, events, session: RefCell::default() }
}

/// Returns the layout of the first event.
fn layout(events: &Events) -> SampleLayout {
    assert!(events[0].fault().is_none(), "the attr has only known bits");
    events[0].layout
}

fn ip(n: u64) -> u64 {
    0x5555_5555_0000 + n * 0x9e37 % 0x10_0000
}

fn pid_tid(n: u64) -> (i32, i32) {
    (1000 + (n % 7) as i32, 2000 + (n % 61) as i32)
}

fn time(n: u64) -> u64 {
    1_000_000_000_000 + n * 250_000
}

fn cpu(n: u64) -> u32 {
    (n % 16) as u32
}

/// Appends the sample with number `n`: the leading fields that its event records, and `fields`.
fn sample(bytes: &mut Vec<u8>, layout: &SampleLayout, n: u64, fields: SampleFields) {
    let has_cpu = layout.sample_type().contains(SampleType::CPU);
    let fields = SampleFields {
        ip: Some(ip(n)),
        pid_tid: Some(pid_tid(n)),
        time: Some(time(n)),
        cpu: has_cpu.then(|| cpu(n)),
        period: has_cpu.then_some(1_000_000 + n % 1000),
        ..fields
    };
    write::sample::<LittleEndian>(bytes, layout, CpuMode::USER.into(), &fields)
        .expect("the fields are those of the event");
}

/// Appends a FINISHED_ROUND, which consists only of a header.
fn finished_round(bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&RecordType::FINISHED_ROUND.0.to_le_bytes());
    bytes.extend_from_slice(&[0, 0, 8, 0]);
}
