//! `FILE`: the files with samples and their symbols, as simpleperf stored them until 2021.

use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::record::SimpleperfDsoType;

use super::stored_file::{StoredFile, StoredSymbol};
use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::{Error, FileError};
use crate::feature::codec::{Fault, SectionField, number, put_count, put_number, put_word};
use crate::feature::{Entries, FeatureSection};

pub(in crate::feature) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<Entries<'a, StoredFile<'a>>, FileError> {
    section.until_end::<O, _>("file", 0)
}

pub(in crate::feature) fn encode<O: Endian>(
    files: &Entries<'_, StoredFile<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    files.iter().try_for_each(|file| {
        let mut body = Vec::new();
        put_c_string(&mut body, file.path, "path")?;
        put_number::<O>(&mut body, file.kind.0);
        put_word::<O>(&mut body, file.min_vaddr);
        put_count::<O>(&mut body, file.symbols.len(), "symbols")?;
        file.symbols.iter().try_for_each(|symbol| put_symbol::<O>(&symbol, &mut body))?;
        let is_dex = file.kind == SimpleperfDsoType::DEX_FILE;
        if is_dex {
            put_count::<O>(&mut body, file.dex_file_offsets.len(), "dex_file_offsets")?;
            file.dex_file_offsets.put_all::<O>(&mut body, "dex_file_offset")?;
        } else if !file.dex_file_offsets.is_empty() {
            return Err(("dex_file_offsets", "empty for a file that is no DEX_FILE"));
        }
        let fields = [
            (file.file_offset_of_min_vaddr, SimpleperfDsoType::ELF_FILE, "file_offset_of_min_vaddr"),
            (file.memory_offset_of_min_vaddr, SimpleperfDsoType::KERNEL_MODULE, "memory_offset_of_min_vaddr"),
        ];
        for (offset, kind, name) in fields {
            match offset {
                Some(offset) if file.kind == kind => put_word::<O>(&mut body, offset),
                Some(_) => return Err((name, "absent for a file of this type")),
                None => {}
            }
        }
        put_count::<O>(out, body.len(), "size")?;
        out.append(&mut body);
        Ok(())
    })
}

/// Takes a file: its size and its fields.
///
/// simpleperf: `RecordFileReader::ReadFileV1Feature`, `system/extras/simpleperf/record_file_reader.cpp`.
pub(super) fn take<'a, O: Endian>(at: &mut Cursor<'a>) -> Result<StoredFile<'a>, Error> {
    let size = number::<O>(at, "size")?;
    let start = at.offset();
    let mut body = Cursor::new(at.bytes(u64::from(size), "file")?, start);
    let at = &mut body;
    let mut file = StoredFile {
        path: ByteStr::new(at.c_string("path")?),
        kind: SimpleperfDsoType(number::<O>(at, "type")?),
        min_vaddr: at.word::<O>("min_vaddr")?,
        symbols: SectionField::take::<O>(at, "symbol_count", 0)?,
        ..StoredFile::default()
    };
    match file.kind {
        SimpleperfDsoType::DEX_FILE => {
            let count = number::<O>(at, "dex_file_offset_count")?;
            file.dex_file_offsets = Entries::array::<O, 8>(at, u64::from(count), "dex_file_offset")?;
        }
        // The first versions have no offset.
        SimpleperfDsoType::ELF_FILE if !at.rest().is_empty() => {
            file.file_offset_of_min_vaddr = Some(at.word::<O>("file_offset_of_min_vaddr")?);
        }
        SimpleperfDsoType::KERNEL_MODULE if !at.rest().is_empty() => {
            file.memory_offset_of_min_vaddr = Some(at.word::<O>("memory_offset_of_min_vaddr")?);
        }
        _ => {}
    }
    at.finish()?;
    Ok(file)
}

/// Takes a symbol.
pub(super) fn take_symbol<'a, O: Endian>(at: &mut Cursor<'a>) -> Result<StoredSymbol<'a>, Error> {
    let vaddr = at.word::<O>("vaddr")?;
    let len = number::<O>(at, "len")?;
    Ok(StoredSymbol { vaddr, len, name: ByteStr::new(at.c_string("name")?) })
}

/// Appends a symbol.
pub(super) fn put_symbol<O: Endian>(symbol: &StoredSymbol<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    put_word::<O>(out, symbol.vaddr);
    put_number::<O>(out, symbol.len);
    put_c_string(out, symbol.name, "name")
}

/// Appends a string and its NUL.
pub(super) fn put_c_string(out: &mut Vec<u8>, text: ByteStr<'_>, name: &'static str) -> Result<(), Fault> {
    if text.contains(&0) {
        return Err((name, "free of NULs"));
    }
    out.extend_from_slice(&text);
    out.push(0);
    Ok(())
}
