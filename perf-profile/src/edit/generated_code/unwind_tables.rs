//! The unwind tables of generated code.

use gimli::{BaseAddresses, CieOrFde, DwEhPe, EhFrame, Format, RunTimeEndian, UnwindSection};
use gimli::{DW_EH_PE_pcrel, DW_EH_PE_sdata4, DW_EH_PE_sdata8};

/// The unwind table of a function.
#[derive(Debug)]
pub(super) struct CodeFrames<'a> {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) eh_frame: &'a [u8],
}

/// Returns the unwind tables for a section `.eh_frame` at the address `at`; those that cannot be read, or are not of their function,
/// are left out.
pub(super) fn section(
    frames: &[CodeFrames<'_>],
    at: u64,
    address_size: u8,
    endian: RunTimeEndian,
) -> Vec<u8> {
    let mut out = Vec::new();
    for it in frames {
        out.extend(moved(it, at.saturating_add(out.len() as u64), address_size, endian).unwrap_or_default());
    }
    out
}

/// Returns a table, without its end, for another place: addresses in it are relative to it. `None` if an entry cannot be read, is of
/// other code, or has addresses of another form than those that compilers write.
fn moved(frames: &CodeFrames<'_>, to: u64, address_size: u8, endian: RunTimeEndian) -> Option<Vec<u8>> {
    let mut table = EhFrame::new(frames.eh_frame, endian);
    table.set_address_size(address_size);
    // It was after the code, aligned to 8 bytes: `jit_add_eh_frame_info`, perf's tools/perf/util/genelf.c.
    let after = frames.size.checked_next_multiple_of(8)?;
    let bases = BaseAddresses::default().set_eh_frame(0);
    let mut entries = table.entries(&bases);
    let (mut end, mut addresses) = (0, Vec::new());
    while let Some(entry) = entries.next().ok()? {
        let (offset, len) = match entry {
            CieOrFde::Cie(cie) if cie.encoding().format == Format::Dwarf32 => (cie.offset(), cie.entry_len()),
            CieOrFde::Cie(_) => return None,
            CieOrFde::Fde(partial) => {
                let fde = partial.parse(EhFrame::cie_from_offset).ok()?;
                let code_end = fde.initial_address().wrapping_add(after).checked_add(fde.len())?;
                if code_end > frames.size {
                    return None;
                }
                let encoding = fde.cie().fde_address_encoding()?;
                let is_wide = encoding == DwEhPe(DW_EH_PE_pcrel.0 | DW_EH_PE_sdata8.0);
                if !is_wide && encoding != DwEhPe(DW_EH_PE_pcrel.0 | DW_EH_PE_sdata4.0) {
                    return None;
                }
                // After the length and the place of the CIE.
                addresses.push((fde.offset().checked_add(8)?, is_wide));
                (fde.offset(), fde.entry_len())
            }
        };
        end = offset.checked_add(4)?.checked_add(len)?;
    }
    let mut bytes = frames.eh_frame.get(..end)?.to_vec();
    let shift = frames.address.wrapping_add(after).wrapping_sub(to).cast_signed();
    let is_big = endian == RunTimeEndian::Big;
    for (at, is_wide) in addresses {
        let place = bytes.get_mut(at..)?;
        if is_wide {
            let place = place.first_chunk_mut::<8>()?;
            let address = if is_big { i64::from_be_bytes(*place) } else { i64::from_le_bytes(*place) };
            let address = address.wrapping_add(shift);
            *place = if is_big { address.to_be_bytes() } else { address.to_le_bytes() };
        } else {
            let place = place.first_chunk_mut::<4>()?;
            let address = if is_big { i32::from_be_bytes(*place) } else { i32::from_le_bytes(*place) };
            let address = i32::try_from(i64::from(address).checked_add(shift)?).ok()?;
            *place = if is_big { address.to_be_bytes() } else { address.to_le_bytes() };
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::image::ImageBuilder;
    use super::*;
    use gimli::write::{
        Address, CallFrameInstruction, CommonInformationEntry, EndianVec, FrameDescriptionEntry, FrameTable,
    };
    use gimli::{Encoding, X86_64};
    use perf_abi::endian::Endianness;
    use perf_symbol::{ElfImage, FileBytes};

    /// Returns a table for code of `size` bytes, as a JIT compiler writes it: after the code, relative to itself.
    fn table(size: u32, cfa: i32, endian: RunTimeEndian) -> Vec<u8> {
        let encoding = Encoding { format: Format::Dwarf32, version: 1, address_size: 8 };
        let mut cie = CommonInformationEntry::new(encoding, 1, -8, X86_64::RA);
        cie.fde_address_encoding = DwEhPe(DW_EH_PE_pcrel.0 | DW_EH_PE_sdata4.0);
        cie.add_instruction(CallFrameInstruction::Cfa(X86_64::RSP, cfa));
        let mut table = FrameTable::default();
        let cie = table.add_cie(cie);
        let start = Address::Constant(u64::from(size.next_multiple_of(8)).wrapping_neg());
        let mut fde = FrameDescriptionEntry::new(start, size);
        fde.add_instruction(1, CallFrameInstruction::CfaOffset(cfa + 8));
        table.add_fde(cie, fde);
        let mut out = gimli::write::EhFrame(EndianVec::new(endian));
        table.write_eh_frame(&mut out).unwrap();
        out.0.into_vec()
    }

    #[test]
    fn unwind_tables_are_those_of_their_functions() {
        for (endianness, endian) in
            [(Endianness::Little, RunTimeEndian::Little), (Endianness::Big, RunTimeEndian::Big)]
        {
            let tables = [table(13, 16, endian), table(40, 32, endian), table(8, 48, endian)];
            let mut image = ImageBuilder::new(endianness, 62);
            let mut starts = Vec::new();
            for (table, size) in tables.iter().zip([13_u64, 40, 4]) {
                let at = image.function(b"f", size, &vec![0x90; size as usize]).unwrap();
                // The last one is not that of its function: its code is longer.
                image.frames(at, size, table);
                starts.push(at);
            }
            image.frames(starts[0], 13, b"damaged");
            let image = image.build("name".to_owned()).unwrap();
            let elf = ElfImage::parse(FileBytes::new(image.bytes)).unwrap();
            let section = elf.section(".eh_frame").unwrap();
            let tables = elf.raw_data(section);
            let frames = gimli::EhFrame::new(&tables, endian);
            let bases = BaseAddresses::default().set_eh_frame(section.address);
            let mut found = Vec::new();
            let mut entries = frames.entries(&bases);
            while let Some(entry) = entries.next().unwrap() {
                if let gimli::CieOrFde::Fde(partial) = entry {
                    let fde = partial.parse(gimli::EhFrame::cie_from_offset).unwrap();
                    let mut context = gimli::UnwindContext::new();
                    let mut rows = fde.rows(&frames, &bases, &mut context).unwrap();
                    let cfa = rows.next_row().unwrap().unwrap().cfa().clone();
                    found.push((fde.initial_address(), fde.len(), cfa));
                }
            }
            let cfa = |offset| gimli::CfaRule::RegisterAndOffset { register: X86_64::RSP, offset };
            assert_eq!(found, [(starts[0], 13, cfa(16)), (starts[1], 40, cfa(32))]);
        }
    }
}
