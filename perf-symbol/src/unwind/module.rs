//! An ELF file, as far as unwinding needs it.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::{BaseAddresses, RunTimeEndian};
use object::elf::{PF_W, SHF_COMPRESSED};
use perf_abi::endian::Endianness;
use perf_session::{Segment, address_of};

use super::augmentation::Readable;
use super::fde::{FdeEntry, HeaderTable, index_of};
use super::frame::FrameSource;
use super::linkage::Linkage;
use super::machine::UnwindMachine;
use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::doubt::Doubt;
use crate::elf_symbols;
use crate::go;
use crate::image::ElfImage;
use crate::limits::SymbolLimits;
use crate::shared::SharedFunctions;
use crate::symtab::{NameSource, Symtab};

/// The largest `.debug_frame` that is decompressed.
const MAX_SECTION: u64 = 256 << 20;

/// An ELF file, as far as unwinding needs it: its segments and its unwind tables.
///
/// Threads can share one. It keeps the bytes of the file, and an index of the tables that have none.
pub struct Module {
    image: Arc<ElfImage>,
    machine: UnwindMachine,
    order: Endianness,
    /// The parts of the segments that no process can change, as places in the file and addresses.
    constants: Vec<(Range<u64>, u64)>,
    pub(crate) bases: BaseAddresses,
    pub(crate) eh_frame: Option<Readable>,
    pub(crate) header: Option<HeaderTable>,
    pub(crate) debug_frame: Option<Readable>,
    /// Of 32-bit Arm.
    exidx: Option<ExidxTable>,
    eh_frame_index: OnceLock<Vec<FdeEntry>>,
    debug_frame_index: OnceLock<Vec<FdeEntry>>,
    is_go: bool,
    /// Whether what its tables lead to is a guess.
    is_doubtful: bool,
    /// The separate debug file.
    debug: Option<ElfImage>,
    functions: OnceLock<Symtab>,
    /// The functions that a symbolizer finds in the file; `None` if there is no symbolizer.
    shared: Option<SharedFunctions>,
    linkage: OnceLock<Linkage>,
}

/// Place of `.ARM.exidx` in its file: the offset, the address, and the number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExidxTable {
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) size: u64,
}

/// A range of a file in which addresses and offsets differ by one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileSpan {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// What an offset needs to become an address.
    pub(crate) delta: u64,
}

impl Module {
    /// Reads the headers of an ELF file, and makes a module of it: see [`Module::new`].
    ///
    /// # Errors
    ///
    /// A [`ModuleError`] for what is not ELF, whose headers are not in the file, or of a machine that is not supported.
    pub fn parse(bytes: FileBytes) -> Result<Self, ModuleError> {
        let image = ElfImage::parse(bytes).map_err(|_| ModuleError::NotElf)?;
        Self::new(&Arc::new(image), None)
    }

