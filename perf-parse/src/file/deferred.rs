//! User call chains that come after their samples.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::reader::Reader;
use super::source::Slice;
use crate::error::Error;
use crate::record::{CallchainDeferred, Record};
use crate::sample::{Frame, Sample};

/// The user parts of call chains, by the cookie that samples end with; made by [`Reader::deferred_chains`].
///
/// Kernel: `PERF_RECORD_CALLCHAIN_DEFERRED`; since Linux 6.19.
#[derive(Clone, Debug, Default)]
pub struct DeferredChains {
    chains: BTreeMap<Key, Vec<u64>>,
}

/// A cookie and the thread that has it; -1 where records do not tell threads.
type Key = (u64, i32);

impl DeferredChains {
    /// Adds a record; `tid` is that of its trailer.
    pub fn add<O: Endian>(&mut self, record: &CallchainDeferred<'_, O>, tid: Option<i32>) {
        let ips = record.ips.iter().map(|ip| ip.get()).collect();
        self.chains.insert((record.cookie, tid.unwrap_or(-1)), ips);
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
        Ok(key.and_then(|key| self.chains.get(&key)).map(Vec::as_slice))
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
    /// copy of the chains: memory grows with them and with nothing else.
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
        let mut chains = DeferredChains::default();
        loop {
            match self.next() {
                Ok(None) => break,
                Ok(Some(record)) if record.raw.kind() == RecordType::CALLCHAIN_DEFERRED => {
                    if let Ok(Record::CallchainDeferred(deferred)) = record.decode() {
                        let tid = record.sample_id().ok().flatten().and_then(|trailer| trailer.tid());
                        chains.add(&deferred, tid);
                    }
                }
                Ok(Some(_)) | Err(_) => {}
            }
        }
        self.rewind();
        chains
    }
}
