//! Samples that a machine without a hardware PMU does not record, and samples in rare forms.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::{BranchFlags, BranchNewType, BranchPriv, BranchSampleType, BranchSpec, BranchType};
use perf_abi::callchain::CallchainContext;
use perf_abi::data_src::{
    DataSrc, MemBlk, MemHops, MemLock, MemLvl, MemLvlNum, MemOp, MemRegion, MemRemote, MemSnoop, MemSnoopx,
    MemTlb,
};
use perf_abi::endian::{Endian, Endianness};
use perf_abi::event::{EventType, HwId, SwId};
use perf_abi::read_format::ReadFormat;
use perf_abi::record::{Misc, RecordType};
use perf_abi::regs::RegsAbi;
use perf_abi::sample_type::SampleType;
use perf_abi::txn::Txn;
use perf_abi::weight::WeightStruct;
use perf_parse::Record;
use perf_parse::list::List;
use perf_parse::record::{CallchainDeferred, Mmap};
use perf_parse::sample::ReadValue;
use perf_parse::write::{
    BranchFields, BranchStackFields, ReadFields, RegsFields, SampleFields, StackUserFields,
};

use testdata::Bytes;

use crate::file::{Capture, Event, PID, TID};
use crate::{KERNEL, USER};

/// The `sample_type` of events that are distinguished by their IDs: the fields that every capture has.
const HEAD: SampleType =
    SampleType(SampleType::IDENTIFIER.0 | SampleType::IP.0 | SampleType::TID.0 | SampleType::TIME.0);

/// Returns an event that counts cycles.
fn cycles(sample_type: SampleType) -> Attr {
    Attr {
        kind: EventType::HARDWARE,
        config: u64::from(HwId::CPU_CYCLES.0),
        sample_period: 100_003,
        sample_type: HEAD | sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP | AttrFlags::COMM,
        ..Attr::default()
    }
}

fn branching(branch_sample_type: BranchSampleType) -> Attr {
    Attr { branch_sample_type, ..cycles(SampleType::BRANCH_STACK) }
}

fn branch(index: u64, flags: BranchFlags) -> BranchFields {
    BranchFields { from: 0x40_2000 + 16 * index, to: 0x40_3000 + 16 * index, flags }
}

fn stack(hw_idx: Option<u64>, flags: &[BranchFlags]) -> BranchStackFields {
    let entries = (0..).zip(flags).map(|(index, &flags)| branch(index, flags)).collect();
    BranchStackFields { hw_idx, entries, counters: None }
}

/// Returns every type of branch, including the new types, and every speculation, privilege and outcome.
fn all_flags() -> Vec<BranchFlags> {
    let mut all = Vec::new();
    for kind in 0..BranchType::MAX {
        let flags = BranchFlags(u64::from(kind) % 4).with_kind(BranchType(kind)).with_cycles(u16::from(kind));
        all.push(flags.with_spec(BranchSpec(kind % 4)).with_privilege(BranchPriv(kind % 8)));
    }
    for new_type in 0..16 {
        let flags = BranchFlags::PREDICTED.with_kind(BranchType::EXTEND_ABI);
        all.push(flags.with_new_type(BranchNewType(new_type)).with_cycles(u16::MAX));
    }
    all.push(BranchFlags::MISPRED | BranchFlags::IN_TX | BranchFlags::ABORT);
    // A bit of the perf tool; reserved in the kernel's entry.
    all.push(BranchFlags(BranchFlags::PREDICTED.0 | 1 << 33));
    all
}

