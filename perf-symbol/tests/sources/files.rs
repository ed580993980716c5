//! The file of a mapping, and its symbols.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use perf_session::Inode;
use perf_symbol::{Doubt, Guess, NoSymbols, Symbolizer};

use crate::elf::{DYNSYM, Elf, FUNC, NOTYPE, PROGBITS, RELA, SYMTAB, xz};
use crate::{Memory, Records, names, options, symbolizer};

const ID: [u8; 4] = [0xab, 1, 2, 3];
const OTHER: [u8; 4] = [0xab, 9, 9, 9];

fn file(name: &'static str) -> Elf {
    Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, name)])
}

fn stripped() -> Elf {
    Elf::new(0x40_0000)
}

/// The names at the offset 0x1014 of a file that was mapped with the build id, and why there are none.
fn found_with(
    files: Memory,
    id: &[u8],
    change: impl FnOnce(&mut perf_symbol::SymbolOptions),
) -> (Vec<String>, Option<NoSymbols>) {
    let session = Records::default().map(5, 0x7000_0000, 0x2000, id, "/bin/a").session();
    let mut options = options();
    change(&mut options);
    let mut symbolizer = Symbolizer::with_files(options, Arc::new(files));
    let names = names(&mut symbolizer, &session, 5, 0x7000_1014);
    (names, symbolizer.lookups().first().and_then(|looked| looked.why))
}

fn found(files: Memory) -> Vec<String> {
    found_with(files, &ID, |_| {}).0
}

#[test]
fn at_its_path() {
    assert_eq!(found(Memory::default().with("/bin/a", file("f").build_id(&ID).build())), ["f+0x4 symtab"]);
    assert_eq!(found_with(Memory::default(), &ID, |_| {}), (vec![], Some(NoSymbols::NotFound)));
}

#[test]
fn another_build_id_is_never_used() {
    let other = || Memory::default().with("/bin/a", file("f").build_id(&OTHER).build());
    let (names, why) = found_with(other(), &ID, |_| {});
    assert!(names.is_empty());
    assert!(matches!(why, Some(NoSymbols::WrongBuildId(Some(id))) if id.as_bytes() == OTHER));
    let none = Memory::default().with("/bin/a", file("f").build());
    assert_eq!(found_with(none, &ID, |_| {}), (vec![], Some(NoSymbols::WrongBuildId(None))));
    // In the folders, too.
    for path in ["/cache/.build-id/ab/010203/elf", "/usr/lib/debug/.build-id/ab/010203.debug"] {
        assert!(found(other().with(path, file("g").build_id(&OTHER).build())).is_empty());
    }
}

/// The doubt about a file that was mapped with the device 8:1 and the inode 7, and why its name is a guess.
fn doubt(
    id: &[u8],
    (maj, ino): (u32, u64),
    (modified, end): (u64, u64),
    change: impl FnOnce(&mut perf_symbol::SymbolOptions),
) -> (Option<Doubt>, Option<Guess>) {
    let session = Records::default().map(5, 0x7000_0000, 0x2000, id, "/bin/a").session();
    let time = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    let memory = Memory {
        inodes: [("/bin/a".into(), ino), ("/root/bin/a".into(), ino)].into(),
        device: Some(maj),
        modified: time(modified),
        ..Memory::default()
    };
    let elf = || file("f").build_id(id).build();
    let mut options = options();
    options.recorded_until = time(end);
    change(&mut options);
    let files = memory.with("/bin/a", elf()).with("/root/bin/a", elf());
    let mut symbolizer = Symbolizer::with_files(options, Arc::new(files));
    let frame = crate::frame(&session, 5, 0x7000_1014);
    let functions = symbolizer.functions(&session, &frame, false, None);
    assert_eq!(functions.iter().map(crate::shown).collect::<Vec<_>>(), ["f+0x4 symtab"]);
    let guess = functions[0].guess;
    (symbolizer.lookups()[0].doubt, guess)
}

