//! Files whose names would make memory or work grow with the square of their size.
//!
//! In a string table, each end of a name is a name too: a file of n bytes has n / 2 names of n / 2 bytes and more. Work is
//! not measured here. With the square of these sizes, a test would not end within minutes.

#[path = "../sources/elf.rs"]
#[allow(dead_code, reason = "these files have few kinds of sections")]
mod elf;

use std::io;
use std::path::Path;
use std::sync::Arc;

use elf::{DYNSYM, Elf, NOTE, PROGBITS, RELA, SYMTAB};
use perf_symbol::{ElfImage, FileBytes, Files, SymbolOptions, Symbolizer};
use testdata::memory::{Counting, Used, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const STRTAB: u32 = 3;
const START: u64 = 0x40_1000;

/// One file, at each path.
struct Single(FileBytes);

impl Files for Single {
    fn read(&self, _: &Path, _: u64) -> io::Result<FileBytes> {
        Ok(self.0.clone())
    }
}

/// Returns the names at `addresses` as bytes, and the memory that they needed.
fn names(file: &[u8], addresses: impl Iterator<Item = u64>) -> (Vec<Arc<[u8]>>, Used) {
    let file = FileBytes::new(file.to_vec());
    measure(|| {
        let mut options = SymbolOptions::default();
        options.cache = Some("/cache".into());
        let mut it = Symbolizer::with_files(options, Arc::new(Single(file)));
        addresses.filter_map(|address| it.functions_in(b"/bin/a", address).pop()?.name).collect()
    })
}

/// A symbol table with `count` functions of 16 bytes each. The name of a function is at `name` in the strings.
fn symbols(count: u32, name: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut table = vec![0; 24];
    for number in 0..count {
        table.extend_from_slice(&name(number).to_le_bytes());
        table.extend_from_slice(&[elf::FUNC, 0, 1, 0]);
        table.extend_from_slice(&(START + u64::from(number) * 16).to_le_bytes());
        table.extend_from_slice(&16_u64.to_le_bytes());
    }
    table
}

fn long_name(len: u32) -> Vec<u8> {
    let mut strings = vec![b'n'; len as usize + 2];
    (strings[0], strings[len as usize + 1]) = (0, 0);
    strings
}

/// A file whose PLT has `count` entries, all for functions of this table.
fn plt(count: u32, strings: Vec<u8>, name: impl Fn(u32) -> u32) -> Vec<u8> {
    let relocation = |number: u32| [0, u64::from(number + 1) << 32 | 7, 0].map(u64::to_le_bytes).concat();
    let relocations: Vec<u8> = (0..count).flat_map(relocation).collect();
    let file = Elf::new(0x40_0000);
    let link = file.next();
    file.section(".dynstr", STRTAB, strings)
        .section_at(".dynsym", DYNSYM, 0, symbols(count, name), (link, 24))
        .section_at(".plt", PROGBITS, START, Vec::new(), (0, 16))
        .section_at(".rela.plt", RELA, 0, relocations, (link + 1, 24))
        .build()
}

const COUNT: u32 = 4000;
const LONG: u32 = 400_000;

/// Memory may grow with the file, and with the long names that a symbolizer may return.
#[track_caller]
fn assert_bounded(file: &[u8], used: Used) {
    assert!(used.peak <= 16 * file.len() + (64 << 20), "{used:?} for {} bytes", file.len());
}

#[test]
fn entries_of_a_plt_with_one_long_name() {
    let file = plt(COUNT, long_name(LONG), |_| 1);
    let (names, used) = names(&file, (0..10).map(|number| START + 16 * number));
    assert!(names.len() == 10 && names.iter().all(|name| name.len() <= 1 << 16));
    assert_bounded(&file, used);
}

#[test]
fn entries_of_a_plt_whose_names_are_ends_of_one() {
    let file = plt(COUNT, long_name(LONG), |number| 1 + number);
    let (_, used) = names(&file, (0..10).map(|number| START + 16 * number));
    assert_bounded(&file, used);
}

#[test]
fn symbols_whose_names_are_ends_of_one() {
    let file = Elf::new(0x40_0000);
    let link = file.next();
    let table = symbols(COUNT, |number| 1 + number);
    let file = file
        .section(".strtab", STRTAB, long_name(LONG))
        .section_at(".symtab", SYMTAB, 0, table, (link, 24))
        .build();
    let (names, used) = names(&file, (0..u64::from(COUNT)).map(|number| START + 16 * number));
    assert_eq!(names.len(), COUNT as usize);
    assert!(names.iter().all(|name| name.len() <= 1 << 16));
    assert_bounded(&file, used);
}

/// Many files, none of which is shared by a symbolizer and its source.
struct Copied(Vec<u8>);

impl Files for Copied {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        if !path.starts_with("/bin") {
            return Err(io::ErrorKind::NotFound.into());
        }
        if self.0.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(FileBytes::new(self.0.clone()))
    }
}

