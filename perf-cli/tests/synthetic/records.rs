//! Records other than samples: every type, in each of its forms.

use core::mem::size_of;

use perf_abi::attr::{Attr, AttrFlags, AttrVersion, AuxAction};
use perf_abi::aux_area::AuxFlags;
use perf_abi::auxtrace::AuxtraceType;
use perf_abi::breakpoint::BreakpointType;
use perf_abi::endian::{Endian, Endianness};
use perf_abi::event::{EventType, SwId};
use perf_abi::feature::Feature;
use perf_abi::ksymbol::{BpfEventType, KsymbolFlags, KsymbolType};
use perf_abi::read_format::ReadFormat;
use perf_abi::record::{
    self as wire, AuxtraceErrorType, CpuMapType, EventUpdateType, Misc, RecordType, StatConfigTerm,
    StatRoundType,
};
use perf_abi::sample_type::SampleType;
use perf_parse::Record;
use perf_parse::list::List;
use perf_parse::record::{
    Aux, AuxOutputHwId, BpfEvent, Cgroup, Comm, FileId, ItraceStart, Ksymbol, Lost, LostSamples, Mmap, Mmap2,
    Namespaces, SwitchCpuWide, Task, TextPoke, Throttle,
};
use perf_parse::sample::Reading;
use perf_parse::write::SampleFields;

use testdata::Bytes;

use crate::file::{Capture, Event, PID, TID};
use crate::{KERNEL, USER};

/// Returns an event whose records have every field of the trailer.
fn page_faults() -> Event {
    let trailer = SampleType::TID
        | SampleType::TIME
        | SampleType::ID
        | SampleType::STREAM_ID
        | SampleType::CPU
        | SampleType::IDENTIFIER;
    let attr = Attr {
        kind: EventType::SOFTWARE,
        config: SwId::PAGE_FAULTS.0,
        sample_period: 1,
        sample_type: SampleType::IP | trailer,
        read_format: ReadFormat::ID | ReadFormat::LOST,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP | AttrFlags::COMM | AttrFlags::TASK,
        ..Attr::default()
    };
    Event::new("page-faults", attr)
}

fn capture<O: Endian>() -> Capture<O> {
    Capture::new(vec![page_faults()])
}

fn mmap(filename: &[u8]) -> Mmap<'_> {
    Mmap { pid: PID, tid: TID, addr: 0x40_1000, len: 0x2000, pgoff: 0x1000, filename }
}

fn mmap2(id: FileId, filename: &[u8]) -> Mmap2<'_> {
    let Mmap { pid, tid, addr, len, pgoff, .. } = mmap(filename);
    Mmap2 { pid, tid, addr, len, pgoff, id, prot_flags: Some((5, 2)), reading: Reading::Certain, filename }
}

const INODE: FileId = FileId::Inode { maj: 254, min: 1, ino: 10_010_645, ino_generation: 2_701_819_589 };

