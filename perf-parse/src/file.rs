//! `perf.data` captures: files, pipes and folders, also compressed or damaged.
//!
//! [`Reader`] opens all of them, of either byte order. [`Reader::records`] walks over the records.
//!
//! # Examples
//!
//! All records in time order:
//!
//! ```
//! use perf_parse::Reader;
//!
//! # let path = "examples/captures/ids.data";
//! let bytes = std::fs::read(path)?;
//! let mut times = Vec::new();
//! for record in Reader::new(&bytes)?.records().in_time_order() {
//!     times.extend(record?.time().filter(|&time| time != 0));
//! }
//! assert!(times.is_sorted());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! A pipe, read as its bytes arrive; only MMAP2 and COMM are decoded:
//!
//! ```
//! use perf_parse::abi::record::RecordType;
//! use perf_parse::{Reader, Record};
//!
//! # let path = "examples/captures/tracing.pipe.data";
//! let pipe = std::fs::File::open(path)?; // or standard input
//! let mut names = Vec::new();
//! for record in Reader::stream(pipe)?.records().only(&[RecordType::MMAP2, RecordType::COMM]) {
//!     match record?.decode()? {
//!         Record::Mmap2(mmap) => names.push(mmap.filename.to_vec()),
//!         Record::Comm(comm) => names.push(comm.comm.to_vec()),
//!         _ => {}
//!     }
//! }
//! assert!(!names.is_empty());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Samples per event, in a damaged capture: the walk notes each error that it returns in the account, and continues
//! after the damage.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use perf_parse::Reader;
//!
//! # let path = "examples/captures/ids.data";
//! let mut bytes = std::fs::read(path)?;
//! bytes[0x558..0x560].fill(0); // damage: the header of a sample
//! let reader = Reader::new(&bytes)?;
//! let mut samples: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
//! let mut records = reader.records();
//! for record in &mut records {
//!     match record {
//!         Err(damage) => eprintln!("{damage}"),
//!         Ok(record) if record.sample().is_some() => {
//!             let name = record.event().and_then(|event| event.name.clone());
//!             *samples.entry(name.unwrap_or_default()).or_default() += 1;
//!         }
//!         Ok(_) => {}
//!     }
//! }
//! assert!(samples.values().sum::<u64>() > 0);
//! assert!(!records.account().is_clean());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! The bytes of AUX data, which the walk does not copy:
//!
//! ```
//! use perf_parse::Reader;
//! use perf_parse::abi::record::RecordType;
//!
//! # let path = "examples/captures/auxtrace.le.data";
//! let bytes = std::fs::read(path)?;
//! let mut aux = 0;
//! for record in Reader::new(&bytes)?.records().only(&[RecordType::AUXTRACE]) {
//!     let record = record?;
//!     assert_eq!(record.trailing().len() as u64, record.trailing_size());
//!     aux += record.trailing_size();
//! }
//! assert!(aux > 0);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! User call chains that come after their samples: see [`DeferredSamples`] and [`Reader::deferred_chains`].
//!
//! # Memory
//!
//! Reading a file of 4 GiB in time order, with 89 million samples in rounds of 20000, took 2.4 MiB of memory besides
//! the mapping of the file (measured 2026-11-21, `perfdata dump --order time --fields time,tid`, the file made by
//! `examples/generate.rs`). Without rounds the memory is bounded by [`Limits::held_records`] and
//! [`Limits::held_bytes`]. [`Limits`] has all other bounds.

mod attrs;
mod aux_data;
mod blocks;
mod check;
mod decompress;
mod deferred;
mod deferred_samples;
mod feature_table;
mod header;
mod image;
mod init_map;
mod knowledge;
mod look_ahead;
mod open;
mod reader;
mod records;
mod source;
mod walk;
#[cfg(feature = "std")]
pub mod write;

pub use crate::account::{Account, FaultCounts, Mmap2Guesses};
pub use crate::error::{FileError, FileErrorKind, FilePart};
pub use crate::limits::Limits;
pub use blocks::Blocks;
pub use check::RecordCheck;
pub use deferred::DeferredChains;
pub use deferred_samples::{DeferredSample, DeferredSamples, EndedSamples};
pub use header::{FileHeader, Section};
pub use reader::{Mode, Reader};
pub use records::EventRecords;
pub(crate) use walk::FilePiece;
