//! What the runtime knows of a program: `runtime.firstmoduledata`, which no table of a stripped file names.

use super::memory::SegmentMemory;
use super::pclntab_header::PclntabHeader;
use super::relative_relocations::RelativeRelocations;
use super::words::Words;

/// Addresses of a program that its table of functions leaves out.
///
/// Go: `moduledata`, `runtime/symtab.go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModuleData {
    /// The address that functions are relative to.
    pub(super) text: u64,
    /// What may be the address of the data of functions: of Go 1.18 and 1.19, of 1.20 to 1.26, and of 1.27 and later.
    pub(super) function_data: [u64; 3],
}

/// Numbers of words: of the addresses of the first function and after the last one, of the text, and of the data of functions.
const FIRST: u64 = 20;
const END: u64 = 21;
const TEXT: u64 = 22;
const FUNCTION_DATA: [u64; 3] = [38, 40, 43];

/// Number of words that are read.
const WORDS: u64 = 44;

/// Number of addresses of the table in relocations that are looked at. There are few of them: the table has no names.
const RELOCATED: usize = 16;

/// What a table says of the data that refers to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModuleTable<'a> {
    pub(super) address: u64,
    pub(super) header: &'a PclntabHeader,
    /// Offsets of the first function and of the end of the last one from the start of the text.
    pub(super) functions: (u64, u64),
}

impl ModuleData {
    /// Finds the data that refers to a table: a pointer to the table, after which are pointers to its parts with the numbers of
    /// their elements, and the addresses of the functions. `None` if there is none.
    ///
    /// Takes time in proportion to the size of the writable segments, and to the number of relocations.
    pub(super) fn find(
        table: ModuleTable<'_>,
        memory: &SegmentMemory,
        relocations: &RelativeRelocations,
        is_little_endian: bool,
    ) -> Option<Self> {
        let pointer = table.header.pointer;
        let in_place = memory.segments().iter().filter(|it| it.is_writable).find_map(|segment| {
            let words = Words { bytes: segment.bytes.clone(), is_little_endian };
            let first = table.header.names.checked_add(table.address)?;
            let starts = (0..words.len()).step_by(usize::try_from(pointer).ok()?);
            let mut places = starts.filter(|&at| {
                let word = |at: u64| words.pointer(at, pointer);
                word(at) == Some(table.address) && at.checked_add(pointer).and_then(word) == Some(first)
            });
            places.find_map(|at| Self::parse(table, words.clone(), at))
        });
        in_place.or_else(|| {
            relocations.of_value(table.address).take(RELOCATED).find_map(|address| {
                let rest = memory.from(address)?;
                let end = WORDS.checked_mul(pointer)?.min(rest.len() as u64);
                let bytes = relocations.apply(address, rest.slice(0..end)?);
                Self::parse(table, Words { bytes, is_little_endian }, 0)
            })
        })
    }

    /// Reads the data at an offset. `None` if it is not that of the table.
    fn parse(table: ModuleTable<'_>, words: Words, at: u64) -> Option<Self> {
        let ModuleTable { address, header, functions } = table;
        let word =
            |number: u64| words.pointer(at.checked_add(number.checked_mul(header.pointer)?)?, header.pointer);
        // A slice is a pointer, a length and a capacity.
        let parts = [
            (1, header.names),
            (4, header.units),
            (7, header.files),
            (10, header.values),
            (13, header.table),
            (16, header.table),
        ];
        let is_part = |&(number, offset): &(u64, u64)| {
            let start = address.checked_add(offset);
            start.is_some() && word(number) == start
        };
        let text = word(TEXT)?;
        let is_of_table = word(0)? == address
            && parts.iter().all(is_part)
            && word(17) == header.functions.checked_add(1)
            && word(FIRST) == text.checked_add(functions.0)
            && word(END) == text.checked_add(functions.1);
        // Those of earlier versions end before the last one.
        let function_data = FUNCTION_DATA.map(|number| word(number).unwrap_or_default());
        is_of_table.then_some(Self { text, function_data })
    }
}
