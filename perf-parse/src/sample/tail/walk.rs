//! One walk over the fields of a sample after the leading ones.

use perf_abi::branch::BranchSampleType;
use perf_abi::data_src::DataSrc;
use perf_abi::endian::ByteOrder;
use perf_abi::provisional::simd_regs::{ABI_SIMD, has_simd_regs};
use perf_abi::regs::RegsAbi;
use perf_abi::sample_type::SampleType;
use perf_abi::txn::Txn;
use perf_abi::weight::WeightStruct;

use super::Tail;
use super::reading::{AmbiguousFields, Reading, Readings};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::layout::SampleLayout;
use crate::sample::simd_regs::{self, SimdFields};
use crate::sample::{BranchStack, Callchain, Regs, Sample, SimdRegs, StackUser};

/// The fields of a sample that follow the user stack.
pub(crate) const AFTER_STACK: SampleType = SampleType::WEIGHT
    .union(SampleType::WEIGHT_STRUCT)
    .union(SampleType::DATA_SRC)
    .union(SampleType::TRANSACTION)
    .union(SampleType::REGS_INTR)
    .union(SampleType::PHYS_ADDR)
    .union(SampleType::CGROUP)
    .union(SampleType::DATA_PAGE_SIZE)
    .union(SampleType::CODE_PAGE_SIZE)
    .union(SampleType::AUX);

/// One walk over a tail with a given layout of each ambiguous field.
pub(super) struct TailWalk<O: ByteOrder> {
    order: O::Value,
    /// The fields to read in the other layout.
    others: AmbiguousFields,
    /// The ambiguous fields that occurred.
    pub(super) seen: AmbiguousFields,
    /// Whether a stray word moved the last 8 bytes out of the sample.
    cut: bool,
}

impl<O: ByteOrder> TailWalk<O> {
    pub(super) fn new(order: O::Value, others: AmbiguousFields) -> Self {
        Self { order, others, seen: AmbiguousFields(0), cut: false }
    }

    /// Records that `field` is ambiguous here. Returns whether to read it in the other layout.
    #[inline(always)]
    fn other(&mut self, field: AmbiguousFields) -> bool {
        self.seen.0 |= field.0;
        self.others.has(field)
    }

