//! The fields of a sample after the leading ones, decoded in one walk.
//!
//! The layout of five fields is ambiguous. Each is read in the usual layout first. If the sample is then not consumed
//! exactly, the other layouts are tried. [`Readings`] reports which layouts were used.

use perf_abi::branch::BranchSampleType;
use perf_abi::data_src::DataSrc;
use perf_abi::endian::{ByteOrder, Endianness};
use perf_abi::record::CpuMode;
use perf_abi::regs::RegsAbi;
use perf_abi::sample_type::SampleType;
use perf_abi::txn::Txn;
use perf_abi::weight::WeightStruct;

use super::{BranchStack, Callchain, Read, Regs, Sample, StackUser};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::layout::{SampleLayout, TailFields};

/// The fields of a sample from `read` on. Each is `None` if the event does not record it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Tail<'a, O: ByteOrder = Endianness> {
    /// Counter values.
    pub read: Option<Read<'a, O>>,
    /// Call chain.
    pub callchain: Option<Callchain<'a, O>>,
    /// Bytes that the source of the event defines, including padding: 4 zero bytes if the source has no data.
    pub raw: Option<&'a [u8]>,
    /// Branch records.
    pub branch_stack: Option<BranchStack<'a, O>>,
    /// User-space registers.
    pub regs_user: Option<Regs<'a, O>>,
    /// Copy of the user stack.
    pub stack_user: Option<StackUser<'a>>,
    /// Hardware weight as one number.
    pub weight: Option<u64>,
    /// Hardware weight as three numbers.
    pub weight_struct: Option<WeightStruct>,
    /// Source of the memory access.
    pub data_src: Option<DataSrc>,
    /// Reason of a transactional abort.
    pub transaction: Option<Txn>,
    /// Registers at the interrupt.
    pub regs_intr: Option<Regs<'a, O>>,
    /// Physical address; 0 if unknown.
    pub phys_addr: Option<u64>,
    /// Id of the cgroup.
    pub cgroup: Option<u64>,
    /// Size in bytes of the page of `addr`; 0 if unknown.
    pub data_page_size: Option<u64>,
    /// Size in bytes of the page of `ip`; 0 if unknown.
    pub code_page_size: Option<u64>,
    /// A snapshot of the AUX area.
    pub aux: Option<&'a [u8]>,
    /// The layouts in which the ambiguous fields were read.
    pub readings: Readings,
}

/// The fields that the event records. `readings` only if the layout of a field was ambiguous.
#[cfg(feature = "serde")]
impl<O: ByteOrder> serde::Serialize for Tail<'_, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use crate::serialize::Bytes;

        crate::serialize::fields!(to, "Tail" {
            read: self.read,
            callchain: self.callchain,
            raw: self.raw.map(Bytes),
            branch_stack: self.branch_stack,
            regs_user: self.regs_user,
            stack_user: self.stack_user,
            weight: self.weight,
            weight_struct: self.weight_struct,
            data_src: self.data_src,
            transaction: self.transaction,
            regs_intr: self.regs_intr,
            phys_addr: self.phys_addr,
            cgroup: self.cgroup,
            data_page_size: self.data_page_size,
            code_page_size: self.code_page_size,
            aux: self.aux.map(Bytes),
            readings: Some(self.readings).filter(|readings| *readings != Readings::default()),
        })
    }
}

/// The layout in which an ambiguous field was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Reading {
    /// The layout was not ambiguous.
    #[default]
    Certain,
    /// The layout that kernels usually write.
    Usual,
    /// The other layout: the usual one does not consume the sample exactly, or other fields indicate this one.
    Other,
}

/// The layouts in which the ambiguous fields of a sample were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Readings {
    /// An empty branch stack of an event that records `hw_idx`. Usual: the index is present. Other: it is absent,
    /// because the PMU provided no branch stack.
    pub hw_idx: Reading,
    /// A branch stack with entries. Usual: counters are present if the event records them. Other: they are absent
    /// although the event records them, because the PMU provided none; or they are present although the event does
    /// not record them, because the group's leader does.
    pub counters: Reading,
    /// User registers of ABI 0. Usual: no registers follow. Other: registers follow.
    pub regs_user: Reading,
    /// A user stack of size 0 of an event that asks for 0 bytes. Usual: nothing follows the size. Other: the kernel's
    /// stray zero word follows it, every later field is 8 bytes later, and the last 8 bytes of the sample are lost. A
    /// field that lost all its bytes is `None`.
    pub stack_user: Reading,
    /// Registers at the interrupt of ABI 0, as for `regs_user`.
    pub regs_intr: Reading,
}

