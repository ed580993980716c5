//! The table of functions.

use core::ops::Range;

use super::assembly;
use super::function_record::FunctionRecord;
use super::inline_tree::InlineTree;
use super::locate::{self, TableLocation};
use super::memory::SegmentMemory;
use super::module_data::{ModuleData, ModuleTable};
use super::pc_values::PcValues;
use super::pclntab_header::{PclntabHeader, PclntabVersion};
use super::relative_relocations::RelativeRelocations;
use super::words::Words;
use crate::bytes::FileBytes;
use crate::image::ElfImage;
use crate::symtab::LONGEST_NAME;

/// The table of functions of a program of Go: `.gopclntab`.
#[derive(Clone, Debug)]
pub(crate) struct Pclntab {
    pub(super) words: Words,
    pub(super) header: PclntabHeader,
    /// The address that those in the table are relative to; 0 where they are relative to nothing.
    text: u64,
    memory: SegmentMemory,
    /// The address of the data of functions. `None` if it is not known: the inlined calls then are not either.
    function_data: Option<u64>,
    has_wrappers: bool,
}

/// A function of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoSymbol {
    /// Its addresses, up to the next function.
    pub(crate) range: Range<u64>,
    /// Offset in the [names](Pclntab::names).
    pub(crate) name: u32,
    /// Whether the linker appends [`ABI0`](super::ABI0) to the name in `.symtab`.
    pub(crate) is_abi0: bool,
}

/// Number of functions whose inlined calls tell where the data of functions is.
const TRIED: usize = 32;

/// What Go's linker calls the first function of programs.
const ENTRY: &[u8] = b"_rt0_";

impl Pclntab {
    /// Finds the table of a file. `None` if there is none, if several places may be one, or if it is damaged: its functions must be
    /// in the order of their addresses, and in the code of the file.
    ///
    /// Takes time in proportion to the number of functions and of relocations, and to the size of the writable segments.
    pub(crate) fn load(image: &ElfImage) -> Option<Self> {
        let memory = SegmentMemory::of(image);
        let places = locate::find(image, &memory);
        let relocations = if places.is_empty() { None } else { Some(RelativeRelocations::of(image)) }?;
        let mut tables = places.into_iter().filter_map(|it| Self::parse(image, &memory, &relocations, it));
        let table = tables.next()?;
        tables.next().is_none().then_some(table)
    }

    fn parse(
        image: &ElfImage,
        memory: &SegmentMemory,
        relocations: &RelativeRelocations,
        location: TableLocation,
    ) -> Option<Self> {
        let is_little_endian = image.is_little_endian();
        let pointer = if image.is_64() { 8 } else { 4 };
        // Most places that are looked at are no tables.
        PclntabHeader::parse(&Words { bytes: location.bytes.clone(), is_little_endian }, pointer)?;
        let bytes = relocations.apply(location.address, location.bytes);
        let words = Words { bytes, is_little_endian };
        let header = PclntabHeader::parse(&words, pointer)?;
        let has_wrappers = assembly::has_wrappers(header.version, image.machine());
        let mut it =
            Self { words, header, text: 0, memory: memory.clone(), function_data: None, has_wrappers };
        if header.version < PclntabVersion::Go118 {
            return it.is_in_code().then_some(it);
        }
        let functions = (it.start(0)?, it.start(header.functions)?);
        let table = ModuleTable { address: location.address, header: &header, functions };
        let module = ModuleData::find(table, memory, relocations, is_little_endian);
        let is_assumed = module.is_none() && header.text_start.is_none();
        it.text = match (module, header.text_start) {
            (Some(module), Some(text)) if module.text != text => return None,
            (Some(module), _) => module.text,
            (None, Some(text)) => text,
            (None, None) => image.section(".text")?.address,
        };
        if !it.is_in_code() || is_assumed && !it.has_entry(image.entry()) {
            return None;
        }
        let places = module.map(|it| it.function_data).unwrap_or_default();
        it.function_data = places.into_iter().find(|&place| it.has_trees(place));
        Some(it)
    }

    /// Returns whether the functions are in the order of their addresses, and all within code.
    fn is_in_code(&self) -> bool {
        let starts = (0..=self.header.functions).map(|number| self.start(number));
        let is_sorted = starts.is_sorted_by(|one, next| one.is_some() && one <= next);
        let ends = self.start(0).zip(self.start(self.header.functions));
        is_sorted && ends.is_some_and(|(first, end)| first < end && self.memory.is_code(&(first..end)))
    }

    /// Returns whether the program starts with the function that Go's linker puts there.
    fn has_entry(&self, entry: u64) -> bool {
        let symbol = self.index_of(entry).and_then(|number| self.symbol(number));
        symbol.is_some_and(|it| {
            it.range.start == entry && self.name(it.name).is_some_and(|it| it.starts_with(ENTRY))
        })
    }

    /// Returns whether the inlined calls of the first functions that have some are there, if the data of functions is at this
    /// address.
    fn has_trees(&self, function_data: u64) -> bool {
        let numbers = 0..self.header.functions;
        let records = numbers.filter_map(|number| Some((self.record(number)?, self.range(number)?)));
        let with_calls = records.filter(|(record, _)| record.calls != 0 && record.tree.is_some());
        with_calls.take(TRIED).all(|(record, range)| {
            let Some(tree) = self.tree_at(&record, Some(function_data)) else { return false };
            let size = size_of_range(&range);
            let calls = PcValues::decode(&self.values(), record.calls.into(), size, self.header.quantum);
            calls.iter().filter_map(|it| u32::try_from(it).ok()).all(|number| {
                let call = tree.get(number);
                call.is_some_and(|it| it.is_padded && it.parent < size && self.is_name(it.name))
            })
        })
    }

