//! User call chains that come after their samples.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use perf_abi::endian::ByteOrder;
use perf_abi::record::RecordType;

use super::reader::Reader;
use crate::error::{Error, FileError, FileErrorKind};
use crate::limits::Limits;
use crate::record::{CallchainDeferred, Record};
use crate::sample::Sample;

/// The user parts of call chains, by the cookie at the end of a sample's call chain; made by
/// [`Reader::deferred_chains`].
///
/// Kernel: `PERF_RECORD_CALLCHAIN_DEFERRED`; since Linux 6.19.
#[derive(Clone, Debug)]
pub struct DeferredChains {
    chains: BTreeMap<Key, Box<[u64]>>,
    /// Number of bytes that chains may still take, and number of chains that had no room.
    left: usize,
    omitted: u64,
    /// Offset of the first chain that had no room.
    first_omitted: Option<u64>,
    limit: usize,
}

/// No chains, with the default of [`Limits::deferred_chains`] as the limit.
impl Default for DeferredChains {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

/// Number of bytes that a chain counts in addition to its addresses: its key, its pointer, its share of the tree and of
/// the allocator.
const CHAIN: usize = 64;

fn size(chain: usize) -> usize {
    chain.saturating_mul(8).saturating_add(CHAIN)
}

/// A cookie and its thread; -1 if the records have no thread id.
type Key = (u64, i32);

impl DeferredChains {
    /// Creates an empty collection that holds at most [`Limits::deferred_chains`].
    #[must_use]
    pub fn within(limits: &Limits) -> Self {
        let limit = limits.deferred_chains;
        Self { chains: BTreeMap::new(), left: limit, omitted: 0, first_omitted: None, limit }
    }

    /// Adds a record; `tid` is the thread of its trailer. Returns whether there was room for the record: see
    /// [`Limits::deferred_chains`].
    pub fn add(&mut self, record: &CallchainDeferred<'_>, tid: Option<i32>) -> bool {
        let key = (record.cookie, tid.unwrap_or(-1));
        // A record with the key of an earlier one replaces it.
        let earlier = self.chains.get(&key).map_or(0, |ips| size(ips.len()));
        let Some(left) = self.left.saturating_add(earlier).checked_sub(size(record.ips.len())) else {
            self.omitted = self.omitted.saturating_add(1);
            return false;
        };
        self.left = left;
        self.chains.insert(key, record.ips.iter().collect());
        true
    }

    /// Returns the number of chains that were left out because there was no room. For their samples, [`of`](Self::of)
    /// returns `None`.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the fault to note if chains were left out; `None` if all had room.
    #[must_use]
    pub fn fault(&self) -> Option<FileError> {
        let (limit, of) = (self.limit as u64, "bytes of deferred call chains");
        let kind = FileErrorKind::Limit { field: "ips", limit, of };
        self.first_omitted.map(|offset| FileError::new(kind, offset))
    }

    /// Returns the user part of a sample's call chain, innermost address first.
    ///
    /// `None` if the sample's chain is already complete, or if its user part never came because the task ended or the
    /// record was lost.
    ///
    /// # Errors
    ///
    /// Those of [`Sample::callchain`].
    pub fn of<O: ByteOrder>(&self, sample: &Sample<'_, O>) -> Result<Option<&[u64]>, Error> {
        let Some(chain) = sample.callchain()? else { return Ok(None) };
        let key = chain.deferred_cookie().map(|cookie| (cookie, sample.tid().unwrap_or(-1)));
        Ok(key.and_then(|key| self.chains.get(&key)).map(AsRef::as_ref))
    }

    /// Returns the number of chains.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Returns whether there are no chains.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }
}

impl Reader<'_> {
    /// Collects the user call chains that come after their samples, in one walk over the capture.
    ///
    /// This method skips records that cannot be decoded; a walk over [`records`](Self::records) reports their errors.
    /// [`DeferredSamples`](super::DeferredSamples) joins the chains in the same walk as the samples.
    ///
    /// It holds a copy of the chains, up to [`Limits::deferred_chains`], and counts those that it left out in
    /// [`DeferredChains::omitted`]. A stream can be walked only once, so this method returns no chains for a stream:
    /// the caller [adds](DeferredChains::add) them while it walks over the records.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    ///
    /// # let path = "examples/captures/deferred.le.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let chains = reader.deferred_chains();
    /// let mut stitched = 0;
    /// for record in reader.records() {
    ///     let record = record?;
    ///     let Some(sample) = record.sample() else { continue };
    ///     if let Some(user) = chains.of(&sample).map_err(|error| record.error(error))? {
    ///         assert!(!user.is_empty());
    ///         stitched += 1;
    ///     }
    /// }
    /// assert!(stitched > 0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn deferred_chains(&self) -> DeferredChains {
        let mut chains = DeferredChains::within(self.limits());
        if !self.can_walk_again() {
            return chains;
        }
        for record in self.records().only(&[RecordType::CALLCHAIN_DEFERRED]).flatten() {
            if let Ok(Record::CallchainDeferred(deferred)) = record.decode() {
                let tid = record.sample_id().ok().flatten().and_then(|trailer| trailer.tid());
                if !chains.add(&deferred, tid) {
                    chains.first_omitted.get_or_insert(record.offset());
                }
            }
        }
        chains
    }
}
