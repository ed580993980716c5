//! Intel Processor Trace: packets, the time that they tell, and the events among them.
//!
//! A trace is a stream of packets of 1 to 16 bytes without a common header. It can be decoded from any
//! [PSB packet](Packet::Psb) on. [`Packets`] returns the packets of a buffer, with their offsets and bytes. A byte
//! that starts no packet is an error, after which the iterator continues.
//!
//! - [`Lines`] prints packets as `perf script -D` does.
//! - [`LastIp`] and [`Context`] keep what packets leave out: addresses are compressed, and modes are only sent when they change.
//! - [`Info`] has the parameters of a capture, and [`Clock`] the time stamp counter after each packet.
//! - [`Events`] returns power events, PTWRITE values and the like, as `perf script --itrace=pwe` does. [`RawEvent`] reads them from the
//!   samples that perf made.
//!
//! The instructions between the packets are not reconstructed. That needs the code that ran; libipt and the crate
//! `iptr-decoder` do it.
//!
//! Nothing here allocates, and every step consumes at least one byte of the trace.
//!
//! Intel SDM, volume 3, chapter "Intel Processor Trace".

#![deny(
    clippy::std_instead_of_core,
    clippy::alloc_instead_of_core,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation
)]

mod block;
mod clock;
mod context;
mod decode;
mod error;
mod evds;
mod event;
mod events;
mod info;
mod ip;
mod lines;
mod mode;
mod packet;
mod packets;
mod power;
mod raw_event;
mod text;
mod trace_event;

pub use block::{BlockSize, BlockType};
pub use clock::Clock;
pub use context::Context;
pub use error::{PacketError, PacketErrorKind};
pub use event::{Event, EventKind};
pub use events::{EventPosition, EventState, Events};
pub use info::{Config, Info, InfoError};
pub use ip::{CompressedIp, IpCompression, LastIp};
pub use lines::{Line, Lines};
pub use mode::{Cbr, ModeExec, ModeTsx, Pip, Vmcs};
pub use packet::{Packet, PtWrite, Tma, Tnt, Trig};
pub use packets::{LocatedPacket, Packets};
pub use power::{Mwait, Pwre, Pwrx};
pub use raw_event::RawEvent;
pub use trace_event::{Cfe, CfeType, Evd, EvdType};
