//! The cache of functions: what is kept, what is found there, and when it is not used. That the cache answers is seen by a file whose names
//! changed although all that is compared is as before.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use perf_session::Session;
use perf_symbol::{Cancellation, Demangle, Guess, NameSource, SymbolCache, SymbolOptions, Symbolizer};

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{Memory, Records, frame, options, shown};

const ID: [u8; 4] = [0xab, 1, 2, 3];
const IP: u64 = 0x7000_1014;

fn file(name: &'static str) -> Vec<u8> {
    Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, name)]).build_id(&ID).build()
}

fn memory(name: &'static str) -> Memory {
    let files = Memory::default().with_inode("/bin/a", 7, file(name));
    Memory { modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(9)), ..files }
}

fn process() -> Session {
    Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/bin/a").session()
}

fn cached(folder: &Path) -> SymbolOptions {
    let mut options = options();
    options.symbol_cache = Some(SymbolCache::new(folder.join("cache"), "test 1"));
    options
}

/// Returns the functions at an address, and has the cache get them.
fn look_up(options: &SymbolOptions, files: Memory, session: &Session, ip: u64) -> Vec<String> {
    let mut it = Symbolizer::with_files(options.clone(), Arc::new(files));
    it.functions(session, &frame(session, 5, ip), false, None).iter().map(shown).collect()
}

/// Returns the files of the cache.
fn kept(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("cache")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_second_program_needs_no_symbols() {
    let folder = tempfile::tempdir().unwrap();
    let options = cached(folder.path());
    let name = |name: &'static str, ip| look_up(&options, memory(name), &process(), ip);
    assert_eq!(name("f", IP), ["f+0x4 symtab"]);
    assert_eq!(kept(folder.path()).len(), 1);
    assert_eq!(name("g", IP), ["f+0x4 symtab"], "the file is not read");
    // What the cache does not have is looked up, and added.
    assert_eq!(name("h", IP + 1), ["h+0x5 symtab"]);
    assert_eq!([name("i", IP), name("i", IP + 1)], [["f+0x4 symtab"], ["h+0x5 symtab"]]);
    // That there is no function, too.
    assert_eq!(name("f", 0x7000_1100), [""; 0]);
    assert_eq!(name("f", 0x7000_1100), [""; 0]);
    assert_eq!(kept(folder.path()).len(), 1);
}

/// Each of what is compared, changed alone: the names are those of the file, and not those of the cache.
#[test]
fn another_file_is_another_one() {
    let of = |change: fn(&mut SymbolOptions, &mut Memory)| {
        let folder = tempfile::tempdir().unwrap();
        let mut options = cached(folder.path());
        assert_eq!(look_up(&options, memory("f"), &process(), IP), ["f+0x4 symtab"]);
        let mut files = memory("g");
        change(&mut options, &mut files);
        look_up(&options, files, &process(), IP)
    };
    assert_eq!(of(|_, _| ()), ["f+0x4 symtab"]);
    let changes: [fn(&mut SymbolOptions, &mut Memory); 9] = [
        |_, files| files.inodes = [("/bin/a".into(), 8)].into(),
        |_, files| files.device = Some(9),
        |_, files| files.modified = files.modified.map(|time| time + Duration::from_nanos(1)),
        |_, files| files.files.get_mut(Path::new("/bin/a")).unwrap().push(0),
        |options, _| options.demangle = Demangle::Full,
        |options, _| options.lines = false,
        |options, _| options.limits.inlined = 3,
        |options, _| options.symbol_cache.as_mut().unwrap().producer = "test 2".into(),
        // A debug file that was not there before.
        |_, files| {
            let path = PathBuf::from("/usr/lib/debug/.build-id/ab/010203.debug");
            files.inodes.insert(path.clone(), 9);
            files.files.insert(path, file("g"));
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert_eq!(of(change), ["g+0x4 symtab"], "change {number}");
    }
}

fn without_id() -> Session {
    Records::default().map(5, 0x7000_0000, 0x2000, &[], "/bin/a").session()
}

/// A file without a build id is known by when it was changed. Whether its names are guesses is not kept.
#[test]
fn files_without_a_build_id() {
    let folder = tempfile::tempdir().unwrap();
    let now = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(10));
    let find = |name, changed, recorded_until| {
        let mut options = cached(folder.path());
        options.recorded_until = recorded_until;
        let mut it = Symbolizer::with_files(options, Arc::new(Memory { changed, ..memory(name) }));
        let session = without_id();
        let function = it.functions(&session, &frame(&session, 5, IP), false, None).last().unwrap().clone();
        (shown(&function), function.guess)
    };
    assert_eq!(find("f", now, None), ("f+0x4 symtab".into(), None));
    assert_eq!(find("g", now, None), ("f+0x4 symtab".into(), None));
    let before = Some(SystemTime::UNIX_EPOCH);
    assert_eq!(find("g", now, before), ("f+0x4 symtab".into(), Some(Guess::File)));
    let later = now.map(|now| now + Duration::from_nanos(1));
    assert_eq!(find("g", later, None), ("g+0x4 symtab".into(), None));
}

#[test]
fn what_may_be_another_file_is_not_kept() {
    let check = |session: &Session, files: Memory, change: fn(&mut SymbolOptions), expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut options = cached(folder.path());
        change(&mut options);
        assert_eq!(look_up(&options, files, session, IP), [expected]);
        assert!(kept(folder.path()).is_empty());
    };
    let same = |_: &mut SymbolOptions| ();
    check(&without_id(), memory("f"), same, "f+0x4 symtab");
    check(&process(), Memory { inodes: [].into(), ..memory("f") }, same, "f+0x4 symtab");
    check(&process(), Memory { modified: None, ..memory("f") }, same, "f+0x4 symtab");
    let elsewhere = |options: &mut SymbolOptions| options.symfs = Some("/root".into());
    let below = Memory { modified: Some(SystemTime::UNIX_EPOCH), ..Memory::default() };
    check(&process(), below.with_inode("/root/bin/a", 7, file("f")), elsewhere, "f+0x4 symtab");
    check(&process(), memory("f"), |options| options.symbol_cache = None, "f+0x4 symtab");
}

