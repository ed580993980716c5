//! Writing records: values are written and read back, and every error occurs.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::aux_area::AuxFlags;
use perf_parse::abi::branch::{BranchFlags, BranchSampleType};
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::ksymbol::{BpfEventType, KsymbolFlags, KsymbolType};
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::record::{Misc, RecordType};
use perf_parse::abi::regs::RegsAbi;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::list::List;
use perf_parse::record::{
    Aux, AuxOutputHwId, BpfEvent, CallchainDeferred, Cgroup, Comm, FileId, ItraceStart, Ksymbol, Lost,
    LostSamples, Mmap, Mmap2, NamespaceLink, Namespaces, SwitchCpuWide, Task, TextPoke, Throttle, UserRecord,
};
use perf_parse::sample::{ReadValue, Reading};
use perf_parse::write::{
    self, BranchFields, BranchStackFields, ReadFields, RegsFields, SampleFields, SampleIdFields,
    SimdRegsFields, StackUserFields, WriteError,
};
use perf_parse::{RawRecord, Record, Sample, SampleLayout};

fn layout(attr: &Attr) -> SampleLayout {
    SampleLayout::new(attr).unwrap()
}

/// Events whose records have a trailer of one word.
fn with_time() -> SampleLayout {
    let flags = AttrFlags::SAMPLE_ID_ALL;
    layout(&Attr { sample_type: SampleType::TIME, flags, ..Attr::default() })
}

const TASK: Task = Task { pid: 1, ppid: 2, tid: 3, ptid: -1, time: 5 };
const MMAP2: Mmap2<'static> = Mmap2 {
    pid: -1,
    tid: 2,
    addr: 3,
    len: 4,
    pgoff: 5,
    id: FileId::Inode { maj: 8, min: 1, ino: 6, ino_generation: 7 },
    prot_flags: Some((5, 2)),
    reading: Reading::Certain,
    filename: b"/bin/cat",
};

/// Returns a value of each type that can be made without bytes. READ, SAMPLE and unknown records are views of bytes.
fn records<'a, O: Endian>(link_info: List<'a, NamespaceLink>, ips: List<'a, u64>) -> Vec<Record<'a, O>> {
    let throttle = Throttle { time: 1, id: 2, stream_id: 3 };
    let ksymbol = Ksymbol { addr: 1, len: 2, ksym_type: KsymbolType(3), flags: KsymbolFlags(4), name: b"f" };
    let bpf = BpfEvent { kind: BpfEventType(1), flags: 2, id: 3, tag: *b"hashhash" };
    let mut bytes = [0; 20];
    bytes[..16].fill(0xab);
    vec![
        Record::Mmap(Mmap { pid: 1, tid: 2, addr: 3, len: 4, pgoff: 5, filename: b"//anon" }),
        Record::Lost(Lost { id: 1, lost: 2 }),
        Record::Comm(Comm { pid: 1, tid: 2, comm: b"" }),
        Record::Exit(TASK),
        Record::Throttle(throttle),
        Record::Unthrottle(throttle),
        Record::Fork(TASK),
        Record::Mmap2(MMAP2),
        Record::Mmap2(Mmap2 { prot_flags: None, reading: Reading::Other, ..MMAP2 }),
        Record::Mmap2(Mmap2 { id: FileId::BuildId { size: 16, bytes }, ..MMAP2 }),
        Record::Aux(Aux { aux_offset: 1, aux_size: 2, flags: AuxFlags(3) }),
        Record::ItraceStart(ItraceStart { pid: 1, tid: 2 }),
        Record::LostSamples(LostSamples { lost: 1 }),
        Record::Switch,
        Record::SwitchCpuWide(SwitchCpuWide { next_prev_pid: 1, next_prev_tid: 2 }),
        Record::Namespaces(Namespaces { pid: 1, tid: 2, link_info }),
        Record::Ksymbol(ksymbol),
        Record::BpfEvent(bpf),
        Record::Cgroup(Cgroup { id: 1, path: b"/a/b/c/d" }),
        Record::TextPoke(TextPoke { addr: 1, old: b"old", new: b"newer" }),
        Record::AuxOutputHwId(AuxOutputHwId { hw_id: 1 }),
        Record::CallchainDeferred(CallchainDeferred { cookie: 1, ips }),
    ]
}

