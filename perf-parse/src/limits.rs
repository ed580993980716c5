//! Limits on the memory and time that a reader needs.

/// Number of diagnostics that an account keeps if no other limit is given.
pub(crate) const MAX_DIAGNOSTICS: usize = 1000;

/// Limits on the memory and time that reading a capture needs, whatever the capture contains. The limits are set when
/// the capture is opened.
///
/// Data beyond a limit is left out with a diagnostic, is counted, or is returned early. The documentation of each field
/// states which.
///
/// # Examples
///
/// ```
/// use perf_parse::file::{Limits, Reader};
///
/// # let path = "examples/captures/plain.data";
/// let bytes = std::fs::read(path)?;
/// let mut limits = Limits::default();
/// limits.held_records = 10_000; // at most 400 kB instead of 160 MiB
/// let reader = Reader::new_within(&bytes, &limits)?;
/// let mut records = reader.records().in_time_order();
/// records.try_for_each(|record| record.map(drop))?;
/// assert_eq!(records.account().late, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of events: 65,536, as in perf. Further events are left out, each with a diagnostic
    /// ([`FileErrorKind::Limit`](crate::file::FileErrorKind::Limit), field `attr`); their records have an unknown id.
    pub events: usize,
    /// Maximum number of ids of all events together: 4 Mi. An event with more ids than may still be added has no ids,
    /// with a diagnostic ([`FileErrorKind::Limit`](crate::file::FileErrorKind::Limit), field `attr.ids`). A file also
    /// has at most as many ids as 8-byte words.
    pub ids: usize,
    /// Maximum number of diagnostics that an [`Account`](crate::account::Account) keeps: 1,000. The others are counted in
    /// [`Account::diagnostics_omitted`](crate::account::Account::diagnostics_omitted).
    pub diagnostics: usize,
    /// Maximum number of records that are held for time order: 4 Mi. When the limit is reached, the earlier half is
    /// returned. A later record that is earlier than one of these is returned late, and counted in
    /// [`Account::late`](crate::account::Account::late). Each record takes at most 40 bytes, and usually far less: the
    /// maximum is reached only if each record is earlier than the one before it.
    ///
    /// Captures of a recorder that reads its rings in rounds stay far below the limit. Without rounds, the limit is the
    /// distance in the capture over which two records can still be put in order.
    pub held_records: usize,
    /// Maximum number of bytes in copies of records that are held for time order: 64 MiB, and one record. Records in
    /// memory are not copied. Records of a stream and compressed records are copied, each with 24 more bytes. When the
    /// limit is reached, the earlier half of the bytes is returned, as for [`held_records`](Self::held_records). The
    /// buffer for the copies is at most twice as large as the limit. While the buffer grows, there are two buffers.
    pub held_bytes: usize,
    /// Maximum number of bytes of a stream that are read ahead to find attrs and features before the first record: 16
    /// MiB, and one record. [`Reader::events`](crate::file::Reader::events) and [`Reader::features`](crate::file::Reader::features)
    /// include later attrs and features only once the reader has reached them.
    pub look_ahead: usize,
    /// Maximum number of bytes outside of the records of a file that [`Reader::open`](crate::file::Reader::open),
    /// `Reader::from_file` and `Reader::from_seekable` read: 1 GiB. A file with more is refused with
    /// [`FileErrorKind::Limit`](crate::file::FileErrorKind::Limit), field `file`; map it, and use
    /// [`Reader::new`](crate::file::Reader::new).
    pub metadata: u64,
    /// Logarithm to base 2 of the largest window of a compressed stream, in bytes: 27, for the 128 MiB of perf's
    /// highest level. A payload with a larger window is left out with a diagnostic
    /// ([`FileErrorKind::Decompress`](crate::file::FileErrorKind::Decompress)). Values below 10 count as 10, values above 30
    /// as 30.
    pub window_log: u32,
    /// Number of bytes that a compressed stream may expand to, whatever its size: 64 MiB. If a payload exceeds this
    /// limit plus that of [`decompressed_ratio`](Self::decompressed_ratio), the rest of it is left out with a diagnostic
    /// ([`FileErrorKind::Decompress`](crate::file::FileErrorKind::Decompress)).
    pub decompressed: u64,
    /// Number of bytes that a compressed stream may expand to for each of its bytes, in addition to
    /// [`decompressed`](Self::decompressed): 1,024. Real records do not reach this ratio.
    pub decompressed_ratio: u64,
    /// Number of bytes that are decompressed at a time: 128 KiB. A smaller value makes reading slower and has no other
    /// effect; 0 counts as 1.
    pub decompressed_step: usize,
    /// Maximum number of bytes of the call chains that [`Reader::deferred_chains`](crate::file::Reader::deferred_chains)
    /// holds: 256 MiB. Each chain counts 64 bytes more than its addresses. A chain beyond the limit is left out with a
    /// diagnostic ([`FileErrorKind::Limit`](crate::file::FileErrorKind::Limit), field `ips`), and counted in
    /// [`DeferredChains::omitted`](crate::file::DeferredChains::omitted).
    pub deferred_chains: usize,
    /// Maximum number of bytes of the samples that [`DeferredSamples`](crate::file::DeferredSamples) holds: 64 MiB. Each
    /// sample counts 256 bytes, and its record if it is copied. A sample beyond the limit does not wait for its call
    /// chain, with a diagnostic ([`FileErrorKind::Limit`](crate::file::FileErrorKind::Limit), field `callchain`), and is
    /// counted in [`DeferredSamples::omitted`](crate::file::DeferredSamples::omitted).
    pub deferred_samples: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            events: 1 << 16,
            ids: 4 << 20,
            diagnostics: MAX_DIAGNOSTICS,
            held_records: 4 << 20,
            held_bytes: 64 << 20,
            look_ahead: 16 << 20,
            metadata: 1 << 30,
            window_log: 27,
            decompressed: 64 << 20,
            decompressed_ratio: 1024,
            decompressed_step: 1 << 17,
            deferred_chains: 256 << 20,
            deferred_samples: 64 << 20,
        }
    }
}
