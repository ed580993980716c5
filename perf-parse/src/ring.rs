//! Rings: the records that the kernel wrote to a mapping, read from a dump or in place.
//!
//! The mapping of an event has a control page and a data area of 2^n pages. An AUX area may be mapped separately. A
//! position counts the bytes written since the first one and never wraps; modulo the size of the area it is an offset
//! in the area. A record that crosses the end of the area is copied to the caller's [`Buffer`]. All other records are
//! borrowed.
//!
//! - [`RingWalk`] walks over the records of a data area between given positions. Live readers use it too, but must
//!   themselves synchronise with the kernel, which shares the memory. [`OldestFirst`] (feature `alloc`) reverses a ring
//!   that is written backward.
//! - [`Dump`] is a recorded mapping, or a data area alone. It finds the areas, walks over the records and keeps an
//!   [`DumpAccount`].
//! - [`AuxArea`] finds the data of an AUX record.
//! - [`Merge`] (feature `alloc`) returns the records of several rings in time order, each with its event.
//! - [`Page`] is the control page in native values. Its [`Pmc`], [`Clock`] and [`CounterTimes`] do the arithmetic for
//!   reading counts and times from user space.
//!
//! Everything except `Merge` and `OldestFirst` works without `alloc` and allocates nothing.
//!
//! # Damage
//!
//! Impossible positions and sizes are an error when a ring is opened; the error has the kernel's name of the field. A
//! record that cannot be decoded does not stop the walk. A header with an impossible size ends it, because the start
//! of the next record could only be guessed; the error reports how many bytes were not read. Whatever the bytes are,
//! a walk takes at most one step for each 8-byte word.
//!
//! # Examples
//!
//! A dump of a mapping, made by copying it out while the event was disabled:
//!
//! ```
//! use perf_parse::abi::attr::Attr;
//! use perf_parse::abi::endian::LittleEndian;
//! use perf_parse::ring::{Buffer, Direction, Dump, RingError};
//! use perf_parse::{Record, SampleLayout};
//!
//! # let mut dump = vec![0; 8192];
//! # dump[1024] = 48; // data_head
//! # dump[1032] = 24; // data_tail
//! # dump[1041] = 0x10; // data_offset
//! # dump[1049] = 0x10; // data_size
//! # dump[4096 + 24..][..24].copy_from_slice(b"\x02\0\0\0\0\0\x18\0\x01\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0");
//! # let attr = Attr::default();
//! let layout = SampleLayout::new(&attr)?; // the attr with which the event was opened
//! let mut dump = Dump::<LittleEndian>::open(&dump, Direction::Forward, None)?;
//! let mut buffer = Box::new(Buffer::new());
//! while let Some(record) = dump.next(&mut buffer) {
//!     match record?.decode(&layout) {
//!         Ok(Record::Lost(lost)) => assert_eq!(lost.lost, 5),
//!         Ok(record) => println!("{record:?}"),
//!         Err(error) => eprintln!("{error}"), // the next one is not affected
//!     }
//! }
//! let account = dump.account();
//! assert_eq!((account.records, account.lost, account.is_clean()), (1, 5, true));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The newest records of an overwritten ring, oldest first. The oldest one left may be partly overwritten:
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use perf_parse::abi::endian::LittleEndian;
//! use perf_parse::ring::{Buffer, OldestFirst};
//!
//! # let (data, head) = ([*b"\x0e\0\0\0\0\0\x08\0", *b"\x0d\0\0\0\0\0\x10\0"].concat(), 24_u64.wrapping_neg());
//! let mut ring = OldestFirst::<LittleEndian>::new(&data, head)?;
//! if let Some(torn) = ring.torn() {
//!     println!("{} bytes of the oldest record are left", torn.bytes);
//! }
//! let mut buffer = Box::new(Buffer::new());
//! while let Some(record) = ring.next(&mut buffer) {
//!     println!("{:?}", record?.kind());
//! }
//! # }
//! # Ok::<(), perf_parse::ring::RingError>(())
//! ```
//!
//! # Speed
//!
//! The walk keeps the two pieces of the unrolled ring, not a position. Within a piece it costs the same as a walk
//! over contiguous bytes.

mod account;
mod area;
mod aux_area;
mod buffer;
mod clock;
mod count;
mod dump;
mod error;
#[cfg(feature = "alloc")]
mod merge;
#[cfg(feature = "alloc")]
mod oldest;
mod page;
mod pieces;
mod walk;

pub use account::DumpAccount;
pub use area::{DataArea, DecidedBy};
pub use aux_area::{AuxArea, AuxData};
pub use buffer::Buffer;
pub use clock::{Clock, ShortClock};
pub use count::{CounterTimes, Pmc};
pub use dump::{Direction, Dump};
pub use error::{RingError, RingErrorKind};
#[cfg(feature = "alloc")]
pub use merge::{Merge, MergeError};
#[cfg(feature = "alloc")]
pub use oldest::OldestFirst;
pub use page::Page;
pub use walk::{RingWalk, TornRecord};
