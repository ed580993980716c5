//! Processes and threads: FORK, EXIT, COMM, and records without predecessors.

use perf_session::Session;

use crate::{BIT, USER, attr, comm, maps, play, session};

fn key(session: &Session, tid: i32) -> u64 {
    session.thread(tid).unwrap().key()
}

fn process_key(session: &Session, tid: i32) -> u64 {
    session.thread(tid).unwrap().process_key()
}

#[test]
fn a_fork_inherits_name_and_mappings() {
    let it = session(|it| it.comm(5, 5, "make").map(5, 0x1000, 0x2000, "/bin/make").fork(6, 6, 5, 5));
    assert_eq!(comm(&it, 6), "make");
    assert_eq!(maps(&it, 6), ["1000-2000 0 /bin/make"]);
    let thread = it.thread(6).unwrap();
    assert_eq!((thread.pid(), thread.tid(), thread.ppid(), thread.is_named()), (6, 6, Some(5), true));
    assert_ne!(key(&it, 5), key(&it, 6));
    assert_ne!(process_key(&it, 5), process_key(&it, 6));
}

#[test]
fn a_fork_and_its_parent_change_alone() {
    let it = session(|it| {
        let it = it.comm(5, 5, "make").map(5, 0x1000, 0x2000, "/bin/make").fork(6, 6, 5, 5);
        it.map(6, 0x2000, 0x3000, "/child").map(5, 0x3000, 0x4000, "/parent").comm(6, 6, "cc")
    });
    assert_eq!(maps(&it, 5), ["1000-2000 0 /bin/make", "3000-4000 0 /parent"]);
    assert_eq!(maps(&it, 6), ["1000-2000 0 /bin/make", "2000-3000 0 /child"]);
    assert_eq!((comm(&it, 5), comm(&it, 6)), ("make".into(), "cc".into()));
}

#[test]
fn the_threads_of_a_process_share_its_mappings() {
    let it = session(|it| {
        let it = it.comm(5, 5, "java").fork(5, 7, 5, 5).map(5, 0x1000, 0x2000, "/java");
        it.mmap_of(USER, (5, 7), (0x2000, 0x1000, 0), "/lib").comm(5, 7, "gc")
    });
    assert_eq!(maps(&it, 5), ["1000-2000 0 /java", "2000-3000 0 /lib"]);
    assert_eq!(maps(&it, 7), maps(&it, 5));
    assert_eq!((comm(&it, 5), comm(&it, 7)), ("java".into(), "gc".into()));
    assert_eq!(process_key(&it, 5), process_key(&it, 7));
    assert_ne!(key(&it, 5), key(&it, 7));
}

#[test]
fn a_fork_of_an_unnamed_parent_is_unnamed() {
    let it = session(|it| it.fork(6, 6, 5, 5).fork(6, 7, 6, 6));
    assert_eq!([5, 6, 7].map(|tid| comm(&it, tid)), [":5", ":6", ":7"]);
    assert!(crate::known(&it).iter().all(|thread| !thread.is_named()));
    assert_eq!(it.thread(5).unwrap().ppid(), None);
}

#[test]
fn a_fork_by_a_thread_inherits_from_its_process() {
    let it = session(|it| {
        let it = it.comm(5, 5, "sh").map(5, 0x1000, 0x2000, "/sh").fork(5, 7, 5, 5).comm(5, 7, "worker");
        it.fork(8, 8, 5, 7)
    });
    assert_eq!(comm(&it, 8), "worker");
    assert_eq!(maps(&it, 8), ["1000-2000 0 /sh"]);
}

#[test]
fn an_exec_replaces_the_mappings() {
    let it = session(|it| {
        let it = it.comm(5, 5, "sh").map(5, 0x1000, 0x2000, "/sh").fork(6, 6, 5, 5);
        it.exec(6, 6, "ls").map(6, 0x5000, 0x6000, "/ls")
    });
    assert_eq!(maps(&it, 5), ["1000-2000 0 /sh"]);
    assert_eq!(maps(&it, 6), ["5000-6000 0 /ls"]);
    assert_eq!(comm(&it, 6), "ls");
}

