//! Mappings of processes: records, overlaps, and what is not a file.

use perf_abi::endian::Endianness;
use perf_abi::record::CpuMode;
use perf_parse::Reader;
use perf_parse::event::Events;
use perf_session::{DsoKind, SessionLimits};

use crate::{BIT, EXEC, Id, READ, Records, USER, attr, maps, play, session};

/// One mapping, of process 5.
fn one(records: impl Fn(Records) -> Records) -> perf_session::Mapping {
    let it = session(records);
    let maps = it.maps(it.thread(5).unwrap()).unwrap();
    assert_eq!(maps.iter().count(), 1);
    maps.iter().next().unwrap().clone()
}

#[test]
fn mmap_of_code() {
    let it = one(|it| it.mmap(USER, 5, (0x1000, 0x2000, 0x3000), "/bin/x"));
    assert_eq!((it.range(), it.pgoff(), it.prot(), it.flags()), (0x1000..0x3000, 0x3000, EXEC, 0));
    assert!(it.is_executable());
    assert_eq!(
        (it.dso().name(), it.dso().path(), it.dso().kind()),
        (&b"/bin/x"[..], &b"/bin/x"[..], DsoKind::File)
    );
    assert_eq!((it.dso().inode(), it.dso().build_id()), (None, None));
    assert_eq!(it.offset_of(0x1800), 0x3800);
}

#[test]
fn mmap_of_data() {
    let it = one(|it| it.mmap(USER | BIT, 5, (0x1000, 0x2000, 0), "/bin/x"));
    assert!(!it.is_executable());
    assert_eq!(it.prot(), 0);
}

#[test]
fn mmap2_with_an_inode() {
    let it = one(|it| it.mmap2(USER, 5, (0x1000, 0x1000, 0), &Id::Inode(99), (READ | EXEC, 2), "/bin/x"));
    let inode = it.dso().inode().unwrap();
    assert_eq!((inode.maj, inode.min, inode.ino, inode.ino_generation), (8, 1, 99, 0));
    assert_eq!((it.prot(), it.flags(), it.dso().build_id()), (READ | EXEC, 2, None));
}

/// `perf inject --jit` stores the mode of the file, simpleperf 0x4000.
#[test]
fn mmap2_with_another_value_than_a_protection() {
    for prot in [0x4000, 0x81a4, 0x8180] {
        let of = |misc| {
            one(|it| it.mmap2(misc, 5, (0x1000, 0x1000, 0), &Id::Inode(9), (prot, 1), "/tmp/jitted-5-1.so"))
        };
        // As for MMAP, which has no protection.
        let (code, data) = (of(USER), of(USER | BIT));
        assert_eq!((code.prot(), code.flags(), data.prot()), (EXEC, 1, 0), "{prot:#x}");
    }
}

#[test]
fn mmap2_with_a_build_id() {
    let it =
        one(|it| it.mmap2(USER, 5, (0x1000, 0x1000, 0), &Id::BuildId(&[0xab, 0xcd]), (READ, 2), "/bin/x"));
    assert_eq!(it.dso().build_id().unwrap().to_string(), "abcd");
    assert_eq!((it.dso().inode(), it.is_executable()), (None, false));
}