/// Branch stacks with and without `hw_idx`.
pub(crate) fn branches<O: Endian>() -> Vec<u8> {
    let any = BranchSampleType::USER
        | BranchSampleType::ANY
        | BranchSampleType::TYPE_SAVE
        | BranchSampleType::PRIV_SAVE;
    let mut capture = Capture::<O>::new(vec![
        Event::new("cycles:u", branching(any)),
        Event::new("cycles:uu", branching(any | BranchSampleType::HW_INDEX)),
    ]);
    let stacks = [
        (0, stack(None, &all_flags())),
        (0, stack(None, &[])),
        (1, stack(Some(7), &all_flags())),
        (1, stack(Some(u64::MAX), &[BranchFlags::PREDICTED])),
        (1, stack(Some(0), &[])),
    ];
    for (event, stack) in stacks {
        let fields = SampleFields { branch_stack: Some(stack), ..capture.head(event) };
        capture.sample(event, USER, &fields);
    }
    capture.finish()
}

/// Branch stacks of events that requested `hw_idx` and counters. The PMU did not provide all of them.
pub(crate) fn branches_open<O: Endian>() -> Vec<u8> {
    let asked = BranchSampleType::USER | BranchSampleType::ANY;
    let mut capture = Capture::<O>::new(vec![
        Event::new("hw_idx", branching(asked | BranchSampleType::HW_INDEX)),
        Event::new("counters", branching(asked | BranchSampleType::COUNTERS)),
        Event::new("both", branching(asked | BranchSampleType::HW_INDEX | BranchSampleType::COUNTERS)),
        Event::new("neither", branching(asked)),
    ]);
    let flags = [BranchFlags::PREDICTED, BranchFlags::MISPRED, BranchFlags::NONE];
    let counted = |hw_idx| BranchStackFields {
        counters: Some(vec![0x0102, 0x0304, u64::MAX]),
        ..stack(hw_idx, &flags)
    };
    let stacks = [
        // No stack from the PMU, and therefore no index.
        (0, stack(None, &[])),
        (1, counted(None)),
        (1, stack(None, &flags)),
        (1, stack(None, &[])),
        (2, counted(Some(3))),
        (2, stack(Some(3), &flags)),
        (2, stack(None, &[])),
        // The counters that the group's leader requested.
        (3, counted(None)),
    ];
    for (event, stack) in stacks {
        let fields = SampleFields { branch_stack: Some(stack), ..capture.head(event) };
        capture.sample(event, USER, &fields);
    }
    capture.finish()
}

/// Returns memory accesses as PMUs of several vendors report them.
fn sources() -> [DataSrc; 8] {
    let load = DataSrc::default().with_op(MemOp::LOAD);
    let store = DataSrc::default().with_op(MemOp::STORE);
    [
        DataSrc::NA,
        // Without LVLNUM_NA, as kernels up to 6.0 wrote it.
        DataSrc(0x0508_0021),
        load.with_lvl(MemLvl::L1 | MemLvl::HIT)
            .with_snoop(MemSnoop::NO_SNOOP)
            .with_lock(MemLock::NA)
            .with_dtlb(MemTlb::L1 | MemTlb::L2 | MemTlb::HIT)
            .with_lvl_num(MemLvlNum::L1)
            .with_blk(MemBlk::NA),
        load.with_lvl(MemLvl::REM_CCE1 | MemLvl::HIT)
            .with_snoop(MemSnoop::HITM)
            .with_lock(MemLock::LOCKED)
            .with_dtlb(MemTlb::WK | MemTlb::MISS)
            .with_lvl_num(MemLvlNum::ANY_CACHE)
            .with_remote(MemRemote::REMOTE)
            .with_snoopx(MemSnoopx::FWD)
            .with_hops(MemHops::HOPS_3),
        load.with_lvl_num(MemLvlNum::L2_MHB)
            .with_snoopx(MemSnoopx::PEER)
            .with_blk(MemBlk::DATA | MemBlk::ADDR),
        store
            .with_lvl(MemLvl::LOC_RAM | MemLvl::MISS)
            .with_lvl_num(MemLvlNum::MSC)
            .with_region(MemRegion::MMIO),
        store.with_lvl_num(MemLvlNum::CXL).with_region(MemRegion::MEM7).with_hops(MemHops::HOPS_0),
        // Bits that no kernel writes yet.
        DataSrc(0xfff8_0000_0000_0000 | MemOp::EXEC.0 as u64),
    ]
}

