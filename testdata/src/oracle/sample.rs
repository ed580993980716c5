//! Samples.

use perf_abi::attr::Attr;

use super::branch::{BranchStack, branch_stack};
use super::choices::Choices;
use super::read::{Read, read};
use super::reader::Reader;
use super::readings::Readings;

const PERF_SAMPLE_IP: u64 = 1 << 0;
const PERF_SAMPLE_TID: u64 = 1 << 1;
const PERF_SAMPLE_TIME: u64 = 1 << 2;
const PERF_SAMPLE_ADDR: u64 = 1 << 3;
const PERF_SAMPLE_READ: u64 = 1 << 4;
const PERF_SAMPLE_CALLCHAIN: u64 = 1 << 5;
const PERF_SAMPLE_ID: u64 = 1 << 6;
const PERF_SAMPLE_CPU: u64 = 1 << 7;
const PERF_SAMPLE_PERIOD: u64 = 1 << 8;
const PERF_SAMPLE_STREAM_ID: u64 = 1 << 9;
const PERF_SAMPLE_RAW: u64 = 1 << 10;
const PERF_SAMPLE_BRANCH_STACK: u64 = 1 << 11;
const PERF_SAMPLE_REGS_USER: u64 = 1 << 12;
const PERF_SAMPLE_STACK_USER: u64 = 1 << 13;
const PERF_SAMPLE_WEIGHT: u64 = 1 << 14;
const PERF_SAMPLE_DATA_SRC: u64 = 1 << 15;
const PERF_SAMPLE_IDENTIFIER: u64 = 1 << 16;
const PERF_SAMPLE_TRANSACTION: u64 = 1 << 17;
const PERF_SAMPLE_REGS_INTR: u64 = 1 << 18;
const PERF_SAMPLE_PHYS_ADDR: u64 = 1 << 19;
const PERF_SAMPLE_AUX: u64 = 1 << 20;
const PERF_SAMPLE_CGROUP: u64 = 1 << 21;
const PERF_SAMPLE_DATA_PAGE_SIZE: u64 = 1 << 22;
const PERF_SAMPLE_CODE_PAGE_SIZE: u64 = 1 << 23;
const PERF_SAMPLE_WEIGHT_STRUCT: u64 = 1 << 24;
const PERF_SAMPLE_MAX: u64 = 1 << 25;

const PERF_RECORD_MISC_CPUMODE_MASK: u16 = 7;
const PERF_RECORD_MISC_USER: u16 = 2;

