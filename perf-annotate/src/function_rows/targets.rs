//! Instructions as rows, and the names of what they branch to.

use std::sync::Arc;

use perf_profile::annotation::{AnnotatedInstruction, AnnotatedTarget, Annotation};
use perf_symbol::FunctionCode;

use super::{FunctionRows, PlaceInProcess};
use crate::disassembly::{Flow, Instruction};

/// Makes the row of an instruction, whose target has no name yet.
pub(super) fn instruction(it: Instruction, code: &FunctionCode) -> AnnotatedInstruction {
    let mut row = AnnotatedInstruction::default();
    row.address = it.address;
    let offset = usize::try_from(it.address.wrapping_sub(code.start)).unwrap_or(usize::MAX);
    let rest = code.bytes.get(offset..).unwrap_or_default();
    row.bytes = rest.get(..usize::from(it.size)).unwrap_or(rest).into();
    let target = |address| {
        let mut target = AnnotatedTarget::default();
        target.address = address;
        target
    };
    row.target = it.target.map(target);
    row.data = it.data.map(target);
    if let Some(target) = &mut row.target {
        target.is_call = it.flow == Flow::Call;
    }
    row.text = it.text;
    row
}

/// Adds the rows of constants between instructions, four bytes each.
pub(super) fn push_data(bytes: &[u8], start: u64, to: &mut Vec<AnnotatedInstruction>) {
    for (part, number) in bytes.chunks(4).zip(0_u64..) {
        let mut row = AnnotatedInstruction::default();
        row.address = start.wrapping_add(number * 4);
        row.bytes = part.into();
        row.text = match part {
            // Data of Arm's code is of its byte order, which is little-endian here.
            &[a, b, c, d] => format!(".word  0x{:08x}", u32::from_le_bytes([a, b, c, d])).into(),
            _ => {
                part.iter().fold(String::from(".byte "), |text, byte| text + &format!(" 0x{byte:02x}")).into()
            }
        };
        to.push(row);
    }
}

impl FunctionRows<'_> {
    /// Finds the names of the functions that instructions branch to.
    pub(super) fn name_targets(
        &mut self,
        place: &PlaceInProcess<'_>,
        code: &FunctionCode,
        to: &mut Annotation,
    ) {
        let Annotation { instructions, symbol, start, end, .. } = to;
        for instruction in instructions {
            let after = instruction.address.wrapping_add(instruction.bytes.len() as u64);
            let relocations = code.relocations.partition_point(|it| it.0 < instruction.address);
            let relocation = code.relocations.get(relocations).filter(|it| it.0 < after);
            for target in [&mut instruction.target, &mut instruction.data].into_iter().flatten() {
                if let Some((_, name)) = relocation {
                    (target.name, target.offset) = (Arc::clone(name), 0);
                } else if (*start..*end).contains(&target.address) {
                    (target.name, target.offset) = (Arc::clone(symbol), target.address - *start);
                } else if let Some((name, offset)) = self.name_at(place, target.address, *start) {
                    (target.name, target.offset) = (name, offset);
                }
            }
        }
    }

    /// Returns the symbol at an address, and the offset in it.
    fn name_at(&mut self, place: &PlaceInProcess<'_>, address: u64, start: u64) -> Option<(Arc<[u8]>, u64)> {
        let found = self.symbolizer.symbol_at(self.session, &place.frame, address).or_else(|| {
            let frame = place.at(address.wrapping_sub(start));
            self.symbolizer.functions(self.session, &frame, false, place.last).last().cloned()
        })?;
        Some((found.name?, found.offset?))
    }
}