    /// Decodes the sample to `tail`, which is empty.
    #[inline(always)]
    pub(super) fn run<'a>(&mut self, sample: &Sample<'a, O>, tail: &mut Tail<'a, O>) -> Result<(), Error> {
        let layout = sample.layout;
        let records = |field| layout.sample_type.contains(field);
        let mut cursor = sample.cursor();
        let at = &mut cursor;
        tail.read = sample.read(at)?;
        if records(SampleType::CALLCHAIN) {
            tail.callchain = Some(Callchain::parse(self.order, at)?);
        }
        if records(SampleType::RAW) {
            tail.raw = Some(raw::<O>(self.order, at)?);
        }
        if records(SampleType::BRANCH_STACK) {
            tail.branch_stack = Some(self.branch_stack(at, layout.branch_sample_type)?);
        }
        if records(SampleType::REGS_USER) {
            tail.regs_user = self.regs(at, AmbiguousFields::REGS_USER, layout)?;
            if tail.regs_user.is_some_and(|regs| has_simd_regs(regs.abi)) {
                tail.simd_regs_user = self.simd_regs(at, &simd_regs::USER)?;
            }
        }
        if records(SampleType::STACK_USER) {
            tail.stack_user = Some(self.stack_user(at, layout.stack_user_is_zero)?);
        }
        if layout.sample_type.0 & AFTER_STACK.0 != 0 {
            self.run_after_stack(at, layout, tail)?;
        }
        cursor.finish()?;
        if self.cut {
            // The stray word moved nothing out of the sample. No kernel writes such a sample.
            return Err(cursor.truncated("stack_user", 8));
        }
        if self.seen != AmbiguousFields(0) {
            tail.readings = self.readings();
        }
        Ok(())
    }

    /// Decodes the fields after the user stack, which few events record.
    #[inline(always)]
    fn run_after_stack<'a>(
        &mut self,
        at: &mut Cursor<'a>,
        layout: &SampleLayout,
        tail: &mut Tail<'a, O>,
    ) -> Result<(), Error> {
        let records = |field| layout.sample_type.contains(field);
        if records(SampleType::WEIGHT) {
            tail.weight = self.word(at, "weight")?;
        }
        if records(SampleType::WEIGHT_STRUCT) {
            tail.weight_struct = self.word(at, "weight")?.map(WeightStruct);
        }
        if records(SampleType::DATA_SRC) {
            tail.data_src = self.word(at, "data_src")?.map(DataSrc);
        }
        if records(SampleType::TRANSACTION) {
            tail.transaction = self.word(at, "transaction")?.map(Txn);
        }
        if records(SampleType::REGS_INTR) {
            tail.regs_intr = self.regs(at, AmbiguousFields::REGS_INTR, layout)?;
            if tail.regs_intr.is_some_and(|regs| has_simd_regs(regs.abi)) {
                tail.simd_regs_intr = self.simd_regs(at, &simd_regs::INTR)?;
            }
        }
        if records(SampleType::PHYS_ADDR) {
            tail.phys_addr = self.word(at, "phys_addr")?;
        }
        if records(SampleType::CGROUP) {
            tail.cgroup = self.word(at, "cgroup")?;
        }
        if records(SampleType::DATA_PAGE_SIZE) {
            tail.data_page_size = self.word(at, "data_page_size")?;
        }
        if records(SampleType::CODE_PAGE_SIZE) {
            tail.code_page_size = self.word(at, "code_page_size")?;
        }
        if records(SampleType::AUX) {
            tail.aux = self.aux(at)?;
        }
        Ok(())
    }

    fn readings(&self) -> Readings {
        let of = |field| match (self.seen.has(field), self.others.has(field)) {
            (false, _) => Reading::Certain,
            (true, false) => Reading::Usual,
            (true, true) => Reading::Other,
        };
        Readings {
            hw_idx: of(AmbiguousFields::HW_IDX),
            counters: of(AmbiguousFields::COUNTERS),
            regs_user: of(AmbiguousFields::REGS_USER),
            stack_user: of(AmbiguousFields::STACK_USER),
            regs_intr: of(AmbiguousFields::REGS_INTR),
        }
    }

    /// Returns whether exactly the 8 bytes that a stray word cut off are missing from `needed` bytes. True at most
    /// once.
    #[cold]
    fn ends_cut(&mut self, at: &Cursor<'_>, needed: usize) -> bool {
        let cut = self.cut && at.rest().len().checked_add(8) == Some(needed);
        self.cut &= !cut;
        cut
    }

    /// Takes a word after the stack; `None` if it was cut off.
    #[inline(always)]
    fn word(&mut self, at: &mut Cursor<'_>, field: &'static str) -> Result<Option<u64>, Error> {
        match at.word_in::<O>(self.order, field) {
            Ok(word) => Ok(Some(word)),
            Err(_) if self.ends_cut(at, 8) => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[inline(always)]
    fn branch_stack<'a>(
        &mut self,
        at: &mut Cursor<'a>,
        asked: BranchSampleType,
    ) -> Result<BranchStack<'a, O>, Error> {
        let nr = at.word_in::<O>(self.order, "branch_stack.nr")?;
        let has_idx =
            asked.contains(BranchSampleType::HW_INDEX) && (nr != 0 || !self.other(AmbiguousFields::HW_IDX));
        let hw_idx = if has_idx { Some(at.word_in::<O>(self.order, "branch_stack.hw_idx")?) } else { None };
        let entries = at.list(self.order, nr, "branch_stack.entries")?;
        let has_counters =
            nr != 0 && asked.contains(BranchSampleType::COUNTERS) != self.other(AmbiguousFields::COUNTERS);
        let counters =
            if has_counters { Some(at.list(self.order, nr, "branch_stack.counters")?) } else { None };
        Ok(BranchStack { hw_idx, entries, counters })
    }

    #[inline(always)]
    fn regs<'a>(
        &mut self,
        at: &mut Cursor<'a>,
        which: AmbiguousFields,
        layout: &SampleLayout,
    ) -> Result<Option<Regs<'a, O>>, Error> {
        let (abi_field, field, mask) = match which {
            AmbiguousFields::REGS_USER => ("regs_user.abi", "regs_user", layout.regs_user),
            _ => ("regs_intr.abi", "regs_intr", layout.regs_intr),
        };
        let Some(abi) = self.word(at, abi_field)? else { return Ok(None) };
        if abi & ABI_SIMD != 0 && !layout.has_provisional_abi {
            let kind = ErrorKind::Provisional { field: abi_field, bits: abi & ABI_SIMD };
            return Err(Error::new(kind, at.offset().saturating_sub(8)));
        }
        let count = if abi != 0 || mask != 0 && self.other(which) { mask.count_ones() } else { 0 };
        let values = match at.list(self.order, u64::from(count), field) {
            Ok(values) => values,
            Err(_) if self.ends_cut(at, (count as usize).wrapping_mul(8)) => {
                at.list(self.order, u64::from(count.saturating_sub(1)), field)?
            }
            Err(error) => return Err(error),
        };
        Ok(Some(Regs { abi: RegsAbi(abi), mask, values }))
    }

    /// Takes vector and predicate registers. No released kernel writes them.
    fn simd_regs<'a>(
        &mut self,
        at: &mut Cursor<'a>,
        fields: &SimdFields,
    ) -> Result<Option<SimdRegs<'a, O>>, Error> {
        let (regs, cut, after) = simd_regs::take(self.order, *at, self.cut, fields)?;
        (self.cut, *at) = (cut, after);
        Ok(regs)
    }

    #[inline(always)]
    fn stack_user<'a>(&mut self, at: &mut Cursor<'a>, asked_zero: bool) -> Result<StackUser<'a>, Error> {
        let size = at.word_in::<O>(self.order, "stack_user.size")?;
        let data = at.bytes(size, "stack_user.data")?;
        if size != 0 {
            let offset = at.offset();
            let dyn_size = at.word_in::<O>(self.order, "stack_user.dyn_size")?;
            if dyn_size > size {
                let kind = ErrorKind::OutOfRange { field: "stack_user.dyn_size", value: dyn_size, max: size };
                return Err(Error::new(kind, offset));
            }
            return Ok(StackUser { data, dyn_size: Some(dyn_size) });
        }
        let mut after = *at;
        if asked_zero
            && after.word_in::<O>(self.order, "stack_user.dyn_size") == Ok(0)
            && self.other(AmbiguousFields::STACK_USER)
        {
            *at = after;
            self.cut = true;
        }
        Ok(StackUser { data, dyn_size: None })
    }

    #[inline(always)]
    fn aux<'a>(&mut self, at: &mut Cursor<'a>) -> Result<Option<&'a [u8]>, Error> {
        let Some(size) = self.word(at, "aux.size")? else { return Ok(None) };
        match at.bytes(size, "aux.data") {
            Ok(data) => Ok(Some(data)),
            Err(_) if usize::try_from(size).is_ok_and(|size| self.ends_cut(at, size)) => {
                Ok(Some(at.take_rest()))
            }
            Err(error) => Err(error),
        }
    }
}

/// Takes the bytes of a raw field, whose size has 32 bits.
#[inline(always)]
pub(super) fn raw<'a, O: ByteOrder>(order: O::Value, at: &mut Cursor<'a>) -> Result<&'a [u8], Error> {
    let size = O::u32(order, *at.fixed::<[u8; 4]>("raw.size")?);
    at.bytes(u64::from(size), "raw.data")
}
