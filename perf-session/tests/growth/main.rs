//! Records that would make a session grow: its memory and its work stay in proportion to what is alive.
//!
//! Work is counted in allocations, as each change of a tree of mappings allocates the nodes that it copies.

use perf_parse::Reader;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_session::{Session, SessionLimits};
use testdata::Bytes;
use testdata::memory::{Counting, Used, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MILLION: u64 = 1_000_000;
const MANY: u64 = 200_000;

/// Process ids that are used before the first comes again. The kernel's are at most 4 Mi.
const PIDS: u64 = 1 << 22;

const GUEST_USER: u16 = 5;

/// Applies records a few at a time.
fn apply(session: &mut Session, count: u64, record: impl Fn(u64) -> Vec<u8>) {
    const AT_A_TIME: u64 = 1000;
    let attr = Attr { sample_type: SampleType::IP | SampleType::TID, ..Attr::default() };
    let mut data = Vec::new();
    for start in (0..count).step_by(AT_A_TIME as usize) {
        data.clear();
        (start..count.min(start + AT_A_TIME)).for_each(|number| data.extend(record(number)));
        let events: Events = [(attr, vec![])].into_iter().collect();
        for record in Reader::from_records(events, Endianness::Little, &data).records() {
            session.update(&record.unwrap()).unwrap();
        }
    }
}

fn new() -> Bytes {
    Bytes::new(false)
}

fn fork(pid: i32, ppid: i32) -> Vec<u8> {
    new().i32(pid).i32(ppid).i32(pid).i32(ppid).u64(0).record(7, 0)
}

fn exit(misc: u16, pid: i32, tid: i32) -> Vec<u8> {
    new().i32(pid).i32(1).i32(tid).i32(1).u64(0).record(4, misc)
}

fn map(pid: i32, start: u64, len: u64, name: &str) -> Vec<u8> {
    let fixed = new().i32(pid).i32(pid).u64s(&[start, len, 0]);
    fixed.padded(name.as_bytes(), (name.len() + 1).next_multiple_of(8)).record(1, 2)
}

/// A process id that is not that of the parent.
fn pid(number: u64) -> i32 {
    (2 + number % PIDS) as i32
}

/// A session with process 1, which has `count` mappings of a page each, two pages apart.
fn parent_of(count: u64, exited: usize) -> Session {
    let mut limits = SessionLimits::default();
    limits.exited = exited;
    let mut session = Session::within(&limits);
    apply(&mut session, count, |number| map(1, number << 13, 4096, "/lib/x.so"));
    session
}

#[test]
fn mappings_of_a_process() {
    const COUNT: u64 = 100_000;
    let (_, used) = measure(|| parent_of(COUNT, 0));
    println!("{} bytes a mapping", used.peak as u64 / COUNT);
    // What a record of a mapping takes, and half as much.
    assert!(used.peak as u64 / COUNT <= 72, "{used:?}");
}

#[test]
fn forks_of_many_mappings_that_change_one_each() {
    const FORKS: u64 = 100_000;
    let mut session = parent_of(10_000, 0);
    let ((), used) = measure(|| {
        apply(&mut session, FORKS, |number| {
            let start = (number * 7919 % 10_000) << 13;
            [fork(pid(number), 1), map(pid(number), start, 4096, "/lib/x.so")].concat()
        });
    });
    let of_one = |count: usize| count as u64 / FORKS;
    println!("{} bytes and {} allocations a fork", of_one(used.peak), of_one(used.calls));
    // 10,000 mappings of their own would be 400,000 bytes. The nodes on the way to the changed one are 16 entries each.
    assert!(of_one(used.peak) <= 2048, "{used:?}");
    assert!(of_one(used.calls) <= 48, "{used:?}");
    // With the parent and the idle thread.
    assert_eq!(session.threads().count() as u64, FORKS + 2);
}

#[test]
fn a_million_forks_of_many_mappings_that_exit() {
    let mut session = parent_of(10_000, 16);
    let ((), used) = measure(|| {
        apply(&mut session, MILLION, |number| {
            let start = (number * 7919 % 10_000) << 13;
            let pid = pid(number);
            [fork(pid, 1), map(pid, start, 4096, "/lib/x.so"), exit(0, pid, pid)].concat()
        });
    });
    small(used);
    assert_eq!(session.threads().count(), 2 + 16);
}

/// Asserts that memory has not grown with the number of records.
#[track_caller]
fn small(used: Used) {
    println!("{used:?}");
    assert!(used.peak <= 2 << 20, "{used:?}");
}

#[test]
fn a_mapping_over_many_in_forks() {
    const FORKS: u64 = 10_000;
    let mut session = parent_of(1 << 16, 4);
    let ((), used) = measure(|| {
        apply(&mut session, FORKS, |number| {
            let pid = pid(number);
            let covers = map(pid, 1, u64::MAX - 1, "/lib/y.so");
            let splits = map(pid, 1 << 20, 1 << 20, "/lib/z.so");
            [fork(pid, 1), covers, splits, exit(0, pid, pid)].concat()
        });
    });
    println!("{} allocations a fork", used.calls as u64 / FORKS);
    // Not one for each of the mappings that are covered.
    assert!(used.calls as u64 / FORKS <= 200, "{used:?}");
    small(used);
    let maps = session.maps(session.thread(1).unwrap()).unwrap();
    assert_eq!(maps.iter().count(), 1 << 16);
}

#[test]
fn a_mapping_over_many_in_a_process_that_forks() {
    // The process maps anew what its fork covers, again and again.
    const ROUNDS: u64 = 100;
    let mut session = parent_of(1 << 12, 4);
    let ((), used) = measure(|| {
        for round in 0..ROUNDS {
            apply(&mut session, 1, |_| [fork(pid(round), 1), map(1, 0, 1 << 40, "/lib/y.so")].concat());
            apply(&mut session, 1 << 12, |number| map(1, number << 13, 4096, "/lib/x.so"));
            apply(&mut session, 1, |_| exit(0, pid(round), pid(round)));
        }
    });
    assert!(used.peak <= 8 << 20, "{used:?}");
}

#[test]
fn a_million_names_that_come_and_go() {
    let mut session = Session::new();
    let ((), used) = measure(|| {
        apply(&mut session, MILLION, |number| map(1, 0x1000, 4096, &format!("/tmp/{number}.so")));
    });
    small(used);
}

#[test]
fn a_million_forks_and_exits() {
    let mut session = parent_of(10, 4096);
    let ((), used) = measure(|| {
        apply(&mut session, MILLION, |number| {
            [fork(pid(number), 1), exit(0, pid(number), pid(number))].concat()
        });
    });
    small(used);
    assert_eq!(session.threads().count(), 2 + 4096);
}

#[test]
fn many_threads_of_a_process() {
    let mut session = parent_of(10, 4096);
    let ((), used) = measure(|| {
        apply(&mut session, MANY, |number| {
            let tid = pid(number);
            let fork = new().i32(1).i32(1).i32(tid).i32(1).u64(0).record(7, 0);
            [fork, exit(0, 1, tid)].concat()
        });
    });
    small(used);
}

#[test]
fn many_exits_of_guests() {
    let mut session = parent_of(10, 4096);
    let ((), used) =
        measure(|| apply(&mut session, MANY, |number| exit(GUEST_USER, pid(number), pid(number))));
    // A guest for each thread.
    assert!(used.peak <= 8 << 20, "{used:?}");
}

#[test]
fn a_thread_id_that_is_used_again_many_times() {
    let mut session = parent_of(10, 16);
    let ((), used) = measure(|| {
        apply(&mut session, MANY, |number| {
            let exits = if number % 2 == 0 { exit(0, 2, 2) } else { Vec::new() };
            [fork(2, 1), map(2, number << 12, 4096, "/lib/x.so"), exits].concat()
        });
    });
    small(used);
}

#[test]
fn many_symbols_of_the_kernel() {
    let mut session = Session::new();
    let symbol = |number: u64, end| {
        let name = format!("bpf_prog_{number:07}");
        new().u64(number << 8).u32(256).u16(1).u16(end).padded(name.as_bytes(), 24).record(17, 0)
    };
    let ((), used) = measure(|| {
        apply(&mut session, MANY, |number| [symbol(number, 0), symbol(number, 1)].concat());
    });
    small(used);
    assert!(session.kernel_maps().is_empty());
}

#[test]
fn many_execs() {
    let mut session = Session::new();
    let ((), used) = measure(|| {
        apply(&mut session, MANY, |number| {
            let comm = new().i32(1).i32(1).padded(format!("{number}").as_bytes(), 16).record(3, 1 << 13);
            [comm, map(1, number << 12, 4096, "/bin/x")].concat()
        });
    });
    small(used);
}

/// Found by way of the nodes that have it, wherever it is, and not found any more when something else is mapped there.
#[test]
fn a_jitdump_among_many_mappings() {
    const COUNT: u64 = 2000;
    for place in [0, 1, COUNT / 2, COUNT - 1] {
        let mut session = parent_of(COUNT, 0);
        let jitdump = |session: &Session| {
            let maps = session.maps(session.thread(1).unwrap()).unwrap();
            let start = maps.jitdump().map(|mapping| mapping.range().start);
            let first = maps.iter().find(|mapping| mapping.dso().path() == b"/tmp/jit-7.dump");
            assert_eq!(start, first.map(|mapping| mapping.range().start));
            start
        };
        assert_eq!(jitdump(&session), None);
        apply(&mut session, 1, |_| map(1, (place << 13) + 4096, 4096, "/tmp/jit-7.dump"));
        assert_eq!(jitdump(&session), Some((place << 13) + 4096));
        // Mappings around it come and go, so that nodes are split and dropped.
        apply(&mut session, COUNT, |number| map(1, number << 13, 2048, "/lib/y.so"));
        assert_eq!(jitdump(&session), Some((place << 13) + 4096));
        apply(&mut session, 1, |_| map(1, (place << 13) + 4096, 4096, "/tmp/jit-7.txt"));
        assert_eq!(jitdump(&session), None);
    }
}