/// Whatever number of files there are, those that are kept have no more memory than they may have.
#[test]
fn all_files_together() {
    const FILES: usize = 50;
    let file = Elf::new(0x40_0000);
    let link = file.next();
    let file = file
        .section(".strtab", STRTAB, long_name(16))
        .section_at(".symtab", SYMTAB, 0, symbols(20_000, |_| 1), (link, 24))
        .build();
    let table = 20_000 * 64;
    let named = |total: u64| {
        let file = file.clone();
        let run = move || {
            let mut options = SymbolOptions::default();
            options.cache = None;
            options.inlines = false;
            options.limits.total = total;
            let mut it = Symbolizer::with_files(options, Arc::new(Copied(file)));
            let mut has_name =
                |number: usize| !it.functions_in(format!("/bin/{number}").as_bytes(), START).is_empty();
            (0..FILES).filter(|&number| has_name(number)).count()
        };
        measure(run)
    };
    let (all, used) = named(u64::MAX);
    assert_eq!(all, FILES);
    assert!(used.peak > FILES * file.len());
    for total in [0, 1 << 20, 10 << 20] {
        let (some, used) = named(total as u64);
        // Beside the files, there are the file of the source, and the table that is made, with the list that it is made of.
        assert!(used.peak <= total + file.len() + 4 * table + (1 << 20), "{total}: {used:?}");
        assert!(some < FILES && (some > 0) == (total >= file.len() + table), "{total}: {some}");
    }
}

/// The headers of sections that share one long name, and the notes of one place.
#[test]
fn sections_that_share_their_bytes() {
    let mut file = Elf::new(0x40_0000).section(".note.a", NOTE, [0; 12].repeat(1 << 16)).build();
    let word = |file: &[u8], at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let headers = word(&file, 40) as usize;
    let note = (headers..file.len()).step_by(64).find(|&at| file[at + 4] == NOTE as u8).unwrap();
    let mut header = file[note..note + 64].to_vec();
    let start = file.len() as u64;
    let strings = long_name(LONG);
    header[..4].copy_from_slice(&1_u32.to_le_bytes());
    let mut table = vec![0; 64];
    table[32..40].copy_from_slice(&u64::from(COUNT).to_le_bytes());
    table.extend(header.repeat(COUNT as usize - 2));
    let mut names = vec![0; 64];
    names[4..8].copy_from_slice(&STRTAB.to_le_bytes());
    names[24..32].copy_from_slice(&start.to_le_bytes());
    names[32..40].copy_from_slice(&(strings.len() as u64).to_le_bytes());
    // More sections than a header can count: the first one has the number, and that of the names.
    table[40..44].copy_from_slice(&(COUNT - 1).to_le_bytes());
    file.extend(strings);
    let table_at = file.len() as u64;
    file.extend([table, names].concat());
    file[40..48].copy_from_slice(&table_at.to_le_bytes());
    file[60..62].copy_from_slice(&0_u16.to_le_bytes());
    file[62..64].copy_from_slice(&0xffff_u16.to_le_bytes());
    let (image, used) = measure(|| ElfImage::parse(FileBytes::new(file.clone())).unwrap());
    assert_eq!(image.sections().len(), COUNT as usize);
    assert_eq!(image.sections()[1].name().len(), 255);
    assert_bounded(&file, used);
}
