//! Small programs of Go without symbols: of each layout, byte order and size of pointers.

use perf_symbol::Symbolizer;

use crate::{Memory, symbolizer};

/// The text, the table, the data of functions and the data of the runtime.
pub(crate) const TEXT: u64 = 0x40_1000;
pub(crate) const TABLE: u64 = 0x50_0000;
const TREES: u64 = 0x51_0000;
const DATA: u64 = 0x52_0000;

/// The start of the function that others are inlined into.
pub(crate) const OUTER: u64 = TEXT + 0x10;

/// Layouts by their numbers.
pub(crate) const GO_12: u32 = 0xffff_fffb;
pub(crate) const GO_116: u32 = 0xffff_fffa;
pub(crate) const GO_118: u32 = 0xffff_fff0;
pub(crate) const GO_120: u32 = 0xffff_fff1;

/// The names of functions. A table of Go 1.16 or later has one at the offset 0.
const NAMES: &[u8] = b"main.inlined\0_rt0_amd64_linux\0main.outer\0main.deeper\0main.last\0";

/// A program of Go.
#[derive(Clone, Copy)]
pub(crate) struct GoProgram {
    pub(crate) magic: u32,
    pub(crate) is_64: bool,
    pub(crate) is_little_endian: bool,
    /// Whether the header has the address of the text.
    pub(crate) has_text: bool,
    /// The number of the word of the runtime's data that has the address of the data of functions; `None` for a program whose
    /// data does not refer to the table.
    pub(crate) function_data: Option<usize>,
    /// Whether addresses are left to relocations.
    pub(crate) is_relocated: bool,
    /// The name of the section of the table; `None` for a file without section headers.
    pub(crate) section: Option<&'static str>,
    /// The address at which the program starts.
    pub(crate) entry: u64,
}

pub(crate) const PROGRAM: GoProgram = GoProgram {
    magic: GO_120,
    is_64: true,
    is_little_endian: true,
    has_text: true,
    function_data: Some(40),
    is_relocated: false,
    section: Some(".gopclntab"),
    entry: TEXT,
};

/// Bytes of a program, with the relocations of its addresses.
#[derive(Default)]
struct GoData {
    bytes: Vec<u8>,
    relocations: Vec<(u64, u64)>,
}

impl GoProgram {
    fn number(&self, value: u64, size: usize) -> Vec<u8> {
        match self.is_little_endian {
            true => value.to_le_bytes()[..size].to_vec(),
            false => value.to_be_bytes()[8 - size..].to_vec(),
        }
    }