/// A sample, with its fields in the order of the record. Fields that the `sample_type` does
/// not have are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// `PERF_SAMPLE_IDENTIFIER`.
    pub identifier: Option<u64>,
    /// `PERF_SAMPLE_IP`.
    pub ip: Option<u64>,
    /// `PERF_SAMPLE_TID`.
    pub pid: Option<i32>,
    /// `PERF_SAMPLE_TID`.
    pub tid: Option<i32>,
    /// `PERF_SAMPLE_TIME`.
    pub time: Option<u64>,
    /// `PERF_SAMPLE_ADDR`.
    pub addr: Option<u64>,
    /// `PERF_SAMPLE_ID`.
    pub id: Option<u64>,
    /// `PERF_SAMPLE_STREAM_ID`.
    pub stream_id: Option<u64>,
    /// `PERF_SAMPLE_CPU`.
    pub cpu: Option<u32>,
    /// `PERF_SAMPLE_PERIOD`.
    pub period: Option<u64>,
    /// `PERF_SAMPLE_READ`.
    pub read: Option<Read>,
    /// `PERF_SAMPLE_CALLCHAIN`, including context markers.
    pub callchain: Option<Vec<u64>>,
    /// `PERF_SAMPLE_RAW`, including its padding.
    pub raw: Option<Vec<u8>>,
    /// `PERF_SAMPLE_BRANCH_STACK`.
    pub branch_stack: Option<BranchStack>,
    /// `PERF_SAMPLE_REGS_USER`.
    pub regs_user: Option<Regs>,
    /// `PERF_SAMPLE_STACK_USER`.
    pub stack_user: Option<Stack>,
    /// `PERF_SAMPLE_WEIGHT`.
    pub weight: Option<u64>,
    /// `PERF_SAMPLE_WEIGHT_STRUCT`.
    pub weight_struct: Option<WeightStruct>,
    /// `PERF_SAMPLE_DATA_SRC`.
    pub data_src: Option<u64>,
    /// `PERF_SAMPLE_TRANSACTION`.
    pub transaction: Option<u64>,
    /// `PERF_SAMPLE_REGS_INTR`.
    pub regs_intr: Option<Regs>,
    /// `PERF_SAMPLE_PHYS_ADDR`.
    pub phys_addr: Option<u64>,
    /// `PERF_SAMPLE_CGROUP`.
    pub cgroup: Option<u64>,
    /// `PERF_SAMPLE_DATA_PAGE_SIZE`.
    pub data_page_size: Option<u64>,
    /// `PERF_SAMPLE_CODE_PAGE_SIZE`.
    pub code_page_size: Option<u64>,
    /// `PERF_SAMPLE_AUX`.
    pub aux: Option<Vec<u8>>,
    /// The registers after those of `PERF_SAMPLE_REGS_USER`, of the ABI that is in review.
    pub simd_regs_user: Option<SimdRegs>,
    /// The registers after those of `PERF_SAMPLE_REGS_INTR`, of the ABI that is in review.
    pub simd_regs_intr: Option<SimdRegs>,
    /// The readings of the ambiguous parts.
    pub readings: Readings,
}

/// Registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regs {
    /// 0: none; 1: of a 32-bit task; 2: of a 64-bit task.
    pub abi: u64,
    /// One word for each bit of the attr's mask, the lowest bit first.
    pub values: Vec<u64>,
}

/// Vector and predicate registers, of the ABI that is in review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimdRegs {
    /// The words of each vector register. Only the last register of all may lack a word.
    pub vectors: Vec<Vec<u64>>,
    /// The words of each predicate register.
    pub preds: Vec<Vec<u64>>,
}

/// A copy of the top of the user stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Bytes of `data`.
    pub size: u64,
    /// The bytes. Only the first `dyn_size` are from the stack.
    pub data: Vec<u8>,
    /// Bytes of `data` that are from the stack; `None` if `size` is 0.
    pub dyn_size: Option<u64>,
}

/// The parts of a `union perf_sample_weight`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightStruct {
    /// Bits 0 to 31.
    pub var1_dw: u32,
    /// Bits 32 to 47.
    pub var2_w: u16,
    /// Bits 48 to 63.
    pub var3_w: u16,
}

/// Decodes the payload of a sample with the first combination of readings that consumes it exactly.
///
/// `next_abi` is whether the ABI that is in review is decoded.
pub(super) fn sample(
    attr: &Attr,
    big: bool,
    misc: u16,
    payload: &[u8],
    next_abi: bool,
) -> Result<Sample, String> {
    let mut choices = Choices::default();
    let mut result = read_sample(attr, misc, Reader::new(payload, big), &mut choices, next_abi);
    let mut fits = u32::from(result.is_ok());
    while choices.advance() {
        let other = read_sample(attr, misc, Reader::new(payload, big), &mut choices, next_abi);
        fits += u32::from(other.is_ok());
        if result.is_err() && other.is_ok() {
            result = other;
        }
    }
    let mut sample = result?;
    sample.readings.fits = fits;
    Ok(sample)
}