/// Each type that kernels up to 6.1 write, except SAMPLE, once.
pub(crate) fn records<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    let task = Task { pid: PID + 1, ppid: PID, tid: TID + 1, ptid: TID, time: 999_999_999_000 };
    let throttle = Throttle { time: 999_999_999_500, id: 1000, stream_id: 1500 };
    let comm = Comm { pid: PID, tid: TID, comm: b"fifteen letters" };
    let link_info: Vec<u8> = (0..7).flat_map(|ns| [4, 0xf000_0000 + ns]).flat_map(u64::to_ne_bytes).collect();
    let link_info = List::new_in(Endianness::NATIVE, &link_info);
    let ksymbol = Ksymbol {
        addr: 0xffff_ffff_c000_1000,
        len: 123,
        ksym_type: KsymbolType::BPF,
        flags: KsymbolFlags::NONE,
        name: b"bpf_prog_6deef7357e7b4530_x",
    };
    let (tag, kind) = ([0x6d, 0xee, 0xf7, 0x35, 0x7e, 0x7b, 0x45, 0x30], BpfEventType::PROG_LOAD);
    let aux = Aux { aux_offset: 0x1_0000_0000, aux_size: 0x4000, flags: AuxFlags::TRUNCATED };
    let wide = SwitchCpuWide { next_prev_pid: 7, next_prev_tid: 8 };
    capture.record(
        0,
        Misc(KERNEL.0),
        &Record::Mmap(Mmap { pid: -1, tid: 0, ..mmap(b"[kernel.kallsyms]_text") }),
    );
    capture.record(0, Misc(USER.0 | Misc::MMAP_DATA.0), &Record::Mmap(mmap(b"/usr/lib/libc.so.6")));
    capture.record(0, Misc(0), &Record::Lost(Lost { id: 1000, lost: 3 }));
    capture.record(0, Misc::COMM_EXEC, &Record::Comm(comm));
    capture.record(0, Misc(0), &Record::Comm(Comm { comm: b"", ..comm }));
    capture.record(0, Misc::FORK_EXEC, &Record::Fork(task));
    capture.record(0, Misc(0), &Record::Exit(task));
    capture.record(0, Misc(0), &Record::Throttle(throttle));
    capture.record(0, Misc(0), &Record::Unthrottle(throttle));
    capture.record(0, USER, &Record::Mmap2(mmap2(INODE, b"/usr/bin/caf\xc3\xa9 \xff\t!")));
    capture.record(0, Misc(0), &Record::Aux(aux));
    capture.record(0, Misc(0), &Record::ItraceStart(ItraceStart { pid: PID, tid: TID }));
    capture.record(0, Misc(0), &Record::LostSamples(LostSamples { lost: 11 }));
    capture.record(0, Misc::LOST_SAMPLES_BPF, &Record::LostSamples(LostSamples { lost: 1 }));
    capture.record(0, Misc(0), &Record::Switch);
    capture.record(0, Misc(Misc::SWITCH_OUT.0 | Misc::SWITCH_OUT_PREEMPT.0), &Record::SwitchCpuWide(wide));
    capture.record(0, Misc(0), &Record::Namespaces(Namespaces { pid: PID, tid: TID, link_info }));
    capture.record(0, Misc(0), &Record::Ksymbol(ksymbol));
    capture.record(0, Misc(0), &Record::Ksymbol(Ksymbol { flags: KsymbolFlags::UNREGISTER, ..ksymbol }));
    capture.record(0, Misc(0), &Record::BpfEvent(BpfEvent { kind, flags: 0, id: 77, tag }));
    capture.record(0, Misc(0), &Record::Cgroup(Cgroup { id: 4242, path: b"/user.slice" }));
    capture.record(
        0,
        KERNEL,
        &Record::TextPoke(TextPoke { addr: 0xffff_ffff_8100_0000, old: b"\x90", new: b"\xcc" }),
    );
    capture.record(0, Misc(0), &Record::AuxOutputHwId(AuxOutputHwId { hw_id: 2 }));
    let fields = capture.head(0);
    capture.sample(0, USER, &fields);
    capture.finish()
}

/// READ records: counters of a task that ended, in both forms.
pub(crate) fn read_records<O: Endian>() -> Vec<u8> {
    let mut event = page_faults();
    event.attr.read_format = ReadFormat::KNOWN;
    let mut single = event.clone();
    single.attr.read_format = ReadFormat(ReadFormat::KNOWN.0 & !ReadFormat::GROUP.0);
    let mut capture = Capture::<O>::new(vec![event, single]);
    let task = || Bytes::of::<O>().i32(PID).i32(TID);
    let who = |id: u64| Bytes::of::<O>().i32(PID).i32(TID).u64s(&[1_000_000_000_000, id, id + 500, 0, id]);
    let group = task().u64s(&[2, 2_000_000, 1_500_000, 41, 1000, 0, 42, 1001, 7]);
    capture.raw(RecordType::READ, Misc(0), group.raw(&who(1000).out));
    let one = task().u64s(&[43, 2_000_000, 1_500_000, 1010, 8]);
    capture.raw(RecordType::READ, Misc(0), one.raw(&who(1010).out));
    capture.finish()
}

/// AUX records with every flag, and the start of traces.
pub(crate) fn aux_area<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    for (index, flags) in (0..).zip([0, 1, 2, 4, 8, 0x100, 0xf, 0x1_0000]) {
        let aux = Aux {
            aux_offset: index << 12,
            aux_size: if index == 1 { 0 } else { 4096 },
            flags: AuxFlags(flags),
        };
        capture.record(0, Misc(0), &Record::Aux(aux));
    }
    capture.record(0, Misc(0), &Record::ItraceStart(ItraceStart { pid: PID, tid: TID }));
    for hw_id in [0, 3, u64::MAX] {
        capture.record(0, Misc(0), &Record::AuxOutputHwId(AuxOutputHwId { hw_id }));
    }
    capture.finish()
}

