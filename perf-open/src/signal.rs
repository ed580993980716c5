//! Signals: of overflows, sent to whom one names, and of `sigtrap` events, sent to the task that caused them.
//!
//! # Overflows
//!
//! [`deliver`] has a signal sent each time the event wakes its readers: after `wakeup_events` samples, or with
//! [`Counter::refresh`](crate::Counter::refresh) after each overflow, and once more when they are used up. What it does is
//! three calls of `fcntl`, in this order: `F_SETOWN_EX` says who gets it, and alone can name a thread; `F_SETSIG` says
//! which, and makes it carry the descriptor; `O_ASYNC` turns it on. A real-time signal is queued; of others that come
//! before the first is taken only one arrives.
//!
//! # Traps
//!
//! An event with [`sigtrap`](crate::Builder::sigtrap) (since Linux 5.13) sends `SIGTRAP` to the task at the instruction
//! that overflowed, with the attr's `sig_data`. It needs `remove_on_exec`. [`Trap`] is what it carries.
//!
//! # Taking them
//!
//! [`Signals`] takes signals where the program has time for them. A trap that has to be dealt with on the spot takes a
//! handler, installed by `sigaction` with `SA_SIGINFO`, which is unsafe and the caller's to do; in it,
//! [`Signal::from`] the `siginfo_t` reads what it says, by loads alone.
//!
//! # Examples
//!
//! A breakpoint on a variable, and who wrote it:
//!
//! ```
//! use core::time::Duration;
//! use perf_open::abi::attr::Attr;
//! use perf_open::abi::breakpoint::BreakpointType;
//! use perf_open::abi::event::EventType;
//! use perf_open::signal::{Cause, Signals};
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
//! let signals = Signals::block(&[libc::SIGTRAP])?;
//! // Not every machine has breakpoints, nor every kernel traps.
//! let Ok(_watch) = event.open(&Target::this_thread()) else { return Ok(()) };
//! WATCHED.store(1, Ordering::Relaxed);
//!
//! let signal = signals.take(Some(Duration::from_secs(1)))?.expect("a trap");
//! let Cause::Trap(trap) = signal.cause else { panic!("{signal:?}") };
//! assert_eq!((trap.data, trap.kind), (0x2a, EventType::BREAKPOINT));
//! # Ok::<(), perf_open::Error>(())
//! ```

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::os::fd::{AsFd, RawFd};

use perf_abi::event::EventType;

use crate::error::Error;
use crate::sys::signal::{OwnerKind, Set, bytes, set_async, set_owner, set_signal, thread_id};

/// Who gets the signals of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Owner {
    /// The thread that asks for them.
    ThisThread,
    /// A thread, by its id.
    Thread(u32),
    /// A process, in whichever of its threads does not block the signal.
    Process(u32),
    /// All processes of a group.
    Group(u32),
}

/// Has `signal` sent to `owner` each time `event` wakes its readers.
///
/// # Errors
///
/// What `fcntl` says: `EINVAL` for a number that is no signal, `ESRCH` if the owner is gone.
#[doc(alias("F_SETSIG", "F_SETOWN_EX", "O_ASYNC"))]
pub fn deliver(event: impl AsFd, owner: Owner, signal: i32) -> Result<(), Error> {
    let event = event.as_fd();
    let failed = |advice: &'static str| move |error| Error::failed("fcntl", error, advice);
    let (kind, id) = match owner {
        Owner::ThisThread => (OwnerKind::Thread, thread_id().unsigned_abs()),
        Owner::Thread(id) => (OwnerKind::Thread, id),
        Owner::Process(id) => (OwnerKind::Process, id),
        Owner::Group(id) => (OwnerKind::Group, id),
    };
    let id = i32::try_from(id).map_err(|_| {
        Error::refused("fcntl", "owner", format!("owner {id}: there is no such thread or process"))
    })?;
    set_owner(event, kind, id).map_err(failed("F_SETOWN_EX: the owner is gone"))?;
    set_signal(event, signal).map_err(failed("F_SETSIG: the number is no signal"))?;
    set_async(event, true).map_err(failed("O_ASYNC"))
}