fn round_trip<O: Endian>() {
    // In the byte order of this machine, whatever that of the records.
    let link_info = [1, 1 << 40, 2, 2 << 40].map(u64::to_ne_bytes);
    let link_info = List::new_in(Endianness::NATIVE, link_info.as_flattened());
    let ips = [3, 4].map(u64::to_ne_bytes);
    let ips = List::new_in(Endianness::NATIVE, ips.as_flattened());
    let layout = with_time();
    let id = SampleIdFields { time: 77, ..SampleIdFields::default() };
    for record in records::<O>(link_info, ips) {
        let build_id = matches!(record, Record::Mmap2(Mmap2 { id: FileId::BuildId { .. }, .. }));
        let misc = if build_id { Misc::MMAP_BUILD_ID } else { Misc(2) };
        let mut out = vec![0xff];
        assert_eq!(write::record(&mut out, &layout, misc, &record, &id), Ok(()));
        let (raw, rest) = RawRecord::<O>::parse(&out[1..]).unwrap();
        assert!(rest.is_empty());
        assert_eq!((raw.kind(), raw.misc()), (record.kind(), misc));
        // The debug output has every field.
        assert_eq!(format!("{:?}", raw.decode(&layout).unwrap()), format!("{record:?}"));
        assert_eq!(raw.sample_id(&layout).unwrap().unwrap().time(), Some(77));
    }
}

#[test]
fn records_come_back() {
    round_trip::<LittleEndian>();
    round_trip::<BigEndian>();
}

#[test]
fn bytes_of_a_fork() {
    let layout = with_time();
    let id = SampleIdFields { time: 9, ..SampleIdFields::default() };
    let mut out = Vec::new();
    write::record::<BigEndian>(&mut out, &layout, Misc(0), &Record::Fork(TASK), &id).unwrap();
    let fork = b"\0\0\0\x07\0\0\0\x28\0\0\0\x01\0\0\0\x02\0\0\0\x03\xff\xff\xff\xff\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x09";
    assert_eq!(out, fork);
}

/// Returns the error for a record. The bytes written before it do not change.
fn refused(misc: Misc, record: &Record<'_, LittleEndian>) -> WriteError {
    let mut out = vec![1, 2, 3];
    let error = write::record(&mut out, &with_time(), misc, record, &SampleIdFields::default()).unwrap_err();
    assert_eq!(out, [1, 2, 3]);
    error
}

#[test]
fn strings_with_a_nul() {
    let must = "free of NULs";
    let nul = b"a\0b";
    for (record, field) in [
        (Record::Mmap(Mmap { pid: 1, tid: 2, addr: 3, len: 4, pgoff: 5, filename: nul }), "filename"),
        (Record::Mmap2(Mmap2 { filename: nul, ..MMAP2 }), "filename"),
        (Record::Comm(Comm { pid: 1, tid: 2, comm: nul }), "comm"),
        (
            Record::Ksymbol(Ksymbol {
                addr: 1,
                len: 2,
                ksym_type: KsymbolType(3),
                flags: KsymbolFlags(4),
                name: nul,
            }),
            "name",
        ),
        (Record::Cgroup(Cgroup { id: 1, path: nul }), "path"),
    ] {
        assert_eq!(refused(Misc(0), &record), WriteError::Invalid { field, must });
    }
}

#[test]
fn build_id_of_21_bytes() {
    let mmap2 = Mmap2 { id: FileId::BuildId { size: 21, bytes: [0; 20] }, ..MMAP2 };
    let error = WriteError::Invalid { field: "build_id_size", must: "at most 20" };
    assert_eq!(refused(Misc::MMAP_BUILD_ID, &Record::Mmap2(mmap2)), error);
}

#[test]
fn mmap2_that_would_be_read_as_another() {
    let build_id = FileId::BuildId { size: 20, bytes: [0; 20] };
    // A protection and flags that are the start of a path, before a path.
    let invalid = |must| WriteError::Invalid { field: "prot", must };
    let current = invalid("no part of a path, because readers take a path for the layout of Linux 3.12");
    let prot_flags = Some((0x6161_6161, 0x6161_6161));
    assert_eq!(refused(Misc(0), &Record::Mmap2(Mmap2 { prot_flags, ..MMAP2 })), current);
    // A path that cannot be one, of 8 bytes or more.
    let old = invalid("present, because readers take this path for a protection, flags and a path");
    let filename = b"\n23456789";
    assert_eq!(refused(Misc(0), &Record::Mmap2(Mmap2 { prot_flags: None, filename, ..MMAP2 })), old);
    let mmap2 = Mmap2 { prot_flags: None, id: build_id, ..MMAP2 };
    let missing = WriteError::Missing { field: "prot" };
    assert_eq!(refused(Misc::MMAP_BUILD_ID, &Record::Mmap2(mmap2)), missing);
    for (misc, id) in [(Misc(0), build_id), (Misc::MMAP_BUILD_ID, MMAP2.id)] {
        let error = refused(misc, &Record::Mmap2(Mmap2 { id, ..MMAP2 }));
        let must = "MMAP_BUILD_ID if and only if the record has a build id";
        assert_eq!(error, WriteError::Invalid { field: "misc", must });
    }
}