/// Decodes a sample with the readings in `choices`.
fn read_sample(
    attr: &Attr,
    misc: u16,
    mut r: Reader<'_>,
    choices: &mut Choices,
    next_abi: bool,
) -> Result<Sample, String> {
    let sample_type = attr.sample_type.0;
    if sample_type >= PERF_SAMPLE_MAX {
        return Err(format!("attr.sample_type: {sample_type:#x} has unknown bits"));
    }
    if sample_type & PERF_SAMPLE_WEIGHT != 0 && sample_type & PERF_SAMPLE_WEIGHT_STRUCT != 0 {
        return Err("attr.sample_type: WEIGHT and WEIGHT_STRUCT".to_string());
    }
    let mut s = Sample::default();
    if sample_type & PERF_SAMPLE_IDENTIFIER != 0 {
        s.identifier = Some(r.u64("identifier")?);
    }
    if sample_type & PERF_SAMPLE_IP != 0 {
        s.ip = Some(r.u64("ip")?);
    }
    if sample_type & PERF_SAMPLE_TID != 0 {
        s.pid = Some(r.i32("pid")?);
        s.tid = Some(r.i32("tid")?);
    }
    if sample_type & PERF_SAMPLE_TIME != 0 {
        s.time = Some(r.u64("time")?);
    }
    if sample_type & PERF_SAMPLE_ADDR != 0 {
        s.addr = Some(r.u64("addr")?);
    }
    if sample_type & PERF_SAMPLE_ID != 0 {
        s.id = Some(r.u64("id")?);
    }
    if sample_type & PERF_SAMPLE_STREAM_ID != 0 {
        s.stream_id = Some(r.u64("stream_id")?);
    }
    if sample_type & PERF_SAMPLE_CPU != 0 {
        s.cpu = Some(r.u32("cpu")?);
        let _res = r.u32("res")?;
    }
    if sample_type & PERF_SAMPLE_PERIOD != 0 {
        s.period = Some(r.u64("period")?);
    }
    if sample_type & PERF_SAMPLE_READ != 0 {
        s.read = Some(read(attr.read_format.0, &mut r)?);
    }
    if sample_type & PERF_SAMPLE_CALLCHAIN != 0 {
        let nr = r.u64("callchain.nr")?;
        s.callchain = Some(r.words("callchain.ips", nr)?);
    }
    if sample_type & PERF_SAMPLE_RAW != 0 {
        let size = r.u32("raw.size")?;
        s.raw = Some(r.bytes("raw.data", u64::from(size))?.to_vec());
    }
    if sample_type & PERF_SAMPLE_BRANCH_STACK != 0 {
        s.branch_stack = Some(branch_stack(attr.branch_sample_type.0, &mut r, choices, &mut s.readings)?);
    }
    if sample_type & PERF_SAMPLE_REGS_USER != 0 {
        s.regs_user = regs(attr.sample_regs_user, &mut r, choices, &mut s.readings.regs_user)?;
        s.simd_regs_user = simd_regs(s.regs_user.as_ref(), &mut r, next_abi)?;
    }
    if sample_type & PERF_SAMPLE_STACK_USER != 0 {
        let size = r.u64("stack_user.size")?;
        let data = r.bytes("stack_user.data", size)?.to_vec();
        let dyn_size = if size != 0 { Some(r.u64("stack_user.dyn_size")?) } else { None };
        s.stack_user = Some(Stack { size, data, dyn_size });
        if size == 0 && attr.sample_stack_user == 0 {
            let has_user_regs = match &s.regs_user {
                Some(regs) => regs.abi != 0,
                None => misc & PERF_RECORD_MISC_CPUMODE_MASK == PERF_RECORD_MISC_USER,
            };
            let stray = has_user_regs != choices.second();
            s.readings.stack_stray = Some(stray);
            if stray {
                if r.u64("stack_user: stray word")? != 0 {
                    return Err("stack_user: the stray word is not 0".to_string());
                }
                r.cut();
            }
        }
    }
    // The last word of the remaining fields may be cut off.
    if sample_type & PERF_SAMPLE_WEIGHT != 0 {
        s.weight = r.u64_unless_cut("weight")?;
    }
    if sample_type & PERF_SAMPLE_WEIGHT_STRUCT != 0 {
        s.weight_struct = r.u64_unless_cut("weight_struct")?.map(|word| WeightStruct {
            var1_dw: word as u32,
            var2_w: (word >> 32) as u16,
            var3_w: (word >> 48) as u16,
        });
    }
    if sample_type & PERF_SAMPLE_DATA_SRC != 0 {
        s.data_src = r.u64_unless_cut("data_src")?;
    }
    if sample_type & PERF_SAMPLE_TRANSACTION != 0 {
        s.transaction = r.u64_unless_cut("transaction")?;
    }
    if sample_type & PERF_SAMPLE_REGS_INTR != 0 {
        s.regs_intr = regs(attr.sample_regs_intr, &mut r, choices, &mut s.readings.regs_intr)?;
        s.simd_regs_intr = simd_regs(s.regs_intr.as_ref(), &mut r, next_abi)?;
    }
    if sample_type & PERF_SAMPLE_PHYS_ADDR != 0 {
        s.phys_addr = r.u64_unless_cut("phys_addr")?;
    }
    if sample_type & PERF_SAMPLE_CGROUP != 0 {
        s.cgroup = r.u64_unless_cut("cgroup")?;
    }
    if sample_type & PERF_SAMPLE_DATA_PAGE_SIZE != 0 {
        s.data_page_size = r.u64_unless_cut("data_page_size")?;
    }
    if sample_type & PERF_SAMPLE_CODE_PAGE_SIZE != 0 {
        s.code_page_size = r.u64_unless_cut("code_page_size")?;
    }
    if sample_type & PERF_SAMPLE_AUX != 0
        && let Some(size) = r.u64_unless_cut("aux.size")?
    {
        s.aux = Some(r.last_bytes("aux.data", size)?.to_vec());
    }
    r.end()?;
    Ok(s)
}

