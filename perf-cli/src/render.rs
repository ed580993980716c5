//! Records as fields, once for every way of printing them.
//!
//! [`fields()`] names each field of a record, in the kernel's order, to a [`Sink`]; what a sink makes of it is its own:
//! [`json::Json`] an object, [`text::Text`] lines, [`columns::Columns`] the few that are asked for.

pub(crate) mod account;
pub(crate) mod attr;
pub(crate) mod columns;
pub(crate) mod digits;
pub(crate) mod escape;
pub(crate) mod feature;
mod fields;
pub(crate) mod head;
pub(crate) mod json;
pub(crate) mod name;
pub(crate) mod ready;
pub(crate) mod text;
pub(crate) mod tracepoint;
mod user;

pub(crate) use fields::{fields, sample, sample_id};

use core::fmt::Display;
use std::io::Write;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;
use perf_parse::sample::{BranchStack, Callchain, Read, Readings, Regs, StackUser};

use name::Name;
use tracepoint::Tracepoint;

/// Takes fields of one value, one after the other.
pub(crate) trait Scalars {
    /// A number to be read as one.
    fn number(&mut self, name: &Name, value: u64);
    /// A process or thread, -1 for none.
    fn task(&mut self, name: &Name, value: i64);
    /// An address, a mask, a hash: a number to be read in hexadecimal.
    fn hex(&mut self, name: &Name, value: u64);
    /// Nanoseconds of the event's clock.
    fn time(&mut self, name: &Name, value: u64);
    /// A number that has a name.
    fn named(&mut self, name: &Name, value: u64, shown: &dyn Display);
    /// Text, in whatever encoding the recorded machine had.
    fn string(&mut self, name: &Name, value: &[u8]);
    /// Bytes.
    fn blob(&mut self, name: &Name, value: &[u8]);
}

/// Takes the fields of a record, one after the other.
pub(crate) trait Sink: Scalars {
    /// Counter values.
    fn read<O: Endian>(&mut self, value: &Read<'_, O>);
    /// A call chain.
    fn callchain<O: Endian>(&mut self, value: &Callchain<'_, O>);
    /// Branch records.
    fn branch_stack<O: Endian>(&mut self, value: &BranchStack<'_, O>);
    /// Registers.
    fn regs<O: Endian>(&mut self, name: &Name, value: &Regs<'_, O>);
    /// What the raw data of a tracepoint says, which is in byte order `O`.
    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]);
    /// A copy of the user stack.
    fn stack_user(&mut self, value: &StackUser<'_>);
    /// How fields were read whose form the record does not state; told only where it was not the usual way.
    fn readings(&mut self, value: &Readings);
    /// A group of fields, which `fields` tells.
    fn object(&mut self, name: &Name, fields: &dyn Fn(&mut dyn Scalars));
    /// A list of `count` groups of fields, each of which `item` tells by its index.
    fn list(&mut self, name: &Name, count: usize, item: &dyn Fn(usize, &mut dyn Scalars));
    /// A list of addresses.
    fn addresses(&mut self, name: &Name, values: impl Iterator<Item = u64> + Clone);
}

/// Tells a field that may not be there.
pub(crate) fn given<T>(value: Option<T>, tell: impl FnOnce(T)) {
    if let Some(value) = value {
        tell(value);
    }
}

/// The name of a type; `UNKNOWN_<n>` for one without.
pub(crate) struct TypeName(pub(crate) RecordType);

impl Display for TypeName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0.name() {
            Some(name) => f.pad(name),
            None => f.pad(&format!("UNKNOWN_{}", self.0.0)),
        }
    }
}

/// Appends to a buffer in memory, which cannot fail but for a `Display` that does.
pub(crate) fn print(out: &mut Vec<u8>, text: core::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}
