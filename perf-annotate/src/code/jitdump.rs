//! Code that a JIT compiler wrote to its jitdump.

use std::ops::Range;

use hashbrown::HashMap;
use perf_abi::endian::Endianness;
use perf_symbol::jitdump::{JitRecordBody, JitdumpHeader};
use perf_symbol::{CodeMachine, FileBytes};

/// Returns the code that a jitdump has for the addresses of a function at a time, or its last code without one; and its machine.
/// `None` if the file does not have it. Reads the heads of all records.
pub(crate) fn jit_code(
    file: &FileBytes,
    range: &Range<u64>,
    time: Option<u64>,
) -> Option<(Vec<u8>, CodeMachine)> {
    let header = JitdumpHeader::parse(file).ok()?;
    // Times of another clock say nothing of samples.
    let time = time.filter(|_| !header.has_arch_times());
    let size = range.end.checked_sub(range.start)?;
    let mut by_index: HashMap<u64, &[u8]> = HashMap::new();
    let mut found: Option<&[u8]> = None;
    for record in header.records(file) {
        let Ok(record) = record else { continue };
        let loaded = match record.body {
            JitRecordBody::Load(load) => {
                by_index.insert(load.code_index, load.code);
                Some((load.code_addr, load.code))
            }
            JitRecordBody::Move(moved) => {
                by_index.get(&moved.code_index).map(|code| (moved.new_code_addr, *code))
            }
            _ => None,
        };
        let is_later = time.is_some_and(|time| record.time > time);
        if let Some((address, code)) = loaded.filter(|_| !is_later)
            && let Some(offset) = range.start.checked_sub(address)
            && let Some(part) = part_of(code, offset, size)
        {
            found = Some(part);
        }
    }
    let machine = u16::try_from(header.elf_mach).ok().filter(|_| header.endianness == Endianness::Little);
    Some((found?.to_vec(), CodeMachine::of_elf(machine?, false)))
}

fn part_of(code: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    code.get(start..start.checked_add(usize::try_from(size).ok()?)?)
}