    /// Returns whether a name starts at an offset.
    fn is_name(&self, name: u32) -> bool {
        let before = u64::from(name).checked_sub(1).and_then(|it| self.header.names.checked_add(it));
        let is_start = before.is_none_or(|at| self.words.u8(at) == Some(0));
        is_start && self.name(name).is_some_and(|it| !it.is_empty())
    }

    /// Returns the number of functions.
    pub(crate) fn len(&self) -> u64 {
        self.header.functions
    }

    /// Returns the bytes that have the names. A zero byte ends each.
    pub(crate) fn names(&self) -> FileBytes {
        self.words.bytes.slice(self.header.names..self.words.len()).unwrap_or_default()
    }

    /// Returns the name at an offset. `None` for one that is not in the table, and for the start of a table whose names have
    /// their offsets from there.
    pub(crate) fn name(&self, name: u32) -> Option<&[u8]> {
        self.start_of_name(name, LONGEST_NAME)
    }

    fn start_of_name(&self, name: u32, bytes: usize) -> Option<&[u8]> {
        if name == 0 && self.header.version == PclntabVersion::Go12 {
            return None;
        }
        self.words.start_of_text(self.header.names.checked_add(name.into())?, bytes)
    }

    /// Returns the function of a number; `None` if it has no name in the table.
    pub(crate) fn symbol(&self, number: u64) -> Option<GoSymbol> {
        let record = self.record(number)?;
        let start = self.start_of_name(record.name, assembly::LONGEST).filter(|it| !it.is_empty())?;
        let is_abi0 = self.has_wrappers && assembly::is_abi0(&record, start);
        Some(GoSymbol { range: self.range(number)?, name: record.name, is_abi0 })
    }

    /// Returns the addresses of the function of a number, up to the next function.
    pub(super) fn range(&self, number: u64) -> Option<Range<u64>> {
        Some(self.start(number)?..self.start(number.checked_add(1)?)?)
    }

    /// Returns the number of the function that has an address.
    pub(super) fn index_of(&self, address: u64) -> Option<u64> {
        let (mut low, mut high) = (0, self.header.functions);
        if address >= self.start(high)? {
            return None;
        }
        // The number of functions that start at the address or before.
        while low < high {
            let middle = low.midpoint(high);
            if self.start(middle)? <= address { low = middle.checked_add(1)? } else { high = middle }
        }
        low.checked_sub(1)
    }

    /// Returns the record of a function.
    pub(super) fn record(&self, number: u64) -> Option<FunctionRecord> {
        let offset = self.field(number.checked_mul(2)?.checked_add(1)?)?;
        FunctionRecord::parse(&self.words, &self.header, offset)
    }

    /// Returns what the offsets of values are relative to, and all after it.
    pub(super) fn values(&self) -> Words {
        let bytes = self.words.bytes.slice(self.header.values..self.words.len()).unwrap_or_default();
        Words { bytes, is_little_endian: self.words.is_little_endian }
    }

    /// Returns the inlined calls of a function.
    pub(super) fn tree(&self, record: &FunctionRecord) -> Option<InlineTree> {
        self.tree_at(record, self.function_data)
    }

    fn tree_at(&self, record: &FunctionRecord, function_data: Option<u64>) -> Option<InlineTree> {
        let tree = record.tree?;
        let version = self.header.version;
        let address = if version >= PclntabVersion::Go118 { function_data?.checked_add(tree)? } else { tree };
        let words =
            Words { bytes: self.memory.from(address)?, is_little_endian: self.words.is_little_endian };
        Some(InlineTree { words, version })
    }

    /// Returns the path of a file, by its number among those of a unit.
    pub(super) fn file(&self, unit: u32, number: u32) -> Option<&[u8]> {
        let header = &self.header;
        if header.version == PclntabVersion::Go12 {
            // The first number is how many there are.
            let count = self.words.u32(header.files)?;
            let is_file = (1..count).contains(&number);
            let place = header.files.checked_add(u64::from(number).checked_mul(4)?)?;
            return self.words.text(self.words.u32(place).filter(|_| is_file)?.into());
        }
        let place = u64::from(unit).checked_add(number.into())?.checked_mul(4)?;
        let offset = self.words.u32(header.units.checked_add(place)?).filter(|&it| it != u32::MAX)?;
        self.words.text(header.files.checked_add(offset.into())?)
    }

    /// Returns the address of the function of a number. The end of the last one is after it.
    fn start(&self, number: u64) -> Option<u64> {
        self.field(number.checked_mul(2)?)?.checked_add(self.text)
    }

    /// Returns a field of the table of functions. The address of each is followed by the offset of its record.
    fn field(&self, number: u64) -> Option<u64> {
        let size = self.header.field();
        self.words.pointer(self.header.table.checked_add(number.checked_mul(size)?)?, size)
    }
}

/// Returns the number of bytes of a function. Offsets in one have four bytes.
pub(super) fn size_of_range(range: &Range<u64>) -> u32 {
    u32::try_from(range.end.saturating_sub(range.start)).unwrap_or(u32::MAX)
}