/// Sources of data, latencies, and reasons for aborted transactions.
pub(crate) fn memory<O: Endian>() -> Vec<u8> {
    let common = SampleType::ADDR
        | SampleType::DATA_SRC
        | SampleType::TRANSACTION
        | SampleType::PHYS_ADDR
        | SampleType::DATA_PAGE_SIZE
        | SampleType::CODE_PAGE_SIZE;
    let mut capture = Capture::<O>::new(vec![
        Event::new("mem-loads", cycles(common | SampleType::WEIGHT)),
        Event::new("mem-stores", cycles(common | SampleType::WEIGHT_STRUCT)),
    ]);
    let transactions = [
        Txn::NONE,
        Txn::ELISION | Txn::SYNC | Txn::RETRY,
        (Txn::TRANSACTION | Txn::ASYNC | Txn::CONFLICT).with_abort_code(0xff),
        (Txn::CAPACITY_READ | Txn::CAPACITY_WRITE).with_abort_code(u32::MAX),
    ];
    for (index, data_src) in sources().into_iter().enumerate() {
        let transaction = transactions[index % transactions.len()];
        for event in [0, 1] {
            let struct_ = WeightStruct::default().with_var1_dw(311).with_var2_w(42).with_var3_w(u16::MAX);
            let fields = SampleFields {
                weight: (event == 0).then_some(311 + ((index as u64) << 32)),
                weight_struct: (event == 1).then_some(struct_),
                data_src: Some(data_src),
                transaction: Some(transaction),
                phys_addr: Some(0x1_2345_6000 + index as u64),
                data_page_size: Some(4096 << index),
                code_page_size: Some(if index == 0 { 0 } else { 1 << 21 }),
                ..capture.head(event)
            };
            capture.sample(event, Misc(USER.0 | Misc::EXACT_IP.0), &fields);
        }
    }
    capture.finish()
}

/// Call chains through kernel, user space, hypervisor and guest, in samples of every CPU mode.
pub(crate) fn contexts<O: Endian>() -> Vec<u8> {
    let mut capture = Capture::<O>::new(vec![Event::new("cycles", cycles(SampleType::CALLCHAIN))]);
    let chain = [
        CallchainContext::HV.0,
        0xc000_0000_0000_1000,
        CallchainContext::KERNEL.0,
        0xffff_ffff_8100_1000,
        0xffff_ffff_8100_2000,
        CallchainContext::USER.0,
        0x40_1000,
        CallchainContext::GUEST.0,
        0x5000,
        CallchainContext::GUEST_KERNEL.0,
        0xffff_ffff_8200_1000,
        CallchainContext::GUEST_USER.0,
        0x40_2000,
        // A marker of a newer kernel.
        CallchainContext::MAX,
        0x6000,
    ];
    for mode in 0..8 {
        let callchain = Some(chain[..2 * usize::from(mode) + 1].to_vec());
        let fields = SampleFields { callchain, ..capture.head(0) };
        capture.sample(0, Misc(mode), &fields);
    }
    capture.finish()
}

/// Call chains whose user part comes later, in a separate record.
pub(crate) fn deferred<O: Endian>() -> Vec<u8> {
    let mut attr = cycles(SampleType::CALLCHAIN);
    attr.flags |= AttrFlags::DEFER_CALLCHAIN | AttrFlags::DEFER_OUTPUT;
    let mut capture = Capture::<O>::new(vec![Event::new("cycles", attr)]);
    let cookie = 0x0003_0000_0000_0001;
    let kernel = [CallchainContext::KERNEL.0, 0xffff_ffff_8100_1000, 0xffff_ffff_8100_2000];
    for end in [&[CallchainContext::USER_DEFERRED.0, cookie][..], &[CallchainContext::USER_DEFERRED.0]] {
        let fields = SampleFields { callchain: Some([&kernel[..], end].concat()), ..capture.head(0) };
        capture.sample(0, KERNEL, &fields);
    }
    let ips = [CallchainContext::USER.0, 0x40_1000, 0x40_2000, 0x40_3000].map(u64::to_ne_bytes);
    for (cookie, ips) in [(cookie, ips.as_flattened()), (cookie + 1, &[])] {
        let ips = List::new_in(Endianness::NATIVE, ips);
        capture.record(0, USER, &Record::CallchainDeferred(CallchainDeferred { cookie, ips }));
    }
    capture.finish()
}

