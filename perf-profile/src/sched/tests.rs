//! The three views of switches: known sequences, and any.

use proptest::prelude::*;

use super::*;

fn at(time: u64, cpu: u32, tid: i32, event: SchedEvent<'_>) -> SchedSample<'_> {
    SchedSample { time, cpu, pid: tid, tid, event }
}

fn switch(prev_tid: i32, prev_state: i64, next_tid: i32) -> SwitchEvent<'static> {
    SwitchEvent {
        prev_tid,
        prev_comm: b"prev",
        prev_prio: Some(120),
        prev_state,
        next_tid,
        next_comm: b"next",
        next_prio: Some(100),
    }
}

fn wakeup(tid: i32) -> WakeupEvent<'static> {
    WakeupEvent { kind: WakeupKind::Waking, tid, comm: b"woken", target_cpu: Some(0) }
}

#[test]
fn a_wait_is_from_switch_to_switch() {
    let mut timehist = Timehist::new(TimehistOptions::default(), 1);
    let first = switch(7, 1, 8);
    timehist.switch(&at(1000, 0, 7, SchedEvent::Switch(first)), &first, "S");
    let woken = wakeup(7);
    assert!(timehist.wakeup(&at(1600, 0, 8, SchedEvent::Wakeup(woken)), &woken, true).is_some());
    let then = switch(8, 0, 7);
    timehist.switch(&at(2000, 0, 8, SchedEvent::Switch(then)), &then, "R");
    let last = switch(7, 2, 8);
    let row = timehist.switch(&at(2300, 0, 7, SchedEvent::Switch(last)), &last, "D").unwrap();
    assert_eq!((row.times.sleep, row.times.wait(), row.times.delay, row.times.run), (1000, 1000, 400, 300));
    assert_eq!((row.state, row.task.unwrap().tid), (b'D', 7));
    // The other thread was preempted.
    let end = switch(8, 1, 0);
    let row = timehist.switch(&at(2900, 0, 8, SchedEvent::Switch(end)), &end, "S").unwrap();
    assert_eq!((row.times.preempt, row.times.delay, row.times.run), (300, 300, 600));
    assert_eq!(timehist.span(), 1900);
}

#[test]
fn times_outside_a_span_are_left_out() {
    let mut options = TimehistOptions::default();
    (options.start, options.end) = (1500, 2500);
    let mut timehist = Timehist::new(options, 1);
    let mut ran = Vec::new();
    for (time, prev, next) in [(1000, 7, 8), (2000, 8, 7), (3000, 7, 8), (4000, 8, 7)] {
        let switch = switch(prev, 0, next);
        let row = timehist.switch(&at(time, 0, prev, SchedEvent::Switch(switch)), &switch, "R");
        ran.push(row.map(|row| (row.time, row.times.run)));
    }
    assert_eq!(ran, [None, Some((2000, 500)), Some((2500, 500)), None]);
}

#[test]
fn delays_are_from_wakeup_to_run() {
    let mut latency = Latency::new(PerfVersion::V7_2, None).with_runs_by_switches();
    let events = [
        (100, SchedEvent::Switch(switch(7, 1, 8)), "S"),
        (150, SchedEvent::Wakeup(wakeup(7)), ""),
        // The thread can run already.
        (160, SchedEvent::Wakeup(wakeup(7)), ""),
        (200, SchedEvent::Switch(switch(8, 0, 7)), "R"),
        (260, SchedEvent::Switch(switch(7, 1, 8)), "S"),
        // A thread that did not run leaves.
        (300, SchedEvent::Switch(switch(9, 1, 7)), "S"),
    ];
    for (time, event, letters) in events {
        latency.event(&at(time, 0, 8, event), letters);
    }
    let rows = latency.rows(true, &[LatencySort::Pid]);
    let row = |tid| rows.iter().find(|row| row.tid == tid).unwrap();
    assert_eq!((row(7).count, row(7).delay, row(7).max), (1, 50, 50));
    assert_eq!((row(7).max_start, row(7).max_end, row(7).runtime), (150, 200, 60));
    assert_eq!((row(8).count, row(8).delay, row(8).runtime), (2, 60, 100));
    assert_eq!((latency.faults().switches, latency.faults().wakeups), (1, 1));
    assert_eq!(rows.iter().map(|row| row.tid).collect::<Vec<_>>(), [8, 7]);
}

