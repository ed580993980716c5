//! A file with symbols, as FILE and FILE2 store it.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, LittleEndian};
use perf_abi::record::SimpleperfDsoType;

use super::protobuf::{Message, MessageField, WireField, WireValue, field, put_bytes, put_varint, varint};
use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::feature::codec::{Fault, SectionField, put_word};
use crate::feature::{Entries, FieldValue, Fields};

/// A file that was mapped when samples hit it, with the symbols that they hit. Borrows the bytes of the section.
///
/// Which address in the file an address of a process is depends on `kind`, as simpleperf computes it:
///
/// - `ELF_FILE`: the address in the process, minus the start of its mapping, plus the mapping's offset in the file, plus
///   `min_vaddr` minus [`file_offset_of_min_vaddr`](Self::file_offset_of_min_vaddr). The path of a library inside of an
///   apk is `APK!/LIB`; the offsets are then those in the library.
/// - `KERNEL_MODULE`: the same with [`memory_offset_of_min_vaddr`](Self::memory_offset_of_min_vaddr) and no offset in the
///   file.
/// - `DEX_FILE`: the offset in the file.
/// - `KERNEL`, `SYMBOL_MAP_FILE` and `UNKNOWN_FILE`: the address itself, for the last one as an offset in the file.
///
/// simpleperf: `struct FileFeature`, `system/extras/simpleperf/record_file.h`; `message FileFeature`, `record_file.proto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredFile<'a> {
    /// Path of the file, as mappings name it; `[kernel.kallsyms]` for the kernel.
    pub path: ByteStr<'a>,
    /// Kind of the file. simpleperf: `type`.
    pub kind: SimpleperfDsoType,
    /// Lowest virtual address of the executable segments of an ELF file; 0 for other files.
    pub min_vaddr: u64,
    /// The symbols, sorted by address.
    pub symbols: Entries<'a, StoredSymbol<'a>>,
    /// Offsets at which the dex files of a `DEX_FILE` begin.
    pub dex_file_offsets: Entries<'a, DexFileOffset>,
    /// Offset of `min_vaddr` in an ELF file. `None` for other files and in captures of simpleperf before 2018;
    /// [`u64::MAX`] if simpleperf could not find it.
    pub file_offset_of_min_vaddr: Option<u64>,
    /// Offset of `min_vaddr` from the address at which a kernel module is loaded; `None` for other files.
    pub memory_offset_of_min_vaddr: Option<u64>,
}

/// A symbol of a [`StoredFile`].
///
/// simpleperf: `struct Symbol`, `system/extras/simpleperf/dso.h`; `message FileFeature.Symbol`, `record_file.proto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredSymbol<'a> {
    /// Virtual address of the function in the file; for a method in a dex file, its offset in the file.
    pub vaddr: u64,
    /// Size of the function in bytes.
    pub len: u32,
    /// Name of the function, in general mangled; names of Java methods are readable.
    pub name: ByteStr<'a>,
}

/// The offset of a dex file in a [`StoredFile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct DexFileOffset(pub u64);

impl Fields for StoredFile<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("path", FieldValue::Text(self.path));
        to("type", FieldValue::Number(u64::from(self.kind.0)));
        to("min_vaddr", FieldValue::Number(self.min_vaddr));
        to("symbols", FieldValue::List(&self.symbols));
        if self.kind == SimpleperfDsoType::DEX_FILE || !self.dex_file_offsets.is_empty() {
            to("dex_file_offsets", FieldValue::List(&self.dex_file_offsets));
        }
        for (name, offset) in [
            ("file_offset_of_min_vaddr", self.file_offset_of_min_vaddr),
            ("memory_offset_of_min_vaddr", self.memory_offset_of_min_vaddr),
        ] {
            if let Some(offset) = offset {
                to(name, FieldValue::Number(offset));
            }
        }
    }
}

impl<'a> Message<'a> for StoredSymbol<'a> {
    const NUMBER: u64 = 4;

    fn parse(message: Cursor<'a>) -> Result<Self, Error> {
        let (mut symbol, mut at) = (Self::default(), message);
        while !at.rest().is_empty() {
            let field = field(&mut at)?;
            match field.number {
                1 => symbol.vaddr.set(&message, field, "vaddr")?,
                2 => symbol.len.set(&message, field, "len")?,
                3 => symbol.name.set(&message, field, "name")?,
                _ => {}
            }
        }
        Ok(symbol)
    }

    fn put_fields(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        MessageField::put(&self.vaddr, out, 1)?;
        MessageField::put(&self.len, out, 2)?;
        MessageField::put(&self.name, out, 3)
    }
}

impl Fields for StoredSymbol<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("vaddr", FieldValue::Number(self.vaddr));
        to("len", FieldValue::Number(u64::from(self.len)));
        to("name", FieldValue::Text(self.name));
    }
}

/// The contexts of offsets in a message of FILE2: a packed list, or a field for each offset.
const PACKED: u32 = 2;
const UNPACKED: u32 = 3;

impl<'a> SectionField<'a> for DexFileOffset {
    fn take<O: Endian>(at: &mut Cursor<'a>, name: &'static str, context: u32) -> Result<Self, Error> {
        match context {
            PACKED => varint(at, name).map(Self),
            UNPACKED => loop {
                if let WireField { number: 1, value: WireValue::Varint(offset), .. } = field(at)? {
                    return Ok(Self(offset));
                }
            },
            _ => at.word::<O>(name).map(Self),
        }
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        put_word::<O>(out, self.0);
        Ok(())
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Number(self.0)
    }
}

/// Decodes the message with the offsets of dex files: one packed list, as simpleperf writes them, or a field for each.
pub(super) fn dex_file_offsets<'a>(message: Cursor<'a>) -> Result<Entries<'a, DexFileOffset>, Error> {
    let (mut at, mut list, mut fields) = (message, None, 0_u64);
    while !at.rest().is_empty() {
        let offset = at.offset();
        let field = field(&mut at)?;
        match field.value {
            WireValue::Varint(_) if field.number == 1 => fields = fields.saturating_add(1),
            WireValue::Bytes(packed) if field.number == 1 && list.is_none() => list = Some(packed),
            WireValue::Bytes(_) if field.number == 1 => return Err(several_lists(offset)),
            _ => {}
        }
    }
    let Some(packed) = list else {
        return Ok(Entries::between::<LittleEndian>(&message, &at, fields, UNPACKED));
    };
    if fields > 0 {
        return Err(several_lists(message.offset()));
    }
    let (mut at, mut offsets) = (packed, 0_u64);
    while !at.rest().is_empty() {
        varint(&mut at, "dex_file_offset")?;
        offsets = offsets.saturating_add(1);
    }
    Ok(Entries::between::<LittleEndian>(&packed, &at, offsets, PACKED))
}

fn several_lists(offset: u32) -> Error {
    let must = "in one list, as simpleperf writes the offsets";
    Error::new(ErrorKind::Malformed { field: "dex_file_offset", must }, offset)
}

/// Appends the message with the offsets of dex files.
pub(super) fn put_dex_file_offsets(offsets: &Entries<'_, DexFileOffset>, out: &mut Vec<u8>, number: u64) {
    let (mut packed, mut message) = (Vec::new(), Vec::new());
    offsets.iter().for_each(|offset| put_varint(&mut packed, offset.0));
    if !packed.is_empty() {
        put_bytes(&mut message, 1, &packed);
    }
    put_bytes(out, number, &message);
}
