//! The source line of each function that has the most samples.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_profile::{NONE, Profile, each_call, table::number_lists::NumberLists, text::OneLine};

/// A file of source code, as the compiler recorded it, and a line, from 1 on.
type Line = (Arc<[u8]>, u32);

/// The samples at each line of each function, by the function's number.
#[derive(Debug, Default)]
pub(super) struct FlameLines {
    samples: HashMap<(u32, Line), u64>,
}

impl FlameLines {
    /// Adds the lines of a capture. `of_frames` has the functions at each frame, the outermost one first.
    pub(super) fn add(&mut self, profile: &Profile, of_frames: &NumberLists) {
        let mut by_number: HashMap<(u32, u32), u64> = HashMap::new();
        for (samples, frame) in samples_of_frames(profile).into_iter().zip(0..) {
            for (&function, (_, line)) in of_frames.get(frame).iter().zip(each_call(profile, frame)) {
                if line != NONE {
                    *by_number.entry((function, line)).or_default() += samples;
                }
            }
        }
        for ((function, line), samples) in by_number {
            if let Some(line) = profile.function_table().line(line) {
                *self.samples.entry((function, (Arc::clone(&line.file), line.line))).or_default() += samples;
            }
        }
    }

    /// Chooses the line of each function; of lines with as many samples, the first one. `ranks` has the rank of each
    /// function, by its number.
    pub(super) fn by_rank(self, ranks: &[u32]) -> RankedLines {
        let mut most: HashMap<u32, (u64, Line)> = HashMap::new();
        for ((function, line), samples) in self.samples {
            let best = most.entry(function).or_insert_with(|| (samples, line.clone()));
            if samples > best.0 || samples == best.0 && line < best.1 {
                *best = (samples, line);
            }
        }
        let text = |(file, _): &Line| OneLine(file).to_string();
        let mut files: Vec<_> = most.values().map(|(_, line)| text(line)).collect();
        files.sort_unstable();
        files.dedup();
        let mut lines = vec![None; ranks.len()];
        for (function, (_, line)) in &most {
            let rank = ranks.get(*function as usize).and_then(|&rank| lines.get_mut(rank as usize));
            if let Some(place) = rank {
                *place = files.binary_search(&text(line)).ok().map(|file| (file, line.1));
            }
        }
        RankedLines { lines, files }
    }
}

/// Returns the number of samples whose stack has each frame. A frame that a stack has twice counts twice.
fn samples_of_frames(profile: &Profile) -> Vec<u64> {
    let stacks = profile.stacks();
    let mut of_stacks = vec![0_u64; stacks.len()];
    for sample in profile.samples() {
        if let Some(sum) = of_stacks.get_mut(sample.stack as usize) {
            *sum += sample.total.samples;
        }
    }
    let mut of_frames = vec![0; profile.frames().locations().len()];
    // Callers have lower numbers.
    for stack in (0..stacks.len() as u32).rev() {
        let samples = of_stacks.get(stack as usize).copied().unwrap_or(0);
        let Some((callers, frame)) = stacks.node(stack) else { continue };
        if let Some(sum) = of_stacks.get_mut(callers as usize) {
            *sum += samples;
        }
        if let Some(sum) = of_frames.get_mut(frame as usize) {
            *sum += samples;
        }
    }
    of_frames
}

/// The line of each function, by its rank, and the files that lines are in.
#[derive(Debug, Default)]
pub(super) struct RankedLines {
    /// The index of the file, and the line.
    pub(super) lines: Vec<Option<(usize, u32)>>,
    /// Sorted.
    pub(super) files: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_most_samples_is_chosen() {
        let line = |file: &str, line| (Arc::from(file.as_bytes()), line);
        let samples = [
            ((0, line("b.c", 7)), 2),
            ((0, line("a.c", 9)), 3),
            // As many as the line after it.
            ((1, line("b.c", 4)), 5),
            ((1, line("b.c", 5)), 5),
        ];
        let ranked = FlameLines { samples: HashMap::from(samples) }.by_rank(&[2, 0, 1]);
        assert_eq!(ranked.files, ["a.c", "b.c"]);
        assert_eq!(ranked.lines, [Some((1, 4)), None, Some((0, 9))]);
    }
}
