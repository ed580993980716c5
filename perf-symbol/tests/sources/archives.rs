//! Libraries in an apk, by their paths in it and by the offsets of mappings of the apk.

use std::sync::Arc;

use perf_session::Session;
use perf_symbol::{Guess, NoSymbols, Symbolizer};
use testdata::zip::Zip;

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{Memory, Records, USER, frame, names, options, symbolizer, text};

const APK: &str = "/data/app/base.apk";
const ID: [u8; 20] = [0xab; 20];

/// A library with a function at 0x1010, which is also its offset.
fn library(name: &'static str) -> Elf {
    Elf::new(0).code(0x100).symbols(SYMTAB, &[(FUNC, 0x1010, 16, name)])
}

/// An apk with two libraries among other files, and their offsets.
fn apk() -> (Vec<u8>, [u64; 2]) {
    let (zip, _) = Zip::default().deflated("classes.dex", b"PK").file("resources.arsc", &[1; 5000]);
    let (zip, one) = zip.file("lib/arm64-v8a/one.so", &library("one").build_id(&ID).build());
    let (zip, other) = zip.file("lib/arm64-v8a/other.so", &library("other").build());
    (zip.deflated("lib/arm64-v8a/packed.so", b"\x7fELF").build(), [one, other])
}

/// A session in which process 5 has mapped the file at 0x10000.
fn mapped(id: &[u8], path: &str) -> Session {
    Records::default().map(5, 0x1_0000, 0x2000, id, path).session()
}

/// The names at an address, and why there are none.
fn found(files: Memory, session: &Session, ip: u64) -> (Vec<String>, Option<NoSymbols>) {
    let mut it = symbolizer(files);
    (names(&mut it, session, 5, ip), it.lookups()[0].why)
}

#[test]
fn by_its_path_in_the_apk() {
    let files = || Memory::default().with(APK, apk().0);
    let at = |id: &[u8], name: &str| found(files(), &mapped(id, &format!("{APK}!/{name}")), 0x1_1014);
    assert_eq!(at(&[], "lib/arm64-v8a/other.so"), (vec!["other+0x4 symtab".to_owned()], None));
    assert_eq!(at(&ID, "lib/arm64-v8a/one.so"), (vec!["one+0x4 symtab".to_owned()], None));
    let nothing = |why| (Vec::new(), Some(why));
    assert_eq!(at(&ID, "lib/arm64-v8a/other.so"), nothing(NoSymbols::WrongBuildId(None)));
    assert_eq!(at(&[], "lib/arm64-v8a/missing.so"), nothing(NoSymbols::NotFound));
    let packed = NoSymbols::Malformed("file of the archive, which is compressed");
    assert_eq!(at(&[], "lib/arm64-v8a/packed.so"), nothing(packed));
    assert_eq!(at(&[], "resources.arsc"), nothing(NoSymbols::Malformed("ELF header")));
    let missing = found(Memory::default(), &mapped(&[], &format!("{APK}!/a.so")), 0x1_1014);
    assert_eq!(missing, nothing(NoSymbols::NotFound));
    let no_archive =
        found(Memory::default().with(APK, *b"PK"), &mapped(&[], &format!("{APK}!/a.so")), 0x1_1014);
    assert_eq!(no_archive, nothing(NoSymbols::Malformed("directory of the archive")));
}

/// As simpleperf's tools unpack them below a folder.
#[test]
fn an_unpacked_file_comes_first() {
    let path = format!("{APK}!/lib/arm64-v8a/one.so");
    let mut options = options();
    options.symfs = Some("/symfs".into());
    let packed = Memory::default().with(&format!("/symfs{APK}"), apk().0);
    let mut it = Symbolizer::with_files(options.clone(), Arc::new(packed));
    assert_eq!(names(&mut it, &mapped(&[], &path), 5, 0x1_1010), ["one+0x0 symtab"]);
    let both = Memory::default().with(&format!("/symfs{APK}"), apk().0);
    let both = both.with(&format!("/symfs{path}"), library("unpacked").build());
    let mut it = Symbolizer::with_files(options, Arc::new(both));
    assert_eq!(names(&mut it, &mapped(&[], &path), 5, 0x1_1010), ["unpacked+0x0 symtab"]);
}

