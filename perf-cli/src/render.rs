//! Records as fields, independent of the output format.
//!
//! [`fields()`] passes each field of a record with its name to a [`Sink`], in the kernel's order. The sinks are
//! [`json::Json`] for an object, [`text::Text`] for lines, and [`columns::Row`] for a few selected fields. As a
//! [`record::RecordSink`], each of them also prints what is around the fields.

pub(crate) mod account;
pub(crate) mod attr;
pub(crate) mod columns;
pub(crate) mod digits;
pub(crate) mod feature;
mod fields;
pub(crate) mod head;
pub(crate) mod header;
pub(crate) mod ibs;
pub(crate) mod json;
mod leading;
pub(crate) mod name;
pub(crate) mod raw_format;
pub(crate) mod record;
pub(crate) mod simd_regs;
pub(crate) mod text;
pub(crate) mod tracepoint;
mod user;

pub(crate) use crate::escape::print;
pub(crate) use fields::{fields, sample, sample_id};

use core::fmt::Display;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::Sample;
use perf_parse::sample::{BranchStack, Callchain, Read, Readings, Regs, SimdRegs, StackUser, Tail};

use ibs::IbsSample;
use name::Name;
use simd_regs::Side;
use tracepoint::Tracepoint;

/// A consumer of fields with one value each.
pub(crate) trait Scalars {
    /// A decimal number.
    fn number(&mut self, name: &Name, value: u64);
    /// A process or thread ID; -1 for none.
    fn task(&mut self, name: &Name, value: i64);
    /// A number to print in hexadecimal: an address, a mask, a hash.
    fn hex(&mut self, name: &Name, value: u64);
    /// Nanoseconds of the event's clock.
    fn time(&mut self, name: &Name, value: u64);
    /// A number with a label, which is already safe to print. Text has `-` for an empty one.
    fn labeled(&mut self, name: &Name, value: u64, label: &[u8]);
    /// A number with a name.
    fn named(&mut self, name: &Name, value: u64, shown: &dyn Display);
    /// Text in any encoding that the recorded machine used.
    fn string(&mut self, name: &Name, value: &[u8]);
    /// Bytes.
    fn blob(&mut self, name: &Name, value: &[u8]);
    /// That the layout of the fields is a guess.
    fn guessed(&mut self);
}

/// A consumer of the fields of a record.
pub(crate) trait Sink: Scalars {
    /// The leading fields of a sample.
    #[inline(always)]
    fn leading(&mut self, sample: &Sample<'_>)
    where
        Self: Sized,
    {
        leading::leading(sample, self);
    }
    /// Returns whether the sections after the leading fields are wanted. Those of raw data with a known format always are.
    fn wants_sections(&self) -> bool {
        true
    }
    /// Counter values.
    fn read(&mut self, value: &Read<'_>);
    /// A call chain.
    fn callchain(&mut self, value: &Callchain<'_>);
    /// Branch records.
    fn branch_stack(&mut self, value: &BranchStack<'_>);
    /// Registers.
    fn regs(&mut self, name: &Name, value: &Regs<'_>);
    /// Vector and predicate registers.
    fn simd_regs(&mut self, name: &Name, side: Side, value: &SimdRegs<'_>);
    /// The fields that a tracepoint describes in the raw data, which is in byte order `O`.
    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]);
    /// The registers of Instruction-Based Sampling in the raw data.
    fn ibs(&mut self, sample: &IbsSample<'_>);
    /// A copy of the user stack.
    fn stack_user(&mut self, value: &StackUser<'_>);
    /// How fields with an ambiguous layout were read. Called only if it was not the usual way.
    fn readings(&mut self, value: &Readings);
    /// A group of fields, which `fields` passes to its argument.
    fn object(&mut self, name: &Name, fields: &dyn Fn(&mut dyn Scalars));
    /// A list of `count` groups of fields. `item` passes the group of an index to its argument.
    fn list(&mut self, name: &Name, count: usize, item: &dyn Fn(usize, &mut dyn Scalars));
    /// A list of addresses.
    fn addresses(&mut self, name: &Name, values: impl Iterator<Item = u64> + Clone);
}

/// Calls `act` with a value that may be absent.
pub(crate) fn given<T>(value: Option<T>, act: impl FnOnce(T)) {
    if let Some(value) = value {
        act(value);
    }
}

/// Returns the weight of a sample, whichever field has it; `None` if none has.
pub(crate) fn weight(tail: &Tail<'_>) -> Option<u64> {
    tail.weight_struct.map(|parts| parts.var1_dw().into()).or(tail.weight)
}

/// The name of a record type; `UNKNOWN_<n>` for a type without a name.
pub(crate) struct TypeName(pub(crate) RecordType);

impl Display for TypeName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0.name() {
            Some(name) => f.pad(name),
            None => f.pad(&format!("UNKNOWN_{}", self.0.0)),
        }
    }
}