/// A program that was built again after the recording, such as one of Go without a build id.
#[test]
fn a_file_that_changed_since_has_guesses_for_names() {
    let same = (8, 7);
    let before = (100, 200);
    assert_eq!(doubt(&[], same, before, |_| {}), (None, None));
    assert_eq!(doubt(&[], same, (201, 200), |_| {}), (Some(Doubt::Modified), Some(Guess::File)));
    assert_eq!(doubt(&[], (8, 9), before, |_| {}), (Some(Doubt::Replaced), Some(Guess::File)));
    // Files on overlayfs and btrfs have other numbers than those that are recorded.
    assert_eq!(doubt(&[], (0, 9), before, |_| {}), (Some(Doubt::Unproven), None));
    // A build id proves it.
    assert_eq!(doubt(&ID, (8, 9), (201, 200), |_| {}), (None, None));
    // A copy of the file on another machine.
    let symfs = |options: &mut perf_symbol::SymbolOptions| options.symfs = Some("/root".into());
    assert_eq!(doubt(&[], (8, 9), (201, 200), symfs), (Some(Doubt::Unproven), None));
    // The time of the recording is not known.
    let of_pipe = |options: &mut perf_symbol::SymbolOptions| options.recorded_until = None;
    assert_eq!(doubt(&[], same, (201, 200), of_pipe), (None, None));
}

/// The number of an inode is reused, but not its generation.
#[test]
fn an_inode_of_another_generation_is_another_file() {
    for (recorded, found, expected) in [
        (5, 5, None),
        (5, 6, Some(Doubt::Replaced)),
        // Mappings that were there before the recording, and sources that do not know it.
        (0, 6, None),
        (5, 0, None),
    ] {
        let inode = Inode { maj: 8, min: 1, ino: 7, ino_generation: recorded };
        let session = Records::default().map_inode((5, 0x7000_0000, 0x2000), inode, "/bin/a").session();
        let files = Memory { generation: found, ..Memory::default() };
        let mut it = symbolizer(files.with_inode("/bin/a", 7, file("f").build()));
        assert_eq!(names(&mut it, &session, 5, 0x7000_1014), ["f+0x4 symtab"]);
        assert_eq!(it.lookups()[0].doubt, expected, "{recorded} {found}");
    }
}

/// A program that was built again, on a real file system: by the file's inode, and by its time if the same file was written
/// again.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_was_built_again() {
    use perf_symbol::{Files, ReadFiles};
    use std::fs;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    let build = |id: &[u8]| fs::write(&path, file("f").go_build_id(id).build()).unwrap();
    build(b"first/first");
    let inode = ReadFiles.inode(&path).unwrap();
    let session =
        Records::default().map_inode((5, 0x7000_0000, 0x2000), inode, path.to_str().unwrap()).session();
    let mut options = options();
    let modified = ReadFiles.modified(&path).unwrap();
    options.recorded_until = Some(modified + Duration::from_secs(1));
    let looked = |options: &perf_symbol::SymbolOptions| {
        let mut it = Symbolizer::new(options.clone());
        assert_eq!(names(&mut it, &session, 5, 0x7000_1014), ["f+0x4 symtab"]);
        let looked = it.lookups().remove(0);
        (looked.doubt, looked.go_build_id.unwrap().to_string())
    };
    assert_eq!(looked(&options), (None, "first/first".into()));
    // As `cp` writes over a file.
    options.recorded_until = Some(modified - Duration::from_secs(1));
    assert_eq!(looked(&options), (Some(Doubt::Modified), "first/first".into()));
    options.recorded_until = None;
    // As linkers write a file: to another inode, as the first one is still there.
    fs::rename(&path, folder.path().join("before")).unwrap();
    build(b"second/second");
    assert_eq!(looked(&options), (Some(Doubt::Replaced), "second/second".into()));
}