/// AUXTRACE records, which are followed by their data.
pub(crate) fn auxtrace<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    let info = Bytes::of::<O>().u32(AuxtraceType::INTEL_BTS.0).u32(0).u64s(&[9, 10, 0x8000_0000, 77, 1, 0]);
    capture.raw(RecordType::AUXTRACE_INFO, Misc(0), info);
    for (index, size) in (0..).zip([24_u64, 0, 8]) {
        let place = Bytes::of::<O>().u64s(&[size, 24 * u64::from(index), 0x1234_5678_9abc]);
        let place = place.u32(index).i32(if index == 1 { -1 } else { TID }).i32(-1).u32(0);
        capture.raw(RecordType::AUXTRACE, Misc(0), place);
        capture.data_after(&vec![0xa5; size as usize]);
    }
    capture.record(0, Misc(0), &Record::Switch);
    capture.finish()
}

/// Changes of kernel code of all lengths modulo 8, of new code, and of removed code.
pub(crate) fn text_poke<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    let text: Vec<_> = (0..=255).collect();
    for (old, new) in [(0, 0), (0, 5), (5, 0), (1, 1), (5, 5), (2, 2), (3, 3), (4, 4), (6, 7), (255, 256)] {
        let poke = TextPoke { addr: 0xffff_ffff_8100_0000, old: &text[..old], new: &text[256 - new..] };
        capture.record(0, KERNEL, &Record::TextPoke(poke));
    }
    capture.finish()
}

/// MMAP2 in the format of Linux 3.12 to 3.15, without protection and flags.
pub(crate) fn mmap2_old<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    for filename in [&b"/usr/bin/true"[..], b"//anon", b"[vdso]", b"a", b""] {
        // A path of 8 bytes or more may be a protection, flags and a path.
        let reading = if filename.len() < 8 { Reading::Certain } else { Reading::Other };
        let old = Mmap2 { prot_flags: None, reading, ..mmap2(INODE, filename) };
        capture.record(0, USER, &Record::Mmap2(old));
    }
    capture.finish()
}

/// MMAP2 with build IDs of 20, 16 and 0 bytes, mixed with ones that have inodes.
pub(crate) fn mmap2_build_id<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    for size in [20_u8, 16, 8, 0] {
        let bytes =
            core::array::from_fn(|index| if index < usize::from(size) { 0xc0 | index as u8 } else { 0 });
        let record = Record::Mmap2(mmap2(FileId::BuildId { size, bytes }, b"/usr/bin/true"));
        capture.record(0, Misc(USER.0 | Misc::MMAP_BUILD_ID.0), &record);
        capture.record(0, Misc(USER.0 | Misc::MMAP_DATA.0), &Record::Mmap2(mmap2(INODE, b"[heap]")));
    }
    capture.finish()
}

/// Unknown types. Their bytes are opaque, so they are the same in both byte orders.
pub(crate) fn unknown<O: Endian>() -> Vec<u8> {
    let mut event = page_faults();
    event.attr.flags = AttrFlags::MMAP;
    let mut capture = Capture::<O>::new(vec![event]);
    let newer = Bytes::of::<O>().raw(b"of a kernel newer than this test");
    capture.raw(RecordType(40), Misc(0x8002), newer);
    capture.raw(RecordType(100), Misc(0), Bytes::of::<O>().raw(b"a tool's own, 24 bytes.."));
    capture.raw(RecordType(u32::MAX), Misc(u16::MAX), Bytes::of::<O>());
    capture.record(0, Misc(0x0800), &Record::Switch);
    capture.finish()
}

