//! Each limit below, at and above it.

use perf_session::{Session, SessionLimits};

use crate::{Records, session_within};

fn exited(limit: usize) -> SessionLimits {
    let mut limits = SessionLimits::default();
    limits.exited = limit;
    limits
}

/// Threads 1 to 5 exit in the order of 3, 1, 2; 4 and 5 live on.
fn exits(it: Records) -> Records {
    let it = (1..=5).fold(it, |it, tid| it.comm(tid, tid, "x"));
    it.exit(3, 3).exit(1, 1).exit(2, 2)
}

fn tids(session: &Session) -> Vec<i32> {
    crate::known(session).into_iter().map(perf_session::Thread::tid).collect()
}

#[test]
fn of_exited_threads() {
    let of = |limit| tids(&session_within(&exited(limit), exits));
    assert_eq!(of(4), [1, 2, 3, 4, 5]);
    assert_eq!(of(3), [1, 2, 3, 4, 5]);
    assert_eq!(of(2), [1, 2, 4, 5]);
    assert_eq!(of(1), [2, 4, 5]);
    assert_eq!(of(0), [4, 5]);
}

#[test]
fn two_exits_of_a_thread_are_one() {
    assert_eq!(tids(&session_within(&exited(3), |it| exits(it).exit(2, 2).exit(2, 2))), [1, 2, 3, 4, 5]);
}

#[test]
fn a_thread_with_the_id_of_one_that_exited_is_kept() {
    // 3 exited first, and is there again.
    let it = session_within(&exited(2), |it| exits(it).fork(3, 3, 4, 4).exit(5, 5));
    assert_eq!(tids(&it), [2, 3, 4, 5]);
    let it = session_within(&exited(3), |it| exits(it).fork(3, 3, 4, 4).exit(5, 5));
    assert_eq!(tids(&it), [1, 2, 3, 4, 5]);
}

#[test]
fn a_process_is_dropped_with_its_last_thread() {
    let it = session_within(&exited(0), |it| {
        let it = it.map(5, 0x1000, 0x2000, "/x").fork(5, 6, 5, 5).exit(5, 5);
        // What comes after must not take the place of a process with a thread.
        it.map(7, 0x5000, 0x6000, "/y").exit(7, 7).map(8, 0x7000, 0x8000, "/z")
    });
    assert_eq!(crate::maps(&it, 6), ["1000-2000 0 /x"]);
    assert_eq!(crate::maps(&it, 8), ["7000-8000 0 /z"]);
    assert_eq!(tids(&it), [6, 8]);
}

#[test]
fn of_cgroups() {
    let of = |bytes: usize| {
        let mut limits = SessionLimits::default();
        limits.cgroups = bytes;
        let it = session_within(&limits, |it| it.cgroup(1, "/aaa").cgroup(2, "/bbb").cgroup(1, "/a"));
        (it.cgroup(1).is_some(), it.cgroup(2).is_some(), it.dropped_cgroups())
    };
    // A path of 4 bytes counts 68.
    assert_eq!(of(137), (true, true, 0));
    assert_eq!(of(136), (true, true, 0));
    assert_eq!(of(135), (true, false, 1));
    assert_eq!(of(68), (true, false, 1));
    assert_eq!(of(67), (true, false, 2));
    assert_eq!(of(65), (false, false, 3));
}

#[test]
fn of_build_ids() {
    let of = |bytes: usize| {
        let mut limits = SessionLimits::default();
        limits.build_ids = bytes;
        let it = session_within(&limits, |it| {
            let it = it.build_id(2, 1, "/aaa").build_id(2, 2, "/bbb").build_id(2, 1, "/aaa");
            it.map(5, 0x1000, 0x2000, "/aaa").map(5, 0x2000, 0x3000, "/bbb")
        });
        let maps = it.maps(it.thread(5).unwrap()).unwrap();
        let has = |addr| it.build_id(maps.find(addr).unwrap().dso()).is_some();
        (has(0x1000), has(0x2000), it.dropped_build_ids())
    };
    assert_eq!(of(137), (true, true, 0));
    assert_eq!(of(136), (true, true, 0));
    assert_eq!(of(135), (true, false, 1));
    assert_eq!(of(67), (false, false, 3));
}
