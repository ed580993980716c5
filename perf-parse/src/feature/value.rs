//! The content of a decoded section with perf's names, for programs that print or convert any section.

use core::fmt::Debug;

/// A value in a decoded section.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FieldValue<'v> {
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// Text in any encoding that the recorded machine used.
    Text(&'v [u8]),
    /// Bytes that are not text.
    Bytes(&'v [u8]),
    /// A group of named fields.
    Object(&'v dyn Fields),
    /// A list.
    List(&'v dyn Items),
}

/// A group of named fields.
pub trait Fields: Debug {
    /// Passes each field to `to`: its name and its value. A field that the section does not have is left out.
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>));
}

/// A list of values.
pub trait Items: Debug {
    /// Passes each value to `to`.
    fn each(&self, to: &mut dyn FnMut(FieldValue<'_>));
}

/// No fields.
impl Fields for () {
    fn each(&self, _: &mut dyn FnMut(&'static str, FieldValue<'_>)) {}
}
