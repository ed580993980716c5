//! The `ioctl` requests of an event, and their numbers on every architecture.
//!
//! The number of a request consists of a direction, the size of the argument, the letter `$` and an index.
//! Their bit positions depend on the architecture ([`Encoding`]); the size of a pointer depends on the ABI
//! ([`PointerWidth`]).

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, U32};

/// The way an architecture composes the number of a request.
///
/// Kernel: `include/uapi/asm-generic/ioctl.h`, and the `asm/ioctl.h` of architectures that override it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Most architectures: x86, arm, arm64, riscv, s390, loongarch, csky.
    Generic,
    /// powerpc, mips, sparc and alpha: 3 bits of direction, 13 bits of size.
    Powerpc,
    /// parisc: as [`Generic`](Self::Generic), with read and write exchanged.
    Parisc,
}

impl Encoding {
    /// The encoding of the machine that this code runs on.
    pub const NATIVE: Self = if cfg!(any(
        target_arch = "powerpc",
        target_arch = "powerpc64",
        target_arch = "mips",
        target_arch = "mips64",
        target_arch = "mips32r6",
        target_arch = "mips64r6",
        target_arch = "sparc",
        target_arch = "sparc64",
    )) {
        Self::Powerpc
    } else {
        Self::Generic
    };

    /// Returns the lowest bit of the direction, and its values for no argument, for an argument that the
    /// kernel reads and for one that it writes.
    const fn direction(self) -> (u32, u32, u32, u32) {
        match self {
            Self::Generic => (30, 0, 1, 2),
            Self::Powerpc => (29, 1, 4, 2),
            Self::Parisc => (30, 0, 2, 1),
        }
    }
}

/// The width of a pointer in the calling program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointerWidth {
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

impl PointerWidth {
    /// The pointer width of the program that contains this code.
    pub const NATIVE: Self = if cfg!(target_pointer_width = "32") { Self::Bits32 } else { Self::Bits64 };

    /// Returns the bytes of a pointer.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }
}

/// The direction of a request: whether the kernel reads or writes the memory that the argument points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IocDirection {
    /// Neither, according to the number of the request. The argument, if any, is a plain number.
    None,
    /// The kernel reads. C: `_IOW`.
    Write,
    /// The kernel writes. C: `_IOR`.
    Read,
    /// The kernel reads and writes. C: `_IOWR`.
    ReadWrite,
}

/// The type whose size is part of a request's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// No argument.
    None,
    /// A 32-bit number.
    U32,
    /// A 64-bit number.
    U64,
    /// A pointer.
    Pointer,
}

impl Argument {
    /// Returns the bytes of this type.
    #[must_use]
    pub const fn bytes(self, pointer: PointerWidth) -> u32 {
        match self {
            Self::None => 0,
            Self::U32 => 4,
            Self::U64 => 8,
            Self::Pointer => pointer.bytes(),
        }
    }
}

/// An `ioctl` request of an event.
///
/// # Examples
///
/// ```
/// use perf_abi::ioctl::{Encoding, PointerWidth, Request};
/// assert_eq!(Request::ENABLE.number(Encoding::Generic, PointerWidth::Bits64), 0x2400);
/// assert_eq!(Request::ENABLE.number(Encoding::Powerpc, PointerWidth::Bits64), 0x2000_2400);
/// assert_eq!(Request::ID.number(Encoding::Generic, PointerWidth::Bits32), 0x8004_2407);
/// ```
///
/// Kernel: `PERF_EVENT_IOC_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The name in the kernel's header.
    pub c_name: &'static str,
    /// The lowest byte of the number.
    pub index: u8,
    /// The direction of the request.
    pub direction: IocDirection,
    /// The type whose size is part of the number.
    pub argument: Argument,
}

impl Request {
    /// The letter of the requests of perf events: the second byte of the number.
    pub const LETTER: u8 = b'$';

