//! `perf.data` files: header, events, feature sections, and the walk over the records.
//!
//! A [`File`] borrows the bytes of the whole file, mapped or read; opening it indexes the attrs and their ids and
//! nothing else. [`File::records`] walks the data section in file order, tells each record's event, and keeps the
//! [`Account`] of all that was read, lost and skipped.

mod account;
mod build_id;
mod dispatch;
mod error;
mod events;
mod features;
mod header;
mod records;
#[cfg(feature = "std")]
pub mod write;

pub use account::Account;
pub use build_id::{BuildId, BuildIds};
pub use error::{FileError, FileErrorKind};
pub use events::Event;
pub use features::{
    ClockData, CpuPlace, CpuTopology, EventDesc, EventDescs, FeatureSection, GroupDesc, HybridPmu,
};
pub use header::{FileHeader, Section};
pub use records::{FileRecord, FileRecords};

use alloc::vec::Vec;

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_abi::feature::Feature;

use dispatch::Dispatch;

/// A `perf.data` file of one byte order, over its bytes.
///
/// # Examples
///
/// ```no_run
/// use perf_parse::Record;
/// use perf_parse::file::AnyFile;
///
/// let bytes = std::fs::read("perf.data")?;
/// let AnyFile::Little(file) = AnyFile::open(&bytes)? else { return Ok(()) };
/// let mut records = file.records();
/// while let Some(record) = records.next() {
///     let record = record?;
///     if let Record::Sample(sample) = record.decode()? {
///         println!("{:?} at {:?}", sample.tid(), sample.ip());
///     }
/// }
/// assert!(records.account().is_clean());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct File<'a, O: Endian> {
    bytes: &'a [u8],
    header: FileHeader,
    data: &'a [u8],
    events: Vec<Event<'a, O>>,
    dispatch: Dispatch,
    features: Vec<FeatureSection<'a>>,
    diagnostics: Vec<FileError>,
}

/// A `perf.data` file whose byte order was found out.
///
/// The order is decided once here; everything behind it is compiled for each.
#[derive(Clone, Debug)]
pub enum AnyFile<'a> {
    /// Recorded on a little-endian machine.
    Little(File<'a, LittleEndian>),
    /// Recorded on a big-endian machine.
    Big(File<'a, BigEndian>),
}

impl<'a> AnyFile<'a> {
    /// Opens a file of either byte order.
    ///
    /// # Errors
    ///
    /// Those of [`File::open`], and [`FileErrorKind::NotPerfData`] if the bytes do not begin with a magic.
    pub fn open(bytes: &'a [u8]) -> Result<Self, FileError> {
        match header::endianness(bytes)? {
            Endianness::Little => File::open(bytes).map(Self::Little),
            Endianness::Big => File::open(bytes).map(Self::Big),
        }
    }
}

impl<'a, O: Endian> File<'a, O> {
    /// Opens a file of byte order `O`.
    ///
    /// Reads the header, the attrs, the ids and the table of features: time and memory grow with the number of events
    /// and ids, not with the data. What is wrong but leaves the records readable is kept as a
    /// [diagnostic](Self::diagnostics): a feature section outside of the file costs that feature, ids outside of the
    /// file cost that event its ids, data beyond the end of the file costs what is not there.
    ///
    /// # Errors
    ///
    /// Where nothing can be read: [`FileErrorKind::NotPerfData`], [`FileErrorKind::PipeMode`],
    /// [`FileErrorKind::Truncated`], [`FileErrorKind::Invalid`] for a header field, [`FileErrorKind::Attr`] for an
    /// attr, each with its offset in the file.
    pub fn open(bytes: &'a [u8]) -> Result<Self, FileError> {
        let mut diagnostics = Vec::new();
        let header = FileHeader::read::<O>(bytes)?;
        let data = header.data_bytes(bytes, &mut diagnostics)?;
        let features = features::sections::<O>(&header, bytes, &mut diagnostics);
        let mut events = events::read(&header, bytes, &mut diagnostics)?;
        events::name(&mut events, &features, &mut diagnostics);
        let dispatch = Dispatch::new(&events);
        Ok(Self { bytes, header, data, events, dispatch, features, diagnostics })
    }

    /// The bytes of the whole file.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// The order of the bytes of the file.
    #[must_use]
    pub fn endianness(&self) -> Endianness {
        O::ENDIANNESS
    }

    /// The events, in the order of the attr section.
    #[must_use]
    pub fn events(&self) -> &[Event<'a, O>] {
        &self.events
    }

    /// The feature sections, by rising number.
    #[must_use]
    pub fn features(&self) -> &[FeatureSection<'a>] {
        &self.features
    }

    /// The section of one feature; `None` if the file does not have it.
    #[must_use]
    pub fn feature(&self, feature: Feature) -> Option<&FeatureSection<'a>> {
        self.features.iter().find(|section| section.feature == feature)
    }

    /// What was found wrong while opening.
    #[must_use]
    pub fn diagnostics(&self) -> &[FileError] {
        &self.diagnostics
    }

    /// Walks the records of the data section in file order.
    #[must_use]
    pub fn records(&self) -> FileRecords<'_, O> {
        FileRecords::new(self)
    }
}
