//! A record and the attr of its event, from the fuzzer's bytes.

use arbitrary::{Arbitrary, Unstructured};
use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::endian::Endian;
use perf_abi::read_format::ReadFormat;
use perf_abi::record::{Header, Misc, RecordType};
use perf_abi::sample_type::SampleType;

/// The fuzzer's choices: the parts of an attr that determine the layout of a record, and a record.
///
/// In a corpus file the fields follow each other in this order, little-endian, with one byte for each `bool`. The
/// payload is the rest.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Input<'a> {
    /// `attr.sample_type`: all known bits and some unknown ones.
    pub sample_type: u32,
    /// `attr.read_format`: all known bits and some unknown ones.
    pub read_format: u8,
    /// `attr.branch_sample_type`.
    pub branch_sample_type: u32,
    /// `attr.sample_regs_user`.
    pub sample_regs_user: u64,
    /// `attr.sample_regs_intr`.
    pub sample_regs_intr: u64,
    /// `attr.sample_stack_user`.
    pub sample_stack_user: u8,
    /// `attr.sample_id_all`.
    pub sample_id_all: bool,
    /// Whether the record is big-endian.
    pub big: bool,
    /// `header.type`.
    pub kind: u8,
    /// `header.misc`.
    pub misc: u16,
    /// The bytes after the header.
    pub payload: &'a [u8],
}

impl<'a> Input<'a> {
    /// Returns the choices of `data`; `None` if it is too short.
    #[must_use]
    pub fn new(data: &'a [u8]) -> Option<Self> {
        Self::arbitrary_take_rest(Unstructured::new(data)).ok()
    }

    /// Returns the attr.
    #[must_use]
    pub fn attr(&self) -> Attr {
        Attr {
            sample_type: SampleType(self.sample_type.into()),
            read_format: ReadFormat(self.read_format.into()),
            branch_sample_type: BranchSampleType(self.branch_sample_type.into()),
            sample_regs_user: self.sample_regs_user,
            sample_regs_intr: self.sample_regs_intr,
            sample_stack_user: self.sample_stack_user.into(),
            flags: if self.sample_id_all { AttrFlags::SAMPLE_ID_ALL } else { AttrFlags::NONE },
            ..Attr::default()
        }
    }

    /// Returns the `misc` bits of the record.
    #[must_use]
    pub fn misc(&self) -> Misc {
        Misc(self.misc)
    }

    /// Returns a record of type `kind` with the payload; `None` if it is too long for a record.
    #[must_use]
    pub fn record<O: Endian>(&self, kind: RecordType) -> Option<Vec<u8>> {
        let size = u16::try_from(self.payload.len() + 8).ok()?;
        // The records of simpleperf have no `misc`.
        let misc = if kind.is_simpleperf() { Misc(0) } else { self.misc() };
        let mut bytes = zerocopy::IntoBytes::as_bytes(&Header::<O>::new(kind, misc, size)).to_vec();
        bytes.extend_from_slice(self.payload);
        Some(bytes)
    }
}
