//! Generated code: `/tmp/perf-PID.map` and jitdumps.

use perf_symbol::{Doubt, FileBytes, Guess, Jitdump, NoSymbols, SymbolLimits};
use testdata::JitdumpBytes;

use crate::{Memory, Records, frame, names, symbolizer};

const CODE: u64 = 0x5000_0000;

fn records() -> Records {
    Records::default().map(5, CODE, 0x1000, &[], "//anon")
}

#[test]
fn the_map_of_a_process() {
    let session = records().session();
    let mut it = symbolizer(Memory::default().with("/tmp/perf-5.map", "50000010 20 LazyCompile:~f a.js:1\n"));
    assert_eq!(names(&mut it, &session, 5, CODE + 0x14), ["LazyCompile:~f a.js:1+0x4 perf-map"]);
    assert!(names(&mut it, &session, 5, CODE + 0x30).is_empty());
}

/// `python -X perf` names each function with its file.
#[test]
fn functions_of_python() {
    let session = records().session();
    let map = "50000010 20 py::f:/srv/a.py\n50000030 20 other:/srv/a.py\n";
    let mut it = symbolizer(Memory::default().with("/tmp/perf-5.map", map));
    let mut at = |ip| it.functions(&session, &frame(&session, 5, ip), false, None)[0].clone();
    let function = at(CODE + 0x14);
    assert_eq!(function.name.as_deref(), Some(&b"py::f:/srv/a.py"[..]));
    assert_eq!((function.file.as_deref(), function.line), (Some(&b"/srv/a.py"[..]), None));
    assert_eq!(at(CODE + 0x34).file, None);
}

/// A process in a container writes its map by its number there, into a `/tmp` of its own.
#[test]
fn the_map_of_a_process_in_a_container() {
    let session = records().session();
    let files = |maps: &str| {
        Memory::default()
            .with("/proc/5/maps", maps)
            .with("/proc/5/status", "Name:\tnode\nNStgid:\t5\t1\n")
            .with_inode("/proc/5/root/tmp/perf-1.map", 70, "50000010 20 of_container\n")
    };
    let memory = "50000000-50001000 rwxp 00000000 00:00 0 \n";
    let of = |files: Memory| names(&mut symbolizer(files), &session, 5, CODE + 0x14);
    assert_eq!(of(files(memory)), ["of_container+0x4 perf-map"]);
    // A map that an earlier process of the same number left.
    let stale = |ino, maps| files(maps).with_inode("/tmp/perf-5.map", ino, "50000010 20 stale\n");
    assert_eq!(of(stale(71, memory)), ["of_container+0x4 perf-map"]);
    // Processes of now, which are not the recorded one: they have a file at the address, or nothing.
    for other in
        ["50000000-50001000 r-xp 00000000 08:01 9 /bin/b\n", "40000000-40001000 rwxp 00000000 00:00 0 \n"]
    {
        assert!(of(files(other)).is_empty(), "{other}");
        assert_eq!(of(stale(71, other)), ["stale+0x4 perf-map"], "{other}");
    }
    // Without a number there.
    assert!(of(files(memory).with("/proc/5/status", "Name:\tnode\n")).is_empty());
}

fn parse(dump: &JitdumpBytes) -> Jitdump {
    Jitdump::parse(FileBytes::new(dump.out.clone()), &SymbolLimits::default()).unwrap()
}

fn name(dump: &Jitdump, address: u64, time: Option<u64>) -> Option<String> {
    dump.find(address, time).map(|it| String::from_utf8_lossy(it.symbol.name).into_owned())
}

#[test]
fn addresses_are_reused() {
    for big in [false, true] {
        let dump = parse(
            &JitdumpBytes::new(big).load(10, 0x100, 0x40, 1, "first").load(20, 0x120, 0x40, 2, "second"),
        );
        assert_eq!(name(&dump, 0x130, Some(9)), None);
        assert_eq!(name(&dump, 0x130, Some(10)).as_deref(), Some("first"));
        assert_eq!(name(&dump, 0x130, Some(19)).as_deref(), Some("first"));
        assert_eq!(name(&dump, 0x130, Some(20)).as_deref(), Some("second"));
        assert_eq!(name(&dump, 0x110, Some(30)).as_deref(), Some("first"));
        // Without a time, only what was always the same has a name.
        assert_eq!(name(&dump, 0x130, None), None);
        assert_eq!(name(&dump, 0x110, None).as_deref(), Some("first"));
        assert_eq!(name(&dump, 0x150, None).as_deref(), Some("second"));
        assert_eq!(name(&dump, 0x160, None), None);
    }
}

#[test]
fn code_that_moves() {
    for big in [false, true] {
        let dump =
            parse(&JitdumpBytes::new(big).load(10, 0x100, 0x40, 7, "f").moved(20, 0x100, 0x300, 0x40, 7));
        assert_eq!(name(&dump, 0x310, Some(15)), None);
        assert_eq!(name(&dump, 0x310, Some(20)).as_deref(), Some("f"));
        assert_eq!((dump.skipped(), dump.is_truncated()), (0, false));
        // A move of what was never loaded.
        assert_eq!(parse(&JitdumpBytes::new(big).moved(20, 0x100, 0x300, 0x40, 7)).skipped(), 1);
    }
}

