//! User call chains that come after their samples.

use perf_abi::record::RecordType;
use perf_parse::file::{DeferredSample, DeferredSamples};
use perf_parse::{EventRecord, Record};

/// The user part of the call chains of a thread, and the samples that waited for it.
#[derive(Debug)]
pub(super) struct Ended<'r> {
    pub(super) samples: Vec<DeferredSample<'r>>,
    /// The cookie and the words; `None` if the record cannot be decoded.
    chain: Option<(u64, Vec<u64>)>,
}

impl Ended<'_> {
    /// Returns the user part of one of the samples; `None` if it was lost.
    pub(super) fn user_of(&self, sample: &DeferredSample<'_>) -> Option<&[u64]> {
        let (cookie, words) = self.chain.as_ref()?;
        (*cookie == sample.cookie).then_some(words)
    }
}

/// Ends the wait of the samples of a thread, if the record is a CALLCHAIN_DEFERRED record. Like perf, also that of samples
/// with other cookies: the thread has returned to user space, so that no record comes for them any more.
pub(super) fn end<'r>(waiting: &mut DeferredSamples<'r>, record: &EventRecord<'_>) -> Option<Ended<'r>> {
    if record.kind() != RecordType::CALLCHAIN_DEFERRED {
        return None;
    }
    let tid = record.sample_id().ok().flatten().and_then(|trailer| trailer.tid());
    let chain = match record.decode() {
        Ok(Record::CallchainDeferred(it)) => Some((it.cookie, it.ips.iter().collect())),
        _ => None,
    };
    Some(Ended { samples: waiting.take(tid), chain })
}
