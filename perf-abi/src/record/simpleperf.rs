//! The records of Android's simpleperf: their header, and the fixed parts of their payloads.
//!
//! A struct does not include the variable part (a name, an array), which follows directly. These records have no
//! `sample_id` trailer. SPLIT has a piece of a longer record; SPLIT_END has no payload.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::RecordType;
use crate::endian::{Endian, I32, U16, U32, U64};

codes! {
    /// The kind of a file with symbols, as features and records of simpleperf store it.
    ///
    /// simpleperf: `enum DsoType`, `system/extras/simpleperf/dso.h`.
    pub struct SimpleperfDsoType(u32) {
        /// The kernel.
        KERNEL = 0, "DSO_KERNEL";
        /// A kernel module.
        KERNEL_MODULE = 1, "DSO_KERNEL_MODULE";
        /// An ELF file, also one inside of an apk.
        ELF_FILE = 2, "DSO_ELF_FILE";
        /// A file with dex files, such as a vdex file or an apk.
        DEX_FILE = 3, "DSO_DEX_FILE";
        /// A file that maps addresses to symbols, which a just-in-time compiler wrote.
        SYMBOL_MAP_FILE = 4, "DSO_SYMBOL_MAP_FILE";
        /// Any other file, or memory without a file.
        UNKNOWN_FILE = 5, "DSO_UNKNOWN_FILE";
    }
}

codes! {
    /// The origin of the call chain of a CALLCHAIN record: where the stack was unwound, and whether the chain was joined
    /// with those of other samples.
    ///
    /// simpleperf: `CallChainJoiner::ChainType`, `system/extras/simpleperf/CallChainJoiner.h`.
    pub struct SimpleperfChainType(u64) {
        /// Unwound from a copy of the stack.
        ORIGINAL_OFFLINE = 0, "CallChainJoiner::ORIGINAL_OFFLINE";
        /// Unwound in the stopped process.
        ORIGINAL_REMOTE = 1, "CallChainJoiner::ORIGINAL_REMOTE";
        /// Unwound from a copy of the stack, then joined.
        JOINED_OFFLINE = 2, "CallChainJoiner::JOINED_OFFLINE";
        /// Unwound in the stopped process, then joined.
        JOINED_REMOTE = 3, "CallChainJoiner::JOINED_REMOTE";
    }
}

codes! {
    /// The reason why simpleperf's unwinder stopped.
    ///
    /// simpleperf: `enum UnwindStackErrorCode`, `system/extras/simpleperf/OfflineUnwinder.h`.
    pub struct SimpleperfUnwindError(u64) {
        /// No error.
        NONE = 0, "ERROR_NONE";
        /// Memory could not be read.
        MEMORY_INVALID = 1, "ERROR_MEMORY_INVALID";
        /// The unwind information could not be used.
        UNWIND_INFO = 2, "ERROR_UNWIND_INFO";
        /// The unwinder does not support what it found.
        UNSUPPORTED = 3, "ERROR_UNSUPPORTED";
        /// An address lies in no valid mapping.
        INVALID_MAP = 4, "ERROR_INVALID_MAP";
        /// The stack has more frames than the maximum.
        MAX_FRAMES_EXCEEDED = 5, "ERROR_MAX_FRAMES_EXCEEDED";
        /// A frame has the same instruction and stack pointer as the next one.
        REPEATED_FRAME = 6, "ERROR_REPEATED_FRAME";
        /// The ELF file of a mapping is not valid.
        INVALID_ELF = 7, "ERROR_INVALID_ELF";
        /// The thread does not exist.
        THREAD_DOES_NOT_EXIST = 8, "ERROR_THREAD_DOES_NOT_EXIST";
        /// The thread did not stop in time.
        THREAD_TIMEOUT = 9, "ERROR_THREAD_TIMEOUT";
        /// A system call failed.
        SYSTEM_CALL = 10, "ERROR_SYSTEM_CALL";
    }
}

/// The header of simpleperf's records, in the place of a [`Header`](super::Header): it has a size of 32 bits, and no
/// `misc`.
///
/// simpleperf: `struct simpleperf_record_header`, `system/extras/simpleperf/record.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "simpleperf_record_header")]
pub struct SimpleperfHeader<O: Endian> {
    /// The type of the record, a [`RecordType`] from [`SIMPLEPERF_TYPE_START`](RecordType::SIMPLEPERF_TYPE_START) on.
    /// C: `type`.
    pub kind: U32<O>,
    /// The high half of the size. C: `size1`.
    pub size_high: U16<O>,
    /// The low half of the size. C: `size0`.
    pub size_low: U16<O>,
}

