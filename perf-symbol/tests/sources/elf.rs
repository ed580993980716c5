//! Small ELF files, a section at a time.

/// A 64-bit little-endian ELF file of x86-64, or another machine.
pub(crate) struct Elf {
    machine: u16,
    sections: Vec<Section>,
    /// Address and size of the one segment, which starts the file and is executable.
    segment: Option<(u64, u64)>,
}

struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    data: Vec<u8>,
    link: u32,
    entry: u64,
}

pub(crate) const PROGBITS: u32 = 1;
pub(crate) const SYMTAB: u32 = 2;
pub(crate) const RELA: u32 = 4;
pub(crate) const NOTE: u32 = 7;
pub(crate) const DYNSYM: u32 = 11;
const STRTAB: u32 = 3;
const ALLOC: u64 = 2;
const EXECINSTR: u64 = 4;
const COMPRESSED: u64 = 0x800;

/// A symbol: type and binding, address, size and name.
pub(crate) type Symbol = (u8, u64, u64, &'static str);

pub(crate) const FUNC: u8 = 0x12;
pub(crate) const NOTYPE: u8 = 0x00;

/// A note whose name has four bytes.
fn note(name: [u8; 4], kind: u32, desc: &[u8]) -> Vec<u8> {
    let words = [4, desc.len() as u32, kind];
    let mut data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    data.extend_from_slice(&name);
    data.extend_from_slice(desc);
    data.resize(data.len().next_multiple_of(4), 0);
    data
}

impl Elf {
    /// A file whose code, at the offset 0x1000, has the address `address`.
    pub(crate) fn new(address: u64) -> Self {
        let text = Section {
            name: ".text",
            kind: PROGBITS,
            flags: ALLOC | EXECINSTR,
            address: address + 0x1000,
            data: Vec::new(),
            link: 0,
            entry: 0,
        };
        Self { machine: 62, sections: vec![text], segment: Some((address, 0x2000)) }
    }

    /// Sets the number of bytes of `.text`.
    pub(crate) fn code(mut self, size: u64) -> Self {
        self.sections[0].data = vec![0; size as usize];
        self
    }

    /// A section of code that the linker makes.
    pub(crate) fn plt(mut self, address: u64, size: usize) -> Self {
        let (name, flags, data) = (".plt", ALLOC | EXECINSTR, vec![0; size]);
        self.sections.push(Section { name, kind: PROGBITS, flags, address, data, link: 0, entry: 0 });
        self
    }

    /// A section with the flag that it is compressed.
    pub(crate) fn compressed(mut self, name: &'static str, data: Vec<u8>) -> Self {
        let (kind, flags) = (PROGBITS, COMPRESSED);
        self.sections.push(Section { name, kind, flags, address: 0, data, link: 0, entry: 0 });
        self
    }

    pub(crate) fn machine(mut self, machine: u16) -> Self {
        self.machine = machine;
        self
    }

    pub(crate) fn section(self, name: &'static str, kind: u32, data: Vec<u8>) -> Self {
        self.section_at(name, kind, 0, data, (0, 0))
    }

    /// A section with its link and the size of its entries.
    pub(crate) fn section_at(
        mut self,
        name: &'static str,
        kind: u32,
        address: u64,
        data: Vec<u8>,
        (link, entry): (u32, u64),
    ) -> Self {
        self.sections.push(Section { name, kind, flags: ALLOC, address, data, link, entry });
        self
    }

    pub(crate) fn build_id(self, id: &[u8]) -> Self {
        self.section(".note.gnu.build-id", NOTE, note(*b"GNU\0", 3, id))
    }

    /// A build id of Go's linker.
    pub(crate) fn go_build_id(self, id: &[u8]) -> Self {
        self.section(".note.go.buildid", NOTE, note(*b"Go\0\0", 4, id))
    }

    /// `.symtab` or `.dynsym`, after its names. Symbols are in `.text`, and undefined if they have no address.
    pub(crate) fn symbols(self, kind: u32, symbols: &[Symbol]) -> Self {
        let (name, strings) = if kind == SYMTAB { (".symtab", ".strtab") } else { (".dynsym", ".dynstr") };
        let (mut names, mut data) = (vec![0], vec![0; 24]);
        for &(info, value, size, name) in symbols {
            data.extend_from_slice(&(names.len() as u32).to_le_bytes());
            data.extend_from_slice(&[info, 0]);
            data.extend_from_slice(&u16::from(value != 0).to_le_bytes());
            data.extend_from_slice(&value.to_le_bytes());
            data.extend_from_slice(&size.to_le_bytes());
            names.extend_from_slice(name.as_bytes());
            names.push(0);
        }
        let link = self.sections.len() as u32 + 1;
        self.section(strings, STRTAB, names).section_at(name, kind, 0, data, (link, 24))
    }

    /// Returns the number of the section that is added next.
    pub(crate) fn next(&self) -> u32 {
        self.sections.len() as u32 + 1
    }

    pub(crate) fn build(mut self) -> Vec<u8> {
        let mut names = vec![0];
        let names_index = self.next() as u16;
        self = self.section(".shstrtab", STRTAB, Vec::new());
        let mut headers = vec![0; 64];
        let mut body = Vec::new();
        let count = self.sections.len() as u16 + 1;
        for (number, section) in self.sections.iter_mut().enumerate() {
            let name = names.len() as u32;
            names.extend_from_slice(section.name.as_bytes());
            names.push(0);
            if number as u16 + 1 == names_index {
                section.data = names.clone();
            }
            let offset = 0x1000 + body.len() as u64;
            body.extend_from_slice(&section.data);
            body.resize(body.len().next_multiple_of(8), 0);
            headers.extend_from_slice(&name.to_le_bytes());
            headers.extend_from_slice(&section.kind.to_le_bytes());
            for word in [section.flags, section.address, offset, section.data.len() as u64] {
                headers.extend_from_slice(&word.to_le_bytes());
            }
            headers.extend_from_slice(&section.link.to_le_bytes());
            headers.extend_from_slice(&0u32.to_le_bytes());
            for word in [8, section.entry] {
                headers.extend_from_slice(&word.to_le_bytes());
            }
        }
        let mut out = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        for half in [3, self.machine] {
            out.extend_from_slice(&half.to_le_bytes());
        }
        out.extend_from_slice(&1u32.to_le_bytes());
        for word in [0, 64, 0x1000 + body.len() as u64] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&0u32.to_le_bytes());
        for half in [64, 56, u16::from(self.segment.is_some()), 64, count, names_index] {
            out.extend_from_slice(&half.to_le_bytes());
        }
        if let Some((address, size)) = self.segment {
            out.extend_from_slice(&1u32.to_le_bytes());
            out.extend_from_slice(&5u32.to_le_bytes());
            for word in [0, address, address, size, size, 0x1000] {
                out.extend_from_slice(&word.to_le_bytes());
            }
        }
        out.resize(0x1000, 0);
        out.extend(body);
        out.extend(headers);
        out.resize(out.len().max(0x2000), 0);
        out
    }
}