#[test]
fn build_ids_of_go() {
    let id = |elf: Elf| {
        let image = perf_symbol::ElfImage::parse(perf_symbol::FileBytes::new(elf.build())).unwrap();
        image.go_build_id().map(str::to_owned)
    };
    assert_eq!(id(file("f")), None);
    assert_eq!(id(file("f").go_build_id(b"a1/b_2/c-3")), Some("a1/b_2/c-3".into()));
    // The other one counts.
    assert_eq!(id(file("f").go_build_id(b"a").build_id(&ID)), None);
    assert_eq!(id(file("f").build_id(&ID).go_build_id(b"a")), None);
    for damaged in [&b""[..], b"a b", b"a\n", &[0xff], &[b'a'; 256]] {
        assert_eq!(id(file("f").go_build_id(damaged)), None);
    }
    assert!(id(file("f").go_build_id(&[b'a'; 255])).is_some());
}

#[test]
fn without_any_evidence_names_are_no_guesses() {
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &[], "/bin/a").session();
    let mut symbolizer = symbolizer(Memory::default().with("/bin/a", file("f").build()));
    assert_eq!(names(&mut symbolizer, &session, 5, 0x7000_1014), ["f+0x4 symtab"]);
    assert_eq!(symbolizer.lookups()[0].doubt, Some(Doubt::Unproven));
}

#[test]
fn by_build_id_in_each_folder() {
    for path in [
        "/cache/.build-id/ab/010203/elf",
        "/cache/.build-id/ab/010203",
        "/dir/.build-id/ab/010203/elf",
        "/dir/.build-id/ab/010203.debug",
        "/usr/lib/debug/.build-id/ab/010203.debug",
    ] {
        // The file at the path is of another version, or stripped.
        let is_debug = path.ends_with(".debug");
        let at_path = if is_debug { stripped().build_id(&ID) } else { file("g").build_id(&OTHER) };
        let files =
            Memory::default().with("/bin/a", at_path.build()).with(path, file("f").build_id(&ID).build());
        let (names, why) = found_with(files, &ID, |options| options.debug_dirs.push("/dir".into()));
        assert_eq!((names, why), (vec!["f+0x4 symtab".into()], None), "{path}");
    }
}

#[test]
fn below_the_root_of_another_machine() {
    let files = || {
        Memory::default()
            .with("/bin/a", file("wrong").build_id(&ID).build())
            .with("/root/bin/a", file("f").build_id(&ID).build())
    };
    let (names, _) = found_with(files(), &ID, |options| options.symfs = Some("/root".into()));
    assert_eq!(names, ["f+0x4 symtab"]);
}

/// What `perf archive` packs, unpacked into a folder: links by build id to the files, which are below their paths.
#[test]
#[cfg(unix)]
fn an_unpacked_archive() {
    use std::fs;
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let of_program = root.join("bin/a/ab010203");
    fs::create_dir_all(&of_program).unwrap();
    fs::create_dir_all(root.join(".build-id/ab")).unwrap();
    fs::write(of_program.join("elf"), file("f").build_id(&ID).build()).unwrap();
    symlink("../../bin/a/ab010203", root.join(".build-id/ab/010203")).unwrap();
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/bin/a").session();
    let mut options = options();
    let mut without = Symbolizer::new(options.clone());
    assert!(names(&mut without, &session, 5, 0x7000_1014).is_empty());
    options.debug_dirs.push(root.into());
    let mut it = Symbolizer::new(options);
    assert_eq!(names(&mut it, &session, 5, 0x7000_1014), ["f+0x4 symtab"]);
    assert!(it.lookups()[0].path.starts_with(root));
}