#[test]
fn a_comm_without_exec_keeps_the_mappings() {
    let it = session(|it| it.comm(5, 5, "sh").map(5, 0x1000, 0x2000, "/sh").comm(5, 5, "renamed"));
    assert_eq!(maps(&it, 5), ["1000-2000 0 /sh"]);
    assert_eq!(comm(&it, 5), "renamed");
}

#[test]
fn a_fork_that_is_followed_by_an_exec_inherits_no_mappings() {
    let it = session(|it| it.comm(5, 5, "sh").map(5, 0x1000, 0x2000, "/sh").fork_with(BIT, [6, 6, 5, 5]));
    assert!(maps(&it, 6).is_empty());
    assert_eq!(comm(&it, 6), "sh");
}

#[test]
fn a_thread_is_kept_after_its_exit() {
    let records =
        |it: crate::Records| it.comm(5, 5, "sh").map(5, 0x1000, 0x2000, "/sh").exit(5, 5).sample(USER, 5, 5);
    let (name, found) = play(&attr(), &perf_session::SessionLimits::default(), records, |it, record| {
        let at = it.at(record).unwrap();
        let mapping = at.find(at.mode(), 0x1800).unwrap();
        (at.thread().comm().to_vec(), mapping.dso().name().to_vec())
    });
    assert_eq!((name, found), (b"sh".to_vec(), b"/sh".to_vec()));
}

#[test]
fn an_exit_of_a_leader_leaves_its_threads() {
    let limits = {
        let mut it = perf_session::SessionLimits::default();
        it.exited = 0;
        it
    };
    let it = crate::session_within(&limits, |it| {
        it.comm(5, 5, "java").map(5, 0x1000, 0x2000, "/java").fork(5, 7, 5, 5).exit(5, 5)
    });
    assert!(it.thread(5).is_none());
    assert_eq!(maps(&it, 7), ["1000-2000 0 /java"]);
}

#[test]
fn a_thread_id_is_used_again_after_a_fork() {
    let first = |it: crate::Records| it.comm(5, 5, "sh").map(5, 0x1000, 0x2000, "/sh").fork(6, 6, 5, 5);
    let before = session(first);
    let it = session(|it| first(it).comm(6, 6, "old").exit(6, 6).fork(6, 6, 5, 5));
    assert_eq!(comm(&it, 6), "sh");
    assert_ne!(key(&before, 6), key(&it, 6));
    assert_ne!(process_key(&before, 6), process_key(&it, 6));
    assert_eq!(key(&before, 5), key(&it, 5));
}

#[test]
fn a_thread_id_is_used_again_without_a_fork() {
    let it = session(|it| {
        let it = it.comm(5, 5, "sh").map(5, 0x1000, 0x2000, "/sh").fork(5, 7, 5, 5).comm(5, 7, "worker");
        it.comm(8, 8, "other").map(8, 0x9000, 0xa000, "/other").sample(USER, 8, 7)
    });
    assert_eq!((comm(&it, 7), it.thread(7).unwrap().pid()), (":7".into(), 8));
    assert_eq!(maps(&it, 7), ["9000-a000 0 /other"]);
    assert_eq!(maps(&it, 5), ["1000-2000 0 /sh"]);
}

