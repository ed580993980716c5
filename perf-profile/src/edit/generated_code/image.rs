//! ELF files of generated code.

use gimli::RunTimeEndian;
use hashbrown::HashMap;
use object::Endianness as ObjectEndianness;
use object::elf;
use object::write::elf::{FileHeader, ProgramHeader, SectionHeader, SectionIndex, Sym, Writer};
use perf_abi::endian::Endianness;
use perf_symbol::jitdump::JitDebugInfo;
use sha2::{Digest, Sha256};

use super::line_tables::{self, CodeLines};
use super::unwind_tables::{self, CodeFrames};

/// An ELF file that has the functions of generated code: symbols, and from a jitdump the code, lines and unwind tables.
#[derive(Clone, Debug)]
pub struct CodeImage {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) build_id: [u8; 20],
}

impl CodeImage {
    /// Returns the name of the file, such as `jit-7.so` or `perf-7.so`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the content of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The offset of the code in the file, and its address in the image.
const CODE: u64 = 0x1000;

/// The first address of code that a jitdump does not have, beyond all that it has.
const ABSENT: u64 = 1 << 32;

/// Maximum size of code, so that all addresses of an image fit.
const LONGEST: u64 = u32::MAX as u64;

/// Alignment of the code of functions, as compilers have it.
const ALIGNMENT: u64 = 16;

/// An image that is being made.
#[derive(Debug)]
pub(super) struct ImageBuilder<'a> {
    endianness: Endianness,
    machine: u16,
    code: Vec<u8>,
    /// The end of the code that the image has no bytes of.
    absent_end: u64,
    /// Where code without bytes begins.
    absent: Option<u64>,
    /// The names, each once for each place that it has in the input.
    names: Vec<&'a [u8]>,
    by_place: HashMap<*const u8, usize>,
    symbols: Vec<ImageSymbol>,
    lines: Vec<CodeLines<'a>>,
    frames: Vec<CodeFrames<'a>>,
}

/// A function.
#[derive(Debug)]
struct ImageSymbol {
    /// The number of the name.
    name: usize,
    address: u64,
    size: u64,
    has_code: bool,
}

/// A section with its content.
struct ImageSection {
    name: &'static [u8],
    kind: elf::SectionType,
    flags: elf::SectionFlags,
    alignment: u64,
    bytes: Vec<u8>,
}

