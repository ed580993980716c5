//! Valid events, samples and records made from the fuzzer's bytes.

use arbitrary::{Arbitrary, Result, Unstructured};
use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::{BranchFlags, BranchSampleType};
use perf_abi::data_src::DataSrc;
use perf_abi::read_format::ReadFormat;
use perf_abi::regs::RegsAbi;
use perf_abi::sample_type::SampleType;
use perf_abi::txn::Txn;
use perf_abi::weight::WeightStruct;
use perf_parse::sample::ReadValue;
use perf_parse::write::{
    BranchFields, BranchStackFields, ReadFields, RegsFields, SampleFields, StackUserFields,
};
use testdata::oracle::{Body, Mmap2Id, Namespace};

/// The source of the values.
pub type Bytes<'a> = Unstructured<'a>;

/// Makes an attr whose samples have a known layout.
pub fn attr(u: &mut Bytes<'_>) -> Result<Attr> {
    let mut sample_type = SampleType(u64::arbitrary(u)? & SampleType::KNOWN.0);
    if sample_type.contains(SampleType::WEIGHT_TYPE) {
        sample_type = sample_type.without(SampleType::WEIGHT);
    }
    Ok(Attr {
        config: u.arbitrary()?,
        sample_period: u.arbitrary()?,
        sample_type,
        read_format: ReadFormat(u64::arbitrary(u)? & 0x1f),
        branch_sample_type: BranchSampleType(u.arbitrary()?),
        sample_regs_user: u.arbitrary()?,
        sample_regs_intr: u.arbitrary()?,
        sample_stack_user: u32::from(u8::arbitrary(u)?) & !7,
        aux_watermark: u.arbitrary()?,
        config3: u.arbitrary()?,
        flags: if u.arbitrary()? { AttrFlags::SAMPLE_ID_ALL } else { AttrFlags::NONE },
        ..Attr::default()
    })
}

/// Makes bytes whose number is a multiple of 8 plus `more`.
fn bytes(u: &mut Bytes<'_>, more: usize) -> Result<Vec<u8>> {
    let len = u.int_in_range(0..=5)? * 8 + more;
    (0..len).map(|_| u8::arbitrary(u)).collect()
}

/// Makes bytes without a NUL.
pub fn text(u: &mut Bytes<'_>) -> Result<Vec<u8>> {
    let len = u.int_in_range(0..=20)?;
    (0..len).map(|_| u8::arbitrary(u).map(|byte| byte.max(1))).collect()
}

fn words(u: &mut Bytes<'_>) -> Result<Vec<u64>> {
    let len = u.int_in_range(0..=5)?;
    (0..len).map(|_| u.arbitrary()).collect()
}

/// Makes a sample with all fields that `attr` records. `id` is the id of its event.
pub fn sample(u: &mut Bytes<'_>, attr: &Attr, id: u64) -> Result<SampleFields> {
    let has = |bit| attr.sample_type.contains(bit);
    macro_rules! asked {
        ($bit:ident, $value:expr) => {
            if has(SampleType::$bit) { Some($value) } else { None }
        };
    }
    Ok(SampleFields {
        identifier: asked!(IDENTIFIER, id),
        ip: asked!(IP, u.arbitrary()?),
        pid_tid: asked!(TID, u.arbitrary()?),
        time: asked!(TIME, u.arbitrary()?),
        addr: asked!(ADDR, u.arbitrary()?),
        id: asked!(ID, id),
        stream_id: asked!(STREAM_ID, u.arbitrary()?),
        cpu: asked!(CPU, u.arbitrary()?),
        period: asked!(PERIOD, u.arbitrary()?),
        read: asked!(READ, read(u, attr.read_format)?),
        callchain: asked!(CALLCHAIN, words(u)?),
        raw: asked!(RAW, bytes(u, 4)?),
        branch_stack: asked!(BRANCH_STACK, branch_stack(u, attr.branch_sample_type)?),
        regs_user: asked!(REGS_USER, regs(u, attr.sample_regs_user)?),
        stack_user: asked!(STACK_USER, stack_user(u)?),
        weight: asked!(WEIGHT, u.arbitrary()?),
        weight_struct: asked!(WEIGHT_STRUCT, WeightStruct(u.arbitrary()?)),
        data_src: asked!(DATA_SRC, DataSrc(u.arbitrary()?)),
        transaction: asked!(TRANSACTION, Txn(u.arbitrary()?)),
        regs_intr: asked!(REGS_INTR, regs(u, attr.sample_regs_intr)?),
        phys_addr: asked!(PHYS_ADDR, u.arbitrary()?),
        cgroup: asked!(CGROUP, u.arbitrary()?),
        data_page_size: asked!(DATA_PAGE_SIZE, u.arbitrary()?),
        code_page_size: asked!(CODE_PAGE_SIZE, u.arbitrary()?),
        aux: asked!(AUX, bytes(u, 0)?),
        ..SampleFields::default()
    })
}

/// Makes counter values in a format.
pub fn read(u: &mut Bytes<'_>, format: ReadFormat) -> Result<ReadFields> {
    let nr = if format.contains(ReadFormat::GROUP) { u.int_in_range(0..=4)? } else { 1 };
    let mut asked = |bit| if format.contains(bit) { u.arbitrary().map(Some) } else { Ok(None) };
    let (time_enabled, time_running) =
        (asked(ReadFormat::TOTAL_TIME_ENABLED)?, asked(ReadFormat::TOTAL_TIME_RUNNING)?);
    let value =
        |index| Ok(ReadValue { value: index, id: asked(ReadFormat::ID)?, lost: asked(ReadFormat::LOST)? });
    let values = (0..nr).map(value).collect::<Result<_>>()?;
    Ok(ReadFields { time_enabled, time_running, values })
}