/// The perf tool's own records, as perf 6.1 writes them.
pub(crate) fn user_records<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    let new = Bytes::of::<O>;
    let build_id = |misc, size: u8| {
        let id = new().i32(-1).raw(&[0xbd; 20]).raw(&[size, 0]).u16(0);
        (RecordType::HEADER_BUILD_ID, misc, id.padded(b"/usr/bin/true", 64))
    };
    let ids = |nr: u64| (0..nr).fold(new().u64(nr), |bytes, n| bytes.u64s(&[1000 + n, n, n, u64::MAX]));
    let guests = |bytes: Bytes| bytes.u64s(&[4321, 0, 4321, 1]);
    let error = |fmt| {
        let place =
            new().u32(AuxtraceErrorType::ITRACE.0).u32(6).i32(2).i32(PID).i32(TID).u32(fmt).u64(0x40_1000);
        let place = if fmt > 0 { place.u64(1_000_000_000_500) } else { place };
        let place = place.padded(b"Trace doesn't match instruction", 64);
        (RecordType::AUXTRACE_ERROR, Misc(0), if fmt > 1 { place.i32(4321).i32(1) } else { place })
    };
    let threads = new().u64(2).u64(100).padded(b"workload", 16).u64(u64::MAX).padded(b"", 16);
    let map = |kind: CpuMapType| new().u16(kind.0);
    let cpus = |bytes| (RecordType::CPU_MAP, Misc(0), bytes);
    let update = |kind: EventUpdateType| new().u64s(&[kind.0, 1000]);
    let updated = |bytes| (RecordType::EVENT_UPDATE, Misc(0), bytes);
    let config =
        [StatConfigTerm::AGGR_MODE.0, 3, StatConfigTerm::INTERVAL.0, 100, StatConfigTerm::SCALE.0, 1];
    let stat = new().u64(1000).i32(0).i32(0).u64s(&[123_456, 2_000_000, 1_500_000]);
    let round = |kind: StatRoundType| (RecordType::STAT_ROUND, Misc(0), new().u64s(&[kind.0, 100_000_000]));
    let conv = || new().u64s(&[31, 0x5f5e_1000, 77]);
    let records = [
        build_id(USER, 0),
        build_id(Misc(USER.0 | Misc::BUILD_ID_SIZE.0), 16),
        (RecordType::ID_INDEX, Misc(0), ids(2)),
        (RecordType::ID_INDEX, Misc(0), guests(ids(2))),
        error(0),
        error(1),
        error(2),
        (RecordType::THREAD_MAP, Misc(0), threads),
        cpus(map(CpuMapType::CPUS).u16(2).u16(0).u16(3)),
        cpus(map(CpuMapType::MASK).u16(1).u16(8).u32(0).u64(0b1011).padded(b"", 6)),
        cpus(map(CpuMapType::MASK).u16(1).u16(4).u32(0b1011).padded(b"", 6)),
        cpus(map(CpuMapType::RANGE_CPUS).raw(&[1, 0]).u16(0).u16(3)),
        (RecordType::STAT_CONFIG, Misc(0), new().u64(3).u64s(&config)),
        (RecordType::STAT, Misc(0), stat),
        round(StatRoundType::INTERVAL),
        round(StatRoundType::FINAL),
        updated(update(EventUpdateType::UNIT).padded(b"msec", 24)),
        updated(update(EventUpdateType::SCALE).u64(1e-6_f64.to_bits()).padded(b"", 16)),
        updated(update(EventUpdateType::NAME).padded(b"faults", 8)),
        updated(update(EventUpdateType::CPUS).u16(CpuMapType::CPUS.0).u16(2).u16(0).u16(1)),
        (RecordType::TIME_CONV, Misc(0), conv()),
        (RecordType::TIME_CONV, Misc(0), conv().u64s(&[5, 0xff_ffff]).raw(&[1, 1, 0, 0, 0, 0, 0, 0])),
        (RecordType::FINISHED_INIT, Misc(0), new()),
        (RecordType::FINISHED_ROUND, Misc(0), new()),
    ];
    for (kind, misc, payload) in records {
        capture.raw(kind, misc, payload);
    }
    capture.finish()
}