#[test]
fn a_look_up_that_was_cancelled_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut it = Symbolizer::with_files(cached(folder.path()), Arc::new(memory("f")));
    let session = process();
    assert_eq!(it.functions(&session, &frame(&session, 5, IP + 1), false, None).len(), 1);
    let cancellation = Cancellation::default();
    cancellation.cancel();
    it.set_cancellation(cancellation);
    let _ = it.functions(&session, &frame(&session, 5, IP), false, None);
    drop(it);
    let options = cached(folder.path());
    assert_eq!(look_up(&options, memory("g"), &session, IP), ["g+0x4 symtab"]);
    assert_eq!(look_up(&options, memory("g"), &session, IP + 1), ["f+0x5 symtab"]);
}

/// Without a symbol anywhere, the reason is known without reading the file.
#[test]
fn a_file_without_symbols() {
    let folder = tempfile::tempdir().unwrap();
    let stripped = || {
        let bytes = Elf::new(0x40_0000).build_id(&ID).build();
        let files = Memory::default().with_inode("/bin/a", 7, bytes);
        Memory { modified: Some(SystemTime::UNIX_EPOCH), ..files }
    };
    let session = process();
    for _ in 0..2 {
        let mut it = Symbolizer::with_files(cached(folder.path()), Arc::new(stripped()));
        assert_eq!(it.functions(&session, &frame(&session, 5, IP), false, None), []);
        assert_eq!(it.lookups()[0].why, Some(perf_symbol::NoSymbols::NotInTable));
    }
    assert_eq!(kept(folder.path()).len(), 1);
}