/// The general registers of a 64-bit task: all but DS, ES, FS and GS.
const GENERAL: u64 = 0xff_0fff;

/// Registers of 32-bit and 64-bit tasks and of none, and copies of the user stack.
pub(crate) fn registers<O: Endian>() -> Vec<u8> {
    let user = SampleType::REGS_USER | SampleType::STACK_USER;
    let user = Attr { sample_regs_user: GENERAL, sample_stack_user: 64, ..cycles(user | SampleType::PERIOD) };
    // XMM0 and XMM15 have two bits each.
    let xmm = 0b11 << 32 | 0b11 << 62;
    let intr = Attr { sample_regs_intr: GENERAL | xmm, ..cycles(SampleType::REGS_INTR | SampleType::PERIOD) };
    let mut capture = Capture::<O>::new(vec![Event::new("user", user), Event::new("intr", intr)]);
    let regs = |abi, mask: u64, first: u64| {
        let values = (0..u64::from(mask.count_ones())).map(|index| first + index * 0x0101_0101);
        Some(RegsFields { abi, values: values.collect() })
    };
    let none = || Some(RegsFields::default());
    let copy = |dyn_size| {
        let data = (0..64).map(|byte| if u64::from(byte) < dyn_size { byte } else { 0xee }).collect();
        Some(StackUserFields { data, dyn_size: Some(dyn_size) })
    };
    let nothing = || Some(StackUserFields::default());
    let samples = [
        (USER, regs(RegsAbi::ABI_64, GENERAL, 0x7fff_0000_0000_1000), copy(40)),
        (USER, regs(RegsAbi::ABI_32, GENERAL, 0x1000), copy(64)),
        (USER, regs(RegsAbi::ABI_64, GENERAL, 0), copy(0)),
        (KERNEL, regs(RegsAbi::ABI_64, GENERAL, 1), nothing()),
        (KERNEL, none(), nothing()),
    ];
    for (misc, regs_user, stack_user) in samples {
        let fields = SampleFields { regs_user, stack_user, ..capture.head(0) };
        capture.sample(0, misc, &fields);
    }
    let mask = GENERAL | xmm;
    let samples = [
        (USER, regs(RegsAbi::ABI_64, mask, 0x7fff_0000_0000_1000)),
        (KERNEL, regs(RegsAbi::ABI_64, mask, 0xffff_ffff_8100_0000)),
        (USER, regs(RegsAbi::ABI_32, mask, 0x1000)),
        (KERNEL, none()),
    ];
    for (misc, regs_intr) in samples {
        let fields = SampleFields { regs_intr, ..capture.head(1) };
        capture.sample(1, misc, &fields);
    }
    capture.finish()
}

