//! User call chains that come after their samples.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::error::{FileError, FileErrorKind};
use super::limits::Limits;
use super::reader::Reader;
use super::source::Slice;
use crate::error::Error;
use crate::record::{CallchainDeferred, Record};
use crate::sample::{Frame, Sample};

/// The user parts of call chains, by the cookie that samples end with; made by [`Reader::deferred_chains`].
///
/// Kernel: `PERF_RECORD_CALLCHAIN_DEFERRED`; since Linux 6.19.
#[derive(Clone, Debug)]
pub struct DeferredChains {
    chains: BTreeMap<Key, Box<[u64]>>,
    /// Bytes that chains may still take, and how many chains found no room.
    left: usize,
    omitted: u64,
}

/// None, as large together as [`Limits::deferred_chains`] is by default.
impl Default for DeferredChains {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

/// What a chain counts for beyond its addresses: its key, where it is, its part of the tree and of the allocator.
const CHAIN: usize = 64;

fn size(chain: usize) -> usize {
    chain.saturating_mul(8).saturating_add(CHAIN)
}

/// A cookie and the thread that has it; -1 where records do not tell threads.
type Key = (u64, i32);

impl DeferredChains {
    /// None yet, and no more than [`Limits::deferred_chains`] together.
    #[must_use]
    pub fn within(limits: &Limits) -> Self {
        Self { chains: BTreeMap::new(), left: limits.deferred_chains, omitted: 0 }
    }

    /// Adds a record; `tid` is that of its trailer. Whether there was room for it: see [`Limits::deferred_chains`].
    pub fn add<O: Endian>(&mut self, record: &CallchainDeferred<'_, O>, tid: Option<i32>) -> bool {
        let key = (record.cookie, tid.unwrap_or(-1));
        // One that comes again takes the place of the earlier.
        let earlier = self.chains.get(&key).map_or(0, |ips| size(ips.len()));
        let Some(left) = self.left.saturating_add(earlier).checked_sub(size(record.ips.len())) else {
            self.omitted = self.omitted.saturating_add(1);
            return false;
        };
        self.left = left;
        self.chains.insert(key, record.ips.iter().map(|ip| ip.get()).collect());
        true
    }

    /// Chains that were left out, as there was no room for them. Of their samples [`of`](Self::of) gives `None`.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// The user part of a sample's call chain, innermost address first.
    ///
    /// `None` if the chain is whole as it is, or the rest of it never came: the task ended, or the record was lost.
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

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }
}

impl<O: Endian> Reader<'_, O, Slice<'_>> {
    /// Reads the capture for the user call chains that come after their samples, and starts over.
    ///
    /// A record that cannot be decoded is left out here; reading the capture again tells what is wrong with it. Holds a
    /// copy of the chains, as far as [`Limits::deferred_chains`] allows; that some were left out is in the
    /// [account](Self::account).
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
