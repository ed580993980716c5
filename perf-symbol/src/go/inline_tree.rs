//! The calls that were inlined into a function.

use super::pclntab_header::PclntabVersion;
use super::words::Words;

/// The inlined calls of a function, by their numbers.
///
/// Go: `inlinedCall`, `runtime/symtabinl.go`.
#[derive(Clone, Debug)]
pub(super) struct InlineTree {
    /// The bytes from the first call on. They may go on after the last one.
    pub(super) words: Words,
    pub(super) version: PclntabVersion,
}

/// A call that was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InlinedCall {
    /// Offset of the name of the function that is called.
    pub(super) name: u32,
    /// Offset in the outer function of an instruction that has the line of the call.
    pub(super) parent: u32,
    /// Whether the bytes that no version uses are zero.
    pub(super) is_padded: bool,
}

impl InlineTree {
    /// Returns the call of a number.
    pub(super) fn get(&self, number: u32) -> Option<InlinedCall> {
        let is_short = self.version >= PclntabVersion::Go120;
        let (size, padding, name, parent) = if is_short { (16, 1..4, 4, 8) } else { (20, 3..4, 12, 16) };
        let at = u64::from(number).checked_mul(size)?;
        let field = |offset: u64| self.words.u32(at.checked_add(offset)?);
        let is_zero = |offset: u64| at.checked_add(offset).and_then(|at| self.words.u8(at)) == Some(0);
        Some(InlinedCall {
            name: field(name)?,
            parent: field(parent)?,
            is_padded: padding.clone().all(is_zero),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::FileBytes;

    #[test]
    fn both_layouts() {
        let fields = |numbers: &[u32]| numbers.iter().flat_map(|it| it.to_be_bytes()).collect::<Vec<_>>();
        let tree = |numbers: &[u32], version| InlineTree {
            words: Words { bytes: FileBytes::new(fields(numbers)), is_little_endian: false },
            version,
        };
        let call = |name, parent, is_padded| Some(InlinedCall { name, parent, is_padded });
        let it = tree(&[0, 1, 2, 3, 0x1600_0000, 4, 5, 6, 0x1600_0001, 7, 8, 9], PclntabVersion::Go120);
        assert_eq!([it.get(0), it.get(1)], [call(1, 2, true), call(4, 5, true)]);
        assert_eq!([it.get(2), it.get(3), it.get(u32::MAX)], [call(7, 8, false), None, None]);
        let it = tree(&[0xffff_0000, 1, 2, 3, 4, 0x0001_1600, 5, 6, 7, 8], PclntabVersion::Go118);
        assert_eq!([it.get(0), it.get(1), it.get(2)], [call(3, 4, true), call(7, 8, true), None]);
    }
}