#[test]
fn text_of_65536_bytes() {
    let text = vec![0; 65536];
    let must = "at most 65535 bytes";
    let old = Record::TextPoke(TextPoke { addr: 1, old: &text, new: b"" });
    assert_eq!(refused(Misc(0), &old), WriteError::Invalid { field: "old_bytes", must });
    let new = Record::TextPoke(TextPoke { addr: 1, old: b"", new: &text });
    assert_eq!(refused(Misc(0), &new), WriteError::Invalid { field: "new_bytes", must });
}

#[test]
fn more_bytes_than_a_header_can_say() {
    // Header, id and trailer have 24 bytes; the longest record has 65528.
    let path = vec![b'x'; 65503];
    let mut out = Vec::new();
    let mut write = |path: &[u8]| {
        let record = Record::<LittleEndian>::Cgroup(Cgroup { id: 1, path });
        write::record(&mut out, &with_time(), Misc(0), &record, &SampleIdFields::default())
    };
    assert_eq!(write(&path), Ok(()));
    assert_eq!(write(&[b'x'; 65504]), Err(WriteError::TooLong { size: 65536 }));
    assert_eq!(out.len(), 65528);
}

#[test]
fn unknown_records_are_copied() {
    let layout = with_time();
    let bytes = [40, 0, 0, 0, 7, 0, 24, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9];
    let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes).unwrap();
    let record = raw.decode(&layout).unwrap();
    let mut out = Vec::new();
    write::record(&mut out, &layout, raw.misc(), &record, &SampleIdFields::default()).unwrap();
    assert_eq!(out, bytes);

    let mut odd = bytes;
    odd[6] = 23;
    let (raw, _) = RawRecord::<LittleEndian>::parse(&odd).unwrap();
    assert_eq!(refused(Misc(7), &raw.decode(&layout).unwrap()), WriteError::Unaligned { size: 23 });
}

#[test]
fn counter_values_of_another_format() {
    let [id, plain] = [ReadFormat::ID, ReadFormat::NONE]
        .map(|read_format| layout(&Attr { read_format, ..Attr::default() }));
    let mut bytes = [0; 32];
    (bytes[0], bytes[6]) = (8, 32);
    let (raw, _) = RawRecord::<LittleEndian>::parse(&bytes).unwrap();
    let read = raw.decode(&id).unwrap();
    let mut out = Vec::new();
    let mut write = |layout| write::record(&mut out, layout, Misc(0), &read, &SampleIdFields::default());
    let must = "of the event's read_format";
    assert_eq!(write(&plain), Err(WriteError::Invalid { field: "read", must }));
    assert_eq!(write(&id), Ok(()));
    assert_eq!(out, bytes);
}

#[test]
fn records_of_perf_are_not_written() {
    let round = Record::User(UserRecord::FinishedRound, RecordType::FINISHED_ROUND);
    let must = "that of the record, of the kernel or of simpleperf: copy perf's own records instead";
    assert_eq!(refused(Misc(0), &round), WriteError::Invalid { field: "type", must });
}

