//! Rings: what the kernel wrote into a mapping, read from a dump or where it lies.
//!
//! A mapping of an event is a control page, a data area of 2^n pages, and perhaps, elsewhere, an AUX area. Positions
//! count bytes from the first that was written and do not wrap; where in the area they are is what is left of them
//! modulo its size. A record may run over the end of the area: such a one is copied into the caller's [`Buffer`], all
//! others are borrowed.
//!
//! - [`Forward`] and [`Backward`] walk over the records of a data area, given its positions. A live reader uses them as
//!   well; what it has to do for the memory it shares with the kernel is its own.
//! - [`Dump`] is a recorded mapping, or a data area alone: it finds the areas, walks, and keeps an [`Account`].
//! - [`AuxArea`] finds the data of an AUX record.
//! - [`Merge`] (feature `alloc`) gives the records of several rings by time, each with its event.
//! - [`Page`] is the control page in native values. Its [`Counter`], [`Clock`] and [`Times`] are the arithmetic for reading
//!   counts and times from user space.
//!
//! All but `Merge` and `OldestFirst` work without alloc, and allocate nothing.
//!
//! # Damage
//!
//! Positions and sizes that cannot be are an error when a ring is opened, with the kernel's name of the field. A record
//! that cannot be decoded does not stop the walk; a header whose size cannot be ends it, as where the next one is would
//! be a guess, and says how many bytes are not read. Whatever the bytes are, no walk takes more steps than there are words
//! of 8 bytes.
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
//! let layout = SampleLayout::new(&attr)?; // by the attr that the event was opened with
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
//! The newest records of a ring that overwrites, oldest first, and the one that was half overwritten:
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use perf_parse::abi::endian::LittleEndian;
//! use perf_parse::ring::{Backward, Buffer};
//!
//! # let (data, head) = ([*b"\x0e\0\0\0\0\0\x08\0", *b"\x0d\0\0\0\0\0\x10\0"].concat(), 24_u64.wrapping_neg());
//! let mut ring = Backward::<LittleEndian>::new(&data, head)?.oldest_first();
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
//! The walk keeps the two stretches that a ring unrolls to, not a position: between them it costs what walking over
//! bytes that lie end to end does.

mod account;
mod area;
mod aux_area;
mod backward;
mod buffer;
mod clock;
mod count;
mod dump;
mod error;
mod forward;
#[cfg(feature = "alloc")]
mod merge;
#[cfg(feature = "alloc")]
mod oldest;
mod page;
mod walk;

pub use account::Account;
pub use area::{DataArea, DecidedBy};
pub use aux_area::{AuxArea, AuxData};
pub use backward::Backward;
pub use buffer::Buffer;
pub use clock::{Clock, ShortClock};
pub use count::{Counter, Times};
pub use dump::{Direction, Dump};
pub use error::{RingError, RingErrorKind};
pub use forward::Forward;
#[cfg(feature = "alloc")]
pub use merge::{Merge, MergeError, RingRecord};
#[cfg(feature = "alloc")]
pub use oldest::OldestFirst;
pub use page::Page;
pub use walk::Torn;