    /// Enables the event; takes [`IocFlags`]. Since Linux 2.6.31.
    #[doc(alias = "PERF_EVENT_IOC_ENABLE")]
    pub const ENABLE: Self = Self::new("PERF_EVENT_IOC_ENABLE", 0, IocDirection::None, Argument::None);
    /// Disables the event; takes [`IocFlags`]. Since Linux 2.6.31.
    #[doc(alias = "PERF_EVENT_IOC_DISABLE")]
    pub const DISABLE: Self = Self::new("PERF_EVENT_IOC_DISABLE", 1, IocDirection::None, Argument::None);
    /// Enables the event and adds the argument to the number of overflows after which it is disabled.
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_EVENT_IOC_REFRESH")]
    pub const REFRESH: Self = Self::new("PERF_EVENT_IOC_REFRESH", 2, IocDirection::None, Argument::None);
    /// Sets the count to 0, but not the times; takes [`IocFlags`]. Since Linux 2.6.31.
    #[doc(alias = "PERF_EVENT_IOC_RESET")]
    pub const RESET: Self = Self::new("PERF_EVENT_IOC_RESET", 3, IocDirection::None, Argument::None);
    /// Sets the period or frequency to the 64-bit number that the argument points to. Since Linux 2.6.31; it
    /// always failed before 2.6.36.
    #[doc(alias = "PERF_EVENT_IOC_PERIOD")]
    pub const PERIOD: Self = Self::new("PERF_EVENT_IOC_PERIOD", 4, IocDirection::Write, Argument::U64);
    /// Redirects the records to the ring of another event, given by its file descriptor; -1 ends the
    /// redirection. Since Linux 2.6.32.
    #[doc(alias = "PERF_EVENT_IOC_SET_OUTPUT")]
    pub const SET_OUTPUT: Self =
        Self::new("PERF_EVENT_IOC_SET_OUTPUT", 5, IocDirection::None, Argument::None);
    /// Sets the filter expression, a C string. Since Linux 2.6.33.
    #[doc(alias = "PERF_EVENT_IOC_SET_FILTER")]
    pub const SET_FILTER: Self =
        Self::new("PERF_EVENT_IOC_SET_FILTER", 6, IocDirection::Write, Argument::Pointer);
    /// Stores the event's id, 64 bits, at the address that the argument points to. Since Linux 3.12.
    #[doc(alias = "PERF_EVENT_IOC_ID")]
    pub const ID: Self = Self::new("PERF_EVENT_IOC_ID", 7, IocDirection::Read, Argument::Pointer);
    /// Attaches a BPF program, given by its file descriptor. Since Linux 4.1.
    #[doc(alias = "PERF_EVENT_IOC_SET_BPF")]
    pub const SET_BPF: Self = Self::new("PERF_EVENT_IOC_SET_BPF", 8, IocDirection::Write, Argument::U32);
    /// Pauses the ring if the argument is 1, resumes it if it is 0. Since Linux 4.7.
    #[doc(alias = "PERF_EVENT_IOC_PAUSE_OUTPUT")]
    pub const PAUSE_OUTPUT: Self =
        Self::new("PERF_EVENT_IOC_PAUSE_OUTPUT", 9, IocDirection::Write, Argument::U32);
    /// Writes the ids of the BPF programs attached to a tracepoint into a [`QueryBpf`]. Since Linux 4.16.
    #[doc(alias = "PERF_EVENT_IOC_QUERY_BPF")]
    pub const QUERY_BPF: Self =
        Self::new("PERF_EVENT_IOC_QUERY_BPF", 10, IocDirection::ReadWrite, Argument::Pointer);
    /// Changes a breakpoint to the attr that the argument points to. Since Linux 4.17.
    #[doc(alias = "PERF_EVENT_IOC_MODIFY_ATTRIBUTES")]
    pub const MODIFY_ATTRIBUTES: Self =
        Self::new("PERF_EVENT_IOC_MODIFY_ATTRIBUTES", 11, IocDirection::Write, Argument::Pointer);

    /// Every request, in the order of the index.
    pub const ALL: [Self; 12] = [
        Self::ENABLE,
        Self::DISABLE,
        Self::REFRESH,
        Self::RESET,
        Self::PERIOD,
        Self::SET_OUTPUT,
        Self::SET_FILTER,
        Self::ID,
        Self::SET_BPF,
        Self::PAUSE_OUTPUT,
        Self::QUERY_BPF,
        Self::MODIFY_ATTRIBUTES,
    ];

    const fn new(c_name: &'static str, index: u8, direction: IocDirection, argument: Argument) -> Self {
        Self { c_name, index, direction, argument }
    }

    /// Returns the request's number on an architecture with `encoding`, for programs with pointers
    /// of width `pointer`.
    #[must_use]
    pub const fn number(self, encoding: Encoding, pointer: PointerWidth) -> u32 {
        let (shift, none, write, read) = encoding.direction();
        let direction = match self.direction {
            IocDirection::None => none,
            IocDirection::Write => write,
            IocDirection::Read => read,
            IocDirection::ReadWrite => write | read,
        };
        direction << shift
            | self.argument.bytes(pointer) << 16
            | (Self::LETTER as u32) << 8
            | self.index as u32
    }

    /// Returns the request's number for the program that contains this code.
    #[must_use]
    pub const fn native(self) -> u32 {
        self.number(Encoding::NATIVE, PointerWidth::NATIVE)
    }
}

flags! {
    /// The argument of [`Request::ENABLE`], [`Request::DISABLE`] and [`Request::RESET`].
    ///
    /// Kernel: `enum perf_event_ioc_flags`.
    pub struct IocFlags(u32) {
        /// Applies the request to every event of the group. Since Linux 2.6.31; broken from 2.6.31 to 3.4.
        GROUP = 1 << 0, "PERF_IOC_FLAG_GROUP";
    }
}

/// The start of the buffer of [`Request::QUERY_BPF`]; room for `ids_len` 32-bit program ids follows.
///
/// Kernel: `struct perf_event_query_bpf`; since Linux 4.16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_event_query_bpf")]
pub struct QueryBpf<O: Endian> {
    /// Number of ids that fit into the buffer; the caller sets it.
    pub ids_len: U32<O>,
    /// Number of programs; the kernel sets it, even if the buffer is too small.
    pub prog_cnt: U32<O>,
}