#[test]
fn records_without_predecessors() {
    // Each makes its thread known, and the leader of its process.
    for record in ["sample", "comm", "mmap", "fork", "exit"] {
        let it = session(|it| match record {
            "sample" => it.sample(USER, 5, 7),
            "comm" => it.comm(5, 7, "x"),
            "mmap" => it.mmap_of(USER, (5, 7), (0x1000, 0x1000, 0), "/x"),
            "fork" => it.fork(5, 7, 5, 5),
            _ => it.exit(5, 7),
        });
        let ids: Vec<_> = crate::known(&it).iter().map(|thread| (thread.pid(), thread.tid())).collect();
        assert_eq!(ids, [(5, 5), (5, 7)], "{record}");
        assert_eq!(process_key(&it, 5), process_key(&it, 7), "{record}");
        assert_eq!(comm(&it, 5), ":5", "{record}");
        assert_eq!(maps(&it, 5), maps(&it, 7), "{record}");
    }
}

#[test]
fn a_process_id_that_is_not_known_keeps_what_is() {
    // A sample of an exiting task has neither id. It says nothing of a thread that is known.
    let it = session(|it| it.comm(5, 7, "x").sample(USER, -1, 7).sample(USER, -1, -1));
    assert_eq!((it.thread(7).unwrap().pid(), comm(&it, 7)), (5, "x".into()));
    assert_eq!((it.thread(-1).unwrap().pid(), comm(&it, -1)), (-1, ":-1".into()));
}

#[test]
fn a_process_id_that_comes_later() {
    let it = session(|it| {
        let it = it.comm(-1, 7, "x").comm(5, 5, "leader").map(5, 0x1000, 0x2000, "/x");
        it.sample(USER, 5, 7)
    });
    assert_eq!((it.thread(7).unwrap().pid(), comm(&it, 7)), (5, "x".into()));
    assert_eq!(maps(&it, 7), ["1000-2000 0 /x"]);
    assert_eq!(process_key(&it, 5), process_key(&it, 7));
}

#[test]
fn a_leader_whose_process_id_comes_later_keeps_its_mappings() {
    let before = session(|it| it.mmap_of(USER, (-1, 7), (0x1000, 0x1000, 0), "/x"));
    let it = session(|it| it.mmap_of(USER, (-1, 7), (0x1000, 0x1000, 0), "/x").sample(USER, 7, 7));
    assert_eq!(it.thread(7).unwrap().pid(), 7);
    assert_eq!(maps(&it, 7), ["1000-2000 0 /x"]);
    assert_eq!(process_key(&before, 7), process_key(&it, 7));
}

#[test]
fn thread_0_is_the_idle_thread() {
    let it = session(|it| it.sample(crate::KERNEL, 0, 0).fork(1, 1, 0, 0));
    assert_eq!(comm(&it, 0), "swapper");
    assert!(it.thread(0).unwrap().is_named());
    assert_eq!(comm(&it, 1), "swapper");
}

#[test]
fn a_fork_of_itself() {
    let it = session(|it| it.comm(5, 5, "x").map(5, 0x1000, 0x2000, "/x").fork(5, 5, 5, 5));
    assert_eq!(maps(&it, 5), ["1000-2000 0 /x"]);
    assert_eq!(comm(&it, 5), "x");
}

#[test]
fn samples_without_ids_are_of_thread_minus_one() {
    use perf_parse::abi::attr::Attr;
    use perf_parse::abi::sample_type::SampleType;
    let attr = Attr { sample_type: SampleType::IP, ..Attr::default() };
    let records = |it: crate::Records| {
        let payload = it.bytes().u64(0x1000);
        it.record(9, USER, payload)
    };
    let ids = play(&attr, &perf_session::SessionLimits::default(), records, |it, record| {
        let at = it.at(record).unwrap();
        (at.thread().pid(), at.thread().tid())
    });
    assert_eq!(ids, (-1, -1));
}

#[test]
fn records_of_other_types_change_nothing() {
    let it = session(|it| {
        let it = it.comm(5, 5, "x");
        // LOST, of an event.
        let lost = it.bytes().u64s(&[1, 2]);
        let round = it.bytes();
        it.record(2, 0, lost).record(68, 0, round)
    });
    assert_eq!(crate::known(&it).len(), 1);
}