impl Readings {
    /// Returns the name of each ambiguous field and its layout, in the order of the record.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Reading)> + use<> {
        [
            ("branch_stack.hw_idx", self.hw_idx),
            ("branch_stack.counters", self.counters),
            ("regs_user", self.regs_user),
            ("stack_user", self.stack_user),
            ("regs_intr", self.regs_intr),
        ]
        .into_iter()
    }
}

/// A set of the fields whose layout is ambiguous. The first field in the record has the highest bit.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Open(u8);

impl Open {
    const HW_IDX: Self = Self(1 << 4);
    const COUNTERS: Self = Self(1 << 3);
    const REGS_USER: Self = Self(1 << 2);
    const STACK_USER: Self = Self(1 << 1);
    const REGS_INTR: Self = Self(1 << 0);

    const fn has(self, field: Self) -> bool {
        self.0 & field.0 != 0
    }

    /// Returns the fields that precede the user stack.
    const fn before_stack(self) -> u8 {
        self.0 & (Self::HW_IDX.0 | Self::COUNTERS.0 | Self::REGS_USER.0)
    }
}

/// The fields of a sample that follow the user stack.
const AFTER_STACK: SampleType = SampleType::WEIGHT
    .union(SampleType::WEIGHT_STRUCT)
    .union(SampleType::DATA_SRC)
    .union(SampleType::TRANSACTION)
    .union(SampleType::REGS_INTR)
    .union(SampleType::PHYS_ADDR)
    .union(SampleType::CGROUP)
    .union(SampleType::DATA_PAGE_SIZE)
    .union(SampleType::CODE_PAGE_SIZE)
    .union(SampleType::AUX);

impl<O: ByteOrder> Tail<'_, O> {
    /// The tail of a sample that has no fields in it.
    const EMPTY: Self = Self {
        read: None,
        callchain: None,
        raw: None,
        branch_stack: None,
        regs_user: None,
        stack_user: None,
        weight: None,
        weight_struct: None,
        data_src: None,
        transaction: None,
        regs_intr: None,
        phys_addr: None,
        cgroup: None,
        data_page_size: None,
        code_page_size: None,
        aux: None,
        readings: Readings {
            hw_idx: Reading::Certain,
            counters: Reading::Certain,
            regs_user: Reading::Certain,
            stack_user: Reading::Certain,
            regs_intr: Reading::Certain,
        },
    };
}

impl<'a, O: ByteOrder> Sample<'a, O> {
    /// Decodes all fields from `read` on in one walk. Allocates nothing. The cost grows with the number of fields,
    /// not with their sizes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] with the name of the field that does not fit, [`ErrorKind::OutOfRange`] for a stack
    /// copy that is larger than its room, [`ErrorKind::Residue`] if bytes are left: a sample must be consumed
    /// exactly. The getters of the leading fields remain valid.
    #[inline(always)]
    pub fn tail(&self) -> Result<Tail<'a, O>, Error> {
        // The layout of a lone field is never ambiguous, so it needs no walk over the fields that there might be.
        match self.layout.tail {
            TailFields::None => return Ok(Tail::EMPTY),
            TailFields::Callchain => {
                let mut at = self.cursor();
                let callchain = Some(Callchain::parse(self.record.order(), &mut at)?);
                at.finish()?;
                return Ok(Tail { callchain, ..Tail::EMPTY });
            }
            TailFields::Raw => {
                let mut at = self.cursor();
                let raw = Some(raw::<O>(self.record.order(), &mut at)?);
                at.finish()?;
                return Ok(Tail { raw, ..Tail::EMPTY });
            }
            TailFields::Others => {}
        }
        let mut others = Open(0);
        let mut is_resolved = false;
        // The walk occurs once and is inlined, so that a field that the caller does not use costs nothing: it is
        // never written. A reference to the tail would force all of it through memory.
        loop {
            let mut walk = Walk::new(self.record.order(), others);
            let mut tail = Tail::EMPTY;
            let usual = walk.run(self, &mut tail);
            let is_settled = match usual {
                Ok(()) => !walk.seen.has(Open::STACK_USER),
                Err(_) => walk.seen == Open(0),
            };
            if is_settled || is_resolved {
                return usual.map(|()| tail);
            }
            match self.resolve() {
                Some(reading) => others = reading,
                None => return usual.map(|()| tail),
            }
            is_resolved = true;
        }
    }

    /// Returns the number of readings that consume the sample exactly. More than 1 means that its bytes are
    /// ambiguous.
    ///
    /// Walks the sample once for each combination of layouts: at most 32 times.
    #[must_use]
    pub fn possible_readings(&self) -> usize {
        self.exact_readings().count()
    }

    /// Returns each reading that consumes the sample exactly. Readings that differ from the usual one as late as
    /// possible in the record come first.
    fn exact_readings(&self) -> impl Iterator<Item = (Open, Tail<'a, O>)> {
        (0..32).filter_map(|others| {
            let mut walk = Walk::new(self.record.order(), Open(others));
            let mut tail = Tail::EMPTY;
            walk.run(self, &mut tail).ok()?;
            // A reading that changes a field that is not ambiguous in this sample is a duplicate.
            (others & !walk.seen.0 == 0).then_some((Open(others), tail))
        })
    }

    /// Returns the reading to use if the usual one fails, or if both it and the stray word of the stack fit: the
    /// fields to read in the other layout. `None` if no reading consumes the sample exactly.
    #[cold]
    #[inline(never)]
    fn resolve(self) -> Option<Open> {
        let (first, tail) = self.exact_readings().next()?;
        if first.has(Open::STACK_USER) || !self.ran_in_user_space(&tail) {
            return Some(first);
        }
        // The registers are evidence only for readings that are equal up to the stack.
        let alike = |others: Open| others.before_stack() == first.before_stack();
        let stray = self.exact_readings().find(|&(others, _)| others.has(Open::STACK_USER) && alike(others));
        Some(stray.map_or(first, |(others, _)| others))
    }

    /// Returns whether there was a user stack to copy: user registers are recorded or, if the event does not record
    /// them, the CPU mode is user.
    fn ran_in_user_space(&self, tail: &Tail<'a, O>) -> bool {
        match tail.regs_user {
            Some(regs) => regs.abi != RegsAbi::NONE,
            None => self.record.misc().cpumode() == CpuMode::USER,
        }
    }
}