    fn u32s(&self, values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.number(value, 4)).collect()
    }

    fn pointer(&self) -> usize {
        if self.is_64 { 8 } else { 4 }
    }

    /// Adds an address to data that is at `base`.
    fn add_address(&self, data: &mut GoData, base: u64, address: u64) {
        let value = if self.is_relocated && address != 0 {
            data.relocations.push((base + data.bytes.len() as u64, address));
            0
        } else {
            address
        };
        data.bytes.extend(self.number(value, self.pointer()));
    }

    /// Adds a number that has as many bytes as an address.
    fn add_word(&self, data: &mut GoData, value: u64) {
        data.bytes.extend(self.number(value, self.pointer()));
    }

    /// Values along a function, each with its number of bytes of code.
    fn values(pairs: &[(i32, u32)]) -> Vec<u8> {
        fn varint(out: &mut Vec<u8>, mut number: u32) {
            while number > 0x7f {
                out.push(number as u8 | 0x80);
                number >>= 7;
            }
            out.push(number as u8);
        }
        let (mut out, mut before) = (Vec::new(), -1);
        for &(value, bytes) in pairs {
            let change: i32 = value - before;
            varint(&mut out, (change << 1 ^ change >> 31) as u32);
            varint(&mut out, bytes);
            before = value;
        }
        out.push(0);
        out
    }

    /// The table, and the offsets of the parts of it from its start: names, units, files, values, functions.
    fn table(&self) -> (GoData, [u64; 5]) {
        let pointer = self.pointer();
        let is_relative = self.magic == GO_118 || self.magic == GO_120;
        let names = NAMES;
        let name =
            |name: &str| names.windows(name.len()).position(|it| it == name.as_bytes()).unwrap() as u64;
        let files = b"/src/a.go\0/src/b.go\0";
        let first = i32::from(self.magic == GO_12);
        let lines = Self::values(&[(10, 8), (12, 8), (100, 4), (200, 4), (14, 0x18)]);
        let file_numbers = Self::values(&[(first, 0x10), (first + 1, 8), (first, 0x18)]);
        let calls = Self::values(&[(-1, 0x10), (0, 4), (1, 4), (-1, 0x18)]);
        let last_lines = Self::values(&[(30, 0x20)]);
        let last_files = Self::values(&[(first, 0x20)]);
        // A table of values is never at 0: that means none.
        let mut values = vec![0];
        let places = [lines, file_numbers, calls, last_lines, last_files].map(|it| {
            let at = values.len() as u64;
            values.extend(it);
            at
        });
        values.resize(values.len().next_multiple_of(8), 0);
        let mut out = GoData::default();
        out.bytes.extend(self.number(self.magic.into(), 4));
        out.bytes.extend([0, 0, 1, pointer as u8]);
        let functions = [("_rt0_amd64_linux", TEXT), ("main.outer", OUTER), ("main.last", TEXT + 0x40)];
        let words = match self.magic {
            GO_12 => 1,
            GO_116 => 7,
            _ => 8,
        };
        let header = (8 + words * pointer) as u64;
        let field = if is_relative { 4 } else { pointer };
        let size_of_table = 7 * field as u64 + if self.magic == GO_12 { 4 } else { 0 };
        let names_at =
            if self.magic == GO_12 { (header + size_of_table).next_multiple_of(8) } else { header };
        let units_at = (names_at + names.len() as u64).next_multiple_of(8);
        let files_at = units_at + 16;
        let values_at = (files_at + files.len() as u64).next_multiple_of(8);
        let table_at = if self.magic == GO_12 { header } else { values_at + values.len() as u64 };
        let parts = [names_at, units_at, files_at, values_at, table_at];
        self.add_word(&mut out, 3);
        if self.magic != GO_12 {
            self.add_word(&mut out, 2);
            if is_relative {
                self.add_address(&mut out, TABLE, if self.has_text { TEXT } else { 0 });
            }
            parts.iter().for_each(|&part| self.add_word(&mut out, part));
        }
        // Go 1.2 has all offsets from the start of the table.
        let is_old = self.magic == GO_12;
        let base = |part: u64| if is_old { part } else { 0 };
        let first_record =
            if is_old { values_at + values.len() as u64 } else { size_of_table.next_multiple_of(8) };
        let (mut table, mut records) = (GoData::default(), GoData::default());
        let records_at = first_record + if is_old { 0 } else { table_at };
        for (function, start) in functions {
            records.bytes.resize(records.bytes.len().next_multiple_of(8), 0);
            let offset = first_record + records.bytes.len() as u64;
            if is_relative {
                table.bytes.extend(self.u32s(&[start - TEXT, offset]));
                records.bytes.extend(self.u32s(&[start - TEXT]));
            } else {
                self.add_address(&mut table, TABLE + table_at, start);
                self.add_word(&mut table, offset);
                self.add_address(&mut records, TABLE + records_at, start);
            }
            let [lines, file_numbers, calls, last_lines, last_files] = places.map(|it| it + base(values_at));
            let (files, lines) = match function {
                "main.outer" => (file_numbers, lines),
                "main.last" => (last_files, last_lines),
                _ => (0, 0),
            };
            let has_calls = function == "main.outer";
            let tables = if has_calls { 3 } else { 0 };
            records.bytes.extend(self.u32s(&[
                name(function) + base(names_at),
                0,
                0,
                0,
                files,
                lines,
                tables,
            ]));
            if !is_old {
                records.bytes.extend(self.u32s(&[0]));
            }
            if self.magic == GO_120 {
                records.bytes.extend(self.u32s(&[9]));
            }
            records.bytes.extend([0, 0, 0, if has_calls { 4 } else { 0 }]);
            if has_calls {
                records.bytes.extend(self.u32s(&[0, 0, calls]));
                if is_relative {
                    let none = u32::MAX.into();
                    records.bytes.extend(self.u32s(&[none, none, none, 0x20]));
                } else {
                    records.bytes.resize(records.bytes.len().next_multiple_of(pointer), 0);
                    for address in [0, 0, 0, TREES + 0x20] {
                        self.add_address(&mut records, TABLE + records_at, address);
                    }
                }
            }
        }
        if is_relative {
            table.bytes.extend(self.u32s(&[0x60]));
        } else {
            self.add_address(&mut table, TABLE + table_at, TEXT + 0x60);
        }
        if is_old {
            table.bytes.extend(self.u32s(&[units_at]));
        }
        let mut put = |at: u64, bytes: &[u8]| {
            let end = at as usize + bytes.len();
            out.bytes.resize(out.bytes.len().max(end), 0);
            out.bytes[at as usize..end].copy_from_slice(bytes);
        };
        put(names_at, names);
        let numbers = if is_old { vec![3, files_at, files_at + 10] } else { vec![0, 10] };
        put(units_at, &self.u32s(&numbers));
        put(files_at, files);
        put(values_at, &values);
        put(table_at, &table.bytes);
        put(records_at, &records.bytes);
        out.relocations.extend(table.relocations.into_iter().chain(records.relocations));
        (out, parts)
    }

    /// The inlined calls of `main.outer`, after bytes that are none.
    fn trees(&self) -> Vec<u8> {
        let (_, [names_at, ..]) = self.table();
        let names = NAMES;
        let base = if self.magic == GO_12 { names_at } else { 0 };
        let name = |name: &str| {
            names.windows(name.len()).position(|it| it == name.as_bytes()).unwrap() as u64 + base
        };
        let mut out = vec![0xee; 0x20];
        for (function, parent) in [("main.inlined", 8), ("main.deeper", 0x12)] {
            out.extend(match self.magic {
                GO_120 => self.u32s(&[0, name(function), parent, 1]),
                _ => self.u32s(&[0, 0, 0, name(function), parent]),
            });
        }
        out
    }

    /// The data of the runtime, after bytes that are other data.
    fn data(&self, parts: [u64; 5]) -> GoData {
        let mut out = GoData { bytes: vec![0x11; 0x40], relocations: Vec::new() };
        let Some(function_data) = self.function_data else { return out };
        let mut address = |value: u64| self.add_address(&mut out, DATA, value);
        let [names, units, files, values, table] = parts.map(|part| TABLE + part);
        address(TABLE);
        for (part, count) in [(names, 66), (units, 2), (files, 20), (values, 40), (table, 500), (table, 4)] {
            self.add_address(&mut out, DATA, part);
            self.add_word(&mut out, count);
            self.add_word(&mut out, count);
        }
        for value in [TABLE + 0x1000, TEXT, TEXT + 0x60, TEXT, TEXT + 0x60] {
            self.add_address(&mut out, DATA, value);
        }
        for number in 24..48 {
            self.add_address(
                &mut out,
                DATA,
                if number == function_data { TREES } else { DATA + number as u64 },
            );
        }
        out
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let (table, parts) = self.table();
        let data = self.data(parts);
        let relocations: Vec<_> = table.relocations.into_iter().chain(data.relocations).collect();
        let word = |value: u64| self.number(value, self.pointer());
        let relocations = relocations.iter().flat_map(|&(at, value)| {
            // R_X86_64_RELATIVE, and one that has a symbol.
            [word(at), word(8), word(value), word(at), word(1), word(1)].concat()
        });
        let sections: [(&str, u32, u64, u64, Vec<u8>); 5] = [
            (".text", 1, 6, TEXT, vec![0xcc; 0x1000]),
            (self.section.unwrap_or(".gopclntab"), 1, 2, TABLE, table.bytes),
            (".rodata", 1, 2, TREES, self.trees()),
            (".data", 1, 3, DATA, data.bytes),
            (".rela.dyn", 4, 2, 0x54_0000, relocations.collect()),
        ];
        let names: Vec<u8> = [
            b"\0".to_vec(),
            sections.iter().flat_map(|it| [it.0.as_bytes(), b"\0"].concat()).collect(),
            b".shstrtab\0".to_vec(),
        ]
        .concat();
        let name =
            |name: &str| names.windows(name.len()).position(|it| it == name.as_bytes()).unwrap() as u64;
        let (header, program, section): (usize, usize, usize) =
            if self.is_64 { (64, 56, 64) } else { (52, 32, 40) };
        let mut body = Vec::new();
        let start = (header + 4 * program).next_multiple_of(64);
        let offsets: Vec<_> = sections
            .iter()
            .map(|it| {
                body.resize(body.len().next_multiple_of(64), 0);
                let at = (start + body.len()) as u64;
                body.extend_from_slice(&it.4);
                at
            })
            .collect();
        let names_at = (start + body.len()) as u64;
        body.extend_from_slice(&names);
        body.resize(body.len().next_multiple_of(64), 0);
        let sections_at = if self.section.is_some() { (start + body.len()) as u64 } else { 0 };
        let half = |value: u64| self.number(value, 2);
        let long = |value: u64| self.number(value, 4);
        let mut out = b"\x7fELF".to_vec();
        out.extend([if self.is_64 { 2 } else { 1 }, if self.is_little_endian { 1 } else { 2 }, 1, 0]);
        out.resize(16, 0);
        let count = if self.section.is_some() { 7 } else { 0 };
        out.extend(
            [half(2), half(62), long(1), word(self.entry), word(header as u64), word(sections_at), long(0)]
                .concat(),
        );
        out.extend(
            [
                half(header as u64),
                half(program as u64),
                half(4),
                half(section as u64),
                half(count),
                half(count.saturating_sub(1)),
            ]
            .concat(),
        );
        for (number, flags) in [(0, 5), (1, 4), (2, 4), (3, 6)] {
            let ((_, _, _, address, bytes), offset) = (&sections[number], offsets[number]);
            let (offset, address, size) = (word(offset), word(*address), word(bytes.len() as u64));
            out.extend(match self.is_64 {
                true => [long(1), long(flags), offset, address.clone(), address, size.clone(), size, word(8)]
                    .concat(),
                false => {
                    [long(1), offset, address.clone(), address, size.clone(), size, long(flags), word(8)]
                        .concat()
                }
            });
        }
        out.resize(start, 0);
        out.extend(&body);
        if self.section.is_some() {
            out.extend(vec![0; section]);
            for ((name_of, kind, flags, address, bytes), offset) in sections.iter().zip(offsets) {
                out.extend(
                    [
                        long(name(name_of)),
                        long((*kind).into()),
                        word(*flags),
                        word(*address),
                        word(offset),
                        word(bytes.len() as u64),
                        long(0),
                        long(0),
                        word(8),
                        word(0),
                    ]
                    .concat(),
                );
            }
            out.extend(
                [
                    long(name(".shstrtab")),
                    long(3),
                    word(0),
                    word(0),
                    word(names_at),
                    word(names.len() as u64),
                    long(0),
                    long(0),
                    word(1),
                    word(0),
                ]
                .concat(),
            );
        }
        out
    }

    pub(crate) fn symbolizer(&self) -> Symbolizer {
        symbolizer(Memory::default().with("/bin/a", self.build()))
    }
}