/// Returns a sample with every field, and its attr.
fn every_field() -> (Attr, SampleFields) {
    let attr = Attr {
        sample_type: SampleType::KNOWN.without(SampleType::WEIGHT_STRUCT),
        read_format: ReadFormat::KNOWN,
        branch_sample_type: BranchSampleType::HW_INDEX | BranchSampleType::COUNTERS,
        sample_regs_user: 0b11,
        sample_regs_intr: 0b100,
        sample_stack_user: 16,
        ..Attr::default()
    };
    let word = |word: u64| Some(word);
    let fields = SampleFields {
        identifier: word(1),
        ip: word(2),
        pid_tid: Some((3, -4)),
        time: word(5),
        addr: word(6),
        id: word(7),
        stream_id: word(8),
        cpu: Some(9),
        period: word(10),
        read: Some(ReadFields {
            time_enabled: word(11),
            time_running: word(12),
            values: vec![ReadValue { value: 13, id: word(14), lost: word(15) }; 2],
        }),
        callchain: Some(vec![16, 17]),
        raw: Some(vec![18; 12]),
        branch_stack: Some(BranchStackFields {
            hw_idx: word(19),
            entries: vec![BranchFields { from: 20, to: 21, flags: BranchFlags::MISPRED }],
            counters: Some(vec![22]),
        }),
        regs_user: Some(RegsFields { abi: RegsAbi::ABI_64, values: vec![23, 24] }),
        stack_user: Some(StackUserFields { data: vec![25; 16], dyn_size: word(9) }),
        weight: word(26),
        weight_struct: None,
        data_src: Some(27.into()),
        transaction: Some(28.into()),
        regs_intr: Some(RegsFields { abi: RegsAbi::ABI_32, values: vec![29] }),
        phys_addr: word(30),
        cgroup: word(31),
        data_page_size: word(32),
        code_page_size: word(33),
        aux: Some(vec![34; 8]),
        ..SampleFields::default()
    };
    (attr, fields)
}

/// Returns the error for a sample. The bytes written before it do not change.
fn sample_refused(attr: &Attr, fields: &SampleFields) -> WriteError {
    let mut out = vec![1, 2, 3];
    let error = write::sample::<BigEndian>(&mut out, &layout(attr), Misc(0), fields).unwrap_err();
    assert_eq!(out, [1, 2, 3]);
    error
}

#[test]
fn a_sample_comes_back_and_is_copied() {
    let (attr, fields) = every_field();
    let layout = layout(&attr);
    let mut out = vec![0xff];
    write::sample::<BigEndian>(&mut out, &layout, Misc(2), &fields).unwrap();
    let (raw, _) = RawRecord::<BigEndian>::parse(&out[1..]).unwrap();
    assert_eq!(Sample::parse(&layout, &raw).unwrap().to_fields().unwrap(), fields);

    let mut copy = Vec::new();
    let record = raw.decode(&layout).unwrap();
    write::record(&mut copy, &layout, raw.misc(), &record, &SampleIdFields::default()).unwrap();
    assert_eq!(copy, out[1..]);
}

/// Removes one field of a complete sample.
type Take = fn(&mut SampleFields) -> bool;

#[test]
fn each_field_is_asked_for() {
    let fields: [(SampleType, &str, Take); 25] = [
        (SampleType::IDENTIFIER, "identifier", |it| it.identifier.take().is_some()),
        (SampleType::IP, "ip", |it| it.ip.take().is_some()),
        (SampleType::TID, "pid", |it| it.pid_tid.take().is_some()),
        (SampleType::TIME, "time", |it| it.time.take().is_some()),
        (SampleType::ADDR, "addr", |it| it.addr.take().is_some()),
        (SampleType::ID, "id", |it| it.id.take().is_some()),
        (SampleType::STREAM_ID, "stream_id", |it| it.stream_id.take().is_some()),
        (SampleType::CPU, "cpu", |it| it.cpu.take().is_some()),
        (SampleType::PERIOD, "period", |it| it.period.take().is_some()),
        (SampleType::READ, "read", |it| it.read.take().is_some()),
        (SampleType::CALLCHAIN, "callchain", |it| it.callchain.take().is_some()),
        (SampleType::RAW, "raw", |it| it.raw.take().is_some()),
        (SampleType::BRANCH_STACK, "branch_stack", |it| it.branch_stack.take().is_some()),
        (SampleType::REGS_USER, "regs_user", |it| it.regs_user.take().is_some()),
        (SampleType::STACK_USER, "stack_user", |it| it.stack_user.take().is_some()),
        (SampleType::WEIGHT, "weight", |it| it.weight.take().is_some()),
        (SampleType::WEIGHT_STRUCT, "weight_struct", |it| it.weight_struct.take().is_some()),
        (SampleType::DATA_SRC, "data_src", |it| it.data_src.take().is_some()),
        (SampleType::TRANSACTION, "transaction", |it| it.transaction.take().is_some()),
        (SampleType::REGS_INTR, "regs_intr", |it| it.regs_intr.take().is_some()),
        (SampleType::PHYS_ADDR, "phys_addr", |it| it.phys_addr.take().is_some()),
        (SampleType::CGROUP, "cgroup", |it| it.cgroup.take().is_some()),
        (SampleType::DATA_PAGE_SIZE, "data_page_size", |it| it.data_page_size.take().is_some()),
        (SampleType::CODE_PAGE_SIZE, "code_page_size", |it| it.code_page_size.take().is_some()),
        (SampleType::AUX, "aux", |it| it.aux.take().is_some()),
    ];
    for (bit, field, take) in fields {
        let (mut attr, whole) = every_field();
        let mut whole = SampleFields { weight_struct: Some(26.into()), ..whole };
        if bit == SampleType::WEIGHT_STRUCT {
            whole.weight = None;
            attr.sample_type = attr.sample_type.without(SampleType::WEIGHT) | bit;
        } else {
            whole.weight_struct = None;
        }
        let less = Attr { sample_type: attr.sample_type.without(bit), ..attr };
        assert_eq!(sample_refused(&less, &whole), WriteError::NotRecorded { field });
        assert!(take(&mut whole));
        assert_eq!(sample_refused(&attr, &whole), WriteError::Missing { field });
    }
}

