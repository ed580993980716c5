//! The unwind tables of generated code.

use gimli::write::{Address, EhFrame, EndianVec, FrameTable, Writer as _};
use gimli::{BaseAddresses, CieOrFde, EndianSlice, RunTimeEndian, UnwindSection};

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
    let mut out = EhFrame(EndianVec::new(endian));
    for it in frames {
        let mut table = gimli::EhFrame::new(it.eh_frame, endian);
        table.set_address_size(address_size);
        // Addresses are relative to the table, which is after the code, aligned to 8 bytes: `jit_add_eh_frame_info`, perf's
        // tools/perf/util/genelf.c.
        let after = it.size.next_multiple_of(8);
        let in_image = |address: u64| {
            let offset = address.wrapping_add(after);
            let place = it.address.wrapping_add(offset).wrapping_sub(at);
            (offset < it.size).then_some(Address::Constant(place))
        };
        let table = describe_only(&table, it.size, after).then(|| FrameTable::from(&table, &in_image));
        if let Some(Ok(table)) = table {
            let before = out.len();
            if table.write_eh_frame(&mut out).is_err() {
                let mut kept = EndianVec::new(endian);
                // What is cut off is whole entries.
                let whole = out.slice().get(..before).unwrap_or_default();
                let _: Result<(), _> = kept.write(whole);
                out = EhFrame(kept);
            }
        }
    }
    out.0.into_vec()
}

/// Returns whether all entries of a table can be read, and are of the code that ends, aligned to 8 bytes, where the table begins.
fn describe_only(table: &gimli::EhFrame<EndianSlice<'_, RunTimeEndian>>, size: u64, after: u64) -> bool {
    let bases = BaseAddresses::default().set_eh_frame(0);
    let mut entries = table.entries(&bases);
    loop {
        let is_of_code = match entries.next() {
            Ok(None) => return true,
            Ok(Some(CieOrFde::Cie(_))) => true,
            Ok(Some(CieOrFde::Fde(partial))) => {
                partial.parse(gimli::EhFrame::cie_from_offset).is_ok_and(|fde| {
                    let end = fde.initial_address().wrapping_add(after).checked_add(fde.len());
                    end.is_some_and(|end| end <= size)
                })
            }
            Err(_) => false,
        };
        if !is_of_code {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::image::ImageBuilder;
    use super::*;
    use gimli::write::{CallFrameInstruction, CommonInformationEntry, FrameDescriptionEntry};
    use gimli::{DW_EH_PE_pcrel, DW_EH_PE_sdata4, DwEhPe, Encoding, Format, X86_64};
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
        let mut out = EhFrame(EndianVec::new(endian));
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
