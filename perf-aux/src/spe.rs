//! Arm Statistical Profiling: packets, the records that they make, and the samples that perf makes of them.
//!
//! The Statistical Profiling Extension (SPE) writes one *record* for each operation that it samples. A record is a
//! sequence of *packets*: addresses, counters of cycles, events, the kind of operation, the source of the data. The
//! last one is an END or a TIMESTAMP packet.
//!
//! - [`Packets`] iterates over the packets of bytes, and [`Packet::text`] prints one as `perf script -D` does.
//! - [`Decoder`] makes [`SpeRecord`]s of packets, over any number of buffers, and keeps an [`Account`].
//! - [`Synthesis`] makes [`SpeSample`]s of a record, as `perf script --itrace` does.
//! - [`SpeInfo`] is the AUXTRACE_INFO record: what the samples of each CPU need.
//!
//! Nothing here allocates. No input causes a panic, and the work is proportional to the number of bytes.
//!
//! # From bytes to samples
//!
//! ```
//! use perf_aux::spe::{Decoder, SampleKind, SampleOptions, SpeCpu, Synthesis};
//!
//! let bytes = [
//!     0xb0, 0x00, 0x04, 0x40, 0, 0, 0, 0, 0x80, // the address of the instruction
//!     0x49, 0x00, // a load of a general-purpose register
//!     0x52, 0x16, 0x00, // events: retired, first-level cache access, TLB access
//!     0x98, 0x0a, 0x00, // 10 cycles from issue to completion
//!     0xb2, 0x40, 0x10, 0, 0, 0, 0x7f, 0, 0, // the address of the data
//!     0x01, // the end of the record
//! ];
//! let mut decoder = Decoder::new();
//! // One for each AUX area: it counts the records, to select every n-th.
//! let mut synthesis = Synthesis::new(SampleOptions::default());
//! // What AUXTRACE_INFO has of the CPU that wrote the bytes: `SpeInfo::cpu`.
//! let cpu = SpeCpu::default();
//! let mut kinds = Vec::new();
//! for record in decoder.records(0, &bytes) {
//!     for sample in synthesis.samples(&record, &cpu) {
//!         assert_eq!((sample.ip, sample.weight), (0x40_0400, 10));
//!         kinds.push(sample.kind);
//!     }
//! }
//! use SampleKind::{Instructions, L1dAccess, Memory, TlbAccess};
//! assert_eq!(kinds, [L1dAccess, TlbAccess, Memory, Instructions]);
//! assert_eq!((decoder.account().records, decoder.account().bad_bytes), (1, 0));
//! ```
//!
//! # As perf makes samples
//!
//! Samples are those of perf 7.2. A program that should print exactly what perf prints must do two things that are
//! not done here, because they are artefacts:
//!
//! - perf makes samples of damaged records too. So does [`Synthesis`] if it is given one; a program that does not
//!   want them tests [`SpeRecord::is_damaged`].
//! - If no event of the capture records times, perf first makes samples of an empty record for each AUX area:
//!   [`SpeRecord::default`]. If the events have times, perf skips the damaged records before the first whole one.
//!
//! perf 6.1 differs. Its samples of branches are mispredicted branches only, its `data_src` has fewer facts, the
//! `addr` of an `instructions` sample is the data's address, and only these samples are selected by the period.
//!
//! # Sources
//!
//! Arm Architecture Reference Manual (DDI 0487), "Statistical Profiling Extension Sample Record Specification"; perf's
//! `tools/perf/util/arm-spe-decoder` and `tools/perf/util/arm-spe.c`.
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::cast_possible_truncation,
        reason = "a test that indexes wrongly should fail loudly"
    )
)]

mod address;
mod data_source;
mod decoder;
mod events;
mod info;
mod midr;
mod operation;
mod packet;
mod packets;
mod record;
mod sample;
mod synthesis;
mod text;

pub use address::{AddressIndex, AddressPacket};
pub use decoder::{Account, Decoder, Records};
pub use events::EventFlags;
pub use info::{SpeCpu, SpeCpuInfo, SpeInfo, SpeInfoError};
pub use midr::{DataSourceEncoding, Midr};
pub use operation::{Operation, OperationClass, OperationPacket};
pub use packet::{CounterIndex, Packet, PacketFault};
pub use packets::{PacketAt, Packets};
pub use record::{RecordEnd, SpeRecord};
pub use sample::{Branches, IpFlags, SampleKind, SpeBranch, SpeSample};
pub use synthesis::{SampleKinds, SampleOptions, SpeSamples, Synthesis};
pub use text::{DumpLine, PacketText, SpeText};