/// Clones of a symbolizer share the cache, and what each of them found is kept.
#[test]
fn clones_add_to_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let session = process();
    let mut first = Symbolizer::with_files(cached(folder.path()), Arc::new(memory("f")));
    let mut second = first.clone();
    first.functions(&session, &frame(&session, 5, IP), false, None);
    second.functions(&session, &frame(&session, 5, IP + 1), true, None);
    drop(first);
    assert!(kept(folder.path()).is_empty(), "a clone may find more");
    drop(second);
    let mut it = Symbolizer::with_files(cached(folder.path()), Arc::new(memory("g")));
    let function = it.functions(&session, &frame(&session, 5, IP + 1), true, None).last().unwrap();
    assert_eq!((shown(function), function.source), ("f+0x5 symtab".into(), Some(NameSource::Symtab)));
    assert_eq!(function.origin.map(|origin| origin.name()), Some("path"));
    // The same address without being that of a caller was not looked up.
    let function = it.functions(&session, &frame(&session, 5, IP + 1), false, None).last().unwrap();
    assert_eq!(shown(function), "g+0x5 symtab");
}

/// Any bytes, a folder, and files of more bytes than there may be: names are those of the file.
#[test]
fn a_damaged_cache_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let options = cached(folder.path());
    let name = |name: &'static str| look_up(&options, memory(name), &process(), IP);
    assert_eq!(name("f"), ["f+0x4 symtab"]);
    let path = kept(folder.path()).remove(0);
    let good = fs::read(&path).unwrap();
    for at in (0..good.len()).step_by(7) {
        let mut damaged = good.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(name("g"), ["g+0x4 symtab"], "byte {at}");
        assert_eq!(name("h"), ["g+0x4 symtab"], "it is written anew");
        fs::write(&path, &good[..at]).unwrap();
        assert_eq!(name("g"), ["g+0x4 symtab"], "cut at {at}");
    }
    let mut small = options.clone();
    for (limit, expected) in [(good.len() as u64, "f"), (good.len() as u64 - 1, "g")] {
        fs::write(&path, &good).unwrap();
        small.symbol_cache.as_mut().unwrap().file = limit;
        assert_eq!(look_up(&small, memory("g"), &process(), IP), [format!("{expected}+0x4 symtab")]);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!([name("f"), name("g")], [["f+0x4 symtab"], ["g+0x4 symtab"]]);
}

/// The files that were not used for the longest time make room.
#[test]
fn all_files_together_are_bounded() {
    [false, true].into_iter().for_each(check_all_files);
}

fn check_all_files(by_number: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = cached(folder.path());
    let mut sizes = Vec::new();
    for number in 0..3 {
        let files = Memory { device: Some(number), ..memory("f") };
        assert_eq!(look_up(&options, files, &process(), IP), ["f+0x4 symtab"]);
        let path = kept(folder.path())
            .into_iter()
            .max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
        let path = path.unwrap();
        sizes.push(fs::metadata(&path).unwrap().len());
        let used = SystemTime::now() - Duration::from_secs(1_000_000 - u64::from(number) * 1000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(used).unwrap();
    }
    assert_eq!(kept(folder.path()).len(), 3);
    // The oldest one is used, so that it is the newest one now.
    let first = || Memory { device: Some(0), ..memory("g") };
    assert_eq!(look_up(&options, first(), &process(), IP), ["f+0x4 symtab"]);
    // Room for two files and the new one, by their bytes and by their number.
    let limits = options.symbol_cache.as_mut().unwrap();
    if by_number {
        limits.files = 3
    } else {
        limits.total = sizes.iter().sum()
    };
    assert_eq!(
        look_up(&options, Memory { device: Some(3), ..memory("f") }, &process(), IP),
        ["f+0x4 symtab"]
    );
    assert_eq!(kept(folder.path()).len(), 3);
    assert_eq!(look_up(&options, first(), &process(), IP), ["f+0x4 symtab"]);
    assert_eq!(
        look_up(&options, Memory { device: Some(1), ..memory("g") }, &process(), IP),
        ["g+0x4 symtab"]
    );
}

#[cfg(unix)]
#[test]
fn files_are_only_of_the_user() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let options = cached(folder.path());
    let name = |name: &'static str| look_up(&options, memory(name), &process(), IP);
    assert_eq!(name("f"), ["f+0x4 symtab"]);
    let path = kept(folder.path()).remove(0);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    // What others may write to is not used.
    for (path, others) in [(&*path, 0o622), (path.parent().unwrap(), 0o777)] {
        let before = mode(path);
        fs::set_permissions(path, fs::Permissions::from_mode(others)).unwrap();
        assert_eq!(look_up(&options, memory("g"), &process(), IP), ["g+0x4 symtab"]);
        fs::set_permissions(path, fs::Permissions::from_mode(before)).unwrap();
    }
}

