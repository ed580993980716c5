//! The reader of the tracepoints of locks and futexes.

use perf_abi::endian::Endianness;
use perf_abi::event::EventType;
use perf_parse::event::Event;
use perf_parse::tracepoint::{Format, FormatField, Tracepoints, TracingData, Value};
use perf_session::SampleContext;

use super::event::{LockEvent, LockSample};
use super::flags::LockFlags;
use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;
use crate::tracepoints::tracing_data;

/// Reads the samples of the tracepoints of locks and futexes.
///
/// # Examples
///
/// ```
/// use perf_parse::Reader;
/// use perf_profile::lock::LockReader;
///
/// let reader = Reader::open("examples/captures/plain.data")?;
/// assert!(LockReader::new(&reader).is_err(), "it has no tracepoints");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LockReader<'a> {
    tracepoints: Vec<LockTracepoint<'a>>,
    endianness: Endianness,
}

/// A tracepoint with the fields that are read.
#[derive(Clone, Copy, Debug)]
struct LockTracepoint<'a> {
    /// The `config` of its events.
    id: u64,
    fields: LockFields<'a>,
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "a capture has a few of them")]
enum LockFields<'a> {
    Begin {
        address: FormatField<'a>,
        /// `None` before Linux 6.0.
        flags: Option<FormatField<'a>>,
    },
    End {
        address: FormatField<'a>,
    },
    /// `futex`, whose operation is an argument.
    Futex {
        address: FormatField<'a>,
        operation: FormatField<'a>,
    },
    /// A system call with one operation, which waits.
    FutexCall {
        address: FormatField<'a>,
        operation: &'static str,
    },
    FutexEnd,
}

/// The system calls that wait for futexes, and what they do. All addresses of `futex_waitv` are in the memory of the process, which
/// a capture does not have: the address of their list stands for them.
///
/// Linux: `kernel/futex/syscalls.c`.
const CALLS: [(&[u8], &[u8], &str); 2] =
    [(b"sys_enter_futex_wait", b"uaddr", "wait"), (b"sys_enter_futex_waitv", b"waiters", "waitv")];

impl<'a> LockFields<'a> {
    /// `None` if the tracepoint is none of those that are read, or lacks a field.
    fn new(format: &Format<'a>) -> Option<Self> {
        let field = |name: &[u8]| format.own_fields().iter().find(|it| it.name == name).copied();
        match (format.system, format.name) {
            (b"lock", b"contention_begin") => {
                Some(Self::Begin { address: field(b"lock_addr")?, flags: field(b"flags") })
            }
            (b"lock", b"contention_end") => Some(Self::End { address: field(b"lock_addr")? }),
            (b"syscalls", b"sys_enter_futex") => {
                Some(Self::Futex { address: field(b"uaddr")?, operation: field(b"op")? })
            }
            (b"syscalls", name) if name.starts_with(b"sys_exit_futex") => Some(Self::FutexEnd),
            (b"syscalls", name) => {
                let (_, address, operation) = CALLS.iter().find(|(call, ..)| *call == name)?;
                Some(Self::FutexCall { address: field(address)?, operation })
            }
            _ => None,
        }
    }

    fn is_futex(&self) -> bool {
        matches!(self, Self::Futex { .. } | Self::FutexCall { .. } | Self::FutexEnd)
    }
}

/// Returns the name of an operation of a futex that waits; `None` for others.
///
/// Linux: `FUTEX_WAIT` and others, `include/uapi/linux/futex.h`.
fn waiting_operation(operation: u64) -> Option<&'static str> {
    // FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
    match operation & !(128 | 256) {
        0 => Some("wait"),
        6 => Some("lock_pi"),
        9 => Some("wait_bitset"),
        11 => Some("wait_requeue_pi"),
        13 => Some("lock_pi2"),
        _ => None,
    }
}

impl<'a> LockReader<'a> {
    /// Finds the tracepoints of a capture.
    ///
    /// # Errors
    ///
    /// [`ProfileError::LocksNotRecorded`] if it has neither `lock:contention_begin` nor a system call that waits for a futex.
    pub fn new(capture: impl Into<CaptureInfo<'a>>) -> Result<Self, ProfileError> {
        let info = capture.into();
        let mut tracepoints = Vec::new();
        if let Ok(tracing) = TracingData::parse(tracing_data(info)) {
            for format in Tracepoints::new(&tracing).formats() {
                let id = u64::from(format.id);
                let is_of =
                    |event: &Event| event.attr.kind == EventType::TRACEPOINT && event.attr.config == id;
                if let Some(fields) = LockFields::new(format)
                    && info.events().iter().any(|event| is_of(event))
                {
                    tracepoints.push(LockTracepoint { id, fields });
                }
            }
        }
        let it = Self { tracepoints, endianness: info.endianness() };
        if it.has_kernel_locks() || it.has_futexes() { Ok(it) } else { Err(ProfileError::LocksNotRecorded) }
    }

    /// Returns whether the capture has `lock:contention_begin`.
    #[must_use]
    pub fn has_kernel_locks(&self) -> bool {
        self.tracepoints.iter().any(|it| matches!(it.fields, LockFields::Begin { .. }))
    }

    /// Returns whether the capture has a system call that waits for a futex.
    #[must_use]
    pub fn has_futexes(&self) -> bool {
        self.tracepoints.iter().any(|it| it.fields.is_futex() && !matches!(it.fields, LockFields::FutexEnd))
    }

    /// Returns whether an event is one of those that are read.
    #[must_use]
    pub fn is_read(&self, event: &Event) -> bool {
        self.tracepoint(event).is_some()
    }

    fn tracepoint(&self, event: &Event) -> Option<&LockTracepoint<'a>> {
        let is_it = |it: &&LockTracepoint<'_>| it.id == event.attr.config;
        self.tracepoints.iter().find(is_it).filter(|_| event.attr.kind == EventType::TRACEPOINT)
    }

    /// Reads a sample. `None` if it is of another event, of an operation of a futex that does not wait, or if its raw data or fields
    /// are too short.
    #[must_use]
    pub fn read(&self, at: &SampleContext<'_, '_>) -> Option<LockSample> {
        let tracepoint = self.tracepoint(at.record().event()?)?;
        let sample = at.sample();
        let raw = sample.tail().ok()?.raw?;
        let number = |field: &FormatField<'_>| match field.value(raw, self.endianness).ok()? {
            Value::Signed(number) => Some(number.cast_unsigned()),
            value => value.as_u64(),
        };
        let event = match &tracepoint.fields {
            LockFields::Begin { address, flags } => {
                let flags = flags.as_ref().and_then(number).unwrap_or(0);
                LockEvent::Begin { address: number(address)?, flags: LockFlags(flags as u32) }
            }
            LockFields::End { address } => LockEvent::End { address: number(address)? },
            LockFields::Futex { address, operation } => {
                let operation = waiting_operation(number(operation)?)?;
                LockEvent::FutexBegin { address: number(address)?, operation }
            }
            LockFields::FutexCall { address, operation } => {
                LockEvent::FutexBegin { address: number(address)?, operation }
            }
            LockFields::FutexEnd => LockEvent::FutexEnd,
        };
        let (pid, tid) = (sample.pid().unwrap_or(-1), sample.tid().unwrap_or(-1));
        Some(LockSample { time: sample.time()?, pid, tid, event })
    }
}