/// Changes a complete sample or its attr, and returns the error.
fn refused_with(change: impl FnOnce(&mut Attr, &mut SampleFields)) -> WriteError {
    let (mut attr, mut fields) = every_field();
    change(&mut attr, &mut fields);
    sample_refused(&attr, &fields)
}

#[test]
fn counter_values() {
    let read = |change: fn(&mut ReadFields)| refused_with(|_, it| change(it.read.as_mut().unwrap()));
    assert_eq!(read(|it| it.time_enabled = None), WriteError::Missing { field: "read.time_enabled" });
    assert_eq!(read(|it| it.time_running = None), WriteError::Missing { field: "read.time_running" });
    assert_eq!(read(|it| it.values[1].id = None), WriteError::Missing { field: "read.id" });
    assert_eq!(read(|it| it.values[1].lost = None), WriteError::Missing { field: "read.lost" });
    let less = |format| refused_with(|attr, _| attr.read_format = ReadFormat::KNOWN.without(format));
    for (format, field) in [
        (ReadFormat::TOTAL_TIME_ENABLED, "read.time_enabled"),
        (ReadFormat::TOTAL_TIME_RUNNING, "read.time_running"),
        (ReadFormat::ID, "read.id"),
        (ReadFormat::LOST, "read.lost"),
    ] {
        assert_eq!(less(format), WriteError::NotRecorded { field });
    }
    let must = "one value, because the event does not read its group";
    assert_eq!(less(ReadFormat::GROUP), WriteError::Invalid { field: "read.values", must });
}

#[test]
fn branch_stacks() {
    let stack =
        |change: fn(&mut BranchStackFields)| refused_with(|_, it| change(it.branch_stack.as_mut().unwrap()));
    let field = "branch_stack.hw_idx";
    assert_eq!(stack(|it| it.hw_idx = None), WriteError::Missing { field });
    let none = |attr: &mut Attr| attr.branch_sample_type = BranchSampleType::NONE;
    assert_eq!(refused_with(|attr, _| none(attr)), WriteError::NotRecorded { field });
    let counters = WriteError::Invalid {
        field: "branch_stack.counters",
        must: "one word for each entry, and absent without entries",
    };
    assert_eq!(stack(|it| it.counters = Some(vec![1, 2])), counters);
    let empty = |it: &mut BranchStackFields| {
        it.entries.clear();
        it.counters = Some(Vec::new());
    };
    assert_eq!(stack(empty), counters);
    // An index that the event does not record is an error even without entries.
    let error = refused_with(|attr, it| {
        none(attr);
        it.branch_stack = Some(BranchStackFields { hw_idx: Some(1), ..BranchStackFields::default() });
    });
    assert_eq!(error, WriteError::NotRecorded { field });
}

#[test]
fn registers() {
    let must = "one value for each bit of the attr's mask, or none for ABI 0";
    let invalid = |field| WriteError::Invalid { field, must };
    let user = |change: fn(&mut RegsFields)| refused_with(|_, it| change(it.regs_user.as_mut().unwrap()));
    assert_eq!(user(|it| it.values.push(1)), invalid("regs_user"));
    assert_eq!(user(|it| it.abi = RegsAbi::NONE), invalid("regs_user"));
    let intr = |change: fn(&mut RegsFields)| refused_with(|_, it| change(it.regs_intr.as_mut().unwrap()));
    assert_eq!(intr(|it| it.values.clear()), invalid("regs_intr"));
}

