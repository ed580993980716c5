//! What a reader takes at most.

/// What reading a capture takes at most, whatever its bytes say: given when it is opened.
///
/// What goes beyond a limit is left out with a diagnostic, counted, or given earlier than it would be: each field says
/// which.
///
/// # Examples
///
/// ```
/// use perf_parse::file::{AnyReader, Limits};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/captures/plain.data");
/// let bytes = std::fs::read(path)?;
/// let mut limits = Limits::default();
/// limits.held_records = 10_000; // 400 kB at most in place of 160 MiB
/// let AnyReader::Little(mut reader) = AnyReader::open_within(&bytes, &limits)? else { panic!("recorded on x86") };
/// reader.in_time_order();
/// while reader.next()?.is_some() {}
/// assert_eq!(reader.account().late, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Events: 65,536, as in perf. Those after them are left out, each with a diagnostic
    /// ([`FileErrorKind::Limit`](super::FileErrorKind::Limit), field `attr`); their records are of an unknown id.
    pub events: usize,
    /// Ids of all events together: 4 Mi. An event whose ids are more than what is left has none, with a diagnostic
    /// ([`FileErrorKind::Limit`](super::FileErrorKind::Limit), field `attr.ids`). Of a file there are also no more than it
    /// has words.
    pub ids: usize,
    /// Diagnostics that an [`Account`](super::Account) keeps: 1,000. The others are counted in
    /// [`Account::diagnostics_omitted`](super::Account::diagnostics_omitted).
    pub diagnostics: usize,
    /// Records that are held back for time order: 4 Mi. When there are so many the earlier half is given; a record that
    /// comes later and is earlier than one of these is given late, and counted in [`Account::late`](super::Account::late).
    /// At most 40 bytes are taken for each, most of it only where each record is earlier than the one before it.
    ///
    /// A recorder that reads its rings in rounds stays far below. Without rounds this is how far two records may be apart
    /// in the capture and still be put in order.
    pub held_records: usize,
    /// Bytes of the copies of records that are held back for time order: 64 MiB, and one record. Records in memory are not
    /// copied; those of a stream and those that were compressed are, each with 24 bytes more. When there are so many the
    /// earlier half of the bytes is given, as for [`held_records`](Self::held_records). The buffer that they are in is at
    /// most twice as large, and while it grows there are two of them.
    pub held_bytes: usize,
    /// Bytes of a stream that are held to look for attrs and features before its first record: 16 MiB, and one record. What
    /// comes after them is taken in on the way, so that [`Reader::events`](super::Reader::events) and
    /// [`Reader::features`](super::Reader::features) do not have it from the start.
    pub look_ahead: usize,
    /// Logarithm of the bytes of the largest window of a compressed stream: 27, for the 128 MiB of perf's highest level. A
    /// payload with a larger one is left out with a diagnostic
    /// ([`FileErrorKind::Decompress`](super::FileErrorKind::Decompress)). Less than 10 counts as 10, more than 30 as 30.
    pub window_log: u32,
    /// Bytes that a compressed stream gives whatever its size is: 64 MiB. A payload that goes beyond these and those of
    /// [`inflated_ratio`](Self::inflated_ratio) is left out from there on with a diagnostic
    /// ([`FileErrorKind::Decompress`](super::FileErrorKind::Decompress)).
    pub inflated: u64,
    /// Bytes that a compressed stream gives for each of its own, beyond [`inflated`](Self::inflated): 1,024, which is more
    /// than records can be compressed.
    pub inflated_ratio: u64,
    /// Bytes that are decompressed at a time: 128 KiB. Less makes reading slower, no more; 0 counts as 1.
    pub inflated_step: usize,
    /// Bytes of the call chains that [`Reader::deferred_chains`](super::Reader::deferred_chains) holds, where each chain
    /// counts 64 bytes more than its addresses: 256 MiB. A chain beyond that is left out, which a diagnostic says
    /// ([`FileErrorKind::Limit`](super::FileErrorKind::Limit), field `ips`), and counted in
    /// [`DeferredChains::omitted`](super::DeferredChains::omitted).
    pub deferred_chains: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            events: 1 << 16,
            ids: 4 << 20,
            diagnostics: super::Account::MAX_DIAGNOSTICS,
            held_records: 4 << 20,
            held_bytes: 64 << 20,
            look_ahead: 16 << 20,
            window_log: 27,
            inflated: 64 << 20,
            inflated_ratio: 1024,
            inflated_step: 1 << 17,
            deferred_chains: 256 << 20,
        }
    }
}