/// User stacks of an event that requested 0 bytes. In samples from user space, the kernel writes a stray word after the
/// size. This moves all later fields up by one word and cuts off the last.
pub(crate) fn stack_zero<O: Endian>() -> Vec<u8> {
    let user = SampleType::REGS_USER | SampleType::STACK_USER;
    let event = |sample_type| Attr { sample_regs_user: 0b1_1000_0000, ..cycles(user | sample_type) };
    let mut capture = Capture::<O>::new(vec![
        Event::new("weight,data_src", event(SampleType::WEIGHT | SampleType::DATA_SRC)),
        Event::new("weight", event(SampleType::WEIGHT)),
        Event::new("stack", event(SampleType::NONE)),
    ]);
    let weights = [Some(17), Some(17), None];
    let sources = [Some(DataSrc::NA), None, None];
    for event in 0..3 {
        // From user space. After the size of the stack come the stray word and all fields except the last, which is cut
        // off. If there are no fields after the size, the stray word itself is cut off.
        let head = capture.head(event);
        let now = [head.identifier, head.ip].map(Option::unwrap);
        let payload = Bytes::of::<O>().u64s(&now).i32(PID).i32(TID).u64(head.time.unwrap());
        let payload = payload.u64s(&[RegsAbi::ABI_64.0, 0x7fff_1000, 0x40_1000, 0]);
        let payload = match event {
            0 => payload.u64s(&[0, 17]),
            1 => payload.u64(0),
            _ => payload,
        };
        capture.raw(RecordType::SAMPLE, USER, payload);
        // From a kernel thread, which has no user stack: in the regular form.
        let fields = SampleFields {
            regs_user: Some(RegsFields::default()),
            stack_user: Some(StackUserFields::default()),
            weight: weights[event],
            data_src: sources[event],
            ..capture.head(event)
        };
        capture.sample(event, KERNEL, &fields);
    }
    capture.finish()
}

/// Samples that end with a part of the AUX area.
pub(crate) fn aux_sample<O: Endian>() -> Vec<u8> {
    let attr = Attr { aux_sample_size: 4096, ..cycles(SampleType::CGROUP | SampleType::AUX) };
    let mut capture = Capture::<O>::new(vec![Event::new("cycles", attr)]);
    for size in [0, 8, 64] {
        let aux = (0..size).map(|byte| 0x99 ^ byte).collect();
        let fields = SampleFields { cgroup: Some(4242), aux: Some(aux), ..capture.head(0) };
        capture.sample(0, USER, &fields);
    }
    capture.finish()
}

fn reading(read_format: ReadFormat) -> Attr {
    Attr { read_format, ..cycles(SampleType::READ) }
}

/// Returns the counters of a group of `nr`, in the format `format`.
fn counters(format: ReadFormat, event: usize) -> ReadFields {
    let time = |flag, value| format.contains(flag).then_some(value);
    let nr = if format.contains(ReadFormat::GROUP) { 3 } else { 1 };
    let value = |index: u64| ReadValue {
        value: 1_000_000 * (index + 1),
        id: format.contains(ReadFormat::ID).then_some(1000 + 10 * event as u64 + index),
        lost: format.contains(ReadFormat::LOST).then_some(5 + index),
    };
    ReadFields {
        time_enabled: time(ReadFormat::TOTAL_TIME_ENABLED, 2_000_000),
        time_running: time(ReadFormat::TOTAL_TIME_RUNNING, 1_500_000),
        values: (0..nr).map(value).collect(),
    }
}

fn reads<O: Endian>(formats: &[ReadFormat]) -> Vec<u8> {
    let event = |format: &ReadFormat| Event::new("cycles", reading(*format));
    let mut capture = Capture::<O>::new(formats.iter().map(event).collect());
    for (event, &format) in formats.iter().enumerate() {
        let fields = SampleFields { read: Some(counters(format, event)), ..capture.head(event) };
        capture.sample(event, USER, &fields);
    }
    capture.finish()
}

/// Counter values of a single event, with all fields.
pub(crate) fn read_single<O: Endian>() -> Vec<u8> {
    reads::<O>(&[ReadFormat(ReadFormat::KNOWN.0 & !ReadFormat::GROUP.0)])
}

/// Counter values of a group, with all fields.
pub(crate) fn read_group<O: Endian>() -> Vec<u8> {
    reads::<O>(&[ReadFormat::KNOWN])
}

/// Counter values in all 32 formats, one event each.
pub(crate) fn read_formats<O: Endian>() -> Vec<u8> {
    reads::<O>(&(0..=ReadFormat::KNOWN.0).map(ReadFormat).collect::<Vec<_>>())
}

