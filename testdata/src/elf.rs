//! Small ELF files, written by hand.

use crate::Bytes;

/// An ELF file of a read-only segment with the sections, and an executable one with `.text`. The latter is at
/// [`TEXT`], one page after its offset in the file: `.text` of a position-independent file of lld, say.
#[derive(Clone, Debug)]
pub struct Elf {
    /// `e_machine`.
    pub machine: u16,
    /// Whether it has 64 bits.
    pub is_64: bool,
    /// Whether it is big-endian.
    pub big: bool,
    /// The code.
    pub text: Vec<u8>,
    /// The other sections: name, flags, bytes.
    pub sections: Vec<(&'static str, u64, Vec<u8>)>,
    /// Functions in `.text`, for `.symtab`: name, place in `.text`, size. Without any, there is no `.symtab`.
    pub functions: Vec<(&'static str, u64, u64)>,
    /// `e_entry`.
    pub entry: u64,
    /// Whether the file has section headers.
    pub has_headers: bool,
}

/// Offset of `.text` in the file.
pub const TEXT_OFFSET: u64 = 0x4000;
/// Address of `.text`.
pub const TEXT: u64 = 0x5000;
/// Address and offset of the first section.
pub const SECTIONS: u64 = 0x200;

/// `st_info` of a global function, and of one that chooses the function that is called.
pub const FUNCTION: u8 = 0x12;
/// See [`FUNCTION`].
pub const IFUNC: u8 = 0x1a;

/// Returns the type of a section by its name, the section that its link is to, and the size of its entries.
fn kind_of(name: &str) -> (u32, &'static str, u64) {
    match name {
        ".symtab" => (2, ".strtab", 24),
        ".strtab" | ".dynstr" => (3, "", 0),
        ".dynsym" => (11, ".dynstr", 24),
        ".rela.plt" => (4, ".dynsym", 24),
        ".plt" => (1, "", 16),
        ".note.gnu.build-id" | ".note.go.buildid" => (7, "", 0),
        _ => (1, "", 0),
    }
}

/// `PT_LOAD`, `PT_GNU_EH_FRAME`.
const LOAD: u32 = 1;
const EH_FRAME: u32 = 0x6474_e550;

impl Elf {
    /// A little-endian file of a machine, with as much code as a page.
    #[must_use]
    pub fn new(machine: u16, is_64: bool) -> Self {
        Self {
            machine,
            is_64,
            big: false,
            text: vec![0xcc; 0x1000],
            sections: Vec::new(),
            functions: Vec::new(),
            entry: 0,
            has_headers: true,
        }
    }

    /// Adds a section. Those before it must not change after this.
    #[must_use]
    pub fn section(mut self, name: &'static str, bytes: Vec<u8>) -> Self {
        self.sections.push((name, 2, bytes));
        self
    }

    /// Returns the address at which the next section will be.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.places().last().map_or(SECTIONS, |(start, size)| (start + size).next_multiple_of(16))
    }

    /// Adds code at a place in `.text`.
    #[must_use]
    pub fn code(mut self, place: usize, bytes: &[u8]) -> Self {
        self.text[place..place + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Returns the file with the functions in `.symtab` and `.strtab`.
    fn with_symbols(&self) -> Self {
        // The first section has no bytes, and `.text` is after the two.
        let text = self.sections.len() as u16 + 3;
        let functions: Vec<_> = self
            .functions
            .iter()
            .map(|&(name, place, size)| (name, text, FUNCTION, TEXT + place, size))
            .collect();
        let (symbols, names) = self.symbols(&functions);
        let mut it = self.clone().section(".symtab", symbols).section(".strtab", names);
        it.functions.clear();
        it
    }

    /// Adds a PLT of 64 bits whose stubs call `imports`, and what other files can call: name, `st_info`, place in `.text`,
    /// size. The first stub is 16 bytes after the address of `.plt`. No section may follow.
    #[must_use]
    pub fn linked(self, imports: &[&'static str], exports: &[(&'static str, u8, u64, u64)]) -> Self {
        let text = self.sections.len() as u16 + 5;
        let undefined = imports.iter().map(|&name| (name, 0, FUNCTION, 0, 0));
        let defined = exports.iter().map(|&(name, info, place, size)| (name, text, info, TEXT + place, size));
        let (symbols, names) = self.symbols(&undefined.chain(defined).collect::<Vec<_>>());
        // R_X86_64_JUMP_SLOT
        let relocations = (1..=imports.len() as u64)
            .fold(Bytes::new(self.big), |out, symbol| out.u64s(&[0x9000 + 8 * symbol, symbol << 32 | 7, 0]));
        let plt = vec![0; 16 * (imports.len() + 1)];
        self.section(".dynsym", symbols)
            .section(".dynstr", names)
            .section(".rela.plt", relocations.out)
            .section(".plt", plt)
    }

    /// Returns the address of a section.
    #[must_use]
    pub fn address_of(&self, name: &str) -> u64 {
        let index = self.sections.iter().position(|section| section.0 == name).unwrap();
        self.places()[index].0
    }

    /// Returns a symbol table and its names. A symbol has a name, a section, `st_info`, an address and a size.
    fn symbols(&self, symbols: &[(&'static str, u16, u8, u64, u64)]) -> (Vec<u8>, Vec<u8>) {
        let mut names = vec![0];
        let mut out = Bytes::new(self.big).zeros(if self.is_64 { 24 } else { 16 });
        for &(name, section, info, address, size) in symbols {
            out = out.u32(names.len() as u32);
            out = if self.is_64 {
                out.u8(info).u8(0).u16(section).u64s(&[address, size])
            } else {
                out.u32(address as u32).u32(size as u32).u8(info).u8(0).u16(section)
            };
            names.extend(name.bytes().chain([0]));
        }
        (out.out, names)
    }

    fn places(&self) -> Vec<(u64, u64)> {
        let mut at = SECTIONS;
        let place = |(_, _, bytes): &(_, _, Vec<u8>)| {
            let place = (at, bytes.len() as u64);
            at = (at + place.1).next_multiple_of(16);
            place
        };
        self.sections.iter().map(place).collect()
    }

    fn word(&self, bytes: Bytes, value: u64) -> Bytes {
        bytes.number(if self.is_64 { 8 } else { 4 }, value)
    }

    /// Returns the file.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        if !self.functions.is_empty() {
            return self.with_symbols().build();
        }
        let places = self.places();
        let named =
            |name| self.sections.iter().position(|section| section.0 == name).map(|index| places[index]);
        let mut segments =
            vec![(LOAD, 4, 0, 0, TEXT_OFFSET), (LOAD, 5, TEXT_OFFSET, TEXT, self.text.len() as u64)];
        segments.extend(named(".eh_frame_hdr").map(|(start, size)| (EH_FRAME, 4, start, start, size)));

        let headers_at = TEXT_OFFSET + self.text.len() as u64;
        let mut names = vec![0];
        let mut headers = vec![(0, 0, 0, 0, 0, 0)];
        let all = self
            .sections
            .iter()
            .zip(&places)
            .map(|((name, flags, _), &(start, size))| (*name, *flags, start, start, size));
        for (name, flags, address, offset, size) in
            all.chain([(".text", 6, TEXT, TEXT_OFFSET, self.text.len() as u64)])
        {
            let kind = kind_of(name).0;
            headers.push((names.len() as u32, kind, flags, address, offset, size));
            names.extend(name.bytes().chain([0]));
        }
        let count = headers.len() as u64 + 1;
        let (header_size, segment_size, section_size) = if self.is_64 { (64, 56, 64) } else { (52, 32, 40) };
        let names_at = headers_at + count * section_size;
        headers.push((names.len() as u32, 3, 0, 0, names_at, names.len() as u64 + 10));
        names.extend(b".shstrtab\0");

        let mut out = Bytes::new(self.big)
            .raw(b"\x7fELF")
            .u8(1 + u8::from(self.is_64))
            .u8(1 + u8::from(self.big))
            .u8(1);
        out = out.zeros(9).u16(3).u16(self.machine).u32(1);
        out = self.word(out, self.entry);
        out = self.word(out, header_size);
        out = self.word(out, if self.has_headers { headers_at } else { 0 });
        out = out.u32(0).u16(header_size as u16).u16(segment_size).u16(segments.len() as u16);
        out = out.u16(section_size as u16).u16(if self.has_headers { count as u16 } else { 0 });
        out = out.u16(if self.has_headers { count as u16 - 1 } else { 0 });
        for (kind, flags, offset, address, size) in segments {
            out = out.u32(kind);
            if self.is_64 {
                out = out.u32(flags).u64s(&[offset, address, address, size, size, 0x1000]);
            } else {
                for value in [offset, address, address, size, size, flags.into(), 0x1000] {
                    out = self.word(out, value);
                }
            }
        }
        for ((_, _, bytes), (start, _)) in self.sections.iter().zip(&places) {
            let gap = *start as usize - out.len();
            out = out.zeros(gap).raw(bytes);
        }
        let gap = TEXT_OFFSET as usize - out.len();
        out = out.zeros(gap).raw(&self.text);
        let index_of = |name| self.sections.iter().position(|section| section.0 == name);
        let mut details = vec![(0, 0)];
        details.extend(self.sections.iter().map(|section| {
            let (_, link, entry_size) = kind_of(section.0);
            (index_of(link).map_or(0, |index| index as u32 + 1), entry_size)
        }));
        details.resize(headers.len(), (0, 0));
        for ((name, kind, flags, address, offset, size), (link, entry_size)) in
            headers.into_iter().zip(details)
        {
            out = out.u32(name).u32(kind);
            for value in [flags, address, offset, size] {
                out = self.word(out, value);
            }
            out = out.u32(link).u32(0);
            out = self.word(out, 1);
            out = self.word(out, entry_size);
        }
        out.raw(&names).out
    }
}
