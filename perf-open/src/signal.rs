//! Signals: of overflows, sent to an owner of the program's choice, and of `sigtrap` events, sent to the task that
//! caused them.
//!
//! # Overflows
//!
//! After [`deliver`], the kernel sends a signal for each overflow of the event. `wakeup_events` and `wakeup_watermark`
//! decide when the reader of the ring wakes up; they have no effect on signals, and the event needs no ring. With
//! [`Counter::refresh`](crate::Counter::refresh) the signal of the last overflow is a hangup. [`deliver`] makes three
//! calls of `fcntl`, in this order. `F_SETOWN_EX` sets the receiver; only this call can name a thread. `F_SETSIG` sets
//! the signal, and makes the signal carry the descriptor. `O_ASYNC` turns the signals on. Real-time signals are queued.
//! Of any other signal, only one can be pending: those sent before it is taken are lost.
//!
//! # Traps
//!
//! An event with [`sigtrap`](crate::Builder::sigtrap) (since Linux 5.13) sends `SIGTRAP` to the task, at the
//! instruction that overflowed, with the attr's `sig_data`. It needs `remove_on_exec`. [`Trap`] holds what the signal
//! carries.
//!
//! # Taking signals
//!
//! [`BlockedSignals`] takes pending signals when the program asks for them. To handle a trap at once, install a handler with
//! `sigaction` and `SA_SIGINFO`; this is unsafe and left to the caller. In the handler, [`Signal::from`] decodes the
//! `siginfo_t`; it only loads from memory, so it is async-signal-safe.
//!
//! # Examples
//!
//! A breakpoint on a variable, and the trap of a write:
//!
//! ```
//! use core::time::Duration;
//! use perf_open::abi::attr::Attr;
//! use perf_open::abi::breakpoint::BreakpointType;
//! use perf_open::abi::event::EventType;
//! use perf_open::signal::{SignalCause, BlockedSignals};
//! use perf_open::{Builder, Target};
//! use core::sync::atomic::{AtomicU64, Ordering};
//!
//! static WATCHED: AtomicU64 = AtomicU64::new(0);
//!
//! let event = Builder::from(Attr { kind: EventType::BREAKPOINT, ..Attr::default() })
//!     .bp_type(BreakpointType::W)
//!     .bp_addr((&raw const WATCHED).addr() as u64)
//!     .bp_len(8)
//!     .sample_period(1)
//!     .exclude_kernel(true)
//!     .remove_on_exec(true)
//!     .sigtrap(true)
//!     .sig_data(0x2a);
//! let signals = BlockedSignals::block(&[libc::SIGTRAP])?;
//! // Some machines have no breakpoints, and some kernels no traps.
//! let Ok(_watch) = event.open(&Target::this_thread()) else { return Ok(()) };
//! WATCHED.store(1, Ordering::Relaxed);
//!
//! let signal = signals.take(Some(Duration::from_secs(1)))?.expect("a trap");
//! let SignalCause::Trap(trap) = signal.cause else { panic!("{signal:?}") };
//! assert_eq!((trap.data, trap.kind), (0x2a, EventType::BREAKPOINT));
//! # Ok::<(), perf_open::Error>(())
//! ```

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::os::fd::{AsFd, RawFd};

use perf_abi::event::EventType;

use crate::error::Error;
use crate::sys::signal::{OwnerKind, SigSet, bytes, set_async, set_owner, set_signal, thread_id};

/// The receiver of an event's signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalOwner {
    /// The calling thread.
    ThisThread,
    /// A thread, by its id.
    Thread(u32),
    /// A process, by its id: any of its threads that does not block the signal.
    Process(u32),
    /// All processes of a process group, by its id.
    Group(u32),
}

/// Makes the kernel send `signal` to `owner` each time `event` overflows.
///
/// # Errors
///
/// The errno of `fcntl`: `EINVAL` if `signal` is not a signal, `ESRCH` if the owner does not exist.
#[doc(alias("F_SETSIG", "F_SETOWN_EX", "O_ASYNC"))]
pub fn deliver(event: impl AsFd, owner: SignalOwner, signal: i32) -> Result<(), Error> {
    let event = event.as_fd();
    let failed = |advice: &'static str| move |error| Error::failed("fcntl", error, advice);
    let (kind, id) = match owner {
        SignalOwner::ThisThread => (OwnerKind::Thread, thread_id().unsigned_abs()),
        SignalOwner::Thread(id) => (OwnerKind::Thread, id),
        SignalOwner::Process(id) => (OwnerKind::Process, id),
        SignalOwner::Group(id) => (OwnerKind::Group, id),
    };
    let id = i32::try_from(id)
        .map_err(|_| Error::refused("fcntl", "owner", format!("owner {id}: not a thread or process")))?;
    set_owner(event, kind, id).map_err(failed("F_SETOWN_EX: the owner has ended"))?;
    set_signal(event, signal).map_err(failed("F_SETSIG: the number is not a signal"))?;
    set_async(event, true).map_err(failed("O_ASYNC"))
}

/// Stops the signals of `event`.
///
/// # Errors
///
/// The errno of `fcntl`; none is expected.
pub fn stop(event: impl AsFd) -> Result<(), Error> {
    set_async(event.as_fd(), false).map_err(|error| Error::failed("fcntl", error, "O_ASYNC"))
}

