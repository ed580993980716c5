//! Samples, written field by field in the kernel's order.

use alloc::vec::Vec;

use perf_abi::branch::{BranchEntry, BranchSampleType};
use perf_abi::endian::{Endian, I32, U16, U32, U64};
use perf_abi::provisional::simd_regs::{RawSimdRegs, has_simd_regs};
use perf_abi::read_format::ReadFormat;
use perf_abi::record::{Misc, RecordType};
use perf_abi::regs::RegsAbi;
use perf_abi::sample_type::SampleType;

use super::{
    BranchStackFields, ReadFields, RegsFields, SampleFields, SimdRegsFields, StackUserFields, WriteError,
};
use super::{framed, put, word};
use crate::layout::SampleLayout;

/// Appends a sample to `out`.
///
/// # Errors
///
/// [`WriteError::Missing`] and [`WriteError::NotRecorded`] if the fields are not those that the event records;
/// [`WriteError::Invalid`] if fields contradict each other, such as counts; [`WriteError::TooLong`] and
/// [`WriteError::Unaligned`] for the size of the sample. After an error `out` is unchanged.
pub fn sample<O: Endian>(
    out: &mut Vec<u8>,
    layout: &SampleLayout,
    misc: Misc,
    fields: &SampleFields,
) -> Result<(), WriteError> {
    framed::<O>(out, RecordType::SAMPLE, misc, |out| payload::<O>(out, layout, fields))
}

fn payload<O: Endian>(out: &mut Vec<u8>, layout: &SampleLayout, it: &SampleFields) -> Result<(), WriteError> {
    let words = |out: &mut Vec<u8>, &value: &u64| word::<O>(out, value);
    let mut at = FieldWriter { out, sample_type: layout.sample_type };
    at.field(SampleType::IDENTIFIER, "identifier", &it.identifier, words)?;
    at.field(SampleType::IP, "ip", &it.ip, words)?;
    at.field(SampleType::TID, "pid", &it.pid_tid, |out, &(pid, tid)| {
        put(out, &[I32::<O>::new(pid), I32::<O>::new(tid)]);
    })?;
    at.field(SampleType::TIME, "time", &it.time, words)?;
    at.field(SampleType::ADDR, "addr", &it.addr, words)?;
    at.field(SampleType::ID, "id", &it.id, words)?;
    at.field(SampleType::STREAM_ID, "stream_id", &it.stream_id, words)?;
    at.field(SampleType::CPU, "cpu", &it.cpu, |out, &cpu| put(out, &[U32::<O>::new(cpu), U32::ZERO]))?;
    at.field(SampleType::PERIOD, "period", &it.period, words)?;
    at.checked(SampleType::READ, "read", &it.read, |out, read| {
        self::read::<O>(out, layout.read_format, read)
    })?;
    at.field(SampleType::CALLCHAIN, "callchain", &it.callchain, |out, chain| {
        word::<O>(out, chain.len() as u64);
        array::<O>(out, chain);
    })?;
    at.checked(SampleType::RAW, "raw", &it.raw, |out, raw| {
        let size = u32::try_from(raw.len()).map_err(|_| WriteError::TooLong { size: raw.len() })?;
        put(out, &U32::<O>::new(size));
        out.extend_from_slice(raw);
        Ok(())
    })?;
    at.checked(SampleType::BRANCH_STACK, "branch_stack", &it.branch_stack, |out, stack| {
        branch_stack::<O>(out, layout.branch_sample_type, stack)
    })?;
    at.checked(SampleType::REGS_USER, "regs_user", &it.regs_user, |out, regs| {
        self::regs::<O>(out, "regs_user", layout.regs_user, regs)
    })?;
    simd_regs::<O>(at.out, layout, USER, it.regs_user.as_ref(), it.simd_regs_user.as_ref())?;
    at.checked(SampleType::STACK_USER, "stack_user", &it.stack_user, stack_user::<O>)?;
    at.field(SampleType::WEIGHT, "weight", &it.weight, words)?;
    at.field(SampleType::WEIGHT_STRUCT, "weight_struct", &it.weight_struct, |out, weight| {
        word::<O>(out, weight.0);
    })?;
    at.field(SampleType::DATA_SRC, "data_src", &it.data_src, |out, source| word::<O>(out, source.0))?;
    at.field(SampleType::TRANSACTION, "transaction", &it.transaction, |out, txn| word::<O>(out, txn.0))?;
    at.checked(SampleType::REGS_INTR, "regs_intr", &it.regs_intr, |out, regs| {
        self::regs::<O>(out, "regs_intr", layout.regs_intr, regs)
    })?;
    simd_regs::<O>(at.out, layout, INTR, it.regs_intr.as_ref(), it.simd_regs_intr.as_ref())?;
    at.field(SampleType::PHYS_ADDR, "phys_addr", &it.phys_addr, words)?;
    at.field(SampleType::CGROUP, "cgroup", &it.cgroup, words)?;
    at.field(SampleType::DATA_PAGE_SIZE, "data_page_size", &it.data_page_size, words)?;
    at.field(SampleType::CODE_PAGE_SIZE, "code_page_size", &it.code_page_size, words)?;
    at.field(SampleType::AUX, "aux", &it.aux, |out, data| {
        word::<O>(out, data.len() as u64);
        out.extend_from_slice(data);
    })
}

