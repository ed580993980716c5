//! The owned fields of a sample.

use alloc::vec::Vec;

use perf_abi::branch::BranchFlags;
use perf_abi::data_src::DataSrc;
use perf_abi::endian::ByteOrder;
use perf_abi::regs::RegsAbi;
use perf_abi::txn::Txn;
use perf_abi::weight::WeightStruct;

use crate::error::Error;
use crate::list::Branch;
use crate::sample::{Read, ReadValue, Regs, Sample, SimdRegs};

/// A sample of owned fields; `None` for a field that its event does not record. Fields may be added: end a literal with
/// `..SampleFields::default()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleFields {
    /// Id of the event, as the first field of the sample.
    pub identifier: Option<u64>,
    /// Instruction pointer.
    pub ip: Option<u64>,
    /// Process id and thread id.
    pub pid_tid: Option<(i32, i32)>,
    /// Time in nanoseconds of the event's clock.
    pub time: Option<u64>,
    /// Address that the event refers to.
    pub addr: Option<u64>,
    /// Id of the event.
    pub id: Option<u64>,
    /// Id of the event itself, even if it is inherited.
    pub stream_id: Option<u64>,
    /// CPU number.
    pub cpu: Option<u32>,
    /// Period: the number of events that the sample represents.
    pub period: Option<u64>,
    /// Counter values.
    pub read: Option<ReadFields>,
    /// Call chain, including context markers.
    pub callchain: Option<Vec<u64>>,
    /// Bytes that the source of the event defines. With the 4 bytes of their size they make a multiple of 8 bytes.
    pub raw: Option<Vec<u8>>,
    /// Branch records.
    pub branch_stack: Option<BranchStackFields>,
    /// User-space registers.
    pub regs_user: Option<RegsFields>,
    /// Copy of the user stack.
    pub stack_user: Option<StackUserFields>,
    /// Hardware weight as one number.
    pub weight: Option<u64>,
    /// Hardware weight as three numbers.
    pub weight_struct: Option<WeightStruct>,
    /// Source of the memory access.
    pub data_src: Option<DataSrc>,
    /// Reason of a transactional abort.
    pub transaction: Option<Txn>,
    /// Registers at the interrupt.
    pub regs_intr: Option<RegsFields>,
    /// Physical address.
    pub phys_addr: Option<u64>,
    /// Id of the cgroup.
    pub cgroup: Option<u64>,
    /// Size in bytes of the page of `addr`.
    pub data_page_size: Option<u64>,
    /// Size in bytes of the page of `ip`.
    pub code_page_size: Option<u64>,
    /// A snapshot of the AUX area, a multiple of 8 bytes.
    pub aux: Option<Vec<u8>>,
    /// Vector and predicate registers of user space. Provisional: present if and only if the ABI of `regs_user` has
    /// [`ABI_SIMD`](perf_abi::provisional::simd_regs::ABI_SIMD).
    pub simd_regs_user: Option<SimdRegsFields>,
    /// Vector and predicate registers at the interrupt, as `simd_regs_user`.
    pub simd_regs_intr: Option<SimdRegsFields>,
    // `#[non_exhaustive]` would also forbid `..SampleFields::default()` in other crates.
    #[doc(hidden)]
    pub non_exhaustive: (),
}

/// Counter values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadFields {
    /// Nanoseconds enabled.
    pub time_enabled: Option<u64>,
    /// Nanoseconds running.
    pub time_running: Option<u64>,
    /// One value, or the values of a group.
    pub values: Vec<ReadValue>,
}

/// A branch stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchStackFields {
    /// Index of the hardware's raw record. May be `None` for an empty stack, as in the kernel if the PMU provided no
    /// branch stack.
    pub hw_idx: Option<u64>,
    /// The branches, newest first.
    pub entries: Vec<BranchFields>,
    /// One word for each entry. May be `None`, as in the kernel if the PMU provided none.
    pub counters: Option<Vec<u64>>,
}

/// A branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchFields {
    /// Address of the branch instruction.
    pub from: u64,
    /// Address of the target.
    pub to: u64,
    /// Flags of the branch.
    pub flags: BranchFlags,
}

/// Registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegsFields {
    /// ABI of the task.
    pub abi: RegsAbi,
    /// One value for each bit of the attr's mask, lowest bit first; empty if `abi` is `NONE`.
    pub values: Vec<u64>,
}

/// Vector and predicate registers, which are [provisional](perf_abi::provisional::simd_regs).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimdRegsFields {
    /// Number of vector registers.
    pub nr_vectors: u16,
    /// Words of each vector register; not 0 if there are any.
    pub vector_qwords: u16,
    /// Number of predicate registers.
    pub nr_pred: u16,
    /// Words of each predicate register; not 0 if there are any.
    pub pred_qwords: u16,
    /// The words of the vector registers, then those of the predicate registers: as many as the other fields count.
    pub data: Vec<u64>,
}

/// A copy of the user stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackUserFields {
    /// The recorded bytes, a multiple of 8.
    pub data: Vec<u8>,
    /// Number of bytes of `data` that the kernel copied; `None` if and only if `data` is empty.
    pub dyn_size: Option<u64>,
}

impl<O: ByteOrder> From<&Read<'_, O>> for ReadFields {
    fn from(read: &Read<'_, O>) -> Self {
        Self {
            time_enabled: read.time_enabled(),
            time_running: read.time_running(),
            values: read.values().collect(),
        }
    }
}

impl<O: ByteOrder> From<Regs<'_, O>> for RegsFields {
    fn from(regs: Regs<'_, O>) -> Self {
        Self { abi: regs.abi, values: regs.values.iter().collect() }
    }
}

impl<O: ByteOrder> From<SimdRegs<'_, O>> for SimdRegsFields {
    fn from(regs: SimdRegs<'_, O>) -> Self {
        let SimdRegs { nr_vectors, vector_qwords, nr_pred, pred_qwords, data } = regs;
        Self { nr_vectors, vector_qwords, nr_pred, pred_qwords, data: data.iter().collect() }
    }
}

impl<O: ByteOrder> Sample<'_, O> {
    /// Returns all fields as owned values. Allocates for each field of variable size; not for hot loops.
    ///
    /// # Errors
    ///
    /// The errors of [`tail`](Self::tail).
    pub fn to_fields(&self) -> Result<SampleFields, Error> {
        let tail = self.tail()?;
        Ok(SampleFields {
            identifier: self.identifier(),
            ip: self.ip(),
            pid_tid: self.pid().zip(self.tid()),
            time: self.time(),
            addr: self.addr(),
            id: self.id(),
            stream_id: self.stream_id(),
            cpu: self.cpu(),
            period: self.period(),
            read: tail.read.as_ref().map(ReadFields::from),
            callchain: tail.callchain.map(|chain| chain.words().iter().collect()),
            raw: tail.raw.map(Vec::from),
            branch_stack: tail.branch_stack.map(|stack| BranchStackFields {
                hw_idx: stack.hw_idx,
                entries: stack
                    .entries
                    .iter()
                    .map(|Branch { from, to, flags, .. }| BranchFields { from, to, flags })
                    .collect(),
                counters: stack.counters.map(|words| words.iter().collect()),
            }),
            regs_user: tail.regs_user.map(RegsFields::from),
            stack_user: tail
                .stack_user
                .map(|stack| StackUserFields { data: Vec::from(stack.data), dyn_size: stack.dyn_size }),
            weight: tail.weight,
            weight_struct: tail.weight_struct,
            data_src: tail.data_src,
            transaction: tail.transaction,
            regs_intr: tail.regs_intr.map(RegsFields::from),
            phys_addr: tail.phys_addr,
            cgroup: tail.cgroup,
            data_page_size: tail.data_page_size,
            code_page_size: tail.code_page_size,
            aux: tail.aux.map(Vec::from),
            simd_regs_user: tail.simd_regs_user.map(SimdRegsFields::from),
            simd_regs_intr: tail.simd_regs_intr.map(SimdRegsFields::from),
            non_exhaustive: (),
        })
    }
}