/// A debug file of `objcopy --only-keep-debug`, without the file itself. It has the addresses of segments, and not their
/// offsets.
#[test]
fn a_debug_file_alone() {
    let debug = &include_bytes!("../fixtures/lines.debug")[..];
    let id = perf_symbol::ElfImage::parse(perf_symbol::FileBytes::new(debug)).unwrap().build_id().unwrap();
    let text = id.to_string();
    let path = format!("/usr/lib/debug/.build-id/{}/{}.debug", &text[..2], &text[2..]);
    let shown = |session: &perf_session::Session, ip| {
        let mut it = symbolizer(Memory::default().with(&path, debug));
        let shown: Vec<_> = it
            .functions(session, &crate::frame(session, 5, ip), false, None)
            .iter()
            .map(crate::shown)
            .collect();
        (shown, it.lookups()[0].why)
    };
    let session = Records::default().map(5, 0x7000_0000, 0x2000, id.as_bytes(), "/bin/a").session();
    let expected = ["inner+0xffffffffffffffff dwarf", "middle+0xffffffffffffffff dwarf", "outer+0xb symtab"];
    assert_eq!(shown(&session, 0x7000_100b), (expected.map(String::from).to_vec(), None));
    // No segment has so many pages.
    let session = Records::default().map(5, 0x7000_0000, 0x3000, id.as_bytes(), "/bin/a").session();
    assert!(shown(&session, 0x7000_100b).0.is_empty());
    // Each mapping counts for itself.
    let session = Records::default()
        .map(5, 0x7000_0000, 0x2000, id.as_bytes(), "/bin/a")
        .map(5, 0x8000_0000, 0x3000, id.as_bytes(), "/bin/a")
        .session();
    let mut it = symbolizer(Memory::default().with(&path, debug));
    assert!(names(&mut it, &session, 5, 0x8000_100b).is_empty());
    assert_eq!(names(&mut it, &session, 5, 0x7000_100b).len(), 3);
}

/// A debug link, with the checksum of `debug`.
fn link(debug: &[u8]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(debug);
    [b"a.debug\0".to_vec(), crc.sum().to_le_bytes().to_vec()].concat()
}

#[test]
fn by_debug_link() {
    let debug = file("f").build();
    let main = stripped().build_id(&ID).section(".gnu_debuglink", PROGBITS, link(&debug)).build();
    for path in ["/bin/a.debug", "/bin/.debug/a.debug", "/usr/lib/debug/bin/a.debug"] {
        let files = Memory::default().with("/bin/a", main.clone()).with(path, debug.clone());
        assert_eq!(found(files), ["f+0x4 symtab"], "{path}");
        // With another build id of Go's linker, it is that of another file, though the checksum is right.
        for (id, names) in [(b"one", vec!["f+0x4 symtab".to_owned()]), (b"two", vec![])] {
            let debug = file("f").go_build_id(id).build();
            let main = stripped().go_build_id(b"one");
            let main = main.section(".gnu_debuglink", PROGBITS, link(&debug)).build();
            let files = Memory::default().with("/bin/a", main).with(path, debug);
            assert_eq!(found_with(files, &[], |_| {}).0, names, "{path}");
        }
        // With another checksum, it is another file.
        let mut damaged = debug.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let files = Memory::default().with("/bin/a", main.clone()).with(path, damaged);
        assert_eq!(found_with(files, &ID, |_| {}), (vec![], Some(NoSymbols::NotInTable)));
    }
}

#[test]
fn by_mini_debug_info() {
    let data = xz(&file("f").build());
    let main = stripped().build_id(&ID).section(".gnu_debugdata", PROGBITS, data.clone());
    assert_eq!(found(Memory::default().with("/bin/a", main.build())), ["f+0x4 mini-debuginfo"]);
    let cut = data[..data.len() / 2].to_vec();
    let main = stripped().build_id(&ID).section(".gnu_debugdata", PROGBITS, cut);
    assert!(found(Memory::default().with("/bin/a", main.build())).is_empty());
}

#[test]
fn a_compressed_file() {
    let file = xz(&file("f").build_id(&ID).build());
    assert_eq!(found(Memory::default().with("/bin/a", file.clone())), ["f+0x4 symtab"]);
    let (names, why) =
        found_with(Memory::default().with("/bin/a", file), &ID, |it| it.limits.decompressed = 0x1000);
    assert_eq!((names, why), (vec![], Some(NoSymbols::TooLarge)));
}

#[test]
fn dynamic_symbols() {
    let main = stripped().build_id(&ID).symbols(DYNSYM, &[(FUNC, 0x40_1010, 0x20, "f")]);
    assert_eq!(found(Memory::default().with("/bin/a", main.build())), ["f+0x4 dynsym"]);
}