/// A set of blocked signals, which the calling thread takes on request.
///
/// Dropping it restores the thread's previous mask. A signal that is still pending is then delivered.
pub struct BlockedSignals {
    set: SigSet,
    before: SigSet,
    /// Makes the type neither `Send` nor `Sync`: the mask belongs to the thread.
    thread: PhantomData<*const ()>,
}

impl BlockedSignals {
    /// Blocks `signals` in the calling thread.
    ///
    /// Other threads of the process may still receive signals sent to the process. To prevent that, block the signals
    /// before starting threads.
    ///
    /// # Errors
    ///
    /// `EINVAL` if a number is not a signal.
    pub fn block(signals: &[i32]) -> Result<Self, Error> {
        let set = SigSet::new(signals)
            .map_err(|error| Error::failed("sigaddset", error, "the number is not a signal"))?;
        let before = set.block().map_err(|error| Error::failed("pthread_sigmask", error, ""))?;
        Ok(Self { set, before, thread: PhantomData })
    }

    /// Takes a pending signal, or waits for one. `None` if the timeout expires, or if a handler of another signal
    /// interrupted the wait. Without a timeout it waits forever.
    ///
    /// # Errors
    ///
    /// The errno of `sigtimedwait`; none is expected.
    pub fn take(&self, timeout: Option<Duration>) -> Result<Option<Signal>, Error> {
        let info = self.set.take(timeout).map_err(|error| Error::failed("sigtimedwait", error, ""))?;
        Ok(info.as_ref().map(Signal::from))
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // `pthread_sigmask` does not fail for a mask that it returned before.
        let _ = self.before.restore();
    }
}

impl fmt::Debug for BlockedSignals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockedSignals").finish_non_exhaustive()
    }
}

/// A signal that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The signal number.
    pub number: i32,
    /// `si_code`.
    pub code: i32,
    /// The cause of the signal.
    pub cause: SignalCause,
}

/// The cause of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalCause {
    /// The event of the descriptor overflowed, or a descriptor of another kind became readable. C: `POLL_IN`.
    Overflow {
        /// The descriptor.
        fd: RawFd,
    },
    /// The overflows that [`Counter::refresh`](crate::Counter::refresh) allowed are used up. C: `POLL_HUP`.
    Hangup {
        /// The descriptor.
        fd: RawFd,
    },
    /// An event with `sigtrap` overflowed.
    Trap(Trap),
    /// Another cause.
    Other,
}

/// The contents of an event's `SIGTRAP`.
///
/// Kernel: `force_sig_perf`; since Linux 5.13.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias("TRAP_PERF", "si_perf_data"))]
pub struct Trap {
    /// The address that the event is about, such as the address of a breakpoint. C: `si_addr`.
    pub addr: u64,
    /// The attr's `sig_data`. C: `si_perf_data`.
    pub data: u64,
    /// The attr's `type`. C: `si_perf_type`.
    pub kind: EventType,
    /// Whether the signal was blocked, so that it was delivered after a later instruction. C: `TRAP_PERF_FLAG_ASYNC`;
    /// since Linux 6.0.
    pub is_late: bool,
}

/// The `si_code` of an event's trap.
const TRAP_PERF: i32 = 6;
/// The `si_code` of a readable descriptor.
const POLL_IN: i32 = 1;
/// The `si_code` of a hangup.
const POLL_HUP: i32 = 6;

/// Bytes of a `long` and of a pointer. If it is 8, the fields after the first three numbers are aligned to 8.
const WORD: usize = size_of::<usize>();
/// The offset of the fields that depend on the signal.
const FIELDS: usize = if WORD == 8 { 16 } else { 12 };

impl From<&libc::siginfo_t> for Signal {
    /// Decodes what a signal carries. A descriptor is present only if [`deliver`] or `F_SETSIG` selected the signal.
    fn from(info: &libc::siginfo_t) -> Self {
        let bytes = bytes(info);
        let number = |at: usize| {
            let bytes = bytes.get(at..).and_then(|from| from.first_chunk());
            bytes.map_or(0, |bytes| i32::from_ne_bytes(*bytes))
        };
        let word = |at: usize| {
            let bytes = bytes.get(at..).and_then(|from| from.first_chunk());
            bytes.map_or(0, |bytes| usize::from_ne_bytes(*bytes) as u64)
        };
        let fd = number(FIELDS + WORD);
        let is_fd = info.si_signo != libc::SIGTRAP && fd >= 0;
        let cause = match info.si_code {
            TRAP_PERF if info.si_signo == libc::SIGTRAP => SignalCause::Trap(Trap {
                addr: word(FIELDS),
                data: word(FIELDS + WORD),
                kind: EventType(number(FIELDS + 2 * WORD) as u32),
                is_late: number(FIELDS + 2 * WORD + 4) & 1 != 0,
            }),
            POLL_IN if is_fd => SignalCause::Overflow { fd },
            POLL_HUP if is_fd => SignalCause::Hangup { fd },
            _ => SignalCause::Other,
        };
        Self { number: info.si_signo, code: info.si_code, cause }
    }
}