/// Checks each field against the fields that the event records.
struct FieldWriter<'o> {
    out: &'o mut Vec<u8>,
    sample_type: SampleType,
}

impl FieldWriter<'_> {
    /// Writes a field for which every value of its type is valid.
    fn field<T>(
        &mut self,
        bit: SampleType,
        field: &'static str,
        value: &Option<T>,
        write: impl FnOnce(&mut Vec<u8>, &T),
    ) -> Result<(), WriteError> {
        self.checked(bit, field, value, |out, value| {
            write(out, value);
            Ok(())
        })
    }

    fn checked<T>(
        &mut self,
        bit: SampleType,
        field: &'static str,
        value: &Option<T>,
        write: impl FnOnce(&mut Vec<u8>, &T) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        match (self.sample_type.contains(bit), value) {
            (true, Some(value)) => write(self.out, value),
            (false, None) => Ok(()),
            (true, None) => Err(WriteError::Missing { field }),
            (false, Some(_)) => Err(WriteError::NotRecorded { field }),
        }
    }
}

fn array<O: Endian>(out: &mut Vec<u8>, values: &[u64]) {
    for &value in values {
        word::<O>(out, value);
    }
}

/// Writes a number if the event records it.
fn asked<O: Endian>(
    out: &mut Vec<u8>,
    asked: bool,
    field: &'static str,
    value: Option<u64>,
) -> Result<(), WriteError> {
    match (asked, value) {
        (true, Some(value)) => word::<O>(out, value),
        (false, None) => {}
        (true, None) => return Err(WriteError::Missing { field }),
        (false, Some(_)) => return Err(WriteError::NotRecorded { field }),
    }
    Ok(())
}

fn read<O: Endian>(out: &mut Vec<u8>, format: ReadFormat, read: &ReadFields) -> Result<(), WriteError> {
    let enabled = format.contains(ReadFormat::TOTAL_TIME_ENABLED);
    let running = format.contains(ReadFormat::TOTAL_TIME_RUNNING);
    let times = |out: &mut Vec<u8>| {
        asked::<O>(out, enabled, "read.time_enabled", read.time_enabled)?;
        asked::<O>(out, running, "read.time_running", read.time_running)
    };
    let group = format.contains(ReadFormat::GROUP);
    if group {
        word::<O>(out, read.values.len() as u64);
        times(out)?;
    } else if read.values.len() != 1 {
        return Err(WriteError::Invalid {
            field: "read.values",
            must: "one value, because the event does not read its group",
        });
    }
    for value in &read.values {
        word::<O>(out, value.value);
        if !group {
            times(out)?;
        }
        asked::<O>(out, format.contains(ReadFormat::ID), "read.id", value.id)?;
        asked::<O>(out, format.contains(ReadFormat::LOST), "read.lost", value.lost)?;
    }
    Ok(())
}