/// One walk over a tail with a given layout of each ambiguous field.
struct Walk<O: ByteOrder> {
    order: O::Value,
    /// The fields to read in the other layout.
    others: Open,
    /// The ambiguous fields that occurred.
    seen: Open,
    /// Whether a stray word moved the last 8 bytes out of the sample.
    cut: bool,
}

impl<O: ByteOrder> Walk<O> {
    fn new(order: O::Value, others: Open) -> Self {
        Self { order, others, seen: Open(0), cut: false }
    }

    /// Records that `field` is ambiguous here. Returns whether to read it in the other layout.
    #[inline(always)]
    fn other(&mut self, field: Open) -> bool {
        self.seen.0 |= field.0;
        self.others.has(field)
    }

    /// Decodes the sample to `tail`, which is empty.
    #[inline(always)]
    fn run<'a>(&mut self, sample: &Sample<'a, O>, tail: &mut Tail<'a, O>) -> Result<(), Error> {
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
            tail.regs_user = self.regs(at, Open::REGS_USER, layout.regs_user)?;
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
        if self.seen != Open(0) {
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
            tail.regs_intr = self.regs(at, Open::REGS_INTR, layout.regs_intr)?;
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
            hw_idx: of(Open::HW_IDX),
            counters: of(Open::COUNTERS),
            regs_user: of(Open::REGS_USER),
            stack_user: of(Open::STACK_USER),
            regs_intr: of(Open::REGS_INTR),
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
        let has_idx = asked.contains(BranchSampleType::HW_INDEX) && (nr != 0 || !self.other(Open::HW_IDX));
        let hw_idx = if has_idx { Some(at.word_in::<O>(self.order, "branch_stack.hw_idx")?) } else { None };
        let entries = at.list(self.order, nr, "branch_stack.entries")?;
        let has_counters =
            nr != 0 && asked.contains(BranchSampleType::COUNTERS) != self.other(Open::COUNTERS);
        let counters =
            if has_counters { Some(at.list(self.order, nr, "branch_stack.counters")?) } else { None };
        Ok(BranchStack { hw_idx, entries, counters })
    }

    #[inline(always)]
    fn regs<'a>(
        &mut self,
        at: &mut Cursor<'a>,
        which: Open,
        mask: u64,
    ) -> Result<Option<Regs<'a, O>>, Error> {
        let (abi_field, field) = match which {
            Open::REGS_USER => ("regs_user.abi", "regs_user"),
            _ => ("regs_intr.abi", "regs_intr"),
        };
        let Some(abi) = self.word(at, abi_field)? else { return Ok(None) };
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
            && self.other(Open::STACK_USER)
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
fn raw<'a, O: ByteOrder>(order: O::Value, at: &mut Cursor<'a>) -> Result<&'a [u8], Error> {
    let size = O::u32(order, *at.fixed::<[u8; 4]>("raw.size")?);
    at.bytes(u64::from(size), "raw.data")
}
