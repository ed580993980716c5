//! Tests of what no capture is needed for.

use super::*;

fn sample(time: u64, tid: i32, event: LockEvent) -> LockSample {
    LockSample { time, pid: 7, tid, event }
}

const FLAGS: LockFlags = LockFlags::WRITE;

fn begin(address: u64) -> LockEvent {
    LockEvent::Begin { address, flags: FLAGS }
}

fn end(address: u64) -> LockEvent {
    LockEvent::End { address }
}

fn futex(address: u64) -> LockEvent {
    LockEvent::FutexBegin { address, operation: "wait" }
}

#[test]
fn a_wait_is_from_its_first_begin_to_its_end() {
    let mut tracker = LockTracker::default();
    assert_eq!(tracker.sample(&sample(10, 1, begin(5)), Some(0), 'a'), None);
    assert_eq!(tracker.sample(&sample(12, 1, begin(5)), Some(0), 'b'), None, "it spun and sleeps now");
    assert_eq!(tracker.sample(&sample(13, 2, begin(5)), Some(0), 'c'), None);
    assert_eq!(tracker.sample(&sample(14, 1, begin(6)), Some(0), 'd'), None, "an interrupt");
    let wait = tracker.sample(&sample(15, 1, end(6)), Some(0), ' ').unwrap();
    assert_eq!((wait.start, wait.end, wait.kept, wait.lock), (14, 15, 'd', LockId::Kernel(6)));
    let wait = tracker.sample(&sample(20, 1, end(5)), Some(1), ' ').unwrap();
    assert_eq!((wait.start, wait.end, wait.kept, wait.kind), (10, 20, 'a', "rwsem:W"));
    assert_eq!(tracker.sample(&sample(21, 1, end(5)), Some(1), ' '), None);
    assert_eq!(tracker.counts(), LockCounts { unfinished: 1, unmatched: 1, dropped: 0 });
}

#[test]
fn a_thread_waits_for_one_futex() {
    let mut tracker = LockTracker::default();
    assert_eq!(tracker.sample(&sample(1, 1, LockEvent::FutexEnd), None, 0), None, "it woke others");
    tracker.sample(&sample(2, 1, futex(5)), None, 1);
    tracker.sample(&sample(3, 1, begin(9)), None, 2);
    tracker.sample(&sample(4, 1, futex(6)), None, 3);
    let wait = tracker.sample(&sample(5, 1, LockEvent::FutexEnd), None, 0).unwrap();
    assert_eq!((wait.start, wait.kept, wait.lock), (4, 3, LockId::Futex { pid: 7, address: 6 }));
    assert_eq!(tracker.counts(), LockCounts { unfinished: 2, unmatched: 0, dropped: 0 });
}

#[test]
fn idle_threads_are_told_from_each_other() {
    let mut tracker = LockTracker::default();
    tracker.sample(&sample(1, 0, begin(5)), Some(0), 0);
    tracker.sample(&sample(2, 0, begin(5)), Some(1), 1);
    assert_eq!(tracker.sample(&sample(3, 0, end(5)), Some(1), 9).unwrap().start, 2);
    assert_eq!(tracker.sample(&sample(4, 0, end(5)), Some(0), 9).unwrap().start, 1);
}

#[test]
fn waits_beyond_the_limits_are_counted() {
    let mut tracker = LockTracker::within(2);
    for tid in 1..=3 {
        tracker.sample(&sample(1, tid, begin(5)), None, 0);
    }
    assert_eq!(tracker.counts(), LockCounts { unfinished: 2, unmatched: 0, dropped: 1 });
    assert_eq!(tracker.sample(&sample(2, 3, end(5)), None, 0), None);
    let mut tracker = LockTracker::default();
    for address in 0..49 {
        tracker.sample(&sample(1, 1, begin(address)), None, 0);
    }
    assert_eq!(tracker.counts(), LockCounts { unfinished: 48, unmatched: 0, dropped: 1 });
    // A clock that runs back gives no negative times.
    assert_eq!(tracker.sample(&sample(0, 1, end(47)), None, 0).unwrap().end, 1);
}

#[test]
fn types_have_the_names_of_each_version() {
    let names = |flags| (LockFlags(flags).name_in_6_1(), LockFlags(flags).name(), LockFlags(flags).class());
    assert_eq!(names(0), ("semaphore", "semaphore", "semaphore"));
    assert_eq!(names(1 | 4), ("rwlock:W", "rwlock:W", "rwlock"));
    assert_eq!(names(8), ("rtmutex", "rt-mutex", "rt-mutex"));
    assert_eq!(names(16 | 2), ("pcpu-sem:R", "pcpu-sem:R", "percpu-rwsem"));
    assert_eq!(names(32 | 1), ("mutex", "mutex", "mutex"));
    assert_eq!(names(64 | 1), ("unknown", "spinlock", "spinlock"));
    assert_eq!(names(8 | 1), ("unknown", "unknown", "unknown"));
    assert_eq!(LockFlags::of_name("mutex"), [LockFlags(32), LockFlags(33)]);
    assert_eq!(LockFlags::of_name("mutex-spin"), [LockFlags(33)]);
    assert_eq!(LockFlags::of_name("rwsem:R"), [LockFlags(2)]);
    assert_eq!(LockFlags::of_name("percpu-rwsem"), LockFlags::of_name("pcpu-sem"));
    assert!(LockFlags::of_name("spin").is_empty());
}
