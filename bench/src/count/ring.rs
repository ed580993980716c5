//! Taking records from a ring, in the ways of perf-open.

use std::cell::RefCell;
use std::error::Error;

use perf_open::Ring;
use perf_open::ring::{Drain, loopback, page_bytes};
use perf_parse::Sample;

use super::capture::Capture;
use super::parse::leading;
use super::sums::{Sums, add};
use super::way::Outcome;

thread_local! {
    /// The ring, which the first use writes. That use is not the one that is counted.
    static RING: RefCell<Option<Ring>> = const { RefCell::new(None) };
}

/// Passes a guard of a ring with the records of `capture` to `read`. The records stay in the ring.
fn drained(capture: &Capture, read: impl FnOnce(&mut Drain<'_>) -> Outcome) -> Outcome {
    RING.with_borrow_mut(|ring| {
        if ring.is_none() {
            *ring = Some(written(capture)?);
        }
        let ring = ring.as_mut().ok_or("there is no ring")?;
        let mut drain = ring.read()?;
        let sums = read(&mut drain);
        drain.cancel();
        sums
    })
}

/// Returns a ring that holds the records.
fn written(capture: &Capture) -> Result<Ring, Box<dyn Error>> {
    let pages = capture.bytes.len().div_ceil(page_bytes()).next_power_of_two();
    let (ring, mut writer) = loopback::ring(&capture.events[0].attr, pages)?;
    if writer.write(&capture.bytes) { Ok(ring) } else { Err("the ring is too small".into()) }
}

/// Adds up the sizes, by [`Drain::next_record`].
pub(crate) fn hop(capture: &Capture) -> Outcome {
    drained(capture, |drain| {
        let mut sums = Sums::default();
        while let Some(record) = drain.next_record() {
            add(&mut sums.sizes, record?.size().into());
        }
        Ok(sums)
    })
}

/// Reads the leading fields of samples by [`Drain::next_record`] and [`Sample::parse`]. Their event is not looked up.
pub(crate) fn sample(capture: &Capture) -> Outcome {
    let layout = &capture.events[0].layout;
    drained(capture, |drain| {
        let mut sums = Sums::default();
        while let Some(record) = drain.next_record() {
            leading(&mut sums, &Sample::parse(layout, &record?)?);
        }
        Ok(sums)
    })
}

/// Reads the leading fields of samples by [`Drain::next_with_event`].
pub(crate) fn with_event(capture: &Capture) -> Outcome {
    drained(capture, |drain| {
        let mut sums = Sums::default();
        while let Some(record) = drain.next_with_event() {
            if let Some(sample) = record?.sample() {
                leading(&mut sums, &sample);
            }
        }
        Ok(sums)
    })
}
