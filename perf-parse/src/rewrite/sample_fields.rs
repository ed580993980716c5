//! Samples without some of their fields.

use alloc::vec::Vec;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::{ByteOrder, Endianness};
use perf_abi::sample_type::SampleType;

use super::record_words::RecordWords;
use crate::error::Error;
use crate::layout::SampleLayout;
use crate::record::RawRecord;
use crate::sample::{AFTER_STACK, Reading, Regs, Sample, SimdRegs, Tail};

/// The fields that samples can be without. The others tell which event, thread and time a sample is of, and what it counts.
pub(super) const REMOVABLE: SampleType = SampleType::CALLCHAIN
    .union(SampleType::RAW)
    .union(SampleType::BRANCH_STACK)
    .union(SampleType::REGS_USER)
    .union(SampleType::STACK_USER)
    .union(AFTER_STACK);

/// Removes fields from an attr, with what else it has for them.
pub(super) fn remove_from(attr: &mut Attr, fields: SampleType) {
    attr.remove_sample_fields(fields);
    if fields.contains(SampleType::CALLCHAIN) {
        attr.sample_max_stack = 0;
        let of_chains = AttrFlags::EXCLUDE_CALLCHAIN_KERNEL
            | AttrFlags::EXCLUDE_CALLCHAIN_USER
            | AttrFlags::DEFER_CALLCHAIN
            | AttrFlags::DEFER_OUTPUT;
        attr.flags = attr.flags.without(of_chains);
    }
}

/// Returns the bytes of a sample without some fields. `after` is the layout of the event without them.
///
/// # Errors
///
/// Those of [`Sample::tail`], also if what is left can no longer be decoded.
pub(super) fn without(
    sample: &Sample<'_>,
    fields: SampleType,
    after: &SampleLayout,
) -> Result<Vec<u8>, Error> {
    let tail = sample.tail()?;
    let record = sample.record();
    let parts = sizes(&tail);
    let recorded = sample.layout().sample_type;
    let last = parts.iter().rev().map(|&(field, _)| field).find(|&field| recorded.contains(field));
    // The kernel's stray word after an empty stack moved the last word out of the sample: see `Readings::stack_user`. If the
    // stack goes, the last field is whole again, with zeros. If the last field goes, the stray word must go, too.
    let is_stray = tail.readings.stack_user == Reading::Other;
    let last_stays = last.is_some_and(|last| !fields.contains(last));
    let (mut out, mut rest) = record.as_bytes().split_at(record.len().min(leading(sample, &tail)));
    let mut kept = Vec::from(out);
    for (field, size) in parts {
        (out, rest) = rest.split_at(rest.len().min(size));
        if !fields.contains(field) {
            kept.extend_from_slice(out);
        }
        if field == SampleType::STACK_USER && is_stray {
            (out, rest) = rest.split_at(rest.len().min(8));
            if last_stays && !fields.contains(field) {
                kept.extend_from_slice(out);
            }
        }
    }
    if is_stray && last_stays && fields.contains(SampleType::STACK_USER) {
        kept.extend_from_slice(&[0; 8]);
    }
    let mut kept = RecordWords::new(kept, record.endianness());
    let after = if sample.layout().has_provisional_abi { after.with_provisional_abi() } else { *after };
    // It is no longer than it was.
    let _fits = kept.set_size();
    let (raw, _) = RawRecord::<Endianness>::parse_in(record.endianness(), &kept.bytes)?;
    Sample::parse(&after, &raw)?.tail()?;
    Ok(kept.bytes)
}

/// Returns the number of bytes before the call chain: the header, the leading fields and the counter values.
fn leading<O: ByteOrder>(sample: &Sample<'_, O>, tail: &Tail<'_, O>) -> usize {
    let read = tail.read.as_ref().map_or(0, |read| {
        let (times, values) = read.words();
        times.len().saturating_add(values.len()).saturating_add(usize::from(read.is_group()))
    });
    let head = usize::from(sample.layout().head.size).saturating_add(8);
    head.saturating_add(read.saturating_mul(8))
}

/// Returns the sizes of the fields after the counter values, in the order of the record.
fn sizes<O: ByteOrder>(tail: &Tail<'_, O>) -> [(SampleType, usize); 15] {
    let word = |is_there: bool| if is_there { 8 } else { 0 };
    let words = |count: usize| count.saturating_mul(8);
    let regs = |regs: Option<Regs<'_, O>>, simd: Option<SimdRegs<'_, O>>| {
        let simd = simd.map_or(0, |it| it.data.len().saturating_add(1));
        regs.map_or(0, |it| words(it.values.len().saturating_add(simd).saturating_add(1)))
    };
    let branches = tail.branch_stack.map_or(0, |it| {
        let counters = it.counters.map_or(0, |counters| counters.len());
        let entries = it.entries.len().saturating_mul(3);
        words(entries.saturating_add(counters).saturating_add(1)).saturating_add(word(it.hw_idx.is_some()))
    });
    [
        (SampleType::CALLCHAIN, tail.callchain.map_or(0, |it| words(it.words().len().saturating_add(1)))),
        (SampleType::RAW, tail.raw.map_or(0, |it| it.len().saturating_add(4))),
        (SampleType::BRANCH_STACK, branches),
        (SampleType::REGS_USER, regs(tail.regs_user, tail.simd_regs_user)),
        (
            SampleType::STACK_USER,
            tail.stack_user
                .map_or(0, |it| it.data.len().saturating_add(8).saturating_add(word(it.dyn_size.is_some()))),
        ),
        (SampleType::WEIGHT, word(tail.weight.is_some())),
        (SampleType::WEIGHT_STRUCT, word(tail.weight_struct.is_some())),
        (SampleType::DATA_SRC, word(tail.data_src.is_some())),
        (SampleType::TRANSACTION, word(tail.transaction.is_some())),
        (SampleType::REGS_INTR, regs(tail.regs_intr, tail.simd_regs_intr)),
        (SampleType::PHYS_ADDR, word(tail.phys_addr.is_some())),
        (SampleType::CGROUP, word(tail.cgroup.is_some())),
        (SampleType::DATA_PAGE_SIZE, word(tail.data_page_size.is_some())),
        (SampleType::CODE_PAGE_SIZE, word(tail.code_page_size.is_some())),
        (SampleType::AUX, tail.aux.map_or(0, |it| it.len().saturating_add(8))),
    ]
}