impl<'a> ImageBuilder<'a> {
    /// Creates an image without functions. `machine` is `EM_*` of `elf.h`.
    pub(super) fn new(endianness: Endianness, machine: u16) -> Self {
        Self {
            endianness,
            machine,
            code: Vec::new(),
            absent_end: ABSENT,
            absent: None,
            names: Vec::new(),
            by_place: HashMap::new(),
            symbols: Vec::new(),
            lines: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Adds a function, and returns its offset in the file; `None` for one that is too long. Without all its code, it has
    /// addresses beyond the end of the file.
    pub(super) fn function(&mut self, name: &'a [u8], size: u64, code: &[u8]) -> Option<u64> {
        if size > LONGEST {
            return None;
        }
        let has_code = usize::try_from(size) == Ok(code.len());
        let address = if has_code {
            let at = u64::try_from(self.code.len()).ok()?.checked_next_multiple_of(ALIGNMENT)?;
            self.code.resize(usize::try_from(at).ok()?, 0);
            self.code.extend_from_slice(code);
            CODE.checked_add(at)?
        } else {
            let address = self.absent_end;
            self.absent_end = address.checked_add(size)?.checked_next_multiple_of(ALIGNMENT)?;
            self.absent = self.absent.or(Some(address));
            address
        };
        let name = self.name(name);
        self.symbols.push(ImageSymbol { name, address, size, has_code });
        Some(address)
    }

    /// Adds a function without code at its own address.
    pub(super) fn function_at(&mut self, name: &'a [u8], address: u64, size: u64) {
        let name = self.name(name);
        self.symbols.push(ImageSymbol { name, address, size, has_code: false });
        self.absent = Some(self.absent.map_or(address, |absent| absent.min(address)));
        let end = address.saturating_add(size);
        self.absent_end = if self.symbols.len() == 1 { end } else { self.absent_end.max(end) };
    }

    /// Returns the number of a name, which ends before a NUL.
    fn name(&mut self, name: &'a [u8]) -> usize {
        let Self { names, by_place, .. } = self;
        *by_place.entry(name.as_ptr()).or_insert_with(|| {
            names.push(name.split(|&byte| byte == 0).next().unwrap_or_default());
            names.len().saturating_sub(1)
        })
    }

    /// Adds the lines of the function at `address`.
    pub(super) fn lines(&mut self, address: u64, size: u64, info: JitDebugInfo<'a>) {
        self.lines.push(CodeLines { address, size, info });
    }

    /// Adds the unwind table of the function at `address`, which has code: the content of an `.eh_frame` after the code.
    pub(super) fn frames(&mut self, address: u64, size: u64, eh_frame: &'a [u8]) {
        if !eh_frame.is_empty() {
            self.frames.push(CodeFrames { address, size, eh_frame });
        }
    }

    /// Returns the number of functions.
    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }

    fn is_64(&self) -> bool {
        // The machines of 32 bits that have JIT compilers.
        const NARROW: [u16; 4] = [elf::EM_386.0, elf::EM_MIPS.0, elf::EM_PPC.0, elf::EM_ARM.0];
        let end = self.absent.map_or(0, |_| self.absent_end);
        end > u32::MAX.into() || !NARROW.contains(&self.machine)
    }

    fn address_size(&self) -> u8 {
        if self.is_64() { 8 } else { 4 }
    }

    fn endian(&self) -> RunTimeEndian {
        match self.endianness {
            Endianness::Little => RunTimeEndian::Little,
            Endianness::Big => RunTimeEndian::Big,
        }
    }

    /// Returns the file; `None` if it would be too large.
    pub(super) fn build(self, name: String) -> Option<CodeImage> {
        let endianness = match self.endianness {
            Endianness::Little => ObjectEndianness::Little,
            Endianness::Big => ObjectEndianness::Big,
        };
        let code_end = CODE.checked_add(u64::try_from(self.code.len()).ok()?)?;
        let tables_at = code_end.next_multiple_of(8);
        let (address_size, endian) = (self.address_size(), self.endian());
        let eh_frame = unwind_tables::section(&self.frames, tables_at, address_size, endian);
        let mut others = vec![ImageSection {
            name: b".eh_frame",
            kind: elf::SHT_PROGBITS,
            flags: elf::SHF_ALLOC,
            alignment: 8,
            bytes: eh_frame,
        }];
        let lines = line_tables::sections(&self.lines, address_size, endian);
        others.extend(lines.into_iter().map(|(name, bytes)| ImageSection {
            name: name.as_bytes(),
            kind: elf::SHT_PROGBITS,
            flags: elf::SectionFlags(0),
            alignment: 1,
            bytes,
        }));
        others.push(ImageSection {
            name: b".note.gnu.build-id",
            kind: elf::SHT_NOTE,
            flags: elf::SectionFlags(0),
            alignment: 4,
            bytes: Vec::new(),
        });
        let build_id = self.build_id(&others);
        others.last_mut()?.bytes = self.note(&build_id);
        others.retain(|section| !section.bytes.is_empty());

        let mut bytes = Vec::new();
        let mut writer = Writer::new(endianness, self.is_64(), &mut bytes);
        writer.reserve_file_header();
        let has_code = !self.code.is_empty();
        writer.reserve_program_headers(u32::from(has_code) + u32::from(self.absent.is_some()));
        writer.reserve_until(CODE);
        writer.reserve(u64::try_from(self.code.len()).ok()?, 1);
        let text_name = writer.add_section_name(b".text");
        let text = has_code.then(|| writer.reserve_section_index());
        let absent = self.absent.map(|_| writer.reserve_section_index());
        let section_of =
            |symbol: &ImageSymbol| (if symbol.has_code { text } else { absent }).unwrap_or(SectionIndex(0));
        let others = others
            .into_iter()
            .map(|section| {
                let name = writer.add_section_name(section.name);
                writer.reserve_section_index();
                let offset = writer.reserve(u64::try_from(section.bytes.len()).ok()?, section.alignment);
                Some((section, name, offset))
            })
            .collect::<Option<Vec<_>>>()?;
        let names: Vec<_> = self.names.iter().map(|name| writer.add_string(name)).collect();
        for symbol in &self.symbols {
            writer.reserve_symbol_index(Some(section_of(symbol)));
        }
        writer.reserve_symtab_section_index();
        writer.reserve_symtab();
        writer.reserve_strtab_section_index();
        writer.reserve_strtab().ok()?;
        writer.reserve_shstrtab_section_index();
        writer.reserve_shstrtab().ok()?;
        writer.reserve_section_headers();

        let header = FileHeader {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            e_type: elf::ET_DYN,
            e_machine: elf::Machine(self.machine),
            e_entry: 0,
            e_flags: elf::FileFlags(0),
        };
        writer.write_file_header(&header).ok()?;
        writer.write_align_program_headers();
        let tables_end = others.first().filter(|(it, ..)| it.name == b".eh_frame");
        let loaded = tables_end.map_or(code_end, |(it, _, at)| at.saturating_add(it.bytes.len() as u64));
        let segments =
            [has_code.then_some((CODE, loaded)), self.absent.map(|start| (start, self.absent_end))];
        for (start, end) in segments.into_iter().flatten() {
            let size = end.checked_sub(start)?;
            writer.write_program_header(&ProgramHeader {
                p_type: elf::PT_LOAD,
                p_flags: elf::PF_R | elf::PF_X,
                // The addresses of an image are its offsets, also where it has no bytes.
                p_offset: start,
                p_vaddr: start,
                p_paddr: start,
                p_filesz: size,
                p_memsz: size,
                p_align: 1,
            });
        }
        writer.pad_until(CODE);
        writer.write(&self.code);
        for (section, _, offset) in &others {
            writer.pad_until(*offset);
            writer.write(&section.bytes);
        }
        writer.write_null_symbol();
        for symbol in &self.symbols {
            writer.write_symbol(&Sym {
                section: Some(section_of(symbol).0),
                st_name: writer.string_offset(names.get(symbol.name).copied()),
                st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_FUNC),
                st_other: elf::SymbolOther(0),
                st_shndx: elf::SymbolSection(0),
                st_value: symbol.address,
                st_size: symbol.size,
            });
        }
        writer.write_strtab();
        writer.write_shstrtab();
        writer.write_null_section_header();
        let of = |name, kind, flags, (start, size): (u64, u64), alignment| SectionHeader {
            sh_name: name,
            sh_type: kind,
            sh_flags: flags,
            sh_addr: start,
            sh_offset: start,
            sh_size: size,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: alignment,
            sh_entsize: 0,
        };
        let code = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let text_name = writer.section_name_offset(Some(text_name));
        if has_code {
            let range = (CODE, self.code.len() as u64);
            writer.write_section_header(&of(text_name, elf::SHT_PROGBITS, code, range, ALIGNMENT));
        }
        if let Some(start) = self.absent {
            let range = (start, self.absent_end.checked_sub(start)?);
            writer.write_section_header(&of(text_name, elf::SHT_NOBITS, code, range, 1));
        }
        for (section, name, offset) in &others {
            let name = writer.section_name_offset(Some(*name));
            let range = (*offset, section.bytes.len() as u64);
            let mut header = of(name, section.kind, section.flags, range, section.alignment);
            if section.flags == elf::SectionFlags(0) {
                header.sh_addr = 0;
            }
            writer.write_section_header(&header);
        }
        writer.write_symtab_section_header(1);
        writer.write_strtab_section_header();
        writer.write_shstrtab_section_header();
        Some(CodeImage { name, bytes, build_id })
    }