#[test]
fn simd_registers() {
    let (attr, mut fields) = every_field();
    let simd =
        SimdRegsFields { nr_vectors: 2, vector_qwords: 2, nr_pred: 1, pred_qwords: 1, data: vec![7; 5] };
    let released = layout(&attr);
    let provisional = released.with_provisional_abi();
    let written = |layout: &SampleLayout, fields: &SampleFields| {
        write::sample::<BigEndian>(&mut Vec::new(), layout, Misc(0), fields)
    };
    let not_recorded = |field| Err(WriteError::NotRecorded { field });
    fields.simd_regs_user = Some(simd.clone());
    assert_eq!(written(&provisional, &fields), not_recorded("simd_regs_user"));
    fields.regs_user.as_mut().unwrap().abi = RegsAbi(6);
    assert_eq!(written(&provisional, &fields), Ok(()));
    let must = "of a released kernel, unless the layout has the provisional ABI";
    assert_eq!(written(&released, &fields), Err(WriteError::Invalid { field: "regs_user.abi", must }));

    fields.simd_regs_intr = Some(simd.clone());
    assert_eq!(written(&provisional, &fields), not_recorded("simd_regs_intr"));
    fields.regs_intr.as_mut().unwrap().abi = RegsAbi(5);
    assert_eq!(written(&provisional, &fields), Ok(()));
    fields.simd_regs_intr = None;
    assert_eq!(written(&provisional, &fields), Err(WriteError::Missing { field: "simd_regs_intr" }));

    let must = "as many words as its registers have, which have at least 1 each";
    for wrong in [
        SimdRegsFields { nr_pred: 2, ..simd.clone() },
        SimdRegsFields { data: vec![7; 6], ..simd.clone() },
        SimdRegsFields { nr_vectors: u16::MAX, vector_qwords: u16::MAX, ..simd.clone() },
        SimdRegsFields { nr_vectors: 1, vector_qwords: 0, data: vec![7], ..simd.clone() },
        SimdRegsFields { pred_qwords: 0, data: vec![7; 4], ..simd },
    ] {
        fields.simd_regs_intr = Some(wrong);
        let field = "simd_regs_intr";
        assert_eq!(written(&provisional, &fields), Err(WriteError::Invalid { field, must }));
    }
}

#[test]
fn stacks() {
    let stack =
        |change: fn(&mut StackUserFields)| refused_with(|_, it| change(it.stack_user.as_mut().unwrap()));
    let must = "present if and only if the stack has bytes, and at most their number";
    let invalid = WriteError::Invalid { field: "stack_user.dyn_size", must };
    assert_eq!(stack(|it| it.dyn_size = None), invalid);
    assert_eq!(stack(|it| it.dyn_size = Some(17)), invalid);
    assert_eq!(stack(|it| it.data.clear()), invalid);
}

#[test]
fn samples_of_odd_and_of_too_many_bytes() {
    let size = {
        let (attr, fields) = every_field();
        let mut out = Vec::new();
        write::sample::<BigEndian>(&mut out, &layout(&attr), Misc(0), &fields).unwrap();
        out.len()
    };
    let odd = refused_with(|_, it| it.raw.as_mut().unwrap().push(1));
    assert_eq!(odd, WriteError::Unaligned { size: size + 1 });
    let long = refused_with(|_, it| it.aux = Some(vec![0; 65536]));
    assert_eq!(long, WriteError::TooLong { size: size - 8 + 65536 });
}

#[test]
fn how_refusals_read() {
    for (error, text) in [
        (WriteError::Missing { field: "ip" }, "ip: is missing, but the event records it"),
        (WriteError::NotRecorded { field: "ip" }, "ip: is present, but the event does not record it"),
        (WriteError::Invalid { field: "ip", must: "even" }, "ip: must be even"),
        (WriteError::TooLong { size: 65536 }, "the record has 65536 bytes, but at most 65535 fit"),
        (
            WriteError::Unaligned { size: 9 },
            "the record has 9 bytes, not a multiple of 8: pad its raw, stack or AUX bytes",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}