fn branch_stack<O: Endian>(
    out: &mut Vec<u8>,
    recorded: BranchSampleType,
    stack: &BranchStackFields,
) -> Result<(), WriteError> {
    word::<O>(out, stack.entries.len() as u64);
    if !stack.entries.is_empty() || stack.hw_idx.is_some() {
        asked::<O>(out, recorded.contains(BranchSampleType::HW_INDEX), "branch_stack.hw_idx", stack.hw_idx)?;
    }
    for entry in &stack.entries {
        put(out, &BranchEntry::<O>::new(entry.from, entry.to, entry.flags));
    }
    if let Some(counters) = &stack.counters {
        if counters.len() != stack.entries.len() || counters.is_empty() {
            return Err(WriteError::Invalid {
                field: "branch_stack.counters",
                must: "one word for each entry, and absent without entries",
            });
        }
        array::<O>(out, counters);
    }
    Ok(())
}

fn regs<O: Endian>(
    out: &mut Vec<u8>,
    field: &'static str,
    mask: u64,
    regs: &RegsFields,
) -> Result<(), WriteError> {
    let count = if regs.abi == RegsAbi::NONE { 0 } else { mask.count_ones() };
    if regs.values.len() as u64 != u64::from(count) {
        return Err(WriteError::Invalid {
            field,
            must: "one value for each bit of the attr's mask, or none for ABI 0",
        });
    }
    word::<O>(out, regs.abi.0);
    array::<O>(out, &regs.values);
    Ok(())
}

/// The names of the fields of provisional registers: the ABI that they need, and themselves.
type SimdNames = (&'static str, &'static str);

const USER: SimdNames = ("regs_user.abi", "simd_regs_user");
const INTR: SimdNames = ("regs_intr.abi", "simd_regs_intr");

/// Writes vector and predicate registers, if the ABI of the registers before them has such.
fn simd_regs<O: Endian>(
    out: &mut Vec<u8>,
    layout: &SampleLayout,
    (abi_field, field): SimdNames,
    regs: Option<&RegsFields>,
    simd: Option<&SimdRegsFields>,
) -> Result<(), WriteError> {
    let has_simd = regs.is_some_and(|regs| has_simd_regs(regs.abi));
    if has_simd && !layout.has_provisional_abi() {
        let must = "of a released kernel, unless the layout has the provisional ABI";
        return Err(WriteError::Invalid { field: abi_field, must });
    }
    let simd = match (has_simd, simd) {
        (true, Some(simd)) => simd,
        (false, None) => return Ok(()),
        (true, None) => return Err(WriteError::Missing { field }),
        (false, Some(_)) => return Err(WriteError::NotRecorded { field }),
    };
    let words = |nr: u16, qwords: u16| u64::from(nr).wrapping_mul(u64::from(qwords));
    let count =
        words(simd.nr_vectors, simd.vector_qwords).wrapping_add(words(simd.nr_pred, simd.pred_qwords));
    let is_empty = |nr, qwords| nr != 0 && qwords == 0;
    if simd.data.len() as u64 != count
        || is_empty(simd.nr_vectors, simd.vector_qwords)
        || is_empty(simd.nr_pred, simd.pred_qwords)
    {
        let must = "as many words as its registers have, which have at least 1 each";
        return Err(WriteError::Invalid { field, must });
    }
    let header = RawSimdRegs::<O> {
        nr_vectors: U16::new(simd.nr_vectors),
        vector_qwords: U16::new(simd.vector_qwords),
        nr_pred: U16::new(simd.nr_pred),
        pred_qwords: U16::new(simd.pred_qwords),
    };
    put(out, &header);
    array::<O>(out, &simd.data);
    Ok(())
}

fn stack_user<O: Endian>(out: &mut Vec<u8>, stack: &StackUserFields) -> Result<(), WriteError> {
    let size = stack.data.len() as u64;
    word::<O>(out, size);
    out.extend_from_slice(&stack.data);
    match stack.dyn_size {
        Some(dyn_size) if size != 0 && dyn_size <= size => put(out, &U64::<O>::new(dyn_size)),
        None if size == 0 => {}
        _ => {
            let must = "present if and only if the stack has bytes, and at most their number";
            return Err(WriteError::Invalid { field: "stack_user.dyn_size", must });
        }
    }
    Ok(())
}
