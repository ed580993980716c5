//! Finds the next record after the boundary was lost.
//!
//! An offset is accepted as a boundary only with proof: several records in a row that can be decoded and belong to known
//! events, or records up to the end of the bytes. Needs no allocator: the caller has the layouts of the events.

use perf_abi::endian::ByteOrder;
use perf_abi::record::RecordType;

use crate::layout::SampleLayout;
use crate::record::{RawRecord, Record, Records};

/// Number of records in a row that prove a boundary.
const CHAIN: usize = 4;

/// Size of the longest credible record with a string, in bytes. A string has to be searched for its end.
const LONGEST_STRING_RECORD: usize = 4096 + 256;

/// Number of bytes after an offset that are needed to judge it: the largest size of a chain of records.
pub(crate) const HORIZON: usize = CHAIN << 16;

/// Size of a record's header in bytes. A header of zeros has no size, so it is invalid.
const HEADER: usize = 8;

/// Returns the first credible boundary in `bytes`, searching at multiples of `step` from `step` on. If `ended`, the
/// capture ends with `bytes`; otherwise the last offsets, less than a horizon before the end, are not judged.
///
/// The search skips zeros. It does not read those that `hole` knows: `hole` returns how many bytes from an offset on
/// are known to be zeros.
///
/// `layout_of` returns the layout of a kernel record; `None` if its event is unknown, and for a sample whose event asks for
/// a field that this crate does not know.
pub(crate) fn search<'e, O: ByteOrder>(
    (order, bytes): (O::Value, &[u8]),
    step: usize,
    ended: bool,
    layout_of: impl Fn(&RawRecord<'_, O>) -> Option<&'e SampleLayout>,
    hole: impl Fn(usize) -> usize,
) -> Option<usize> {
    let last = if ended { bytes.len() } else { bytes.len().saturating_sub(HORIZON) };
    let mut at = step;
    while at < last {
        let rest = bytes.get(at..)?;
        if hole(at) < HEADER && rest.first_chunk() != Some(&[0; HEADER]) {
            if proves(order, rest, ended, &layout_of) {
                return Some(at);
            }
            at = at.saturating_add(step);
            continue;
        }
        // Go on at the first offset whose header has a byte that is not zero.
        let zeros = zeros(bytes, at, &hole).saturating_sub(HEADER);
        at = at.saturating_add(zeros.saturating_add(1).next_multiple_of(step));
    }
    None
}

/// Returns how many bytes from an offset on are zeros.
fn zeros(bytes: &[u8], from: usize, hole: impl Fn(usize) -> usize) -> usize {
    const PAGE: usize = 4096;
    let mut at = from;
    while at < bytes.len() {
        match hole(at) {
            0 => {
                let rest = bytes.get(at..).unwrap_or_default();
                let page = rest.get(..PAGE).unwrap_or(rest);
                let stored = page.iter().position(|&byte| byte != 0);
                at = at.saturating_add(stored.unwrap_or(page.len()));
                if stored.is_some() {
                    break;
                }
            }
            hole => at = at.saturating_add(hole),
        }
    }
    at.min(bytes.len()).saturating_sub(from)
}

/// Returns whether records begin at the start of `bytes`.
fn proves<'e, O: ByteOrder>(
    order: O::Value,
    bytes: &[u8],
    ended: bool,
    layout_of: &impl Fn(&RawRecord<'_, O>) -> Option<&'e SampleLayout>,
) -> bool {
    let mut rest = bytes;
    for length in 0..CHAIN {
        if rest.is_empty() {
            return ended && length > 0;
        }
        match RawRecord::<O>::parse_in(order, rest) {
            Ok((record, after)) if is_credible(&record, layout_of) => rest = after,
            _ => return false,
        }
    }
    true
}

/// Returns whether the kernel or perf would write such a record.
fn is_credible<'e, O: ByteOrder>(
    record: &RawRecord<'_, O>,
    layout_of: &impl Fn(&RawRecord<'_, O>) -> Option<&'e SampleLayout>,
) -> bool {
    let kind = record.kind();
    if kind.is_user() {
        if kind.is_simpleperf() {
            // simpleperf splits longer records, and pads only some.
            return kind.name().is_some() && record.size() <= u32::from(u16::MAX);
        }
        let unaligned = [RecordType::HEADER_TRACING_DATA, RecordType::HEADER_FEATURE, RecordType::COMPRESSED];
        return kind.name().is_some() && (record.size().is_multiple_of(8) || unaligned.contains(&kind));
    }
    if kind.name().is_none() || !record.size().is_multiple_of(8) {
        return false;
    }
    let has_string =
        [RecordType::MMAP, RecordType::MMAP2, RecordType::COMM, RecordType::KSYMBOL, RecordType::CGROUP];
    if has_string.contains(&kind) && record.len() > LONGEST_STRING_RECORD {
        return false;
    }
    let Some(layout) = layout_of(record) else { return false };
    match record.decode(layout) {
        Ok(Record::Sample(sample)) => sample.tail().is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

impl<O: ByteOrder> Records<'_, O> {
    /// Finds the next record after an error: skips the bytes up to a boundary that can be proved, or to the end, so that
    /// the walk goes on there. Returns how many bytes were skipped; 0 if there was no error.
    ///
    /// A boundary is proved by four records in a row that can be decoded, or by records up to the end of the bytes.
    /// `layout_of` returns the layout of a kernel record's event; `None` if the event is unknown. With one event, the
    /// layout is always the same. The time grows with the number of bytes that are skipped. Allocates nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::{Records, SampleLayout};
    ///
    /// let layout = SampleLayout::new(&Attr::default())?;
    /// let lost = *b"\x02\0\0\0\0\0\x18\0\x01\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0";
    /// let bytes = [&lost[..], &[0; 16], &lost, &lost].concat(); // damage: 16 zeros
    /// let mut records = Records::<LittleEndian>::new(&bytes);
    /// let (mut found, mut skipped) = (0, 0);
    /// loop {
    ///     match records.next() {
    ///         Some(Ok(_)) => found += 1,
    ///         Some(Err(_)) => skipped += records.resync(|_| Some(&layout)),
    ///         None => break,
    ///     }
    /// }
    /// assert_eq!((found, skipped), (3, 16));
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    pub fn resync<'e>(&mut self, layout_of: impl Fn(&RawRecord<'_, O>) -> Option<&'e SampleLayout>) -> usize {
        self.skip_to(|order, rest| search::<O>((order, rest), 1, true, layout_of, |_| 0))
    }
}