/// The perf tool's own records that are newer than perf 6.1.
pub(crate) fn user_records_new<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    let entry = |bytes: Bytes, key, value| bytes.padded(key, 64).padded(value, 256);
    let metadata = entry(Bytes::of::<O>().padded(b"bpf_prog_x", 512).u64(2), b"license", b"GPL");
    capture.raw(RecordType::BPF_METADATA, Misc(0), entry(metadata, b"version", b"1"));
    let when = |version, last| Bytes::of::<O>().u64(4_294_937_296).u32(1).u16(version).u16(last);
    let cpu = (1..=6).fold(when(17, 0), Bytes::u32).u64s(&[7_000_000_000, 8, 9]);
    capture.raw(RecordType::SCHEDSTAT_CPU, Misc(0), cpu);
    let domains = [
        (15, size_of::<wire::SchedstatDomainV15<O>>()),
        (16, size_of::<wire::SchedstatDomainV16<O>>()),
        (17, size_of::<wire::SchedstatDomainV17<O>>()),
    ];
    for (version, size) in domains {
        let counts = (1..=size as u32 / 4).fold(when(version, 2), Bytes::u32);
        capture.raw(RecordType::SCHEDSTAT_DOMAIN, Misc(0), counts);
    }
    capture.finish()
}

/// The records that pipes have instead of a header. They are also valid in a file.
pub(crate) fn pipe_records<O: Endian>() -> Vec<u8> {
    let mut capture = capture::<O>();
    let attr = page_faults().attr.write::<O>(AttrVersion::VER7).unwrap();
    let attr = Bytes::of::<O>().raw(&attr).u64s(&[1000, 1001, 1002, 1003]);
    capture.raw(RecordType::HEADER_ATTR, Misc(0), attr);
    capture.raw(RecordType::HEADER_EVENT_TYPE, Misc(0), Bytes::of::<O>().u64(2).padded(b"page-faults", 64));
    let feature = |feature: Feature| Bytes::of::<O>().u64(u64::from(feature.0));
    capture.raw(RecordType::HEADER_FEATURE, Misc(0), feature(Feature::HOSTNAME).string("synthetic"));
    capture.raw(RecordType::HEADER_FEATURE, Misc(0), feature(Feature::NRCPUS).u32(4).u32(4));
    capture.raw(RecordType::HEADER_FEATURE, Misc(0), feature(Feature(Feature::LAST)));
    // The form of 12 bytes, and the padded one.
    capture.raw(RecordType::HEADER_TRACING_DATA, Misc(0), Bytes::of::<O>().u32(8));
    capture.data_after(b"tracing.");
    capture.raw(RecordType::HEADER_TRACING_DATA, Misc(0), Bytes::of::<O>().u32(16).u32(0));
    capture.data_after(b"more of tracing.");
    capture.raw(RecordType::FINISHED_ROUND, Misc(0), Bytes::of::<O>());
    capture.finish()
}

/// An attr with everything that 144 bytes can contain, including bit-fields.
pub(crate) fn attr_newest<O: Endian>() -> Vec<u8> {
    let Event { name, attr } = page_faults();
    let without = AttrFlags::FREQ.0 | AttrFlags::WATERMARK.0;
    let full = Attr {
        flags: AttrFlags(AttrFlags::KNOWN.0 & !without).with_precise_ip(2),
        wakeup_events: 1,
        bp_type: BreakpointType(3),
        config1: 0x1111,
        config2: 0x2222,
        clockid: 4,
        aux_watermark: 0x1000,
        sample_max_stack: 127,
        aux_action: AuxAction::START_PAUSED | AuxAction::RESUME,
        sig_data: 0x3333,
        config3: 0x4444,
        config4: 0x5555,
        ..attr
    };
    let other = Attr {
        sample_period: 4000,
        flags: (AttrFlags::FREQ | AttrFlags::WATERMARK | AttrFlags::SAMPLE_ID_ALL).with_precise_ip(1),
        wakeup_events: 65_536,
        clockid: -1,
        aux_action: AuxAction::PAUSE,
        ..attr
    };
    one_sample_each::<O>(AttrVersion::NEWEST, vec![Event::new(name, full), Event::new(name, other)])
}

/// An attr of 64 bytes, in the version of Linux 2.6.31.
pub(crate) fn attr_oldest<O: Endian>() -> Vec<u8> {
    one_sample_each::<O>(AttrVersion::VER0, vec![page_faults()])
}

fn one_sample_each<O: Endian>(version: AttrVersion, events: Vec<Event>) -> Vec<u8> {
    let nr = events.len();
    let mut capture = Capture::<O>::with_attrs_of(version, events);
    for event in 0..nr {
        let fields: SampleFields = capture.head(event);
        capture.sample(event, USER, &fields);
    }
    capture.finish()
}
