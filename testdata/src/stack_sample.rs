//! A sample with user registers and a copy of the user stack, and the mappings of its process.

use perf_abi::attr::Attr;
use perf_abi::branch::BranchSampleType;
use perf_abi::sample_type::SampleType;

use crate::Bytes;

/// The major number of the device that files were recorded on: none that a machine has, so that their inodes tell nothing.
const DEVICE: u32 = 0xfff;

/// A sample with user registers and a copy of the user stack. Its process has id 5.
#[derive(Clone, Debug)]
pub struct StackSample {
    /// Whether the capture is big-endian.
    pub big: bool,
    /// The mappings: address, length, offset in the file, protection, and name.
    pub mappings: Vec<(u64, u64, u64, u32, &'static str)>,
    /// The ABI of the task: 0, 1 or 2.
    pub abi: u64,
    /// The registers: bits of `sample_regs_user` and values, in ascending order of the bits. Without any, the event records none.
    pub regs: Vec<(u32, u64)>,
    /// The copy of the stack. At most 65,000 bytes.
    pub stack: Vec<u8>,
    /// The call chain; `None` if the event has none.
    pub chain: Option<Vec<u64>>,
    /// The branches, if they are its call stack: from and to, the newest first.
    pub branches: Option<Vec<(u64, u64)>>,
    /// Whether the event has a copy of the stack.
    pub has_stack: bool,
    /// Whether the kernel was interrupted.
    pub is_kernel: bool,
}

impl StackSample {
    /// Returns the attr of the event.
    #[must_use]
    pub fn attr(&self) -> Attr {
        let mut sample_type =
            SampleType::IP | SampleType::TID | SampleType::REGS_USER | SampleType::STACK_USER;
        if self.chain.is_some() {
            sample_type |= SampleType::CALLCHAIN;
        }
        let sample_regs_user = self.regs.iter().fold(0, |mask, (bit, _)| mask | 1 << bit);
        let mut branch_sample_type = BranchSampleType(0);
        if self.branches.is_some() {
            sample_type |= SampleType::BRANCH_STACK;
            branch_sample_type = BranchSampleType::USER | BranchSampleType::CALL_STACK;
        }
        if !self.has_stack {
            sample_type = SampleType(sample_type.0 & !SampleType::STACK_USER.0);
        }
        if self.regs.is_empty() {
            sample_type = SampleType(sample_type.0 & !SampleType::REGS_USER.0);
        }
        // Not zero, so that the copy has a size of its own.
        Attr {
            sample_type,
            branch_sample_type,
            sample_regs_user,
            sample_stack_user: 65_000,
            ..Attr::default()
        }
    }

    /// Returns the records: the mappings, then the sample.
    #[must_use]
    pub fn records(&self) -> Vec<u8> {
        let mut out = self.mappings();
        out.extend(self.sample());
        out
    }

    /// Returns the records of the mappings.
    #[must_use]
    pub fn mappings(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for &(addr, len, pgoff, prot, name) in &self.mappings {
            let payload = Bytes::new(self.big).i32(5).i32(5).u64s(&[addr, len, pgoff]);
            let payload = payload.u32(DEVICE).u32(1).u64(7).u64(0).u32(prot).u32(2);
            let payload = payload.padded(name.as_bytes(), (name.len() + 1).next_multiple_of(8));
            out.extend(payload.record(10, 2));
        }
        out
    }

    /// Returns the record of the sample.
    #[must_use]
    pub fn sample(&self) -> Vec<u8> {
        let mut it = Bytes::new(self.big).u64(0xffff_0000_0000_1234).i32(5).i32(5);
        if let Some(chain) = &self.chain {
            it = it.u64(chain.len() as u64).u64s(chain);
        }
        if let Some(branches) = &self.branches {
            it = it.u64(branches.len() as u64);
            it = branches.iter().fold(it, |it, &(from, to)| it.u64s(&[from, to, 0]));
        }
        if !self.regs.is_empty() {
            it = it.u64(self.abi);
        }
        if self.abi != 0 {
            it = self.regs.iter().fold(it, |it, (_, value)| it.u64(*value));
        }
        if self.has_stack {
            let size = self.stack.len().next_multiple_of(8);
            it = it.u64(size as u64).padded(&self.stack, size);
            if size != 0 {
                it = it.u64(self.stack.len() as u64);
            }
        }
        it.record(9, if self.is_kernel { 1 } else { 2 })
    }
}
