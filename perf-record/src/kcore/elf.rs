//! The ELF headers of `/proc/kcore`, and of a copy of some of it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use object::elf::{FileHeader32, FileHeader64, PF_R, PF_W, PF_X, PT_LOAD, ProgramHeader32, ProgramHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, U16, U32, U64, pod};

/// The maximum number of segments that are read: one for each area of memory.
const MAX_SEGMENTS: usize = 1 << 16;

/// Consecutive bytes of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KcoreSegment {
    /// The address of the first byte.
    pub(crate) address: u64,
    /// The number of bytes.
    pub(crate) len: u64,
    /// The offset in the image.
    pub(crate) offset: u64,
}

/// The header of an image, with 32 or 64 bits.
#[derive(Clone, Copy, Debug)]
enum KcoreHeader {
    Bits32(FileHeader32<Endianness>),
    Bits64(FileHeader64<Endianness>),
}

/// An image of the kernel's memory: its header, and the segments that are executable.
#[derive(Debug)]
pub(crate) struct KcoreImage {
    head: KcoreHeader,
    segments: Vec<KcoreSegment>,
}

impl KcoreImage {
    /// Reads the headers of `/proc/kcore`; `None` if they are wrong.
    pub(crate) fn read(file: &File) -> Option<Self> {
        let read = |offset, len| {
            let mut bytes = vec![0; len];
            file.read_exact_at(&mut bytes, offset).ok()?;
            Some(bytes)
        };
        let start = read(0, size_of::<FileHeader64<Endianness>>())?;
        if let Ok(&head) = FileHeader64::<Endianness>::parse(start.as_slice()) {
            return Some(Self { head: KcoreHeader::Bits64(head), segments: segments(&head, &read)? });
        }
        let &head = FileHeader32::<Endianness>::parse(start.as_slice()).ok()?;
        Some(Self { head: KcoreHeader::Bits32(head), segments: segments(&head, &read)? })
    }

    /// Returns the parts of the segments that are in `ranges`, given by their starts and ends. A range that starts in a
    /// segment has one part, up to the end of either.
    ///
    /// perf: `kcore_copy__map`.
    pub(crate) fn parts(&self, ranges: &[(u64, u64)]) -> Vec<KcoreSegment> {
        let part = |of: &KcoreSegment, (start, end): (u64, u64)| {
            let before = start.checked_sub(of.address).filter(|&before| before < of.len)?;
            let len = end.checked_sub(start)?.min(of.len - before);
            let offset = of.offset.checked_add(before)?;
            (len > 0).then_some(KcoreSegment { address: start, len, offset })
        };
        let in_range = |range| self.segments.iter().find_map(|segment| part(segment, range));
        ranges.iter().filter_map(|&range| in_range(range)).collect()
    }

    /// Returns the headers of an image of these segments, and the offset of each in that image: one after the other, from
    /// the first page after the headers.
    ///
    /// perf: `kcore_copy`, `kcore__add_phdr`.
    pub(crate) fn head(&self, segments: &[KcoreSegment], page: u64) -> (Vec<u8>, Vec<u64>) {
        // There are at most two.
        let count = u16::try_from(segments.len()).unwrap_or(u16::MAX);
        let (header, entry) = match self.head {
            KcoreHeader::Bits32(_) => {
                (size_of::<FileHeader32<Endianness>>(), size_of::<ProgramHeader32<Endianness>>())
            }
            KcoreHeader::Bits64(_) => {
                (size_of::<FileHeader64<Endianness>>(), size_of::<ProgramHeader64<Endianness>>())
            }
        };
        let mut offset = (header + entry * segments.len()).next_multiple_of(page as usize) as u64;
        let mut offsets = Vec::new();
        for segment in segments {
            offsets.push(offset);
            offset += segment.len;
        }
        let mut bytes = Vec::new();
        match self.head {
            KcoreHeader::Bits64(mut head) => {
                let e = head.endian().unwrap_or_default();
                head.e_phoff = U64::new(e, header as u64);
                head.e_shoff = U64::new(e, 0);
                head.e_phnum = U16::new(e, count);
                head.e_shentsize = U16::new(e, 0);
                head.e_shnum = U16::new(e, 0);
                head.e_shstrndx = U16::new(e, Default::default());
                bytes.extend_from_slice(pod::bytes_of(&head));
                for (segment, &offset) in segments.iter().zip(&offsets) {
                    bytes.extend_from_slice(pod::bytes_of(&ProgramHeader64::<Endianness> {
                        p_type: U32::new(e, PT_LOAD),
                        p_flags: U32::new(e, PF_R | PF_W | PF_X),
                        p_offset: U64::new(e, offset),
                        p_vaddr: U64::new(e, segment.address),
                        p_paddr: U64::new(e, 0),
                        p_filesz: U64::new(e, segment.len),
                        p_memsz: U64::new(e, segment.len),
                        p_align: U64::new(e, page),
                    }));
                }
            }
            KcoreHeader::Bits32(mut head) => {
                let e = head.endian().unwrap_or_default();
                // All numbers of a 32-bit image fit.
                let word = |number: u64| U32::new(e, u32::try_from(number).unwrap_or(u32::MAX));
                head.e_phoff = word(header as u64);
                head.e_shoff = word(0);
                head.e_phnum = U16::new(e, count);
                head.e_shentsize = U16::new(e, 0);
                head.e_shnum = U16::new(e, 0);
                head.e_shstrndx = U16::new(e, Default::default());
                bytes.extend_from_slice(pod::bytes_of(&head));
                for (segment, &offset) in segments.iter().zip(&offsets) {
                    bytes.extend_from_slice(pod::bytes_of(&ProgramHeader32::<Endianness> {
                        p_type: U32::new(e, PT_LOAD),
                        p_offset: word(offset),
                        p_vaddr: word(segment.address),
                        p_paddr: word(0),
                        p_filesz: word(segment.len),
                        p_memsz: word(segment.len),
                        p_flags: U32::new(e, PF_R | PF_W | PF_X),
                        p_align: word(page),
                    }));
                }
            }
        }
        (bytes, offsets)
    }
}

/// Returns the executable segments; `None` if the headers are wrong.
fn segments<Elf: FileHeader<Endian = Endianness>>(
    head: &Elf,
    read: &dyn Fn(u64, usize) -> Option<Vec<u8>>,
) -> Option<Vec<KcoreSegment>> {
    let endian = head.endian().ok()?;
    let count = usize::from(head.e_phnum(endian)).min(MAX_SEGMENTS);
    let size = size_of::<Elf::ProgramHeader>();
    if usize::from(head.e_phentsize(endian)) != size {
        return None;
    }
    let table = read(head.e_phoff(endian).into(), count * size)?;
    let (table, _) = pod::slice_from_bytes::<Elf::ProgramHeader>(&table, count).ok()?;
    let is_code = |segment: &&Elf::ProgramHeader| {
        segment.p_type(endian) == PT_LOAD && segment.p_flags(endian) & PF_X == PF_X
    };
    let segment = |segment: &Elf::ProgramHeader| {
        let (in_memory, in_file) = (segment.p_memsz(endian).into(), segment.p_filesz(endian).into());
        let (address, offset) = (segment.p_vaddr(endian).into(), segment.p_offset(endian).into());
        KcoreSegment { address, len: in_memory.min(in_file), offset }
    };
    Some(table.iter().filter(is_code).map(segment).collect())
}
