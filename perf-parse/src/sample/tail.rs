//! The fields of a sample after the leading ones, decoded in one walk.
//!
//! The layout of five fields is ambiguous. Each is read in the usual layout first. If the sample is then not consumed
//! exactly, the other layouts are tried. [`Readings`] reports which layouts were used.

mod reading;
mod walk;

use perf_abi::data_src::DataSrc;
use perf_abi::endian::{ByteOrder, Endianness};
use perf_abi::record::CpuMode;
use perf_abi::regs::RegsAbi;
use perf_abi::txn::Txn;
use perf_abi::weight::WeightStruct;

use super::{BranchStack, Callchain, Read, Regs, Sample, SimdRegs, StackUser};
use crate::error::Error;
use crate::layout::TailFields;
use reading::AmbiguousFields;
pub use reading::{Reading, Readings};
#[cfg(feature = "std")]
pub(crate) use walk::AFTER_STACK;
use walk::{TailWalk, raw};

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
    /// Vector and predicate registers of user space, which follow those of `regs_user`. Provisional: `None` unless
    /// [`SampleLayout::with_provisional_abi`](crate::SampleLayout::with_provisional_abi) was asked for.
    pub simd_regs_user: Option<SimdRegs<'a, O>>,
    /// Vector and predicate registers at the interrupt, which follow those of `regs_intr`. Provisional, as `simd_regs_user`.
    pub simd_regs_intr: Option<SimdRegs<'a, O>>,
    /// The layouts in which the ambiguous fields were read.
    pub readings: Readings,
}

/// The fields that the event records. `readings` only if the layout of a field was ambiguous.
#[cfg(feature = "serde")]
impl<O: ByteOrder> serde::Serialize for Tail<'_, O> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use crate::serialize::SerializedBytes;

        crate::serialize::fields!(to, "Tail" {
            read: self.read,
            callchain: self.callchain,
            raw: self.raw.map(SerializedBytes),
            branch_stack: self.branch_stack,
            regs_user: self.regs_user,
            simd_regs_user: self.simd_regs_user,
            stack_user: self.stack_user,
            weight: self.weight,
            weight_struct: self.weight_struct,
            data_src: self.data_src,
            transaction: self.transaction,
            regs_intr: self.regs_intr,
            simd_regs_intr: self.simd_regs_intr,
            phys_addr: self.phys_addr,
            cgroup: self.cgroup,
            data_page_size: self.data_page_size,
            code_page_size: self.code_page_size,
            aux: self.aux.map(SerializedBytes),
            readings: Some(self.readings).filter(|readings| *readings != Readings::default()),
        })
    }
}

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
        simd_regs_user: None,
        simd_regs_intr: None,
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
    /// [`Truncated`] with the name of the field that does not fit, [`OutOfRange`] for a stack copy that is larger than its
    /// room, [`Residue`] if bytes are left: a sample must be consumed exactly. [`Provisional`] for registers of an ABI that no
    /// released kernel has, unless the layout decodes it. The getters of the leading fields remain valid.
    ///
    /// [`Provisional`]: crate::ErrorKind::Provisional
    /// [`Truncated`]: crate::ErrorKind::Truncated
    /// [`OutOfRange`]: crate::ErrorKind::OutOfRange
    /// [`Residue`]: crate::ErrorKind::Residue
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
        let mut others = AmbiguousFields(0);
        let mut is_resolved = false;
        // The walk occurs once and is inlined, so that a field that the caller does not use costs nothing: it is
        // never written. A reference to the tail would force all of it through memory.
        loop {
            let mut walk = TailWalk::new(self.record.order(), others);
            let mut tail = Tail::EMPTY;
            let usual = walk.run(self, &mut tail);
            let is_settled = match usual {
                Ok(()) => !walk.seen.has(AmbiguousFields::STACK_USER),
                Err(_) => walk.seen == AmbiguousFields(0),
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
    fn exact_readings(&self) -> impl Iterator<Item = (AmbiguousFields, Tail<'a, O>)> {
        (0..32).filter_map(|others| {
            let mut walk = TailWalk::new(self.record.order(), AmbiguousFields(others));
            let mut tail = Tail::EMPTY;
            walk.run(self, &mut tail).ok()?;
            // A reading that changes a field that is not ambiguous in this sample is a duplicate.
            (others & !walk.seen.0 == 0).then_some((AmbiguousFields(others), tail))
        })
    }

    /// Returns the reading to use if the usual one fails, or if both it and the stray word of the stack fit: the
    /// fields to read in the other layout. `None` if no reading consumes the sample exactly.
    #[cold]
    #[inline(never)]
    fn resolve(self) -> Option<AmbiguousFields> {
        let (first, tail) = self.exact_readings().next()?;
        if first.has(AmbiguousFields::STACK_USER) || !self.ran_in_user_space(&tail) {
            return Some(first);
        }
        // The registers are evidence only for readings that are equal up to the stack.
        let alike = |others: AmbiguousFields| others.before_stack() == first.before_stack();
        let stray = self
            .exact_readings()
            .find(|&(others, _)| others.has(AmbiguousFields::STACK_USER) && alike(others));
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