    /// Makes a module of a file and of its separate debug file, which may have `.debug_frame`.
    ///
    /// A file that was cut short, or without section headers, gives what is there: without unwind tables, a guess by frame
    /// pointers remains. Costs the decompression of `.debug_frame` if it is compressed.
    ///
    /// # Errors
    ///
    /// [`ModuleError::Machine`] for a machine that is not supported.
    pub fn new(image: &Arc<ElfImage>, debug: Option<&ElfImage>) -> Result<Self, ModuleError> {
        let machine = UnwindMachine::of_file(image.machine(), image.is_64());
        let machine = machine.ok_or(ModuleError::Machine(image.machine()))?;
        let order = if image.is_little_endian() { Endianness::Little } else { Endianness::Big };
        let address_of = |name| image.section(name).map_or(0, |section| section.address);
        let mut bases = BaseAddresses::default()
            .set_text(address_of(".text"))
            .set_got(address_of(".got"))
            .set_eh_frame(address_of(".eh_frame"));

        // Without section headers, the program headers lead to the tables.
        let header = image.eh_frame_header().and_then(|(offset, address, size)| {
            HeaderTable::parse(image.bytes(), place(image, offset, size)?, address, order)
        });
        let mut eh_frame = section(image, ".eh_frame");
        if let (None, Some(header)) = (&eh_frame, &header) {
            eh_frame = image.segments().iter().find_map(|segment| {
                let skipped = header.eh_frame.checked_sub(segment.address).filter(|it| *it < segment.size)?;
                part(image, segment.offset.checked_add(skipped)?, segment.size.checked_sub(skipped)?)
            });
            bases = bases.set_eh_frame(header.eh_frame);
        }
        // A table of another section, as a tool that split a file may leave it, is of no use.
        let header = header.filter(|it| eh_frame.is_some() && bases.eh_frame.section == Some(it.eh_frame));
        let debug_frame = section(image, ".debug_frame").or_else(|| section(debug?, ".debug_frame"));
        let exidx = image.arm_exidx().filter(|_| machine == UnwindMachine::Arm);
        let exidx = exidx.map(|(offset, address, size)| ExidxTable { offset, address, size });
        let is_constant = |flags: u32| flags & PF_W.0 == 0;
        let constants = image
            .headers()
            .iter()
            .filter(|it| is_constant(it.flags))
            .map(|it| (it.offset..it.offset.saturating_add(it.file_size), it.address))
            .collect();
        Ok(Self {
            image: Arc::clone(image),
            machine,
            order,
            constants,
            bases,
            eh_frame: eh_frame.map(|bytes| readable(machine, order, bytes, true)),
            header,
            debug_frame: debug_frame.map(|bytes| readable(machine, order, bytes, false)),
            exidx,
            eh_frame_index: OnceLock::new(),
            debug_frame_index: OnceLock::new(),
            is_go: go::has_table(image),
            is_doubtful: false,
            debug: debug.cloned(),
            functions: OnceLock::new(),
            shared: None,
            linkage: OnceLock::new(),
        })
    }

    /// Has the frames that the module leads to marked as guesses, if its file may not be the one that was mapped:
    /// [`FrameSource::DoubtfulCfi`](super::FrameSource::DoubtfulCfi).
    #[must_use]
    pub fn with_doubt(self, doubt: Option<Doubt>) -> Self {
        Self { is_doubtful: doubt.and_then(Doubt::guess).is_some(), ..self }
    }

    /// Uses `.debug_frame` of what `.gnu_debugdata` has, if there is no other. Android's 32-bit libraries have it there.
    pub(crate) fn with_mini_debug_info(mut self, mini: Option<&ElfImage>) -> Self {
        if self.debug_frame.is_none() {
            let bytes = mini.and_then(|mini| section(mini, ".debug_frame"));
            self.debug_frame = bytes.map(|bytes| readable(self.machine, self.order, bytes, false));
        }
        self
    }

    /// Uses the functions that a symbolizer finds in the file, so that its symbol tables are not read twice.
    pub(crate) fn with_functions(self, shared: SharedFunctions) -> Self {
        Self { shared: Some(shared), ..self }
    }

    /// Returns the place of `.ARM.exidx`.
    pub(super) fn exidx(&self) -> Option<ExidxTable> {
        self.exidx
    }

    /// Returns how a frame was found to which the module's tables led.
    pub(crate) fn source(&self) -> FrameSource {
        if self.is_doubtful { FrameSource::DoubtfulCfi } else { FrameSource::Cfi }
    }

    /// Returns the machine that the file is for.
    #[must_use]
    pub fn machine(&self) -> UnwindMachine {
        self.machine
    }

