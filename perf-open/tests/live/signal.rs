//! Signals of overflows and of traps, taken without a handler. Each test blocks signals in its own thread.

#![cfg(target_os = "linux")]

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd};

use perf_open::abi::attr::Attr;
use perf_open::abi::breakpoint::BreakpointType;
use perf_open::abi::event::{EventType, SwId};
use perf_open::signal::{BlockedSignals, SignalCause, SignalOwner, deliver, stop};
use perf_open::{Builder, Counter, EventSpec, Ring, Target};

use crate::support::touch;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    a_refresh_signals_each_overflow_and_the_end,
    sigio_carries_the_descriptor_until_it_is_stopped,
    wakeup_events_do_not_limit_the_signals_of_overflows,
    an_overflow_signals_without_wakeups_and_without_a_ring,
    a_watermark_does_not_limit_the_signals_of_overflows,
    a_period_has_one_signal_for_each_overflow,
    a_trap_carries_its_data,
    numbers_that_are_none_are_refused,
];

const SECOND: Option<Duration> = Some(Duration::from_secs(1));
const SOON: Option<Duration> = Some(Duration::from_millis(20));

fn open(builder: &Builder) -> Counter {
    builder.open(&Target::this_thread()).unwrap()
}

fn faults() -> Builder {
    Builder::new(EventSpec::software(SwId::PAGE_FAULTS)).exclude_kernel(true).sample_period(1).disabled(true)
}

/// Touches fresh pages one at a time, so that the signal of each is sent before the next.
fn touch_slowly(pages: usize) {
    for _ in 0..pages {
        touch(1);
        std::thread::sleep(Duration::from_micros(50));
    }
}

fn a_refresh_signals_each_overflow_and_the_end() {
    let signal = libc::SIGRTMIN() + 3; // queued, and so none is merged with another
    let signals = BlockedSignals::block(&[signal]).unwrap();
    let counter = open(&faults());
    let _ring = Ring::map(&counter, 1).unwrap();
    deliver(&counter, SignalOwner::ThisThread, signal).unwrap();
    counter.refresh(3).unwrap();
    touch_slowly(100);
    let fd = counter.as_fd().as_raw_fd();
    let mut causes = Vec::new();
    while let Some(taken) = signals.take(SOON).unwrap() {
        assert_eq!(taken.number, signal);
        causes.push(taken.cause);
    }
    assert_eq!(
        causes,
        [SignalCause::Overflow { fd }, SignalCause::Overflow { fd }, SignalCause::Hangup { fd }]
    );
    assert_eq!(counter.read().unwrap().value, 3, "it was disabled then");
}

fn sigio_carries_the_descriptor_until_it_is_stopped() {
    let signals = BlockedSignals::block(&[libc::SIGIO]).unwrap();
    let counter = open(&faults());
    let _ring = Ring::map(&counter, 1).unwrap();
    deliver(&counter, SignalOwner::ThisThread, libc::SIGIO).unwrap();
    counter.enable().unwrap();
    touch_slowly(10);
    let taken = signals.take(SECOND).unwrap().unwrap();
    assert_eq!(taken.cause, SignalCause::Overflow { fd: counter.as_fd().as_raw_fd() });
    stop(&counter).unwrap();
    while signals.take(SOON).unwrap().is_some() {}
    touch_slowly(10);
    assert_eq!(signals.take(SOON).unwrap(), None);
}