fn branch_stack(u: &mut Bytes<'_>, asked: BranchSampleType) -> Result<BranchStackFields> {
    let nr = u.int_in_range(0..=4)?;
    let branch =
        |_| Ok(BranchFields { from: u.arbitrary()?, to: u.arbitrary()?, flags: BranchFlags(u.arbitrary()?) });
    let entries = (0..nr).map(branch).collect::<Result<Vec<_>>>()?;
    let has_index = asked.contains(BranchSampleType::HW_INDEX) && (nr > 0 || u.arbitrary()?);
    let has_counters = asked.contains(BranchSampleType::COUNTERS) && nr > 0 && u.arbitrary()?;
    Ok(BranchStackFields {
        hw_idx: if has_index { Some(u.arbitrary()?) } else { None },
        counters: if has_counters {
            Some((0..nr).map(|_| u.arbitrary()).collect::<Result<_>>()?)
        } else {
            None
        },
        entries,
    })
}

fn regs(u: &mut Bytes<'_>, mask: u64) -> Result<RegsFields> {
    let abi = RegsAbi(u.int_in_range(0..=2)?);
    let count = if abi == RegsAbi::NONE { 0 } else { mask.count_ones() };
    Ok(RegsFields { abi, values: (0..count).map(|_| u.arbitrary()).collect::<Result<_>>()? })
}

fn stack_user(u: &mut Bytes<'_>) -> Result<StackUserFields> {
    let data = bytes(u, 0)?;
    let dyn_size = if data.is_empty() { None } else { Some(u.int_in_range(0..=data.len() as u64)?) };
    Ok(StackUserFields { data, dyn_size })
}

/// Makes a record of the kernel as the oracle would decode it. The record is neither a sample nor counter values.
pub fn body(u: &mut Bytes<'_>) -> Result<Body> {
    let task: [i32; 4] = u.arbitrary()?;
    let word: [u64; 3] = u.arbitrary()?;
    let [pid, tid, ppid, ptid] = task;
    let [time, id, stream_id] = word;
    let [addr, len, pgoff] = word;
    Ok(match u.int_in_range(0..=19)? {
        0 => Body::Mmap { pid, tid, addr, len, pgoff, filename: text(u)? },
        1 => Body::Lost { id, lost: len },
        2 => Body::Comm { pid, tid, comm: text(u)? },
        3 => Body::Exit { pid, ppid, tid, ptid, time },
        4 => Body::Throttle { time, id, stream_id },
        5 => Body::Unthrottle { time, id, stream_id },
        6 => Body::Fork { pid, ppid, tid, ptid, time },
        7 => mmap2(u, [pid, tid], word)?,
        8 => Body::Aux { aux_offset: addr, aux_size: len, flags: pgoff },
        9 => Body::ItraceStart { pid, tid },
        10 => Body::LostSamples { lost: len },
        11 => Body::Switch,
        12 => Body::SwitchCpuWide { next_prev_pid: pid, next_prev_tid: tid },
        13 => {
            let link = |pair: &[u64]| Namespace { dev: pair[0], ino: pair[1] };
            Body::Namespaces { pid, tid, namespaces: words(u)?.chunks_exact(2).map(link).collect() }
        }
        14 => {
            let (ksym_type, flags) = u.arbitrary()?;
            Body::Ksymbol { addr, len: len as u32, ksym_type, flags, name: text(u)? }
        }
        15 => {
            let (r#type, flags) = u.arbitrary()?;
            Body::BpfEvent { r#type, flags, id: id as u32, tag: time.to_ne_bytes() }
        }
        16 => Body::Cgroup { id, path: text(u)? },
        17 => Body::TextPoke { addr, old: text(u)?, new: text(u)? },
        18 => Body::AuxOutputHwId { hw_id: id },
        _ => Body::CallchainDeferred { cookie: id, ips: words(u)? },
    })
}

fn mmap2(u: &mut Bytes<'_>, [pid, tid]: [i32; 2], [addr, len, pgoff]: [u64; 3]) -> Result<Body> {
    let (prot, flags) = (u8::arbitrary(u)?, u.arbitrary()?);
    let has_build_id = u.arbitrary()?;
    let file = if has_build_id {
        Mmap2Id::BuildId { build_id_size: u.int_in_range(0..=20)?, build_id: u.arbitrary()? }
    } else {
        let (maj, min, ino, ino_generation) = u.arbitrary()?;
        Mmap2Id::Inode { maj, min, ino, ino_generation }
    };
    // The layout of Linux 3.12 to 3.15.
    let is_old = !has_build_id && u.ratio(1, 8)?;
    // The values are such that the record is read in its layout: see `Mmap2::reading`.
    let (prot, flags) = if is_old { (None, None) } else { (Some((prot & 0x1f).into()), Some(flags)) };
    let mut filename = text(u)?;
    if is_old {
        filename.insert(0, b'/');
    }
    let fits_both = is_old && filename.len() >= 8;
    Ok(Body::Mmap2 { pid, tid, addr, len, pgoff, file, prot, flags, fits_both, filename })
}