/// A folder that cannot be made is as no cache.
#[test]
fn without_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cache"), "a file").unwrap();
    for name in ["f", "g"] {
        assert_eq!(
            look_up(&cached(folder.path()), memory(name), &process(), IP),
            [format!("{name}+0x4 symtab")]
        );
    }
}

/// Lines and inlined functions are kept; those that other files may change, as split DWARF is, are not.
#[test]
fn functions_of_dwarf() {
    for (file, id, is_kept) in [
        (&include_bytes!("../fixtures/lines")[..], "d7eadb9cea5ea95b83bc35ef7435bde4528778d1", true),
        (include_bytes!("../fixtures/lines-zlib"), "e02c4b74d8fa29469cca98487a904276c8b197fa", true),
        (include_bytes!("../fixtures/lines-split"), "afc112b1ce7049429f7ba7303aeed42655854d10", false),
        (include_bytes!("../fixtures/lines-split-v4"), "5fa1c27dd5d958eeb530f328551d0a4aadfef184", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let id: Vec<u8> = (0..20).map(|at| u8::from_str_radix(&id[2 * at..][..2], 16).unwrap()).collect();
        let session = Records::default().map(5, 0x40_0000, 0x2000, &id, "/bin/a").session();
        let find = |file: &[u8]| {
            let files = Memory::default().with_inode("/bin/a", 7, file);
            let files = Memory { modified: Some(SystemTime::UNIX_EPOCH), ..files };
            let mut it = Symbolizer::with_files(cached(folder.path()), Arc::new(files));
            it.functions(&session, &frame(&session, 5, 0x40_100b), false, None).to_vec()
        };
        let found = find(file);
        assert_eq!(found.last().unwrap().name.as_deref(), Some(&b"outer"[..]));
        // Another name in `.strtab`, which nobody reads.
        let mut changed = file.to_vec();
        let at = changed.windows(7).rposition(|it| it == b"\0outer\0").unwrap();
        changed[at + 1] = b'O';
        assert_eq!(kept(folder.path()).len(), usize::from(is_kept));
        if is_kept {
            assert_eq!(find(&changed), found);
        }
    }
}

/// What a program looks up before it ends is bounded, too: for each file, and for all of them.
#[test]
fn what_is_new_is_bounded() {
    let session = process();
    let kept_of = |limits: fn(&mut SymbolCache)| {
        let folder = tempfile::tempdir().unwrap();
        let mut options = cached(folder.path());
        limits(options.symbol_cache.as_mut().unwrap());
        let mut it = Symbolizer::with_files(options, Arc::new(memory("f")));
        for ip in IP..IP + 16 {
            assert_eq!(it.functions(&session, &frame(&session, 5, ip), false, None).len(), 1);
        }
        drop(it);
        let mut again = Symbolizer::with_files(cached(folder.path()), Arc::new(memory("g")));
        let names = (IP..IP + 16).map(|ip| {
            let functions = again.functions(&session, &frame(&session, 5, ip), false, None);
            functions[0].name.as_deref() == Some(b"f")
        });
        names.filter(|is_kept| *is_kept).count()
    };
    assert_eq!(kept_of(|_| ()), 16);
    // A function takes some 200 bytes, and four times the limit is the bound.
    for few in [kept_of(|limits| limits.total = 500), kept_of(|limits| limits.file = 500)] {
        assert!(few < 16, "{few}");
    }
    assert_eq!(kept_of(|limits| limits.total = 0), 0);
}
