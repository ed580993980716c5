//! `perf.data` captures: files, pipes and folders, also compressed or damaged.
//!
//! [`Reader`] reads all of them. [`AnyReader`] detects the byte order. The reader is compiled for each byte order, so
//! code that works with a capture is written as a function over `O: Endian`.
//!
//! # Examples
//!
//! All records in time order:
//!
//! ```
//! use perf_parse::abi::endian::Endian;
//! use perf_parse::file::{AnyReader, FileError, Reader};
//!
//! fn times<O: Endian>(mut reader: Reader<'_, O>) -> Result<Vec<u64>, FileError> {
//!     reader.in_time_order();
//!     let mut times = Vec::new();
//!     while let Some(record) = reader.next()? {
//!         times.extend(record.time().filter(|&time| time != 0));
//!     }
//!     Ok(times)
//! }
//!
//! # let path = "examples/captures/ids.data";
//! let bytes = std::fs::read(path)?;
//! let times = match AnyReader::open(&bytes)? {
//!     AnyReader::Little(reader) => times(reader)?,
//!     AnyReader::Big(reader) => times(reader)?,
//! };
//! assert!(times.is_sorted());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! A pipe, read as its bytes arrive; only MMAP2 and COMM are decoded:
//!
//! ```
//! use perf_parse::Record;
//! use perf_parse::abi::record::RecordType;
//! use perf_parse::file::AnyReader;
//!
//! # let path = "examples/captures/tracing.pipe.data";
//! let pipe = std::fs::File::open(path)?; // or standard input
//! let AnyReader::Little(mut reader) = AnyReader::stream(pipe)? else { panic!("recorded on x86") };
//! let mut names = Vec::new();
//! while let Some(record) = reader.next()? {
//!     // For records of other types, only the header is read.
//!     if matches!(record.raw.kind(), RecordType::MMAP2 | RecordType::COMM) {
//!         match record.decode()? {
//!             Record::Mmap2(mmap) => names.push(mmap.filename.to_vec()),
//!             Record::Comm(comm) => names.push(comm.comm.to_vec()),
//!             _ => {}
//!         }
//!     }
//! }
//! assert!(!names.is_empty());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Samples per event, in a damaged capture: [`Reader::next`] notes each error that it returns in the account, and the
//! next call continues after the damage.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use perf_parse::Record;
//! use perf_parse::file::AnyReader;
//!
//! # let path = "examples/captures/ids.data";
//! let mut bytes = std::fs::read(path)?;
//! bytes[0x558..0x560].fill(0); // damage: the header of a sample
//! let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("recorded on x86") };
//! let mut samples: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
//! loop {
//!     match reader.next() {
//!         Ok(None) => break,
//!         Err(damage) => eprintln!("{damage}"),
//!         Ok(Some(record)) => {
//!             if let Ok(Record::Sample(_)) = record.decode() {
//!                 let name = record.event().and_then(|event| event.name.clone());
//!                 *samples.entry(name.unwrap_or_default()).or_default() += 1;
//!             }
//!         }
//!     }
//! }
//! assert!(samples.values().sum::<u64>() > 0);
//! assert!(!reader.account().is_clean());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! AUX data: its offset and its bytes. A reader that walks past AUX data does not copy it:
//!
//! ```
//! use perf_parse::abi::record::RecordType;
//! use perf_parse::file::AnyReader;
//!
//! # let path = "examples/captures/auxtrace.le.data";
//! let bytes = std::fs::read(path)?;
//! let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("little-endian") };
//! let mut aux = 0;
//! while let Some(record) = reader.next()? {
//!     if record.raw.kind() == RecordType::AUXTRACE {
//!         assert_eq!(record.behind.len() as u64, record.behind_size);
//!         aux += record.behind_size;
//!     }
//! }
//! assert!(aux > 0);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! A copy with the samples of one thread, and every record that is not a sample:
//!
//! ```
//! use std::io::Cursor;
//!
//! use perf_parse::Record;
//! use perf_parse::abi::endian::LittleEndian;
//! use perf_parse::file::AnyReader;
//! use perf_parse::file::write::{EventFields, FileWriter, Options};
//!
//! # let path = "examples/captures/ids.data";
//! let bytes = std::fs::read(path)?;
//! let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("recorded on x86") };
//! let events: Vec<_> = reader.events().iter().map(EventFields::from).collect();
//! let mut writer = FileWriter::<LittleEndian, _>::new(Cursor::new(Vec::new()), &events, &Options::default())?;
//! let mut kept = 0;
//! while let Some(record) = reader.next()? {
//!     let wanted = match record.decode()? {
//!         Record::Sample(sample) => sample.tid() == sample.pid(),
//!         _ => true,
//!     };
//!     if wanted {
//!         writer.raw(&record.raw, record.behind)?;
//!         kept += 1;
//!     }
//! }
//! let copy = writer.finish()?.into_inner();
//! assert!(kept > 0 && copy.starts_with(b"PERFILE2"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! User call chains that come after their samples: see [`Reader::deferred_chains`].
//!
//! # Memory
//!
//! Reading a file of 4 GiB in time order, with 89 million samples in rounds of 20000, took 2.4 MiB beyond the mapping
//! (measured 2026-11-21, `perfdata dump --order time --fields time,tid`, the file made by `examples/generate.rs`).
//! Without rounds the memory is bounded by [`Limits::held_records`] and [`Limits::held_bytes`]. [`Limits`] has all
//! other bounds.

mod account;
mod check;
mod compressed;
mod deferred;
mod events;
mod fault_counts;
mod feature_table;
mod header;
mod limits;
mod reader;
mod records;
#[cfg(feature = "std")]
pub mod repair;
mod salvage;
mod source;
#[cfg(feature = "std")]
pub mod write;

pub use crate::error::{FileError, FileErrorKind, Part};
pub use account::Account;
pub use check::RecordCheck;
pub use deferred::DeferredChains;
pub use events::{Event, Events, Update};
pub use fault_counts::FaultCounts;
pub use header::{FileHeader, Section};
pub use limits::Limits;
pub use reader::{AnyReader, Mode, Reader};
pub use records::FileRecord;
#[cfg(feature = "std")]
pub use source::Stream;
pub use source::{Slice, Source};
