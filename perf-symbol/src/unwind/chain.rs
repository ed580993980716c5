//! The call chain of a sample whose user stack is unwound.

use perf_abi::record::CpuMode;
use perf_parse::FileError;
use perf_session::SampleContext;

use super::end::StackEnd;
use super::frame::{FrameSource, UnwoundFrame};

/// A frame of the user part of a call chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserFrame {
    ip: u64,
    /// Whether it is a return address. A branch record has the address of the call.
    is_return: bool,
}

impl UserFrame {
    /// The largest number of bytes of a call instruction.
    const CALL: u64 = 8;

    /// Returns whether it is the frame that unwinding found at an address.
    fn is_at(self, unwound: u64) -> bool {
        let distance = unwound.wrapping_sub(self.ip);
        distance == 0 || !self.is_return && distance <= Self::CALL
    }
}

/// Appends the frames of the call chain that are not in user space, and returns the others, innermost first, in `user`. If
/// the branches of the event are its call stack, they are the user part. Of a sample without a call chain the instruction
/// pointer is the only address.
pub(crate) fn split<'r>(
    at: &SampleContext<'_, 'r>,
    deferred: Option<&'r [u64]>,
    frames: &mut Vec<UnwoundFrame>,
    user: &mut Vec<UserFrame>,
) -> Result<(), FileError> {
    let first = frames.len();
    user.clear();
    let mut stack = at.stack(deferred)?;
    while let Some(frame) = stack.next() {
        if frame.mode == CpuMode::USER {
            user.push(UserFrame { ip: frame.ip, is_return: !stack.is_in_branches() });
        } else {
            let is_return = frames.len() > first;
            frames.push(UnwoundFrame {
                ip: frame.ip,
                mode: frame.mode,
                is_return,
                source: FrameSource::Chain,
            });
        }
    }
    Ok(())
}

/// Puts the frames that the user part of the call chain has after the unwound ones in their place: after the last of them,
/// or where they become guesses, or instead of a last one that is in no mapping. `end` is how the unwound frames end, which begin
/// at `user`. Returns whether there were any.
pub(crate) fn splice(
    chain: &[UserFrame],
    end: StackEnd,
    frames: &mut Vec<UnwoundFrame>,
    user: usize,
) -> bool {
    let unwound = frames.get(user..).unwrap_or_default();
    let is_guess = |frame: &UnwoundFrame| frame.source == FrameSource::FramePointer;
    let sure = unwound.iter().position(is_guess).unwrap_or(unwound.len());
    let has_bad_last = end == StackEnd::NoMapping
        && sure == unwound.len()
        && unwound.last().is_some_and(|last| last.is_return);
    let sure = sure.saturating_sub(has_bad_last.into());
    let ips: Vec<u64> = unwound.iter().take(sure).map(|frame| frame.ip).collect();
    // A complete stack is in doubt only if the chain has its last frame, and goes on.
    let skipped = if end == StackEnd::Rooted && sure == unwound.len() { 0 } else { SKIPPED };
    let outer = chain.get(outer_of(chain, &ips, skipped)..).unwrap_or_default();
    if outer.is_empty() {
        return false;
    }
    frames.truncate(user.saturating_add(sure));
    frames.extend(outer.iter().map(|&UserFrame { ip, is_return }| UnwoundFrame {
        ip,
        mode: CpuMode::USER,
        is_return,
        source: FrameSource::Chain,
    }));
    true
}

/// Number of unwound frames that may be missing in the chain: a frame pointer skips the caller of a function that does not
/// set it.
const SKIPPED: usize = 3;

/// Returns the place in a chain at which the frames begin that are outside of all unwound ones; its length if that is not
/// clear. The chain may lack as many of the outermost unwound frames as `skipped`.
///
/// Of a recursion, an address is in the chain many times. The place counts before which most frames are the same.
fn outer_of(chain: &[UserFrame], unwound: &[u64], skipped: usize) -> usize {
    for skipped in 0..=skipped {
        let Some(inner) = unwound.len().checked_sub(skipped).and_then(|count| unwound.get(..count)) else {
            break;
        };
        let same_before = |place: usize| {
            let before = chain.get(..=place).unwrap_or_default();
            before
                .iter()
                .rev()
                .zip(inner.iter().rev())
                .take_while(|(left, right)| left.is_at(**right))
                .count()
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
    use super::{SKIPPED, UserFrame};

    fn outer(chain: &[u64], unwound: &[u64], skipped: usize) -> usize {
        let chain: Vec<_> = chain.iter().map(|&ip| UserFrame { ip, is_return: true }).collect();
        super::outer_of(&chain, unwound, skipped)
    }

    fn outer_of(chain: &[u64], unwound: &[u64]) -> usize {
        outer(chain, unwound, SKIPPED)
    }

    #[test]
    fn branches_have_the_addresses_of_calls() {
        let call = |ip| UserFrame { ip, is_return: false };
        assert_eq!(super::outer_of(&[call(100), call(200), call(300)], &[105, 203], 0), 2);
        assert_eq!(super::outer_of(&[call(100), call(200), call(300)], &[105, 209], 0), 3);
    }

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
        assert_eq!(outer(&[1, 3, 4], &[1, 2], 0), 3);
    }
}
