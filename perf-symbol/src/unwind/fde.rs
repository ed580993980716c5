//! The entry of an unwind table (FDE) that covers an address.

use std::ops::Range;

use gimli::{
    BaseAddresses, CieOrFde, EndianSlice, FrameDescriptionEntry, Reader, RunTimeEndian, UnwindOffset,
    UnwindSection,
};
use perf_abi::endian::Endianness;

use super::memory::number;

/// The bytes of a section.
pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// An entry of an unwind table.
pub(crate) type Fde<'a> = FrameDescriptionEntry<Slice<'a>>;

/// The place of an entry of an unwind table, and the addresses that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FdeEntry {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The offset in the section.
    pub(crate) offset: usize,
}

/// Returns the entries of a section that can be read, in the order of their addresses. A malformed entry is skipped; a
/// lost boundary ends the section.
pub(crate) fn index_of<'a, S: UnwindSection<Slice<'a>>>(section: &S, bases: &BaseAddresses) -> Vec<FdeEntry> {
    let mut index = Vec::new();
    // Most entries share the information of the one before.
    let mut common = None;
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let parsed = partial.parse(|section, bases, offset| {
            let at = UnwindOffset::into(offset);
            match &common {
                Some((known, cie)) if *known == at => Ok(Clone::clone(cie)),
                _ => {
                    let cie = section.cie_from_offset(bases, offset)?;
                    common = Some((at, cie.clone()));
                    Ok(cie)
                }
            }
        });
        let Ok(fde) = parsed else { continue };
        // Address 0 is what a linker leaves of a function that it dropped.
        if fde.initial_address() != 0 && fde.initial_address() < fde.end_address() {
            index.push(FdeEntry {
                start: fde.initial_address(),
                end: fde.end_address(),
                offset: fde.offset(),
            });
        }
    }
    index.sort_unstable();
    index
}

/// The sorted table of `.eh_frame_hdr`, in the encoding that all linkers write.
///
/// Linux Standard Base, "Exception Frames".
#[derive(Clone, Debug)]
pub(crate) struct HeaderTable {
    /// The address of `.eh_frame`.
    pub(crate) eh_frame: u64,
    /// The address of the header.
    address: u64,
    /// The place of the pairs in the file.
    pairs: Range<usize>,
    order: Endianness,
}

/// Number of bytes of a pair: the address of a function and that of its entry, each relative to the header.
const PAIR: usize = 8;

impl HeaderTable {
    /// Returns the table of a header at a place in a file; `None` for another version or encoding, and for an empty table.
    pub(crate) fn parse(file: &[u8], place: Range<usize>, address: u64, order: Endianness) -> Option<Self> {
        /// `DW_EH_PE_pcrel | DW_EH_PE_sdata4`, `DW_EH_PE_udata4`, `DW_EH_PE_datarel | DW_EH_PE_sdata4`.
        const USUAL: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
        let bytes = file.get(place.clone())?;
        if bytes.first_chunk() != Some(&USUAL) {
            return None;
        }
        let pointer = signed(bytes.get(4..)?, order)?;
        let count = usize::try_from(number(bytes.get(8..)?, 4, order)?).ok()?;
        let count = count.min(bytes.len().saturating_sub(12) / PAIR);
        let start = place.start.checked_add(12)?;
        let pairs = start..start.checked_add(count.checked_mul(PAIR)?)?;
        let eh_frame = address.wrapping_add(4).wrapping_add(pointer);
        (count > 0).then_some(Self { eh_frame, address, pairs, order })
    }

    /// Returns the offset in `.eh_frame` of the last entry that begins at an address or before it.
    pub(crate) fn find(&self, file: &[u8], address: u64) -> Option<usize> {
        let pairs = file.get(self.pairs.clone())?;
        let start_of = |index: usize| {
            let pair = pairs.get(index.checked_mul(PAIR)?..)?;
            Some((self.address.wrapping_add(signed(pair, self.order)?), pair))
        };
        let (mut low, mut high) = (0, pairs.len() / PAIR);
        while low < high {
            let middle = low.midpoint(high);
            if start_of(middle)?.0 <= address {
                low = middle.checked_add(1)?;
            } else {
                high = middle;
            }
        }
        let (_, pair) = start_of(low.checked_sub(1)?)?;
        let entry = self.address.wrapping_add(signed(pair.get(4..)?, self.order)?);
        usize::try_from(entry.checked_sub(self.eh_frame)?).ok()
    }
}

/// Returns a signed number of 4 bytes, to be added with wrapping.
fn signed(bytes: &[u8], order: Endianness) -> Option<u64> {
    let value = u32::try_from(number(bytes, 4, order)?).ok()?;
    Some(i64::from(value.cast_signed()).cast_unsigned())
}

/// Returns the offset of the last entry that begins at an address or before it.
pub(crate) fn find(index: &[FdeEntry], address: u64) -> Option<usize> {
    let after = index.partition_point(|entry| entry.start <= address);
    Some(index.get(after.checked_sub(1)?)?.offset)
}

pub(crate) fn fde_at<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    offset: S::Offset,
    address: u64,
) -> Option<Fde<'a>>
where
    Slice<'a>: Reader<Offset = usize>,
{
    let fde = section.fde_from_offset(bases, offset, S::cie_from_offset).ok()?;
    fde.contains(address).then_some(fde)
}
