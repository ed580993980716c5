//! Signals of overflows and of traps, taken without a handler. Each test blocks signals in its own thread.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test should fail loudly")]

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd};

use perf_open::abi::attr::Attr;
use perf_open::abi::breakpoint::BreakpointType;
use perf_open::abi::event::{EventType, SwId};
use perf_open::signal::{Cause, Owner, Signals, deliver, stop};
use perf_open::{Builder, Counter, Event, Ring, Target};

const SECOND: Option<Duration> = Some(Duration::from_secs(1));
const SOON: Option<Duration> = Some(Duration::from_millis(20));

fn open(builder: &Builder) -> Option<Counter> {
    builder.open(&Target::this_thread()).map_err(|error| eprintln!("skipped: {error}")).ok()
}

fn faults() -> Builder {
    Builder::new(Event::software(SwId::PAGE_FAULTS)).exclude_kernel(true).sample_period(1).disabled(true)
}

/// Touches pages for the first time, one at a time, so that the signal of each is sent before the next.
fn touch(pages: usize) {
    let mut fresh = Vec::<u8>::with_capacity(pages << 12);
    for _ in 0..pages {
        fresh.extend([1; 4096]);
        std::thread::sleep(Duration::from_micros(50));
    }
    core::hint::black_box(Vec::leak(fresh));
}

#[test]
fn a_refresh_signals_each_overflow_and_the_end() {
    let signal = libc::SIGRTMIN() + 3; // queued, and so none is merged with another
    let signals = Signals::block(&[signal]).unwrap();
    let Some(counter) = open(&faults()) else { return };
    let _ring = Ring::map(&counter, 1).unwrap();
    deliver(&counter, Owner::ThisThread, signal).unwrap();
    counter.refresh(3).unwrap();
    touch(100);
    let fd = counter.as_fd().as_raw_fd();
    let mut causes = Vec::new();
    while let Some(taken) = signals.take(SOON).unwrap() {
        assert_eq!(taken.number, signal);
        causes.push(taken.cause);
    }
    assert_eq!(causes, [Cause::Overflow { fd }, Cause::Overflow { fd }, Cause::Hangup { fd }]);
    assert_eq!(counter.read().unwrap().value, 3, "it was disabled then");
}

#[test]
fn sigio_carries_the_descriptor_until_it_is_stopped() {
    let signals = Signals::block(&[libc::SIGIO]).unwrap();
    let Some(counter) = open(&faults()) else { return };
    let _ring = Ring::map(&counter, 1).unwrap();
    deliver(&counter, Owner::ThisThread, libc::SIGIO).unwrap();
    counter.enable().unwrap();
    touch(10);
    let taken = signals.take(SECOND).unwrap().unwrap();
    assert_eq!(taken.cause, Cause::Overflow { fd: counter.as_fd().as_raw_fd() });
    stop(&counter).unwrap();
    while signals.take(SOON).unwrap().is_some() {}
    touch(10);
    assert_eq!(signals.take(SOON).unwrap(), None);
}

#[test]
fn a_trap_carries_its_data() {
    static WATCHED: AtomicU64 = AtomicU64::new(0);
    let signals = Signals::block(&[libc::SIGTRAP]).unwrap();
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
    let Some(_counter) = open(&builder) else { return };
    WATCHED.store(1, Ordering::Relaxed);
    let taken = signals.take(SECOND).unwrap().unwrap();
    let Cause::Trap(trap) = taken.cause else { panic!("{taken:?}") };
    assert_eq!((taken.number, taken.code), (libc::SIGTRAP, 6));
    assert_eq!((trap.addr, trap.kind), (address, EventType::BREAKPOINT));
    assert_eq!(trap.data, 0xfeed_5eed_0000_0001_u64 & usize::MAX as u64);
    assert!(trap.is_late, "the signal was blocked");
    assert_eq!(signals.take(SOON).unwrap(), None);
}

#[test]
fn numbers_that_are_none_are_refused() {
    assert_eq!(Signals::block(&[1000]).unwrap_err().errno_name(), Some("EINVAL"));
    let Some(counter) = open(&faults()) else { return };
    assert_eq!(deliver(&counter, Owner::ThisThread, 1000).unwrap_err().errno_name(), Some("EINVAL"));
    assert_eq!(deliver(&counter, Owner::Thread(u32::MAX), libc::SIGIO).unwrap_err().errno(), None);
    let gone = deliver(&counter, Owner::Process(i32::MAX as u32), libc::SIGIO).unwrap_err();
    assert_eq!(gone.errno_name(), Some("ESRCH"), "{gone}");
}