/// Has no more signals sent for `event`.
///
/// # Errors
///
/// What `fcntl` says; it has no reason to.
pub fn stop(event: impl AsFd) -> Result<(), Error> {
    set_async(event.as_fd(), false).map_err(|error| Error::failed("fcntl", error, "O_ASYNC"))
}

/// Signals that the calling thread does not handle but takes when asked to. What was blocked before is blocked again when
/// this is dropped; a signal that is still pending then is delivered.
pub struct Signals {
    set: Set,
    before: Set,
    /// Which signals are blocked is the thread's.
    thread: PhantomData<*const ()>,
}

impl Signals {
    /// Blocks `signals` in the calling thread.
    ///
    /// Others of its process still take those that are sent to the process: block them before threads are started.
    ///
    /// # Errors
    ///
    /// `EINVAL` for a number that is no signal.
    pub fn block(signals: &[i32]) -> Result<Self, Error> {
        let set = Set::new(signals)
            .map_err(|error| Error::failed("sigaddset", error, "the number is no signal"))?;
        let before = set.block().map_err(|error| Error::failed("pthread_sigmask", error, ""))?;
        Ok(Self { set, before, thread: PhantomData })
    }

    /// Takes one that is pending, or the next that comes; `None` when the time is over, or another signal was handled
    /// meanwhile. Without a timeout it waits for ever.
    ///
    /// # Errors
    ///
    /// What `sigtimedwait` says; it has no reason to.
    pub fn take(&self, timeout: Option<Duration>) -> Result<Option<Signal>, Error> {
        let info = self.set.take(timeout).map_err(|error| Error::failed("sigtimedwait", error, ""))?;
        Ok(info.as_ref().map(Signal::from))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Fails for no mask that was read before.
        let _ = self.before.restore();
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signals").finish_non_exhaustive()
    }
}

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its number.
    pub number: i32,
    /// `si_code`.
    pub code: i32,
    /// What it is about.
    pub cause: Cause,
}

/// What a signal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A descriptor has records, or its event overflowed. C: `POLL_IN`.
    Overflow {
        /// The descriptor.
        fd: RawFd,
    },
    /// The overflows that [`Counter::refresh`](crate::Counter::refresh) gave are used up. C: `POLL_HUP`.
    Hangup {
        /// The descriptor.
        fd: RawFd,
    },
    /// An event with `sigtrap` overflowed.
    Trap(Trap),
    /// Something else.
    Other,
}

/// What the `SIGTRAP` of an event carries.
///
/// Kernel: `force_sig_perf`; since Linux 5.13.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias("TRAP_PERF", "si_perf_data"))]
pub struct Trap {
    /// The address the event is about: that of a breakpoint. C: `si_addr`.
    pub addr: u64,
    /// The attr's `sig_data`. C: `si_perf_data`.
    pub data: u64,
    /// The attr's type. C: `si_perf_type`.
    pub kind: EventType,
    /// Whether the signal was blocked, and so came later than the instruction. C: `TRAP_PERF_FLAG_ASYNC`; since
    /// Linux 6.0.
    pub is_late: bool,
}

/// `si_code` of a trap of an event.
const TRAP_PERF: i32 = 6;
/// `si_code` of a descriptor that can be read.
const POLL_IN: i32 = 1;
/// `si_code` of a descriptor that is at its end.
const POLL_HUP: i32 = 6;

/// Bytes of a `long` and of a pointer; where they are 8, what follows the three numbers is aligned to 8.
const WORD: usize = size_of::<usize>();
/// Where what depends on the signal begins.
const FIELDS: usize = if WORD == 8 { 16 } else { 12 };

impl From<&libc::siginfo_t> for Signal {
    /// Reads what a signal carries. Of a descriptor's signal only if [`deliver`] or `F_SETSIG` named it.
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
            TRAP_PERF if info.si_signo == libc::SIGTRAP => Cause::Trap(Trap {
                addr: word(FIELDS),
                data: word(FIELDS + WORD),
                kind: EventType(number(FIELDS + 2 * WORD) as u32),
                is_late: number(FIELDS + 2 * WORD + 4) & 1 != 0,
            }),
            POLL_IN if is_fd => Cause::Overflow { fd },
            POLL_HUP if is_fd => Cause::Hangup { fd },
            _ => Cause::Other,
        };
        Self { number: info.si_signo, code: info.si_code, cause }
    }
}
