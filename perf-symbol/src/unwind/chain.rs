//! The call chain of a sample whose user stack is unwound.

use perf_abi::record::CpuMode;
use perf_parse::FileError;
use perf_session::At;

use super::frame::{Frame, FrameSource};

/// Appends the frames of the call chain that are not in user space.
pub(crate) fn push_kernel(at: &At<'_, '_>, frames: &mut Vec<Frame>) -> Result<(), FileError> {
    let first = frames.len();
    for frame in at.stack(None)? {
        if frame.mode != CpuMode::USER {
            let is_return = frames.len() > first;
            frames.push(Frame { ip: frame.ip, mode: frame.mode, is_return, source: FrameSource::Chain });
        }
    }
    Ok(())
}

/// Appends the frames that the user part of the call chain has after the outermost of the unwound frames, which begin at
/// `user`. Returns whether there were any.
pub(crate) fn splice<'r>(
    at: &At<'_, 'r>,
    deferred: Option<&'r [u64]>,
    frames: &mut Vec<Frame>,
    user: usize,
) -> Result<bool, FileError> {
    // Of a sample without a call chain it is the instruction pointer alone.
    let chain: Vec<u64> =
        at.stack(deferred)?.filter(|frame| frame.mode == CpuMode::USER).map(|frame| frame.ip).collect();
    let unwound: Vec<u64> = frames.get(user..).unwrap_or_default().iter().map(|frame| frame.ip).collect();
    let outer = chain.get(outer_of(&chain, &unwound)..).unwrap_or_default();
    frames.extend(outer.iter().map(|&ip| Frame {
        ip,
        mode: CpuMode::USER,
        is_return: true,
        source: FrameSource::Chain,
    }));
    Ok(!outer.is_empty())
}

/// Number of unwound frames that may be missing in the chain: a frame pointer skips the caller of a function that does not
/// set it.
const SKIPPED: usize = 3;

/// Returns the place in a chain at which the frames begin that are outside of all unwound ones; its length if that is not
/// clear.
///
/// Of a recursion, an address is in the chain many times. The place counts before which most frames are the same.
fn outer_of(chain: &[u64], unwound: &[u64]) -> usize {
    for skipped in 0..=SKIPPED {
        let Some(inner) = unwound.len().checked_sub(skipped).and_then(|count| unwound.get(..count)) else {
            break;
        };
        let same_before = |place: usize| {
            let before = chain.get(..=place).unwrap_or_default();
            before.iter().rev().zip(inner.iter().rev()).take_while(|(left, right)| left == right).count()
        };
        // The first of the longest.
        let best = (0..chain.len()).rev().max_by_key(|&place| same_before(place));
        if let Some(place) = best.filter(|&place| same_before(place) > 0) {
            return place.saturating_add(1);
        }
    }
    chain.len()
}

#[cfg(test)]
mod tests {
    use super::outer_of;

    #[test]
    fn chains_continue_stacks() {
        assert_eq!(outer_of(&[1, 2, 3, 4], &[1, 2]), 2);
        // All is unwound.
        assert_eq!(outer_of(&[1, 2], &[1, 2]), 2);
        // A recursion: as deep as it was unwound.
        assert_eq!(outer_of(&[1, 7, 7, 7, 7, 9], &[1, 7, 7]), 3);
        // The chain skips the caller of the leaf.
        assert_eq!(outer_of(&[1, 3, 4], &[1, 2]), 1);
        // Nothing in common.
        assert_eq!(outer_of(&[5, 6], &[1, 2]), 2);
        assert_eq!(outer_of(&[], &[1]), 0);
        assert_eq!(outer_of(&[1], &[]), 1);
    }
}
