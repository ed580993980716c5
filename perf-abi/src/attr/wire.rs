//! The attr as laid out in memory and in files.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{Attr, AttrFlags, AuxAction};
use crate::branch::BranchSampleType;
use crate::breakpoint::BreakpointType;
use crate::endian::{Endian, I32, U16, U32, U64};
use crate::event::EventType;
use crate::read_format::ReadFormat;
use crate::sample_type::SampleType;

/// The attr in its newest size, with the kernel's layout.
///
/// [`Attr`] has the same fields as native values; use it unless you need the bytes themselves. This struct grows with
/// each kernel that extends the attr.
///
/// Kernel: `struct perf_event_attr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each field is documented on Attr, under the same name")]
pub struct RawAttr<O: Endian> {
    pub kind: U32<O>,
    pub size: U32<O>,
    pub config: U64<O>,
    pub sample_period: U64<O>,
    pub sample_type: U64<O>,
    pub read_format: U64<O>,
    pub flags: U64<O>,
    pub wakeup_events: U32<O>,
    pub bp_type: U32<O>,
    pub config1: U64<O>,
    pub config2: U64<O>,
    pub branch_sample_type: U64<O>,
    pub sample_regs_user: U64<O>,
    pub sample_stack_user: U32<O>,
    pub clockid: I32<O>,
    pub sample_regs_intr: U64<O>,
    pub aux_watermark: U32<O>,
    pub sample_max_stack: U16<O>,
    pub reserved_2: U16<O>,
    pub aux_sample_size: U32<O>,
    pub aux_action: U32<O>,
    pub sig_data: U64<O>,
    pub config3: U64<O>,
    pub config4: U64<O>,
}

impl<O: Endian> RawAttr<O> {
    /// Lays out `attr` in byte order `O`.
    #[must_use]
    pub fn new(attr: &Attr) -> Self {
        Self {
            kind: U32::new(attr.kind.0),
            size: U32::new(attr.size),
            config: U64::new(attr.config),
            sample_period: U64::new(attr.sample_period),
            sample_type: U64::new(attr.sample_type.0),
            read_format: U64::new(attr.read_format.0),
            flags: attr.flags.to_word(),
            wakeup_events: U32::new(attr.wakeup_events),
            bp_type: U32::new(attr.bp_type.0),
            config1: U64::new(attr.config1),
            config2: U64::new(attr.config2),
            branch_sample_type: U64::new(attr.branch_sample_type.0),
            sample_regs_user: U64::new(attr.sample_regs_user),
            sample_stack_user: U32::new(attr.sample_stack_user),
            clockid: I32::new(attr.clockid),
            sample_regs_intr: U64::new(attr.sample_regs_intr),
            aux_watermark: U32::new(attr.aux_watermark),
            sample_max_stack: U16::new(attr.sample_max_stack),
            reserved_2: U16::new(attr.reserved_2),
            aux_sample_size: U32::new(attr.aux_sample_size),
            aux_action: attr.aux_action.to_word(),
            sig_data: U64::new(attr.sig_data),
            config3: U64::new(attr.config3),
            config4: U64::new(attr.config4),
        }
    }

    /// Returns the attr as native values.
    #[must_use]
    pub fn get(&self) -> Attr {
        Attr {
            kind: EventType(self.kind.get()),
            size: self.size.get(),
            config: self.config.get(),
            sample_period: self.sample_period.get(),
            sample_type: SampleType(self.sample_type.get()),
            read_format: ReadFormat(self.read_format.get()),
            flags: AttrFlags::from_word(self.flags),
            wakeup_events: self.wakeup_events.get(),
            bp_type: BreakpointType(self.bp_type.get()),
            config1: self.config1.get(),
            config2: self.config2.get(),
            branch_sample_type: BranchSampleType(self.branch_sample_type.get()),
            sample_regs_user: self.sample_regs_user.get(),
            sample_stack_user: self.sample_stack_user.get(),
            clockid: self.clockid.get(),
            sample_regs_intr: self.sample_regs_intr.get(),
            aux_watermark: self.aux_watermark.get(),
            sample_max_stack: self.sample_max_stack.get(),
            reserved_2: self.reserved_2.get(),
            aux_sample_size: self.aux_sample_size.get(),
            aux_action: AuxAction::from_word(self.aux_action),
            sig_data: self.sig_data.get(),
            config3: self.config3.get(),
            config4: self.config4.get(),
            non_exhaustive: (),
        }
    }
}
