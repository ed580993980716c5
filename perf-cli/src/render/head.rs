//! What records of a type and `misc` have in common, made ready once.

use core::fmt::Write;

use perf_abi::record::{Misc, RecordType};

use super::TypeName;

/// Columns of the `misc` bits, as wide as most of them.
const MISC_WIDTH: usize = 14;

/// How a type and `misc` print.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    kind: RecordType,
    misc: Misc,
    /// The type's name.
    pub(crate) name: String,
    /// The names of the `misc` bits.
    pub(crate) bits: String,
    /// Both in columns.
    pub(crate) name_column: String,
    pub(crate) bits_column: String,
}

impl Head {
    fn new(kind: RecordType, misc: Misc) -> Self {
        let (name, bits) = (String::new(), String::new());
        let mut head = Self { kind, misc, name, bits, name_column: String::new(), bits_column: String::new() };
        head.set(kind, misc);
        head
    }

    /// Writing to memory cannot fail.
    fn set(&mut self, kind: RecordType, misc: Misc) {
        (self.kind, self.misc) = (kind, misc);
        for text in [&mut self.name, &mut self.bits, &mut self.name_column, &mut self.bits_column] {
            text.clear();
        }
        let _ = write!(self.name, "{}", TypeName(kind));
        let _ = write!(self.bits, "{}", misc.names(kind));
        let _ = write!(self.name_column, "{:<18}", self.name);
        let bits = if misc == Misc(0) { "-" } else { &self.bits };
        let _ = write!(self.bits_column, "{bits:<MISC_WIDTH$}");
    }
}

/// The heads of records that came last; few follow each other in a capture.
#[derive(Clone, Debug)]
pub(crate) struct Heads([Head; 16]);

impl Heads {
    pub(crate) fn new() -> Self {
        Self(core::array::from_fn(|_| Head::new(RecordType(0), Misc(0))))
    }

    /// That of a type and `misc`.
    #[inline]
    pub(crate) fn of(&mut self, kind: RecordType, misc: Misc) -> &Head {
        let bits = u32::from(misc.0);
        let head = &mut self.0[((kind.0 ^ bits << 2 ^ bits >> 12) % 16) as usize];
        if (head.kind, head.misc) != (kind, misc) {
            head.set(kind, misc);
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_and_misc_has_its_own() {
        let mut heads = Heads::new();
        for _ in 0..2 {
            for (kind, misc) in (0..100).flat_map(|kind| [0, 1, 2, 0x4002, 0x2000].map(|misc| (kind, misc))) {
                let (kind, misc) = (RecordType(kind), Misc(misc));
                let head = heads.of(kind, misc);
                assert_eq!(head.name, TypeName(kind).to_string());
                assert_eq!(head.bits, misc.names(kind).to_string());
            }
        }
    }

    #[test]
    fn columns_are_as_wide_as_most_of_what_they_hold() {
        let mut heads = Heads::new();
        let head = heads.of(RecordType::SAMPLE, Misc(1));
        assert_eq!((&*head.name_column, &*head.bits_column), ("SAMPLE            ", "KERNEL        "));
        assert_eq!(heads.of(RecordType::FINISHED_ROUND, Misc(0)).bits_column, "-             ");
    }
}
