//! An ELF file, as far as unwinding needs it.

use std::fmt;
use std::io::Read;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use flate2::read::ZlibDecoder;
use gimli::{BaseAddresses, RunTimeEndian};
use object::elf::{
    ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, FileHeader32, FileHeader64, PF_W, PF_X, PT_GNU_EH_FRAME, PT_LOAD,
    SHF_COMPRESSED, SHT_NOBITS,
};
use object::read::elf::{CompressionHeader, FileHeader, ProgramHeader, SectionHeader};
use perf_abi::endian::Endianness;
use perf_session::{Segment, address_of};
use ruzstd::decoding::StreamingDecoder;

use super::fde::{Entry, HeaderTable, index_of};
use super::machine::Machine;

/// The bytes of a file: a `Vec<u8>`, a mapped file, or anything else that has them.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// The largest `.debug_frame` that is decompressed.
const MAX_SECTION: u64 = 256 << 20;

/// An ELF file, as far as unwinding needs it: its segments and its unwind tables.
///
/// Threads can share one. It keeps the bytes of the file, and an index of the tables that have none.
pub struct Module {
    bytes: Bytes,
    machine: Machine,
    order: Endianness,
    segments: Vec<Segment>,
    /// The parts of `segments` that no process can change, as places in the file and addresses.
    constants: Vec<(Range<u64>, u64)>,
    pub(crate) bases: BaseAddresses,
    pub(crate) eh_frame: Option<Section>,
    pub(crate) header: Option<HeaderTable>,
    pub(crate) debug_frame: Option<Section>,
    eh_frame_index: OnceLock<Vec<Entry>>,
    debug_frame_index: OnceLock<Vec<Entry>>,
}

/// The bytes of a section.
#[derive(Debug)]
pub(crate) enum Section {
    File(Range<usize>),
    Decompressed(Vec<u8>),
}

impl Section {
    pub(crate) fn bytes<'a>(&'a self, file: &'a [u8]) -> &'a [u8] {
        match self {
            Self::File(range) => file.get(range.clone()).unwrap_or_default(),
            Self::Decompressed(bytes) => bytes,
        }
    }
}

/// A range of a file in which addresses and offsets differ by one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// What an offset needs to become an address.
    pub(crate) delta: u64,
}

impl Module {
    /// Reads the headers of an ELF file.
    ///
    /// A file that was cut short, or without section headers, gives what is there: without unwind tables, a guess by frame
    /// pointers remains. Costs a walk over the headers, and the decompression of `.debug_frame` if it is compressed.
    ///
    /// # Errors
    ///
    /// A [`ModuleError`] for what is not ELF, whose headers are not in the file, or of a machine that is not supported.
    pub fn parse(bytes: Bytes) -> Result<Self, ModuleError> {
        let data = (*bytes).as_ref();
        let parts = match data.get(4) {
            Some(2) => parts::<FileHeader64<object::Endianness>>(data),
            _ => parts::<FileHeader32<object::Endianness>>(data),
        }?;
        let Parts { machine, order, segments, constants, bases, eh_frame, header, debug_frame } = parts;
        Ok(Self {
            bytes,
            machine,
            order,
            segments,
            constants,
            bases,
            eh_frame,
            header,
            debug_frame,
            eh_frame_index: OnceLock::new(),
            debug_frame_index: OnceLock::new(),
        })
    }

