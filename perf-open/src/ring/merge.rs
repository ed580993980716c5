//! Reading several live rings in time order.

use core::ops::ControlFlow;

use perf_abi::endian::NativeEndian;
use perf_parse::EventRecord;
use perf_parse::ring::{Dump, Merge, MergeError};

use super::{Ring, RingAccount};

/// Takes the records that are in `rings` now in time order, and passes them to `each`. Returns the value that `each`
/// breaks with.
///
/// Among records with equal times, those of the earlier ring come first. All heads are read once, before the first
/// record. A record is taken if `each` continues. If `each` breaks, that record and those after it stay in their rings.
/// The room is returned to the kernel at the end.
///
/// # Order from call to call
///
/// A record may reach its ring after a newer record has reached another ring. So a call may take a record that is older
/// than the last one of the previous call. To get one order over all calls, break at the first record that is newer
/// than the start of the previous call, by the events' clock. All older records are in their rings by now.
///
/// # Errors
///
/// If a ring is corrupt, `each` gets its error once, from [`Ring::read`] or
/// [`RingWalk::next`](perf_parse::ring::RingWalk::next); the other rings continue. The number of the ring is its index
/// in `rings`.
///
/// # Examples
///
/// ```no_run
/// use core::ops::ControlFlow;
/// use perf_open::abi::event::SwId;
/// use perf_open::abi::sample_type::SampleType;
/// use perf_open::{Builder, EventSpec, Ring, Target, ring};
///
/// let count = |id, kind| {
///     Builder::new(EventSpec::software(id))
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
///         assert!(record.time() >= last);
///         last = record.time();
///         ControlFlow::Continue(())
///     }
///     Err(error) => ControlFlow::Break(error),
/// });
/// assert!(end.is_none() && last.is_some());
/// # Ok::<(), perf_open::Error>(())
/// ```
pub fn merge<B>(
    rings: &mut [Ring],
    mut each: impl FnMut(Result<EventRecord<'_>, MergeError>) -> ControlFlow<B>,
) -> Option<B> {
    for (ring, it) in rings.iter_mut().enumerate() {
        if let Err(error) = it.refresh()
            && let ControlFlow::Break(value) = each(Err(MergeError { ring, error }))
        {
            return Some(value);
        }
    }
    let mut taken: Vec<(u64, RingAccount)> =
        rings.iter().map(|ring| (ring.data.tail(), RingAccount::default())).collect();
    let broke = walk(rings, &mut taken, &mut each);
    for (ring, (position, taken)) in rings.iter_mut().zip(taken) {
        ring.commit(position, taken);
    }
    broke
}

fn walk<B>(
    rings: &[Ring],
    taken: &mut [(u64, RingAccount)],
    each: &mut impl FnMut(Result<EventRecord<'_>, MergeError>) -> ControlFlow<B>,
) -> Option<B> {
    let mut merge = Merge::<NativeEndian>::new();
    for ring in rings {
        let from = ring.data.tail();
        let (first, second) = ring.data.unread(from);
        merge.add(Dump::from_pieces(first, second, from), ring.events());
    }
    for record in merge {
        let at = record.as_ref().ok().cloned();
        if let ControlFlow::Break(value) = each(record) {
            return Some(value);
        }
        if let Some(record) = at
            && let Some((end, account)) = taken.get_mut(record.position().data_file)
        {
            *end = record.offset().wrapping_add(u64::from(record.raw().size()));
            account.count(&record.raw());
        }
    }
    None
}
