//! The header of `.gopclntab`.

use super::words::Words;

/// The layout of a table, named after the first version of Go that writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PclntabVersion {
    Go12,
    Go116,
    /// Addresses of functions are relative to the start of the text.
    Go118,
    /// Calls that were inlined have no line of their own.
    Go120,
}

impl PclntabVersion {
    /// Returns the layout that begins with a number.
    ///
    /// Go: `internal/abi/symtab.go`.
    pub(super) fn of_magic(magic: u32) -> Option<Self> {
        Some(match magic {
            0xffff_fffb => Self::Go12,
            0xffff_fffa => Self::Go116,
            0xffff_fff0 => Self::Go118,
            0xffff_fff1 => Self::Go120,
            _ => return None,
        })
    }
}

/// The header of a table: where its parts are, as offsets from its start.
///
/// Go: `pcHeader`, `runtime/symtab.go`, and `debug/gosym/pclntab.go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PclntabHeader {
    pub(super) version: PclntabVersion,
    /// Number of bytes that addresses of instructions are multiples of: 1, 2 or 4.
    pub(super) quantum: u8,
    /// Number of bytes of a pointer: 4 or 8.
    pub(super) pointer: u64,
    /// Number of functions.
    pub(super) functions: u64,
    /// Address of the text; `None` if it is not there, as in [`PclntabVersion::Go12`], in tables of Go 1.26 and later, and
    /// where it is left to a relocation.
    pub(super) text_start: Option<u64>,
    pub(super) names: u64,
    /// What the numbers of files in each unit stand for.
    pub(super) units: u64,
    pub(super) files: u64,
    /// What [`PcValues`](super::pc_values::PcValues) are decoded from.
    pub(super) values: u64,
    /// An address and the offset of a record for each function, and the end of the last one.
    pub(super) table: u64,
    /// What the offsets of the records are relative to.
    pub(super) records: u64,
}

impl PclntabHeader {
    /// Number of bytes before the first word.
    const START: u64 = 8;

    /// Parses the header of a table of a machine with pointers of this many bytes. `None` if it is not one, or if its parts are not
    /// in `words`.
    pub(super) fn parse(words: &Words, pointer: u64) -> Option<Self> {
        let version = PclntabVersion::of_magic(words.u32(0)?)?;
        let quantum = words.u8(6)?;
        let is_plausible = (words.u8(4)?, words.u8(5)?) == (0, 0) && matches!(quantum, 1 | 2 | 4);
        if !is_plausible || u64::from(words.u8(7)?) != pointer {
            return None;
        }
        let word =
            |number: u64| words.pointer(Self::START.checked_add(number.checked_mul(pointer)?)?, pointer);
        let functions = word(0).filter(|&it| (1..=u64::from(u32::MAX)).contains(&it))?;
        let mut header = Self {
            version,
            quantum,
            pointer,
            functions,
            text_start: None,
            names: 0,
            units: 0,
            files: 0,
            values: 0,
            table: Self::START.checked_add(pointer)?,
            records: 0,
        };
        if version == PclntabVersion::Go12 {
            header.files = words.u32(header.table_end()?)?.into();
        } else {
            // The address of the text is after the numbers of functions and of files.
            let has_text = version >= PclntabVersion::Go118;
            header.text_start = if has_text { word(2).filter(|&it| it != 0) } else { None };
            let part = |number: u64| word(number.checked_add(has_text.into())?);
            header.names = part(2)?;
            header.units = part(3)?;
            header.files = part(4)?;
            header.values = part(5)?;
            header.table = part(6)?;
            header.records = header.table;
        }
        let parts = [header.names, header.units, header.files, header.values, header.table_end()?];
        parts.iter().all(|&part| part <= words.len()).then_some(header)
    }

    /// Returns the number of bytes of an address in the table of functions.
    pub(super) fn field(&self) -> u64 {
        if self.version >= PclntabVersion::Go118 { 4 } else { self.pointer }
    }

    /// Returns the offset after the table of functions.
    fn table_end(&self) -> Option<u64> {
        let fields = self.functions.checked_mul(2)?.checked_add(1)?;
        self.table.checked_add(fields.checked_mul(self.field())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::FileBytes;

    fn words(bytes: Vec<u8>, is_little_endian: bool) -> Words {
        Words { bytes: FileBytes::new(bytes), is_little_endian }
    }

    /// A header of `magic`, with these words, and `rest` zero bytes after it.
    fn header(magic: u32, pointer: usize, numbers: &[u64], rest: usize, is_little_endian: bool) -> Vec<u8> {
        let mut bytes = if is_little_endian { magic.to_le_bytes() } else { magic.to_be_bytes() }.to_vec();
        bytes.extend([0, 0, 1, pointer as u8]);
        for number in numbers {
            match is_little_endian {
                true => bytes.extend_from_slice(&number.to_le_bytes()[..pointer]),
                false => bytes.extend_from_slice(&number.to_be_bytes()[8 - pointer..]),
            }
        }
        bytes.resize(bytes.len() + rest, 0);
        bytes
    }

    #[test]
    fn each_layout_of_each_machine() {
        for (pointer, order) in [(4, true), (4, false), (8, true), (8, false)] {
            let parse = |bytes: Vec<u8>| PclntabHeader::parse(&words(bytes, order), pointer as u64);
            let end = |words: usize| (8 + words * pointer) as u64;
            let at = end(8);
            for (magic, version) in
                [(0xffff_fff0, PclntabVersion::Go118), (0xffff_fff1, PclntabVersion::Go120)]
            {
                let it =
                    parse(header(magic, pointer, &[2, 1, 0x1000, at, at, at + 1, at + 2, at], 20, order))
                        .unwrap();
                assert_eq!((it.version, it.functions, it.text_start), (version, 2, Some(0x1000)));
                assert_eq!((it.names, it.units, it.files), (at, at, at + 1));
                assert_eq!((it.values, it.table, it.records, it.field()), (at + 2, at, at, 4));
            }
            let at = end(7);
            let fields = 5 * pointer;
            let it = parse(header(0xffff_fffa, pointer, &[2, 1, at, at, at, at, at], fields, order)).unwrap();
            assert_eq!((it.version, it.text_start, it.table), (PclntabVersion::Go116, None, at));
            assert_eq!((it.field(), it.names), (pointer as u64, at));
            let it = parse(header(0xffff_fffb, pointer, &[2], fields + 4, order)).unwrap();
            assert_eq!((it.version, it.table, it.records), (PclntabVersion::Go12, end(1), 0));
        }
    }

    #[test]
    fn what_is_no_header() {
        let good = header(0xffff_fff1, 8, &[2, 1, 0, 72, 72, 72, 72, 72], 20, true);
        let parse = |bytes: &[u8]| PclntabHeader::parse(&words(bytes.to_vec(), true), 8);
        assert_eq!(parse(&good).unwrap().text_start, None, "left to a relocation");
        assert_eq!(PclntabHeader::parse(&words(good.clone(), true), 4), None, "another machine");
        assert_eq!(PclntabHeader::parse(&words(good.clone(), false), 8), None, "another byte order");
        for (at, value) in
            [(0, 0xf2), (4, 1), (5, 1), (6, 3), (7, 4), (8, 0), (8, 3), (12, 1), (33, 1), (65, 1)]
        {
            let mut bad = good.clone();
            bad[at] = value;
            assert_eq!(parse(&bad), None, "{at}");
        }
        assert_eq!(parse(&good[..good.len() - 1]), None, "a table that is cut");
    }
}