    /// Returns 20 bytes that depend on all that the image has.
    fn build_id(&self, sections: &[ImageSection]) -> [u8; 20] {
        let mut hash = Sha256::new();
        hash.update(&self.code);
        for it in &self.symbols {
            hash.update(it.address.to_le_bytes());
            hash.update(it.size.to_le_bytes());
            hash.update((it.name as u64).to_le_bytes());
        }
        for name in &self.names {
            hash.update(name);
            hash.update([0]);
        }
        sections.iter().for_each(|section| hash.update(&section.bytes));
        let mut id = [0; 20];
        id.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
        id
    }

    /// Returns the note with a build id.
    fn note(&self, build_id: &[u8; 20]) -> Vec<u8> {
        let word = |value: u32| match self.endianness {
            Endianness::Little => value.to_le_bytes(),
            Endianness::Big => value.to_be_bytes(),
        };
        // NT_GNU_BUILD_ID
        [&word(4), &word(20), &word(3), &b"GNU\0"[..], build_id].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_symbol::{FileBytes, PerfMap, SymbolLimits};

    /// A long name that many others interrupt is looked at once.
    #[test]
    fn a_name_that_is_cut_into_pieces_is_there_once() {
        let mut text = format!("1000 1000 {}\n", "long".repeat(100));
        (0..100).for_each(|number| text += &format!("{:x} 8 short\n", 0x1000 + 16 * number));
        let map = PerfMap::parse(FileBytes::new(text), &SymbolLimits::default());
        let mut image = ImageBuilder::new(Endianness::Little, 62);
        for it in map.visible() {
            image.function_at(it.name, it.start, it.end - it.start);
        }
        assert_eq!((image.len(), image.names.len()), (200, 101));
        let bytes = image.build("perf-1.so".to_owned()).unwrap().bytes;
        assert_eq!(bytes.windows(400).filter(|it| *it == "long".repeat(100).as_bytes()).count(), 1);
    }
}