#[test]
fn entries_of_the_plt() {
    let main = stripped().build_id(&ID);
    let symbols = main.next() + 1;
    let relocation = |symbol: u64, addend: u64| [0, symbol << 32 | 7, addend].map(u64::to_le_bytes).concat();
    let main = main.symbols(DYNSYM, &[(FUNC, 0, 0, "malloc"), (FUNC, 0, 0, "_ZN1a1bEv")]).section_at(
        ".plt",
        PROGBITS,
        0x40_1000,
        vec![0; 0x40],
        (0, 16),
    );
    let relocations = [relocation(1, 0), relocation(2, 0), relocation(0, 0x1234)].concat();
    let main = main.section_at(".rela.plt", RELA, 0, relocations, (symbols, 24)).build();
    let files = Memory::default().with("/bin/a", main);
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/bin/a").session();
    let mut symbolizer = symbolizer(files);
    let mut name = |offset: u64| names(&mut symbolizer, &session, 5, 0x7000_0000 + offset);
    assert!(name(0x1000).is_empty());
    assert_eq!(name(0x1014), ["malloc@plt+0x4 plt"]);
    assert_eq!(name(0x1020), ["a::b@plt+0x0 plt"]);
    assert_eq!(name(0x1030), ["*ABS*+0x1234@plt+0x0 plt"]);
    assert!(name(0x1040).is_empty());
}

/// The code of an entry at `address` that jumps through `slot`, without or with control-flow protection.
fn got_entry(address: u64, slot: u64, is_protected: bool) -> Vec<u8> {
    let endbr: &[u8] = if is_protected { &[0xf3, 0x0f, 0x1e, 0xfa] } else { &[] };
    let distance = (slot - address) as i32 - 6 - endbr.len() as i32;
    let mut code = [endbr, &[0xff, 0x25], &distance.to_le_bytes()].concat();
    code.resize(if is_protected { 16 } else { 8 }, 0x90);
    code
}

/// The names at the offsets of a file with the symbols `malloc` and `free`, after `sections` were added to it.
fn names_of_entries(offsets: &[u64], sections: impl Fn(Elf, u32) -> Elf) -> Vec<String> {
    let main = stripped().build_id(&ID);
    let dynsym = main.next() + 1;
    let main = main.symbols(DYNSYM, &[(FUNC, 0, 0, "malloc"), (FUNC, 0, 0, "free")]);
    let files = Memory::default().with("/bin/a", sections(main, dynsym).build());
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/bin/a").session();
    let mut it = symbolizer(files);
    let name = |offset| names(&mut it, &session, 5, 0x7000_0000 + offset).pop().unwrap_or_default();
    offsets.iter().copied().map(name).collect()
}

fn relocation(slot: u64, symbol: u64, kind: u64) -> Vec<u8> {
    [slot, symbol << 32 | kind, 0].map(u64::to_le_bytes).concat()
}

/// As perf 7.2 names them. Without `.rela.plt`, as with `-fno-plt`, too.
#[test]
fn entries_of_the_plt_got() {
    for is_protected in [false, true] {
        let size = if is_protected { 16 } else { 8 };
        let start = 0x40_1060;
        let slots = [0x40_3ff0, 0x40_3ff8, 0x40_4000];
        let code: Vec<_> = slots.iter().zip((start..).step_by(size)).collect();
        let code = code.iter().flat_map(|&(&slot, at)| got_entry(at, slot, is_protected)).collect::<Vec<_>>();
        let relocations = [
            relocation(0x40_3fe8, 1, 6),
            relocation(0x40_3ff8, 1, 6),
            relocation(0x40_3ff0, 2, 6),
            relocation(0x40_4010, 1, 1),
        ]
        .concat();
        let offsets = [0, size as u64, 2 * size as u64, 3 * size as u64].map(|at| 0x1060 + at);
        let found = names_of_entries(&offsets, |main, dynsym| {
            main.section_at(".plt.got", PROGBITS, start, code.clone(), (0, size as u64)).section_at(
                ".rela.dyn",
                RELA,
                0,
                relocations.clone(),
                (dynsym, 24),
            )
        });
        assert_eq!(found, ["free@plt+0x0 plt", "malloc@plt+0x0 plt", "", ""], "{is_protected}");
        // Relocations of other symbols.
        let found = names_of_entries(&offsets, |main, dynsym| {
            main.section_at(".plt.got", PROGBITS, start, code.clone(), (0, size as u64)).section_at(
                ".rela.dyn",
                RELA,
                0,
                relocations.clone(),
                (dynsym + 1, 24),
            )
        });
        assert_eq!(found, [""; 4]);
    }
}

