//! `ETM_BRANCH_LIST`: the branches of the ETM data, which simpleperf decoded while it recorded.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::protobuf::{MessageField, field, message};
use crate::byte_str::ByteStr;
use crate::error::FileError;
use crate::feature::codec::Fault;
use crate::feature::{Entries, FeatureSection, FieldValue, Fields};

/// The branches of the ETM data. Borrows the bytes of the section.
///
/// simpleperf: `message BranchList`, `system/extras/simpleperf/branch_list.proto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EtmBranchList<'a> {
    /// `simpleperf:EtmBranchList`.
    pub magic: ByteStr<'a>,
    /// The files with branches.
    pub binaries: Entries<'a, EtmBinary<'a>>,
}

message! {
    /// A file and its branches.
    ///
    /// simpleperf: `message ETMBinary`, `system/extras/simpleperf/branch_list.proto`.
    pub struct EtmBinary<'a> in 2 {
        /// Path of the file.
        pub path: ByteStr<'a> = 1,
        /// Build id of the file, in hexadecimal; empty if it is unknown.
        pub build_id: ByteStr<'a> = 2,
        /// The addresses at which branches begin.
        pub addrs: Entries<'a, EtmAddress<'a>> = 3,
        /// Type of the file: 0 for ELF files, 1 for the kernel, 2 for kernel modules.
        pub kind as "type": u32 = 4,
        /// Address of the kernel; `None` for other files. 0 if the addresses are those in vmlinux.
        pub kernel_start_addr: Option<u64> = 5,
    }
}

message! {
    /// An address, and the sequences of branches that begin there.
    ///
    /// simpleperf: `message ETMBinary.Address`, `system/extras/simpleperf/branch_list.proto`.
    pub struct EtmAddress<'a> in 3 {
        /// Address in the file of the instruction before the first branch.
        pub addr: u64 = 1,
        /// The sequences.
        pub branches: Entries<'a, EtmBranch<'a>> = 2,
    }
}

message! {
    /// A sequence of branches, and how often it was executed.
    ///
    /// simpleperf: `message ETMBinary.Address.Branch`, `system/extras/simpleperf/branch_list.proto`.
    pub struct EtmBranch<'a> in 2 {
        /// One bit for each branch, the lowest first: 1 if the branch was taken.
        pub branch: &'a [u8] = 1,
        /// Number of branches.
        pub branch_size: u32 = 2,
        /// Number of executions.
        pub count: u64 = 3,
    }
}

impl EtmBranchList<'_> {
    pub(in crate::feature) fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for EtmBranchList<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("magic", FieldValue::Text(self.magic));
        to("etm_data", FieldValue::List(&self.binaries));
    }
}

#[allow(clippy::extra_unused_type_parameters, reason = "the sections of other features need it")]
pub(in crate::feature) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<EtmBranchList<'a>, FileError> {
    section.whole(|at| {
        let (message, mut list) = (*at, EtmBranchList::default());
        while !section.ends(at) {
            let field = field(at)?;
            match field.number {
                1 => list.magic.set(&message, field, "magic")?,
                2 => list.binaries.set(&message, field, "etm_data")?,
                _ => {}
            }
        }
        Ok(list)
    })
}

#[allow(clippy::extra_unused_type_parameters, reason = "the sections of other features need it")]
pub(in crate::feature) fn encode<O: Endian>(
    list: &EtmBranchList<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    MessageField::put(&list.magic, out, 1)?;
    MessageField::put(&list.binaries, out, 2)
}