/// A mapping of the apk: address, size, offset.
fn map_apk(records: Records, start: u64, size: u64, pgoff: u64) -> Records {
    let fixed = Records::bytes().i32(5).i32(5).u64s(&[start, size, pgoff]).u32(8).u32(1).u64(7).u64(0);
    records.record(10, USER, text(fixed.u32(5).u32(2), APK))
}

#[test]
fn by_the_offset_in_the_apk() {
    let (bytes, [one, other]) = apk();
    let records = map_apk(Records::default(), 0x1_0000, 0x2000, one);
    // A part of the library, and one of the apk that has none.
    let records = map_apk(records, 0x2_1000, 0x1000, other + 0x1000);
    let session = map_apk(map_apk(records, 0x3_0000, 0x1000, 0), 0x4_0000, 0x1000, 4096).session();
    let mut it = symbolizer(Memory::default().with_inode(APK, 7, bytes.clone()));
    for (ip, name) in
        [(0x1_1014, "one+0x4 symtab"), (0x2_1010, "other+0x0 symtab"), (0x1_1014, "one+0x4 symtab")]
    {
        assert_eq!(names(&mut it, &session, 5, ip), [name]);
        let frame = frame(&session, 5, ip);
        // The inode is the recorded one.
        assert_eq!(it.functions(&session, &frame, false, None)[0].guess, None);
        assert!(it.has_file(&session, frame.mapping.unwrap(), frame.mode));
    }
    for nowhere in [0x3_0010, 0x4_0010, 0x1_1050] {
        assert!(names(&mut it, &session, 5, nowhere).is_empty());
    }
    let lookups = it.lookups();
    let why: Vec<_> = lookups.iter().map(|it| (it.dso.name().escape_ascii().to_string(), it.why)).collect();
    let inner = |name| (format!("{APK}!/lib/arm64-v8a/{name}.so"), None);
    assert_eq!(why, [(APK.to_owned(), None), inner("one"), inner("other")]);
    // Another apk has the path now.
    let mut it = symbolizer(Memory::default().with_inode(APK, 8, bytes));
    assert_eq!(names(&mut it, &session, 5, 0x1_1014), ["one+0x4 symtab"]);
    let guess = it.functions(&session, &frame(&session, 5, 0x1_1014), false, None)[0].guess;
    assert_eq!(guess, Some(Guess::File));
}

/// No damage does harm, and the directory does not take more memory than is left.
#[test]
fn damaged_archives() {
    let (zip, start) = Zip::default().file("a.so", &library("a").build());
    let whole = zip.build();
    let session = map_apk(Records::default(), 0x1_0000, 0x2000, start).session();
    let by_path = mapped(&[], &format!("{APK}!/a.so"));
    let named = |bytes: &[u8]| {
        let files = || Memory::default().with(APK, bytes);
        let found = |session: &Session| found(files(), session, 0x1_1014).0;
        let both = (found(&session), found(&by_path));
        usize::from(!both.0.is_empty()) + usize::from(!both.1.is_empty())
    };
    assert_eq!(named(&whole), 2);
    let directory = whole.len() - 80;
    for end in (0..40).chain(directory..whole.len()) {
        assert_eq!(named(&whole[..end]), 0, "{end}");
    }
    let mut unharmed = 0;
    for at in (0..34).chain(directory..whole.len()) {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            unharmed += named(&bytes);
        }
    }
    assert!(unharmed > 100, "{unharmed}");
    // Any number of entries may have the same contents.
    let many = (0..2000).fold(Zip::default(), |zip, number| zip.deflated(&format!("{number}"), b""));
    let many = many.file("a.so", &library("a").build()).0.build();
    for (total, expected) in [(u64::MAX, 1), (many.len() as u64 + 10_000, 0)] {
        let mut options = options();
        options.limits.total = total;
        let files = Memory::default().with(APK, many.clone());
        let mut it = Symbolizer::with_files(options, Arc::new(files));
        assert_eq!(names(&mut it, &by_path, 5, 0x1_1014).len(), expected);
    }
}