#[test]
fn lines_of_generated_code() {
    for big in [false, true] {
        let lines = [(0x100, 1, "a.js"), (0x110, 2, "\u{ff}")];
        // The mark for the same file is one byte, not UTF-8.
        let mut dump = JitdumpBytes::new(big)
            .lines(0x100, &lines)
            .load(10, 0x100, 0x40, 1, "f")
            .moved(20, 0x100, 0x300, 0x40, 1);
        let at = dump.out.windows(2).position(|bytes| bytes == [0xc3, 0xbf]).unwrap();
        dump.out[at] = 0xff;
        dump.out[at + 1] = 0;
        let dump = parse(&dump);
        let line =
            |address| dump.find(address, None).map(|it| (it.file.unwrap_or_default(), it.line, it.column));
        assert_eq!(line(0x108), Some((&b"a.js"[..], Some(1), Some(3))));
        assert_eq!(line(0x111), Some((&b"a.js"[..], Some(2), Some(3))));
        assert_eq!(line(0x311), Some((&b"a.js"[..], Some(2), Some(3))));
    }
}

#[test]
fn code_that_was_compiled_again() {
    let dump = parse(
        &JitdumpBytes::new(false)
            .lines(0x100, &[(0x100, 1, "a.js")])
            .load(10, 0x100, 0x40, 1, "f")
            .lines(0x100, &[(0x100, 2, "a.js")])
            .load(20, 0x100, 0x40, 2, "f"),
    );
    assert_eq!(name(&dump, 0x110, None).as_deref(), Some("f"));
    assert_eq!(dump.find(0x110, None).unwrap().line, None);
    assert_eq!(dump.find(0x110, Some(15)).unwrap().line, Some(1));
}

/// The samples are not of `CLOCK_MONOTONIC`, or the jitdump has time stamps of the processor.
#[test]
fn clocks_that_differ() {
    for flags in [0, 1] {
        let mut dump = JitdumpBytes::new(false);
        dump.out[32] = flags;
        let dump = dump.load(10, CODE, 0x40, 1, "first").load(20, CODE, 0x20, 2, "second").out;
        let parsed = Jitdump::parse(FileBytes::new(dump.clone()), &SymbolLimits::default()).unwrap();
        assert_eq!(parsed.has_arch_times(), flags == 1);
        let session = records().map(5, 0x6000_0000, 0x1000, &[], "/home/u/jit-5.dump").session();
        let mut it = symbolizer(Memory::default().with("/home/u/jit-5.dump", dump));
        let time = (flags == 1).then_some(15);
        let mut found = |ip| {
            let functions = it.functions(&session, &frame(&session, 5, ip), false, time);
            functions.iter().map(|it| (crate::shown(it), it.guess)).collect::<Vec<_>>()
        };
        assert_eq!(found(CODE + 4), [], "the address was reused");
        assert_eq!(found(CODE + 0x30), [("first+0x30 jitdump".into(), Some(Guess::Clock))]);
        let looked = it.lookups();
        assert_eq!((looked[0].doubt, looked[0].why), (Some(Doubt::Clock), Some(NoSymbols::OtherClock)));
    }
}

#[test]
fn nothing_after_the_end() {
    let dump = parse(
        &JitdumpBytes::new(false).load(1, 0x100, 8, 1, "f").record(3, 2, &[]).load(3, 0x200, 8, 2, "g"),
    );
    assert_eq!((name(&dump, 0x100, None).as_deref(), name(&dump, 0x200, None)), (Some("f"), None));
}

#[test]
fn a_dump_that_is_cut_short() {
    let whole = JitdumpBytes::new(false).load(1, 0x100, 8, 1, "f").load(3, 0x200, 8, 2, "g").out;
    for end in 0..whole.len() {
        let Ok(dump) = Jitdump::parse(FileBytes::new(whole[..end].to_vec()), &SymbolLimits::default()) else {
            assert!(end < 40);
            continue;
        };
        assert!(name(&dump, 0x200, None).is_none());
    }
    assert_eq!(
        Jitdump::parse(FileBytes::new(b"JiTE".to_vec()), &SymbolLimits::default()).unwrap_err(),
        NoSymbols::Malformed("header of the jitdump")
    );
}

/// Processes in two containers may write their dumps to one path.
#[test]
fn the_jitdump_of_a_process_in_a_container() {
    let dump = |name: &str| JitdumpBytes::new(false).load(10, CODE, 0x40, 1, name).out;
    let session = records().map(5, 0x6000_0000, 0x1000, &[], "/tmp/jit-1.dump").session();
    let files = |recorded, other| {
        Memory::default()
            .with("/proc/5/maps", "60000000-60001000 r-xp 00000000 08:01 7 /tmp/jit-1.dump\n")
            .with_inode("/proc/5/root/tmp/jit-1.dump", recorded, dump("inside"))
            .with_inode("/tmp/jit-1.dump", other, dump("outside"))
    };
    let of = |files| names(&mut symbolizer(files), &session, 5, CODE + 4);
    assert_eq!(of(files(7, 8)), ["inside+0x4 jitdump"]);
    assert_eq!(of(files(8, 7)), ["outside+0x4 jitdump"]);
}

#[test]
fn the_jitdump_that_a_process_has_mapped() {
    let dump =
        JitdumpBytes::new(false).load(10, CODE, 0x40, 1, "first").load(20, CODE, 0x40, 2, "second").out;
    let files = || Memory::default().with("/home/u/jit-5.dump", dump.clone());
    let session = records().map(5, 0x6000_0000, 0x1000, &[], "/home/u/jit-5.dump").session();
    let mut it = symbolizer(files());
    let mut at = |time| {
        let functions = it.functions(&session, &frame(&session, 5, CODE + 4), false, Some(time));
        functions.iter().map(crate::shown).collect::<Vec<_>>()
    };
    assert!(at(5).is_empty());
    assert_eq!(at(15), ["first+0x4 jitdump"]);
    assert_eq!(at(25), ["second+0x4 jitdump"]);
    // Of a process that has mapped none, it is not used.
    let session = records().session();
    assert!(names(&mut symbolizer(files()), &session, 5, CODE + 4).is_empty());
}
