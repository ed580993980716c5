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
    /// Whether the file has section headers.
    pub has_headers: bool,
}

/// Offset of `.text` in the file.
pub const TEXT_OFFSET: u64 = 0x4000;
/// Address of `.text`.
pub const TEXT: u64 = 0x5000;
/// Address and offset of the first section.
pub const SECTIONS: u64 = 0x200;

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
        let mut names = vec![0];
        let mut symbols = Bytes::new(self.big).zeros(if self.is_64 { 24 } else { 16 });
        for &(name, place, size) in &self.functions {
            symbols = symbols.u32(names.len() as u32);
            // Global functions.
            symbols = if self.is_64 {
                symbols.u8(0x12).u8(0).u16(text).u64s(&[TEXT + place, size])
            } else {
                symbols.u32((TEXT + place) as u32).u32(size as u32).u8(0x12).u8(0).u16(text)
            };
            names.extend(name.bytes().chain([0]));
        }
        let mut it = self.clone().section(".symtab", symbols.out).section(".strtab", names);
        it.functions.clear();
        it
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
            let kind = match name {
                ".symtab" => 2,
                ".strtab" => 3,
                _ => 1,
            };
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
        out = self.word(out, 0);
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
        let names_of_symbols = headers.iter().position(|header| header.1 == 2).map_or(0, |it| it as u32 + 1);
        for (name, kind, flags, address, offset, size) in headers {
            out = out.u32(name).u32(kind);
            for value in [flags, address, offset, size] {
                out = self.word(out, value);
            }
            // The names of symbols are in the section after theirs.
            out = out.u32(if kind == 2 { names_of_symbols } else { 0 }).u32(0);
            out = self.word(out, 1);
            out = self.word(out, 0);
        }
        out.raw(&names).out
    }
}
