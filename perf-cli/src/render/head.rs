//! The output that records with the same type and `misc` share, prepared once.

use perf_abi::record::{Misc, RecordType};
use perf_parse::RawRecord;

use super::TypeName;

/// The width of the `misc` column; most values fit.
const MISC_WIDTH: usize = 14;

/// The output of a type and `misc`.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    kind: RecordType,
    misc: Misc,
    /// The type's name.
    pub(crate) name: Vec<u8>,
    /// The names of the `misc` bits.
    pub(crate) bits: Vec<u8>,
    /// The name, and the bits, padded to the width of their columns.
    pub(crate) name_column: Vec<u8>,
    pub(crate) bits_column: Vec<u8>,
    /// The members of a JSON object.
    pub(crate) members: Vec<u8>,
}

impl Head {
    fn new(kind: RecordType, misc: Misc) -> Self {
        let (name, bits) = (TypeName(kind).to_string(), misc.names(kind).to_string());
        let dash = if misc == Misc(0) { "-" } else { &bits };
        let members = format!(",\"type\":\"{name}\",\"type_id\":{},\"misc\":{}", kind.0, misc.0);
        Self {
            kind,
            misc,
            name_column: format!("{name:<18}").into_bytes(),
            bits_column: format!("{dash:<MISC_WIDTH$}").into_bytes(),
            members: members.into_bytes(),
            name: name.into_bytes(),
            bits: bits.into_bytes(),
        }
    }
}

/// The most recent heads. A capture has few different ones.
#[derive(Clone, Debug)]
pub(crate) struct Heads([Option<Box<Head>>; 128]);

impl Heads {
    pub(crate) fn new() -> Self {
        Self([const { None }; 128])
    }

    /// Returns the head of a record.
    #[inline]
    pub(crate) fn of(&mut self, record: &RawRecord<'_>) -> &Head {
        self.of_type(record.kind(), record.misc())
    }

    #[inline]
    fn of_type(&mut self, kind: RecordType, misc: Misc) -> &Head {
        // This hash separates the types that are mixed with samples, the CPU modes, and the bits at the top.
        let bits = u32::from(misc.0);
        let head = &mut self.0[((kind.0 ^ bits << 4 ^ bits >> 12) % 128) as usize];
        if head.as_ref().is_some_and(|head| (head.kind, head.misc) != (kind, misc)) {
            *head = None;
        }
        head.get_or_insert_with(|| Box::new(Head::new(kind, misc)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> &str {
        core::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn each_type_and_misc_has_its_own() {
        let mut heads = Heads::new();
        for _ in 0..2 {
            for (kind, misc) in (0..100).flat_map(|kind| [0, 1, 2, 0x4002, 0x2000].map(|misc| (kind, misc))) {
                let (kind, misc) = (RecordType(kind), Misc(misc));
                let head = heads.of_type(kind, misc);
                assert_eq!(text(&head.name), TypeName(kind).to_string());
                assert_eq!(text(&head.bits), misc.names(kind).to_string());
            }
        }
    }

    #[test]
    fn columns_are_as_wide_as_most_of_what_they_hold() {
        let mut heads = Heads::new();
        let head = heads.of_type(RecordType::SAMPLE, Misc(1));
        assert_eq!(text(&head.name_column), "SAMPLE            ");
        assert_eq!(text(&head.bits_column), "KERNEL        ");
        assert_eq!(text(&head.members), r#","type":"SAMPLE","type_id":9,"misc":1"#);
        assert_eq!(text(&heads.of_type(RecordType::FINISHED_ROUND, Misc(0)).bits_column), "-             ");
    }
}