#[test]
fn overlaps() {
    let of = |(start, end): (u64, u64)| {
        let it = session(|it| it.map(5, 0x3000, 0x6000, "/a").map(5, start, end, "/b"));
        maps(&it, 5)
    };
    // Before, and adjacent.
    assert_eq!(of((0x1000, 0x2000)), ["1000-2000 0 /b", "3000-6000 0 /a"]);
    assert_eq!(of((0x1000, 0x3000)), ["1000-3000 0 /b", "3000-6000 0 /a"]);
    // The front is cut, split, the back is cut.
    assert_eq!(of((0x2000, 0x4000)), ["2000-4000 0 /b", "4000-6000 1000 /a"]);
    assert_eq!(of((0x3000, 0x4000)), ["3000-4000 0 /b", "4000-6000 1000 /a"]);
    assert_eq!(of((0x4000, 0x5000)), ["3000-4000 0 /a", "4000-5000 0 /b", "5000-6000 2000 /a"]);
    assert_eq!(of((0x5000, 0x6000)), ["3000-5000 0 /a", "5000-6000 0 /b"]);
    assert_eq!(of((0x5000, 0x7000)), ["3000-5000 0 /a", "5000-7000 0 /b"]);
    // Equal, and covered from either side and from both.
    assert_eq!(of((0x3000, 0x6000)), ["3000-6000 0 /b"]);
    assert_eq!(of((0x2000, 0x6000)), ["2000-6000 0 /b"]);
    assert_eq!(of((0x3000, 0x7000)), ["3000-7000 0 /b"]);
    assert_eq!(of((0x2000, 0x7000)), ["2000-7000 0 /b"]);
    // After.
    assert_eq!(of((0x6000, 0x7000)), ["3000-6000 0 /a", "6000-7000 0 /b"]);
    assert_eq!(of((0x7000, 0x8000)), ["3000-6000 0 /a", "7000-8000 0 /b"]);
}

#[test]
fn a_mapping_over_several() {
    let it = session(|it| {
        let it = (1..=100).fold(it, |it, n| it.map(5, n << 12, (n + 1) << 12, "/a"));
        it.map(5, 0x1800, 0x64800, "/b")
    });
    assert_eq!(maps(&it, 5), ["1000-1800 0 /a", "1800-64800 0 /b", "64800-65000 800 /a"]);
}

#[test]
fn addresses_at_the_ends() {
    let it = session(|it| {
        let it = it.map(5, 0, 0x1000, "/low").map(5, u64::MAX - 0xfff, u64::MAX, "/high");
        it.map(5, 0, 1, "/first")
    });
    assert_eq!(maps(&it, 5), ["0-1 0 /first", "1-1000 1 /low", "fffffffffffff000-ffffffffffffffff 0 /high"]);
    let all = it.maps(it.thread(5).unwrap()).unwrap();
    assert_eq!(all.find(0).unwrap().dso().name(), b"/first");
    assert_eq!(all.find(u64::MAX - 1).unwrap().dso().name(), b"/high");
    assert!(all.find(0x1000).is_none());
    // A range has no end behind the last address.
    assert!(all.find(u64::MAX).is_none());
}

#[test]
fn a_mapping_that_would_end_after_the_last_address() {
    let it = session(|it| it.mmap(USER, 5, (0x1000, u64::MAX, 0), "/x").map(5, 0, u64::MAX, "/y"));
    assert_eq!(maps(&it, 5), ["0-ffffffffffffffff 0 /y"]);
    let it = session(|it| it.mmap(USER, 5, (u64::MAX, 0x1000, 0), "/x"));
    assert!(maps(&it, 5).is_empty());
}

#[test]
fn an_empty_mapping_changes_nothing() {
    let it = session(|it| it.map(5, 0x1000, 0x2000, "/x").map(5, 0x1800, 0x1800, "/y"));
    assert_eq!(maps(&it, 5), ["1000-2000 0 /x"]);
    assert!(it.maps(it.thread(5).unwrap()).unwrap().find(0x1800).is_some());
}

#[test]
fn generated_code_is_named_after_its_process() {
    let it = session(|it| {
        let it = it.mmap(USER, 5, (0x1000, 0x1000, 0x1000), "//anon");
        it.fork(6, 6, 5, 5).mmap(USER, 6, (0x2000, 0x1000, 0), "//anon")
    });
    assert_eq!(maps(&it, 5), ["1000-2000 1000 /tmp/perf-5.map"]);
    // What was inherited keeps its name.
    assert_eq!(maps(&it, 6), ["1000-2000 1000 /tmp/perf-5.map", "2000-3000 0 /tmp/perf-6.map"]);
    let mapping = it.maps(it.thread(5).unwrap()).unwrap().find(0x1800).unwrap();
    assert_eq!((mapping.dso().kind(), mapping.dso().path()), (DsoKind::Memory, &b"//anon"[..]));
    // Its names are by address.
    assert_eq!(mapping.offset_of(0x1800), 0x1800);
}