    /// Returns the machine that the file is for.
    #[must_use]
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// Returns the loadable segments.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(crate) fn data(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    pub(crate) fn order(&self) -> Endianness {
        self.order
    }

    pub(crate) fn gimli_order(&self) -> RunTimeEndian {
        match self.order {
            Endianness::Little => RunTimeEndian::Little,
            Endianness::Big => RunTimeEndian::Big,
        }
    }

    /// Returns the range of the file around an offset whose addresses have one difference to their offsets.
    pub(crate) fn span(&self, offset: u64, is_executable: bool) -> Option<Span> {
        let address = address_of(&self.segments, offset, is_executable)?;
        let delta = address.wrapping_sub(offset);
        let is_in = |segment: &&Segment| {
            segment.is_executable == is_executable
                && segment.offset <= offset
                && offset.wrapping_sub(segment.offset) < segment.size
        };
        Some(match self.segments.iter().find(is_in) {
            Some(it) => Span { start: it.offset, end: it.offset.saturating_add(it.size), delta },
            // In the page before the segment.
            None => Span { start: offset, end: offset.saturating_add(1), delta },
        })
    }

    /// Returns the bytes from an address on, up to the end of its segment. Only of segments that are not writable:
    /// a process may have changed others.
    pub(crate) fn constant(&self, address: u64) -> Option<&[u8]> {
        let (range, start) = self
            .constants
            .iter()
            .find(|(range, start)| address.wrapping_sub(*start) < range.end.saturating_sub(range.start))?;
        let from = range.start.checked_add(address.wrapping_sub(*start))?;
        self.data().get(usize::try_from(from).ok()?..usize::try_from(range.end).ok()?)
    }

    /// Returns the entries of `.eh_frame`, in the order of their addresses. The first call reads the section.
    pub(crate) fn eh_frame_index(&self) -> &[Entry] {
        self.eh_frame_index.get_or_init(|| {
            let Some(section) = &self.eh_frame else { return Vec::new() };
            let mut frame = gimli::EhFrame::new(section.bytes(self.data()), self.gimli_order());
            frame.set_address_size(self.machine.address_size());
            index_of(&frame, &self.bases)
        })
    }

    /// Returns the entries of `.debug_frame`, in the order of their addresses. The first call reads the section.
    pub(crate) fn debug_frame_index(&self) -> &[Entry] {
        self.debug_frame_index.get_or_init(|| {
            let Some(section) = &self.debug_frame else { return Vec::new() };
            let mut frame = gimli::DebugFrame::new(section.bytes(self.data()), self.gimli_order());
            frame.set_address_size(self.machine.address_size());
            index_of(&frame, &self.bases)
        })
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("machine", &self.machine)
            .field("segments", &self.segments)
            .field("has_eh_frame", &self.eh_frame.is_some())
            .field("has_eh_frame_hdr", &self.header.is_some())
            .field("has_debug_frame", &self.debug_frame.is_some())
            .finish_non_exhaustive()
    }
}

/// Why a file is no [`Module`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleError {
    /// The file is not ELF, or its headers are not in the file.
    NotElf,
    /// The file is for a machine that is not supported: `e_machine`.
    Machine(u16),
}

impl fmt::Display for ModuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotElf => f.write_str("not an ELF file, or its headers are not in the file"),
            Self::Machine(number) => {
                write!(f, "the file is for machine {number}, whose stacks cannot be unwound")
            }
        }
    }
}

impl std::error::Error for ModuleError {}

struct Parts {
    machine: Machine,
    order: Endianness,
    segments: Vec<Segment>,
    constants: Vec<(Range<u64>, u64)>,
    bases: BaseAddresses,
    eh_frame: Option<Section>,
    header: Option<HeaderTable>,
    debug_frame: Option<Section>,
}