impl<O: Endian> SimpleperfHeader<O> {
    /// Returns a header with these native values. `size` is the number of bytes of the whole record.
    #[must_use]
    pub fn new(kind: RecordType, size: u32) -> Self {
        let [a, b, c, d] = size.to_be_bytes();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        Self { kind: U32::new(kind.0), size_high: U16::new(high), size_low: U16::new(low) }
    }

    /// Returns the number of bytes of the whole record: this header and the payload.
    #[must_use]
    pub fn size(&self) -> u32 {
        u32::from(self.size_high.get()) << 16 | u32::from(self.size_low.get())
    }
}

/// The text of `/proc/kallsyms`, which follows, padded to a multiple of 8 bytes.
///
/// simpleperf: `SIMPLE_PERF_RECORD_KERNEL_SYMBOL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "KernelSymbolRecord")]
pub struct RawKernelSymbol<O: Endian> {
    /// Bytes of the text, without padding.
    pub kallsyms_size: U32<O>,
}

/// A file with symbols; its NUL-padded path follows.
///
/// simpleperf: `SIMPLE_PERF_RECORD_DSO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "DsoRecord")]
pub struct RawSimpleperfDso<O: Endian> {
    /// Kind of the file, a [`SimpleperfDsoType`].
    pub dso_type: U64<O>,
    /// Number of the file, by which SYMBOL records name it.
    pub dso_id: U64<O>,
    /// Lowest virtual address of the file's executable segments.
    pub min_vaddr: U64<O>,
}

/// A symbol; its NUL-padded name follows.
///
/// simpleperf: `SIMPLE_PERF_RECORD_SYMBOL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "SymbolRecord")]
pub struct RawSimpleperfSymbol<O: Endian> {
    /// Virtual address in the file.
    pub addr: U64<O>,
    /// Bytes of the function.
    pub len: U64<O>,
    /// Number of the file, that of a DSO record.
    pub dso_id: U64<O>,
}

/// Ids of events; `count` [`RawEventIdEntry`]s follow.
///
/// simpleperf: `SIMPLE_PERF_RECORD_EVENT_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "EventIdRecord")]
pub struct RawEventId<O: Endian> {
    /// Number of entries that follow.
    pub count: U64<O>,
}

/// The event of an id.
///
/// simpleperf: `EventIdRecord::EventIdData`, `system/extras/simpleperf/record.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "EventIdData")]
pub struct RawEventIdEntry<O: Endian> {
    /// Index of the event among the attrs. C: `attr_id`.
    pub attr_id: U64<O>,
    /// Id of the event.
    pub event_id: U64<O>,
}

/// A call chain of user space; `ip_nr` addresses and `ip_nr` stack pointers follow.
///
/// simpleperf: `SIMPLE_PERF_RECORD_CALLCHAIN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "CallChainRecord")]
pub struct RawSimpleperfCallchain<O: Endian> {
    /// Process id.
    pub pid: I32<O>,
    /// Thread id.
    pub tid: I32<O>,
    /// Origin of the chain, a [`SimpleperfChainType`].
    pub chain_type: U64<O>,
    /// Time of the sample whose chain this is.
    pub time: U64<O>,
    /// Number of addresses, and of stack pointers.
    pub ip_nr: U64<O>,
}

/// The result of unwinding a stack.
///
/// The user registers follow: their ABI, their mask, and a word for each bit of the mask. Then the copy of the stack: its
/// size, and unless that is 0 its bytes and the size that the kernel copied. Then, except in older records, the call
/// chain: the number of addresses, the addresses, and the stack pointers.
///
/// simpleperf: `SIMPLE_PERF_RECORD_UNWINDING_RESULT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "UnwindingResultRecord")]
pub struct RawUnwindingResult<O: Endian> {
    /// Time of the sample whose stack was unwound.
    pub time: U64<O>,
    /// Nanoseconds that the unwinding took.
    pub used_time: U64<O>,
    /// Reason why the unwinder stopped, a [`SimpleperfUnwindError`].
    pub error_code: U64<O>,
    /// Address at which the error occurred.
    pub error_addr: U64<O>,
    /// Address of the start of the copied stack.
    pub stack_start: U64<O>,
    /// Address of the end of the copied stack.
    pub stack_end: U64<O>,
}

/// Formats of tracepoints, which follow, padded to a multiple of 64 bytes.
///
/// simpleperf: `SIMPLE_PERF_RECORD_TRACING_DATA`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "TracingDataRecord")]
pub struct RawSimpleperfTracingData<O: Endian> {
    /// Bytes of the formats, without padding.
    pub data_size: U32<O>,
}

/// A message; its NUL-padded text follows.
///
/// simpleperf: `SIMPLE_PERF_RECORD_DEBUG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "DebugRecord")]
pub struct RawDebug<O: Endian> {
    /// Time of the message.
    pub time: U64<O>,
}
