//! The records of one ring, from the ring to the sink.

use perf_open::Ring;

use crate::Error;
use crate::sink::RecordingSink;
use crate::stack_trim::StackTrim;
use crate::survey::RecordSurvey;

/// Passes the records of a ring to `sink`. Returns their number of bytes; `None` if the ring cannot be read.
pub(crate) fn ring<S: RecordingSink + ?Sized>(
    ring: &mut Ring,
    least: usize,
    survey: &mut RecordSurvey,
    stacks: &mut Option<StackTrim>,
    sink: &mut S,
) -> Result<Option<u64>, Error> {
    let mut bytes = 0_u64;
    // A ring that is too small for the limit must not fill up.
    let quarter = ring.size() / 4;
    let Ok(mut unread) = ring.read() else { return Ok(None) };
    if unread.left() < least.min(quarter) as u64 {
        return Ok(Some(0));
    }
    while let Some(span) = unread.next_span() {
        let Ok(span) = span else { return Ok(None) };
        bytes += span.len() as u64;
        if let Some(stacks) = stacks {
            let copy = stacks.trimmed(span);
            // The kernel can use the room while the copy is written.
            unread.release();
            put(copy, survey, sink)?;
        } else {
            put(span, survey, sink)?;
            // The kernel can use the room while the next span is written.
            unread.release();
        }
    }
    Ok(Some(bytes))
}

fn put<S: RecordingSink + ?Sized>(
    records: &[u8],
    survey: &mut RecordSurvey,
    sink: &mut S,
) -> Result<(), Error> {
    match survey.look(records) {
        true => sink.records(&survey.mended(records)),
        false => sink.records(records),
    }
}