fn parts<Elf: FileHeader<Endian = object::Endianness>>(data: &[u8]) -> Result<Parts, ModuleError> {
    let elf = Elf::parse(data).map_err(|_| ModuleError::NotElf)?;
    let endian = elf.endian().map_err(|_| ModuleError::NotElf)?;
    let number = elf.e_machine(endian);
    let machine = Machine::of_file(number, elf.is_type_64()).ok_or(ModuleError::Machine(number))?;
    let order = match endian {
        object::Endianness::Little => Endianness::Little,
        object::Endianness::Big => Endianness::Big,
    };
    let headers = elf.program_headers(endian, data).map_err(|_| ModuleError::NotElf)?;
    let (mut segments, mut constants, mut header_place) = (Vec::new(), Vec::new(), None);
    for header in headers {
        let (offset, address) = (header.p_offset(endian).into(), header.p_vaddr(endian).into());
        let size = header.p_filesz(endian).into();
        let flags = header.p_flags(endian);
        match header.p_type(endian) {
            PT_LOAD => {
                segments.push(Segment { offset, address, size, is_executable: flags & PF_X != 0 });
                if flags & PF_W == 0 {
                    constants.push((offset..offset.saturating_add(size), address));
                }
            }
            PT_GNU_EH_FRAME => header_place = Some((offset, address, size)),
            _ => {}
        }
    }

    // Without section headers, the program headers lead to the tables.
    let sections = elf.sections(endian, data).unwrap_or_default();
    let named = |name: &[u8]| {
        sections.iter().find(|section| {
            sections.section_name(endian, section).is_ok_and(|it| it == name)
                && section.sh_type(endian) != SHT_NOBITS
        })
    };
    let address_of_section = |name| named(name).map_or(0, |section| section.sh_addr(endian).into());
    let load = |name| load(data, endian, named(name)?);
    let mut bases =
        BaseAddresses::default().set_text(address_of_section(b".text")).set_got(address_of_section(b".got"));

    let mut eh_frame = load(b".eh_frame");
    bases = bases.set_eh_frame(address_of_section(b".eh_frame"));
    let from_section = named(b".eh_frame_hdr")
        .map(|it| (it.sh_offset(endian).into(), it.sh_addr(endian).into(), it.sh_size(endian).into()));
    let header = header_place.or(from_section).and_then(|(offset, address, size)| {
        HeaderTable::parse(data, to_range(data, offset, size)?, address, order)
    });
    if let (None, Some(header)) = (&eh_frame, &header) {
        eh_frame = segments.iter().find_map(|segment| {
            let skipped = header.eh_frame.checked_sub(segment.address).filter(|it| *it < segment.size)?;
            let start = segment.offset.checked_add(skipped)?;
            Some(Section::File(to_range(data, start, segment.size.checked_sub(skipped)?)?))
        });
        bases = bases.set_eh_frame(header.eh_frame);
    }
    let debug_frame = load(b".debug_frame");
    // A table of another section, as a tool that split a file may leave it, is of no use.
    let header = header.filter(|it| eh_frame.is_some() && bases.eh_frame.section == Some(it.eh_frame));
    Ok(Parts { machine, order, segments, constants, bases, eh_frame, header, debug_frame })
}

/// Returns the part of `offset..offset + size` that is in the file; `None` if nothing is.
fn to_range(data: &[u8], offset: u64, size: u64) -> Option<Range<usize>> {
    let end = offset.saturating_add(size).min(u64::try_from(data.len()).ok()?);
    let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
    (range.start < range.end).then_some(range)
}

/// Returns the bytes of a section; `None` if the file does not have them.
fn load<Header: SectionHeader<Endian = object::Endianness>>(
    data: &[u8],
    endian: object::Endianness,
    section: &Header,
) -> Option<Section> {
    if section.sh_flags(endian).into() & u64::from(SHF_COMPRESSED) == 0 {
        return Some(Section::File(to_range(
            data,
            section.sh_offset(endian).into(),
            section.sh_size(endian).into(),
        )?));
    }
    let (header, offset, size) = section.compression(endian, data).ok()??;
    let compressed = data.get(to_range(data, offset, size)?)?;
    let size = header.ch_size(endian).into();
    if size > MAX_SECTION {
        return None;
    }
    // Memory is only taken for what is there.
    let mut bytes = Vec::new();
    let read = match header.ch_type(endian) {
        ELFCOMPRESS_ZLIB => ZlibDecoder::new(compressed).take(size).read_to_end(&mut bytes),
        ELFCOMPRESS_ZSTD => StreamingDecoder::new(compressed).ok()?.take(size).read_to_end(&mut bytes),
        _ => return None,
    };
    read.ok()?;
    Some(Section::Decompressed(bytes))
}
