//! Several live rings, by time.

use core::ops::ControlFlow;

use perf_abi::endian::NativeEndian;
use perf_parse::ring::{Dump, Merge, MergeError, RingRecord};

use super::{Account, Ring};

/// Takes the records that are in `rings` now by time, of equal times those of the first ring first; gives what `each`
/// broke with.
///
/// All heads are looked at once, before the first record. A record is taken when `each` continues; the one that it
/// breaks at stays in its ring, as do those behind. Room is given back to the kernel at the end.
///
/// # Order from call to call
///
/// A record may come into its ring later than a younger one into another, so one call may take a record that is older
/// than the last of the call before. Who needs one order throughout breaks at the first record that is younger than the
/// call before began, by the events' clock: whatever is older is in its ring by now.
///
/// # Errors
///
/// A ring that is corrupt is told to `each` once, as what [`Ring::read`] or [`Forward::next`](perf_parse::ring::Forward)
/// says; the others go on. Its number is its index in `rings`.
///
/// # Examples
///
/// ```
/// use core::ops::ControlFlow;
/// use perf_open::abi::event::SwId;
/// use perf_open::abi::sample_type::SampleType;
/// use perf_open::{Builder, Event, Ring, Target, ring};
///
/// let count = |id, kind| {
///     Builder::new(Event::software(id))
///         .exclude_kernel(true)
///         .sample_period(1)
///         .sample_type(SampleType::TIME | kind)
///         .open(&Target::this_thread())
/// };
/// let faults = count(SwId::PAGE_FAULTS, SampleType::ADDR)?;
/// let minor = count(SwId::PAGE_FAULTS_MIN, SampleType::IP)?;
/// let mut rings = [Ring::map(&faults, 8)?, Ring::map(&minor, 8)?];
/// drop(vec![1_u8; 1 << 20]);
///
/// let mut last = None;
/// let end = ring::merge(&mut rings, |record| match record {
///     Ok(record) => {
///         assert!(record.time >= last);
///         last = record.time;
///         ControlFlow::Continue(())
///     }
///     Err(error) => ControlFlow::Break(error),
/// });
/// assert!(end.is_none() && last.is_some());
/// # Ok::<(), perf_open::Error>(())
/// ```
pub fn merge<B>(
    rings: &mut [Ring],
    mut each: impl FnMut(Result<RingRecord<'_, NativeEndian>, MergeError>) -> ControlFlow<B>,
) -> Option<B> {
    for (ring, it) in rings.iter_mut().enumerate() {
        if let Err(error) = it.refresh() {
            if let ControlFlow::Break(value) = each(Err(MergeError { ring, error })) {
                return Some(value);
            }
        }
    }
    let mut taken: Vec<(u64, Account)> =
        rings.iter().map(|ring| (ring.data.tail(), Account::default())).collect();
    let broke = walk(rings, &mut taken, &mut each);
    for (ring, (position, taken)) in rings.iter_mut().zip(taken) {
        ring.commit(position, taken);
    }
    broke
}

fn walk<B>(
    rings: &[Ring],
    taken: &mut [(u64, Account)],
    each: &mut impl FnMut(Result<RingRecord<'_, NativeEndian>, MergeError>) -> ControlFlow<B>,
) -> Option<B> {
    let mut merge = Merge::new();
    for ring in rings {
        let from = ring.data.tail();
        let (first, second) = ring.data.unread(from);
        merge.add(Dump::of_pieces(first, second, from), ring.events());
    }
    while let Some(record) = merge.next() {
        let at = record.ok().map(|record| (record.ring, record.position, record.raw));
        if let ControlFlow::Break(value) = each(record) {
            return Some(value);
        }
        if let Some((ring, position, raw)) = at {
            if let Some((end, account)) = taken.get_mut(ring) {
                *end = position.wrapping_add(u64::from(raw.size()));
                account.count(&raw);
            }
        }
    }
    None
}