    /// Returns the loadable segments.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        self.image.segments()
    }

    /// Returns the file.
    pub(crate) fn image(&self) -> &ElfImage {
        &self.image
    }

    pub(crate) fn data(&self) -> &[u8] {
        self.image.bytes()
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
    pub(crate) fn span(&self, offset: u64, is_executable: bool) -> Option<FileSpan> {
        let address = address_of(self.segments(), offset, is_executable)?;
        let delta = address.wrapping_sub(offset);
        let is_in = |segment: &&Segment| {
            segment.is_executable == is_executable
                && segment.offset <= offset
                && offset.wrapping_sub(segment.offset) < segment.size
        };
        Some(match self.segments().iter().find(is_in) {
            Some(it) => FileSpan { start: it.offset, end: it.offset.saturating_add(it.size), delta },
            // In the page before the segment.
            None => FileSpan { start: offset, end: offset.saturating_add(1), delta },
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

    /// Returns the address at which the program starts; 0 if there is none.
    pub(crate) fn entry(&self) -> u64 {
        self.image.entry()
    }

    /// Returns whether it is a program of Go.
    pub(crate) fn is_go(&self) -> bool {
        self.is_go
    }

    /// Returns the functions of the file. The first call reads its symbol tables.
    pub(crate) fn functions(&self) -> &Symtab {
        if let Some(functions) = self.shared.as_ref().and_then(SharedFunctions::get) {
            return functions;
        }
        self.functions.get_or_init(|| {
            let files = [Some(&*self.image), self.debug.as_ref()].into_iter().flatten();
            let files: Vec<_> = files.map(|image| (image, NameSource::Symtab)).collect();
            let (limits, never) = (SymbolLimits::default(), Cancellation::default());
            elf_symbols::load(Some(&self.image), &files, ReadBounds::new(&limits, &never))
        })
    }

    /// Returns what the file calls in others, and others in it. The first call reads `.dynsym` and relocations.
    pub(crate) fn linkage(&self) -> &Linkage {
        let (limits, never) = (SymbolLimits::default(), Cancellation::default());
        self.linkage.get_or_init(|| Linkage::of(&self.image, ReadBounds::new(&limits, &never)))
    }

    /// Returns the entries of `.eh_frame`, in the order of their addresses. The first call reads the section.
    pub(crate) fn eh_frame_index(&self) -> &[FdeEntry] {
        self.eh_frame_index.get_or_init(|| {
            let Some(section) = &self.eh_frame else { return Vec::new() };
            let mut frame = gimli::EhFrame::new(&section.bytes, self.gimli_order());
            frame.set_address_size(self.machine.address_size());
            index_of(&frame, &self.bases)
        })
    }

    /// Returns the entries of `.debug_frame`, in the order of their addresses. The first call reads the section.
    pub(crate) fn debug_frame_index(&self) -> &[FdeEntry] {
        self.debug_frame_index.get_or_init(|| {
            let Some(section) = &self.debug_frame else { return Vec::new() };
            let mut frame = gimli::DebugFrame::new(&section.bytes, self.gimli_order());
            frame.set_address_size(self.machine.address_size());
            index_of(&frame, &self.bases)
        })
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("machine", &self.machine)
            .field("segments", &self.segments())
            .field("has_eh_frame", &self.eh_frame.is_some())
            .field("has_eh_frame_hdr", &self.header.is_some())
            .field("has_debug_frame", &self.debug_frame.is_some())
            .field("has_exidx", &self.exidx.is_some())
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

/// Returns a section of unwind tables as gimli can read it.
fn readable(machine: UnwindMachine, order: Endianness, bytes: FileBytes, is_eh_frame: bool) -> Readable {
    match machine {
        UnwindMachine::Aarch64 => Readable::new(bytes, order, is_eh_frame),
        _ => Readable { bytes, changed: Vec::new() },
    }
}

/// Returns the place in the file of what is there of `offset..offset + size`; `None` if nothing is.
fn place(image: &ElfImage, offset: u64, size: u64) -> Option<Range<usize>> {
    let end = offset.saturating_add(size).min(u64::try_from(image.bytes().len()).ok()?);
    let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
    (range.start < range.end).then_some(range)
}

/// Returns what the file has of `offset..offset + size`; `None` if nothing.
fn part(image: &ElfImage, offset: u64, size: u64) -> Option<FileBytes> {
    let end = offset.saturating_add(size).min(u64::try_from(image.bytes().len()).ok()?);
    image.bytes().slice(offset..end).filter(|bytes| !bytes.is_empty())
}

/// Returns the bytes of a section; `None` if the file does not have them.
fn section(image: &ElfImage, name: &str) -> Option<FileBytes> {
    let section = image.section(name).filter(|section| section.has_bytes())?;
    if section.flags & SHF_COMPRESSED.0 == 0 {
        return part(image, section.offset, section.size);
    }
    image.data(section, MAX_SECTION).ok()
}