#[test]
fn memory_that_is_not_executable_keeps_its_name() {
    let it = one(|it| it.mmap2(USER, 5, (0x1000, 0x1000, 0), &Id::Inode(0), (READ, 2), "//anon"));
    assert_eq!(
        (it.dso().name(), it.dso().path(), it.dso().kind()),
        (&b"//anon"[..], &b"//anon"[..], DsoKind::Memory)
    );
    assert_eq!(it.dso().inode(), None);
}

#[test]
fn kinds_by_name() {
    const MAP_HUGETLB: u32 = 0x40000;
    let kind = |name: &str, flags| {
        let records =
            |it: Records| it.mmap2(USER, 5, (0x1000, 0x1000, 0x5000), &Id::Inode(3), (READ, flags), name);
        let it = one(records);
        (it.dso().kind(), it.offset_of(0x1010))
    };
    assert_eq!(kind("[heap]", 2), (DsoKind::Memory, 0x1010));
    assert_eq!(kind("[stack]", 2), (DsoKind::Memory, 0x1010));
    assert_eq!(kind("[stack:77]", 2), (DsoKind::Memory, 0x1010));
    assert_eq!(kind("/SYSV00000000 (deleted)", 2), (DsoKind::Memory, 0x1010));
    assert_eq!(kind("/dev/zero (deleted)", 2), (DsoKind::Memory, 0x1010));
    assert_eq!(kind("/anon_hugepage (deleted)", 2), (DsoKind::Memory, 0x1010));
    assert_eq!(kind("/memfd:huge (deleted)", MAP_HUGETLB), (DsoKind::Memory, 0x1010));
    // Without pages of its own kind it is a file, which some runtimes write code to.
    assert_eq!(kind("/memfd:code (deleted)", 2), (DsoKind::File, 0x5010));
    assert_eq!(kind("[vdso]", 2), (DsoKind::Vdso, 0x10));
    assert_eq!(kind("[vsyscall]", 2), (DsoKind::Vsyscall, 0x5010));
    assert_eq!(kind("anon_inode:[perf_event]", 2), (DsoKind::File, 0x5010));
}

#[test]
fn huge_pages_do_not_make_the_vdso_generated_code() {
    let it = one(|it| it.mmap2(USER, 5, (0x1000, 0x1000, 0), &Id::Inode(0), (EXEC, 0x40000), "[vdso]"));
    assert_eq!((it.dso().name(), it.dso().kind()), (&b"[vdso32]"[..], DsoKind::Vdso));
}

#[test]
fn two_files_that_had_one_path_are_two() {
    let it = session(|it| {
        let it = it.mmap2(USER, 5, (0x1000, 0x1000, 0), &Id::Inode(1), (EXEC, 2), "/x");
        let it = it.mmap2(USER, 5, (0x2000, 0x1000, 0), &Id::Inode(2), (EXEC, 2), "/x");
        it.mmap2(USER, 6, (0x3000, 0x1000, 0), &Id::Inode(1), (EXEC, 2), "/x")
    });
    let maps = |tid| it.maps(it.thread(tid).unwrap()).unwrap();
    let (first, second) = (maps(5).find(0x1000).unwrap(), maps(5).find(0x2000).unwrap());
    assert_ne!(first.dso(), second.dso());
    // One file of two processes is one.
    assert!(std::sync::Arc::ptr_eq(first.dso(), maps(6).find(0x3000).unwrap().dso()));
}

#[test]
fn mappings_in_the_order_of_addresses() {
    // Enough for several levels, in an order that is not theirs.
    let it = session(|it| {
        (0..4096_u64).fold(it, |it, n| {
            let at = n * 1237 % 4096;
            it.map(5, at << 12, (at << 12) + 0x800, "/x")
        })
    });
    let maps = it.maps(it.thread(5).unwrap()).unwrap();
    let starts: Vec<_> = maps.iter().map(|mapping| mapping.range().start).collect();
    assert_eq!(starts, (0..4096).map(|n| n << 12).collect::<Vec<u64>>());
    assert!((0..4096_u64).all(|n| maps.find((n << 12) + 0x7ff).unwrap().range().start == n << 12));
    assert!((0..4096_u64).all(|n| maps.find((n << 12) + 0x800).is_none()));
}