/// Compresses by xz, in blocks that are stored as they are.
pub(crate) fn xz(data: &[u8]) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum().to_le_bytes()
    };
    let number = |mut value: u64| {
        let mut out = Vec::new();
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
        out
    };
    let flags = [0, 1];
    let mut out = b"\xfd7zXZ\0".to_vec();
    out.extend_from_slice(&flags);
    out.extend_from_slice(&crc(&flags));
    let start = out.len();
    // The size of the header, its flags, the filter LZMA2 with a dictionary of 64 KiB.
    let header = [2, 0, 0x21, 1, 8, 0, 0, 0];
    out.extend_from_slice(&header);
    out.extend_from_slice(&crc(&header));
    for (number, part) in data.chunks(1 << 16).enumerate() {
        out.push(if number == 0 { 1 } else { 2 });
        out.extend_from_slice(&((part.len() - 1) as u16).to_be_bytes());
        out.extend_from_slice(part);
    }
    out.push(0);
    let unpadded = (out.len() - start + 4) as u64;
    out.resize(start + (out.len() - start).next_multiple_of(4), 0);
    out.extend_from_slice(&crc(data));
    let mut index = vec![0, 1];
    index.extend(number(unpadded));
    index.extend(number(data.len() as u64));
    index.resize(index.len().next_multiple_of(4), 0);
    out.extend_from_slice(&index);
    out.extend_from_slice(&crc(&index));
    let mut footer = ((index.len() as u32 + 4) / 4 - 1).to_le_bytes().to_vec();
    footer.extend_from_slice(&flags);
    out.extend_from_slice(&crc(&footer));
    out.extend(footer);
    out.extend_from_slice(b"YZ");
    out
}