/// Reads registers; returns `None` if their ABI is cut off.
fn regs(
    mask: u64,
    r: &mut Reader<'_>,
    choices: &mut Choices,
    reading: &mut Option<bool>,
) -> Result<Option<Regs>, String> {
    let Some(abi) = r.u64_unless_cut("regs.abi")? else { return Ok(None) };
    let mut there = true;
    if abi == 0 && mask != 0 {
        there = choices.second();
        *reading = Some(there);
    }
    let mut values = Vec::new();
    if there {
        for _bit in (0..64).filter(|bit| mask & (1 << bit) != 0) {
            values.extend(r.u64_unless_cut("regs.values")?);
        }
    }
    Ok(Some(Regs { abi, values }))
}

/// Reads the registers that the bit 4 of the ABI announces; returns `None` without it, and if they are cut off.
fn simd_regs(regs: Option<&Regs>, r: &mut Reader<'_>, next_abi: bool) -> Result<Option<SimdRegs>, String> {
    let Some(regs) = regs.filter(|regs| regs.abi & 4 != 0) else { return Ok(None) };
    if !next_abi {
        return Err(format!("regs.abi: {} is of no released kernel", regs.abi));
    }
    if r.ends_cut() {
        return Ok(None);
    }
    let nr_vectors = r.u16("nr_vectors")?;
    let vector_qwords = r.u16("vector_qwords")?;
    let nr_pred = r.u16("nr_pred")?;
    let pred_qwords = r.u16("pred_qwords")?;
    let mut read = |nr: u16, qwords: u16| {
        let mut registers = Vec::new();
        for _register in 0..nr {
            if qwords == 0 {
                return Err("a register has no words".to_string());
            }
            let mut words = Vec::new();
            for _word in 0..qwords {
                words.extend(r.u64_unless_cut("simd_regs.data")?);
            }
            registers.push(words);
        }
        Ok(registers)
    };
    let vectors = read(nr_vectors, vector_qwords)?;
    let preds = read(nr_pred, pred_qwords)?;
    Ok(Some(SimdRegs { vectors, preds }))
}