/// With control-flow protection, calls go to `.plt.sec`, whether functions are bound when the file is loaded (`-z now`) or
/// later: one has as many relocations as the other.
#[test]
fn entries_of_the_second_plt() {
    let relocations = [relocation(0x40_4018, 2, 7), relocation(0x40_4020, 1, 7)].concat();
    let found = names_of_entries(&[0x1010, 0x1020, 0x1080, 0x1094, 0x10a0], |main, dynsym| {
        main.section_at(".plt", PROGBITS, 0x40_1000, vec![0; 0x30], (0, 16))
            .section_at(".plt.sec", PROGBITS, 0x40_1080, vec![0; 0x20], (0, 16))
            .section_at(".rela.plt", RELA, 0, relocations.clone(), (dynsym, 24))
    });
    assert_eq!(found, ["", "", "free@plt+0x0 plt", "malloc@plt+0x4 plt", ""]);
}

#[test]
fn labels_but_no_mapping_symbols() {
    let symbols =
        [(NOTYPE, 0x40_1010, 0, "label"), (NOTYPE, 0x40_1012, 0, "$x"), (NOTYPE, 0x40_1013, 0, "$d.1")];
    let file = |machine| Elf::new(0x40_0000).machine(machine).symbols(SYMTAB, &symbols).build_id(&ID).build();
    assert_eq!(found(Memory::default().with("/bin/a", file(183))), ["label+0x4 symtab"]);
    // Elsewhere these are names like others.
    assert_eq!(found(Memory::default().with("/bin/a", file(62))), ["$d.1+0x1 symtab"]);
}

#[test]
fn limits_are_kept() {
    let files = || Memory::default().with("/bin/a", file("f").build_id(&ID).build());
    let why = |change: fn(&mut perf_symbol::SymbolLimits)| {
        found_with(files(), &ID, |options| change(&mut options.limits)).1
    };
    assert_eq!(why(|_| {}), None);
    assert_eq!(why(|limits| limits.file = 0x1000), Some(NoSymbols::TooLarge));
    assert_eq!(why(|limits| limits.symbols = 0), Some(NoSymbols::NotInTable));
    // Results are dropped, and found again.
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/bin/a").session();
    let mut options = options();
    options.limits.cached = 2;
    let mut symbolizer = Symbolizer::with_files(options, Arc::new(files()));
    for round in 0..3 {
        for offset in 0..0x10 {
            let expected = [format!("f+{offset:#x} symtab")];
            assert_eq!(names(&mut symbolizer, &session, 5, 0x7000_1010 + offset), expected, "{round}");
        }
    }
}

#[test]
fn a_return_address_is_looked_up_one_byte_back() {
    let symbols = [
        (FUNC, 0x40_1000, 0x10, "calls_exit"),
        (FUNC, 0x40_1010, 0x10, "next"),
        (FUNC, 0x40_1030, 8, "restore"),
    ];
    let file = Elf::new(0x40_0000).symbols(SYMTAB, &symbols).build_id(&ID).build();
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/bin/a").session();
    let mut symbolizer = symbolizer(Memory::default().with("/bin/a", file));
    let mut name = |offset: u64, is_caller| {
        let frame = crate::frame(&session, 5, 0x7000_0000 + offset);
        symbolizer.functions(&session, &frame, is_caller, None).iter().map(crate::shown).collect::<Vec<_>>()
    };
    assert_eq!(name(0x1010, true), ["calls_exit+0x10 symtab"]);
    assert_eq!(name(0x1010, false), ["next+0x0 symtab"]);
    // Nothing is before it: a signal handler returns there.
    assert_eq!(name(0x1030, true), ["restore+0x0 symtab"]);
}