#[test]
fn no_mappings() {
    let it = session(|it| it.comm(5, 5, "x"));
    let maps = it.maps(it.thread(5).unwrap()).unwrap();
    assert!(maps.is_empty());
    assert_eq!(maps.iter().count(), 0);
    assert!(maps.find(0).is_none());
}

/// The mapping of the last record, which is a sample at 0x1000.
fn of_sample(records: impl Fn(Records) -> Records) -> String {
    play(&attr(), &SessionLimits::default(), records, |it, record| {
        let frames: Vec<_> = it.at(record).unwrap().stack(None).unwrap().collect();
        assert_eq!(frames.len(), 1);
        frames[0].mapping.map_or(String::new(), |it| {
            format!("{:x}-{:x} {}", it.range().start, it.range().end, it.dso().name().escape_ascii())
        })
    })
}

#[test]
fn the_mapping_of_a_sample_changes_after_it() {
    let first = |it: Records| it.map(5, 0x1000, 0x4000, "/a").sample(USER, 5, 5);
    assert_eq!(of_sample(first), "1000-4000 /a");
    // Replaced, cut at its end, cut at its start, and not changed.
    assert_eq!(of_sample(|it| first(it).map(5, 0, 0x5000, "/b").sample(USER, 5, 5)), "0-5000 /b");
    assert_eq!(of_sample(|it| first(it).map(5, 0x2000, 0x5000, "/b").sample(USER, 5, 5)), "1000-2000 /a");
    assert_eq!(of_sample(|it| first(it).map(5, 0, 0x1001, "/b").sample(USER, 5, 5)), "0-1001 /b");
    assert_eq!(of_sample(|it| first(it).map(5, 0x4000, 0x5000, "/b").sample(USER, 5, 5)), "1000-4000 /a");
    // Of another program, and of a child that changes its own.
    assert_eq!(of_sample(|it| first(it).exec(5, 5, "x").sample(USER, 5, 5)), "");
    let fork = |it| first(it).fork(6, 6, 5, 5).sample(USER, 6, 6).map(6, 0x1000, 0x2000, "/b");
    assert_eq!(of_sample(|it| fork(it).sample(USER, 6, 6)), "1000-2000 /b");
    assert_eq!(of_sample(|it| fork(it).sample(USER, 5, 5)), "1000-4000 /a");
    // The thread id is in use again.
    assert_eq!(of_sample(|it| first(it).exit(5, 5).fork(5, 5, 1, 1).sample(USER, 5, 5)), "");
}

#[test]
fn samples_and_mappings_in_turn() {
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) % below
    };
    let mut it = session(|it| it.map(5, 0, 0x20_0000, "/a"));
    let events: Events = [(attr(), vec![])].into_iter().collect();
    let mut found = 0;
    for _ in 0..5000 {
        // Few addresses, so that samples repeat theirs, and mappings change below them.
        let (start, len) = (random(12) << 12, (1 + random(3)) << 12);
        let records = Records { big: false, out: Vec::new() };
        let records = match random(8) {
            0 => records.map(5, start, start + len, ["/b", "/c"][random(2) as usize]),
            1 if random(20) == 0 => records.exec(5, 5, "x"),
            _ => {
                let payload = records.bytes().u64(start).i32(5).i32(5);
                records.record(9, USER, payload)
            }
        };
        let reader = Reader::from_records(events.clone(), Endianness::Little, &records.out);
        let record = reader.records().next().unwrap().unwrap();
        let Some(at) = it.update_at(&record).unwrap() else { continue };
        let frame = at.stack(None).unwrap().next().unwrap();
        assert_eq!(frame.mapping, at.find(CpuMode::USER, start));
        found += usize::from(frame.mapping.is_some());
    }
    assert!(found > 1000, "{found}");
}