/// Events whose samples have only the position of the ID in common.
pub(crate) fn dispatch<O: Endian>() -> Vec<u8> {
    let software =
        |sample_type| Attr { kind: EventType::SOFTWARE, config: SwId::PAGE_FAULTS.0, ..cycles(sample_type) };
    let bare =
        Attr { sample_type: SampleType::IDENTIFIER, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    let mut capture = Capture::<O>::new(vec![
        Event::new("cycles", cycles(SampleType::PERIOD)),
        Event::new("page-faults", software(SampleType::ADDR | SampleType::CPU | SampleType::CALLCHAIN)),
        Event::new("bare", bare),
        Event::new("everything", cycles(SampleType::ID | SampleType::STREAM_ID | SampleType::RAW)),
    ]);
    for event in [0, 1, 2, 3, 2, 1, 0] {
        let fields = SampleFields {
            callchain: (event == 1).then(|| vec![CallchainContext::USER.0, 0x40_1000]),
            raw: (event == 3).then(|| b"raw data, 20 bytes..".to_vec()),
            ..capture.head(event)
        };
        capture.sample(event, USER, &fields);
        capture.record(event, Misc(0), &Record::Switch);
    }
    capture.finish()
}

/// What a BPF program wrote, branches that a processor recorded one by one, branches in the kernel, and latencies.
pub(crate) fn script_fields<O: Endian>() -> Vec<u8> {
    let bpf_output = Attr {
        kind: EventType::SOFTWARE,
        config: SwId::BPF_OUTPUT.0,
        sample_period: 1,
        ..cycles(SampleType::RAW)
    };
    let each_branch =
        Attr { config: u64::from(HwId::BRANCH_INSTRUCTIONS.0), sample_period: 1, ..cycles(SampleType::ADDR) };
    let stacks = Attr {
        kind: EventType::RAW,
        config: 0x1c4,
        branch_sample_type: BranchSampleType::ANY,
        ..cycles(SampleType::BRANCH_STACK | SampleType::WEIGHT_STRUCT)
    };
    let mut capture = Capture::<O>::new(vec![
        Event::new("bpf-output", bpf_output),
        Event::new("branches:u", each_branch),
        Event::new("br_inst_retired.near_taken", stacks),
    ]);
    let map =
        |addr, filename: &'static [u8]| Mmap { pid: -1, tid: 0, addr, len: 0x20_0000, pgoff: addr, filename };
    capture.record(0, KERNEL, &Record::Mmap(map(0xffff_ffff_8100_0000, b"[kernel.kallsyms]_text")));
    let map =
        Mmap { pid: PID, tid: TID, addr: 0x40_0000, len: 0x4000, pgoff: 0, filename: b"/bin/a program" };
    capture.record(0, USER, &Record::Mmap(map));
    let texts: [&[u8]; 5] =
        [b"a string\0\0\0\0", b"more than eight, and no end.", b"a\0b\0", b"\x01\x02\0\0", b"1234"];
    for text in texts {
        let fields = SampleFields { raw: Some(text.to_vec()), ..capture.head(0) };
        capture.sample(0, KERNEL, &fields);
    }
    for _ in 0..3 {
        let fields = capture.head(1);
        capture.sample(1, USER, &fields);
    }
    let kernel = 0xffff_ffff_8100_2000;
    for mode in [USER, KERNEL] {
        let flags = BranchFlags::PREDICTED.with_kind(BranchType::SYSCALL).with_cycles(7);
        let entries = vec![
            BranchFields { from: 0x40_1010, to: kernel, flags },
            BranchFields { from: kernel + 0x10, to: 0x40_1012, flags: BranchFlags::MISPRED },
            BranchFields { from: 0, to: 0x7000_0000, flags: BranchFlags::IN_TX },
        ];
        let stack = BranchStackFields { hw_idx: None, entries, counters: None };
        let weights = WeightStruct::default().with_var1_dw(70_000).with_var2_w(42).with_var3_w(7);
        let weight_struct = Some(weights);
        let fields = SampleFields { branch_stack: Some(stack), weight_struct, ..capture.head(2) };
        capture.sample(2, mode, &fields);
    }
    capture.finish()
}