/// Touches `pages` fresh pages, and returns the number of signals of overflows and of wakeups of the ring, if there is one.
fn signals_of(builder: &Builder, with_ring: bool, pages: usize) -> (usize, u64) {
    let signal = libc::SIGRTMIN() + 3; // queued, and so none is merged with another
    let signals = BlockedSignals::block(&[signal]).unwrap();
    let counter = open(builder);
    let mut ring = with_ring.then(|| Ring::map(&counter, 16).unwrap());
    deliver(&counter, SignalOwner::ThisThread, signal).unwrap();
    let fd = counter.as_fd().as_raw_fd();
    counter.enable().unwrap();
    let mut wakeups = 0;
    for _ in 0..pages {
        touch_slowly(1);
        // A poll resets the wakeup, so that each page is asked for its own.
        let ready = ring.as_mut().map(|ring| ring.wait(Some(Duration::ZERO)).unwrap());
        wakeups += u64::from(ready.is_some_and(|ready| ready.records));
    }
    counter.disable().unwrap();
    // Code of the test may have faulted in pages of its own.
    let count = counter.read().unwrap().value;
    let mut taken = 0;
    while let Some(signal) = signals.take(SOON).unwrap() {
        assert_eq!(signal.cause, SignalCause::Overflow { fd });
        taken += 1;
    }
    let period = counter.attr().sample_period;
    assert!(count >= pages as u64, "{count} faults");
    assert_eq!(taken as u64, count / period, "{count} faults, one signal for each {period}");
    (taken, wakeups)
}

/// A signal for each sample, and a wakeup for every tenth. (`wakeup_events_overflow` in `perf_event_tests` asks for the
/// same.)
fn wakeup_events_do_not_limit_the_signals_of_overflows() {
    let (taken, wakeups) = signals_of(&faults().wakeup_events(10), true, 100);
    assert!((10..=taken as u64 / 5).contains(&wakeups), "{wakeups} wakeups, {taken} signals");
}

/// A signal needs neither a wakeup nor a ring. (`overflow_requires_wakeup` in `perf_event_tests`.)
fn an_overflow_signals_without_wakeups_and_without_a_ring() {
    assert_eq!(signals_of(&faults().wakeup_events(0), true, 50).1, 0, "the ring is not half full");
    signals_of(&faults().wakeup_events(0), false, 50);
    signals_of(&faults().wakeup_events(10), false, 50);
}

fn a_watermark_does_not_limit_the_signals_of_overflows() {
    assert_eq!(signals_of(&faults().wakeup_watermark(1 << 15), true, 50).1, 0);
}

fn a_period_has_one_signal_for_each_overflow() {
    let (taken, _) = signals_of(&faults().sample_period(10).wakeup_events(1), true, 100);
    assert!(taken < 50, "{taken} signals of 100 pages");
}

fn a_trap_carries_its_data() {
    needs::all(&[needs::Need::Breakpoints]);
    static WATCHED: AtomicU64 = AtomicU64::new(0);
    let signals = BlockedSignals::block(&[libc::SIGTRAP]).unwrap();
    let address = (&raw const WATCHED).addr() as u64;
    let builder = Builder::from(Attr { kind: EventType::BREAKPOINT, ..Attr::default() })
        .bp_type(BreakpointType::W)
        .bp_addr(address)
        .bp_len(8)
        .sample_period(1)
        .exclude_kernel(true)
        .remove_on_exec(true)
        .sigtrap(true)
        .sig_data(0xfeed_5eed_0000_0001);
    let _counter = open(&builder);
    WATCHED.store(1, Ordering::Relaxed);
    let taken = signals.take(SECOND).unwrap().unwrap();
    let SignalCause::Trap(trap) = taken.cause else { panic!("{taken:?}") };
    assert_eq!((taken.number, taken.code), (libc::SIGTRAP, 6));
    assert_eq!((trap.addr, trap.kind), (address, EventType::BREAKPOINT));
    assert_eq!(trap.data, 0xfeed_5eed_0000_0001_u64 & usize::MAX as u64);
    assert!(trap.is_late, "the signal was blocked");
    assert_eq!(signals.take(SOON).unwrap(), None);
}

fn numbers_that_are_none_are_refused() {
    assert_eq!(BlockedSignals::block(&[1000]).unwrap_err().errno_name(), Some("EINVAL"));
    let counter = open(&faults());
    assert_eq!(deliver(&counter, SignalOwner::ThisThread, 1000).unwrap_err().errno_name(), Some("EINVAL"));
    assert_eq!(deliver(&counter, SignalOwner::Thread(u32::MAX), libc::SIGIO).unwrap_err().errno(), None);
    let gone = deliver(&counter, SignalOwner::Process(i32::MAX as u32), libc::SIGIO).unwrap_err();
    assert_eq!(gone.errno_name(), Some("ESRCH"), "{gone}");
}
