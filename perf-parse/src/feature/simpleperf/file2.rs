//! `FILE2`: the files with samples and their symbols, as protobuf messages; since 2021 in place of `FILE`.

use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::record::SimpleperfDsoType;

use super::protobuf::{IN_MESSAGE, MessageField, WireValue, field};
use super::stored_file::{StoredFile, dex_file_offsets, put_dex_file_offsets};
use crate::cursor::Cursor;
use crate::error::{Error, FileError};
use crate::feature::codec::{Fault, number, put_count};
use crate::feature::{Entries, FeatureSection};

pub(in crate::feature) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<Entries<'a, StoredFile<'a>>, FileError> {
    section.until_end::<O, _>("file", IN_MESSAGE)
}

pub(in crate::feature) fn encode<O: Endian>(
    files: &Entries<'_, StoredFile<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    files.iter().try_for_each(|file| put::<O>(&file, out))
}

/// Takes a file: the size of the message and the message.
///
/// simpleperf: `RecordFileReader::ReadFileV2Feature`, `system/extras/simpleperf/record_file_reader.cpp`.
pub(super) fn take<'a, O: Endian>(at: &mut Cursor<'a>) -> Result<StoredFile<'a>, Error> {
    let size = number::<O>(at, "size")?;
    let start = at.offset();
    let message = Cursor::new(at.bytes(u64::from(size), "file")?, start);
    let (mut file, mut at) = (StoredFile::default(), message);
    while !at.rest().is_empty() {
        let field = field(&mut at)?;
        match field.number {
            1 => file.path.set(&message, field, "path")?,
            2 => file.kind.0.set(&message, field, "type")?,
            3 => file.min_vaddr.set(&message, field, "min_vaddr")?,
            4 => file.symbols.set(&message, field, "symbol")?,
            5 => {
                if let WireValue::Bytes(offsets) = field.value {
                    file.dex_file_offsets = dex_file_offsets(offsets)?;
                }
            }
            6 => file.file_offset_of_min_vaddr.set(&message, field, "file_offset_of_min_vaddr")?,
            7 => file.memory_offset_of_min_vaddr.set(&message, field, "memory_offset_of_min_vaddr")?,
            _ => {}
        }
    }
    Ok(file)
}

/// Appends a file.
pub(super) fn put<O: Endian>(file: &StoredFile<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut message = Vec::new();
    MessageField::put(&file.path, &mut message, 1)?;
    MessageField::put(&file.kind.0, &mut message, 2)?;
    MessageField::put(&file.min_vaddr, &mut message, 3)?;
    MessageField::put(&file.symbols, &mut message, 4)?;
    if file.kind == SimpleperfDsoType::DEX_FILE || !file.dex_file_offsets.is_empty() {
        put_dex_file_offsets(&file.dex_file_offsets, &mut message, 5);
    }
    MessageField::put(&file.file_offset_of_min_vaddr, &mut message, 6)?;
    MessageField::put(&file.memory_offset_of_min_vaddr, &mut message, 7)?;
    put_count::<O>(out, message.len(), "size")?;
    out.append(&mut message);
    Ok(())
}
