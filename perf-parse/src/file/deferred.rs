//! User call chains that come after their samples.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::limits::Limits;
use super::reader::Reader;
use super::source::Slice;
use crate::error::Error;
use crate::error::{FileError, FileErrorKind};
use crate::record::{CallchainDeferred, Record};
use crate::sample::{Frame, Sample};

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
        Self { chains: BTreeMap::new(), left: limits.deferred_chains, omitted: 0 }
    }

    /// Adds a record; `tid` is the thread of its trailer. Returns whether there was room for the record: see
    /// [`Limits::deferred_chains`].
    pub fn add<O: Endian>(&mut self, record: &CallchainDeferred<'_, O>, tid: Option<i32>) -> bool {
        let key = (record.cookie, tid.unwrap_or(-1));
        // A record with the key of an earlier one replaces it.
        let earlier = self.chains.get(&key).map_or(0, |ips| size(ips.len()));
        let Some(left) = self.left.saturating_add(earlier).checked_sub(size(record.ips.len())) else {
            self.omitted = self.omitted.saturating_add(1);
            return false;
        };
        self.left = left;
        self.chains.insert(key, record.ips.iter().map(|ip| ip.get()).collect());
        true
    }

    /// Returns the number of chains that were left out because there was no room. For their samples, [`of`](Self::of)
    /// returns `None`.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the user part of a sample's call chain, innermost address first.
    ///
    /// `None` if the sample's chain is already complete, or if its user part never came because the task ended or the
    /// record was lost.
    ///
    /// # Errors
    ///
    /// Those of [`Sample::callchain`].
    pub fn of<O: Endian>(&self, sample: &Sample<'_, O>) -> Result<Option<&[u64]>, Error> {
        let Some(chain) = sample.callchain()? else { return Ok(None) };
        let cookie = chain.frames().find_map(|frame| match frame {
            Frame::Deferred { cookie } => cookie,
            Frame::Ip { .. } => None,
        });
        let key = cookie.map(|cookie| (cookie, sample.tid().unwrap_or(-1)));
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

impl<O: Endian> Reader<'_, O, Slice<'_>> {
    /// Reads the capture for the user call chains that come after their samples, and rewinds.
    ///
    /// This method skips records that cannot be decoded; the next pass over the capture reports their errors. It holds
    /// a copy of the chains, up to [`Limits::deferred_chains`]. The [account](Self::account) notes if chains were left
    /// out.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Record;
    /// use perf_parse::file::AnyReader;
    ///
    /// # let path = "examples/captures/deferred.le.data";
    /// let bytes = std::fs::read(path)?;
    /// let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("little-endian") };
    /// let chains = reader.deferred_chains();
    /// let mut stitched = 0;
    /// while let Some(record) = reader.next()? {
    ///     if let Record::Sample(sample) = record.decode()? {
    ///         if let Some(user) = chains.of(&sample)? {
    ///             assert!(!user.is_empty());
    ///             stitched += 1;
    ///         }
    ///     }
    /// }
    /// assert!(stitched > 0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn deferred_chains(&mut self) -> DeferredChains {
        let limit = self.limits().deferred_chains;
        let mut chains = DeferredChains::within(self.limits());
        let mut left_out = None;
        loop {
            match self.next() {
                Ok(None) => break,
                Ok(Some(record)) if record.raw.kind() == RecordType::CALLCHAIN_DEFERRED => {
                    if let Ok(Record::CallchainDeferred(deferred)) = record.decode() {
                        let tid = record.sample_id().ok().flatten().and_then(|trailer| trailer.tid());
                        if !chains.add(&deferred, tid) {
                            left_out = left_out.or(Some(record.offset));
                        }
                    }
                }
                Ok(Some(_)) | Err(_) => {}
            }
        }
        self.rewind();
        if let Some(offset) = left_out {
            let (limit, of) = (limit as u64, "bytes of deferred call chains");
            let kind = FileErrorKind::Limit { field: "ips", limit, of };
            self.account_mut().note(FileError::new(kind, offset));
        }
        chains
    }
}
