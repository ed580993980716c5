//! `perf.data` files: header, events, feature sections, and the walk over the records.
//!
//! A [`File`] borrows the bytes of the whole file, mapped or read; opening it indexes the attrs and their ids and
//! nothing else. [`File::records`] walks the data section in file order, tells each record's event, and keeps the
//! [`Account`] of all that was read, lost and skipped.

mod account;
mod build_id;
mod compressed;
mod error;
mod events;
mod features;
mod header;
mod reader;
mod records;
mod salvage;
mod source;
#[cfg(feature = "std")]
pub mod write;

pub use account::Account;
pub use build_id::{BuildId, BuildIds};
pub use error::{FileError, FileErrorKind};
pub use events::{Event, Events, Update};
pub use features::{
    Bitmap, BpfBtf, BpfProgInfo, BpfProgram, Cache, ClockData, Compression, CpuDomains, CpuPlace,
    CpuTopology, DomainInfo, EMachine, EventDesc, EventDescs, FeatureSection, GroupDesc, HybridPmu, MemNode,
    MemTopology, NumaNode, PmuCap, PmuCaps, SchedDomain,
};
pub use header::{FileHeader, Section};
pub use reader::{AnyReader, Mode, ORDER_LIMIT, Reader};
pub use records::FileRecord;
#[cfg(feature = "std")]
pub use source::Stream;
pub use source::{Slice, Source};