#[test]
fn short_names_are_given_in_turn() {
    let mut map = CpuMap::new(PerfVersion::V7_2, 2, false, None);
    let mut names = Vec::new();
    for tid in 0..300 {
        let switch = switch(tid, 0, tid + 1);
        let line = map.switch(&at(tid as u64, 0, tid, SchedEvent::Switch(switch)), &switch, true).unwrap();
        names.push(String::from_utf8(line.named.unwrap().1.to_vec()).unwrap());
    }
    assert_eq!((&*names[0], &*names[25], &*names[26], &*names[259]), ("A0", "Z0", "A1", "Z9"));
    assert_eq!(names[260], "A0", "perf begins again");
    let switch = switch(300, 0, 0);
    let line = map.switch(&at(400, 0, 300, SchedEvent::Switch(switch)), &switch, true).unwrap();
    assert_eq!(line.named.unwrap().1, *b". ");
}

#[test]
fn threads_beyond_the_limit_are_counted() {
    let mut tasks = PerfTasks::within(PerfVersion::V7_2, 3);
    assert!(tasks.find(1, 1).is_some() && tasks.find(2, 2).is_some());
    assert_eq!((tasks.find(3, 3), tasks.beyond()), (None, 1));
    assert!(tasks.find(1, 1).is_some(), "it is known");
    assert_eq!(tasks.listed().len(), 3);
}

fn any_event() -> impl Strategy<Value = (u64, u32, i32, u8, i32, i64)> {
    let time = prop_oneof![0..50_u64, any::<u64>()];
    let cpu = prop_oneof![0..3_u32, any::<u32>()];
    let tid = || prop_oneof![-1..5_i32, any::<i32>()];
    (time, cpu, tid(), 0..4_u8, tid(), prop_oneof![0..4_i64, any::<i64>()])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_events_are_taken(events in prop::collection::vec(any_event(), 0..100), old: bool, span in any::<(u64, u64)>()) {
        let version = if old { PerfVersion::V6_1 } else { PerfVersion::V7_2 };
        let mut options = TimehistOptions { version, shows_prios: true, idle: span.0 % 2 == 0, ..TimehistOptions::default() };
        if span.1 % 2 == 0 {
            (options.start, options.end) = span;
        }
        let mut timehist = Timehist::new(options, 2);
        let mut latency = Latency::new(version, (span.0 % 3 == 0).then_some(0));
        let mut map = CpuMap::new(version, 2, span.0 % 5 == 0, None);
        let mut switches = 0;
        for (time, cpu, tid, kind, other, number) in events {
            let event = match kind {
                0 => SchedEvent::Wakeup(wakeup(other)),
                1 => SchedEvent::Migration(MigrationEvent { tid: other, from: 0, to: 1 }),
                2 => SchedEvent::Runtime(RuntimeEvent { tid: other, nanoseconds: number.unsigned_abs() }),
                _ => SchedEvent::Switch(switch(tid, number, other)),
            };
            let sample = at(time, cpu, tid, event);
            latency.event(&sample, "S");
            match &sample.event {
                SchedEvent::Switch(it) => {
                    timehist.switch(&sample, it, "R+");
                    switches += u64::from(map.switch(&sample, it, true).is_some());
                }
                SchedEvent::Wakeup(it) => {
                    timehist.wakeup(&sample, it, true);
                }
                SchedEvent::Migration(it) => {
                    timehist.migration(&sample, it, true);
                }
                SchedEvent::Runtime(_) => {}
            }
        }
        let counted: u64 = latency.rows(false, &[]).iter().map(|row| row.count).sum();
        prop_assert!(counted <= switches);
        let _ = (timehist.idle_stats(), timehist.summary().count(), timehist.span());
    }
}
