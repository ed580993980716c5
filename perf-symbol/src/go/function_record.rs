//! The record of a function in the table.

use super::pclntab_header::{PclntabHeader, PclntabVersion};
use super::words::Words;

/// Fields of the record of a function. Offsets of values are from the header's, and 0 where there are none.
///
/// Go: `_func`, `runtime/runtime2.go`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FunctionRecord {
    /// Offset of the name in the names.
    pub(super) name: u32,
    /// Offset of the values that are numbers of files.
    pub(super) files: u32,
    /// Offset of the values that are lines.
    pub(super) lines: u32,
    /// Number of the first file of the unit; 0 in [`PclntabVersion::Go12`], whose files have numbers in the whole table.
    pub(super) unit: u32,
    /// Offset of the values that are numbers of calls in the tree.
    pub(super) calls: u32,
    /// Where the tree of inlined calls is: an address or, from [`PclntabVersion::Go118`] on, an offset in the data of functions.
    pub(super) tree: Option<u64>,
    /// Whether it is in assembly: `FuncFlagAsm`. Not known before [`PclntabVersion::Go118`].
    pub(super) is_assembly: bool,
    /// Whether its arguments are described: `FUNCDATA_ArgsPointerMaps`. Not known before [`PclntabVersion::Go118`].
    pub(super) has_arguments: bool,
}

/// Bit of the flags of a function in assembly.
const ASSEMBLY: u8 = 4;

/// Number of the table that has the numbers of inlined calls: `PCDATA_InlTreeIndex`.
const INLINED_CALLS: u64 = 2;

/// Number of the data that is the tree of inlined calls: `FUNCDATA_InlTree`.
const INLINE_TREE: u64 = 3;

impl FunctionRecord {
    /// Reads the record at an offset from the start of the records. `None` if it is not in `words`.
    pub(super) fn parse(words: &Words, header: &PclntabHeader, offset: u64) -> Option<Self> {
        let at = header.records.checked_add(offset)?;
        // The first field is the address, and those that follow have four bytes.
        let fields = at.checked_add(header.field())?;
        let place = |number: u64| fields.checked_add(number.checked_mul(4)?);
        let field = |number| words.u32(place(number)?);
        let mut it = Self { name: field(0)?, files: field(4)?, lines: field(5)?, ..Self::default() };
        let last = match header.version {
            // What its tables and data are changed with each version of Go that writes it.
            PclntabVersion::Go12 => return Some(it),
            PclntabVersion::Go116 | PclntabVersion::Go118 => 8,
            PclntabVersion::Go120 => 9,
        };
        it.unit = field(7)?;
        let tables = u64::from(field(6)?);
        let data = u64::from(words.u8(place(last)?.checked_add(3)?)?);
        let number_of_tables = last.checked_add(1)?;
        if tables > INLINED_CALLS {
            it.calls = field(number_of_tables.checked_add(INLINED_CALLS)?)?;
        }
        let first = place(number_of_tables.checked_add(tables)?)?;
        if header.version >= PclntabVersion::Go118 {
            it.is_assembly = words.u8(place(last)?.checked_add(1)?)? & ASSEMBLY != 0;
            it.has_arguments = data > 0 && words.u32(first)? != u32::MAX;
        }
        if data <= INLINE_TREE {
            return Some(it);
        }
        it.tree = if header.version >= PclntabVersion::Go118 {
            words
                .u32(first.checked_add(INLINE_TREE.checked_mul(4)?)?)
                .filter(|&it| it != u32::MAX)
                .map(u64::from)
        } else {
            let first = first.checked_next_multiple_of(header.pointer)?;
            let place = first.checked_add(INLINE_TREE.checked_mul(header.pointer)?)?;
            words.pointer(place, header.pointer).filter(|&it| it != 0)
        };
        Some(it)
    }
}
