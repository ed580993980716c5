//! The cost of each function of a profile, with and without its callees.

use std::collections::HashMap;
use std::sync::Arc;

use perf_abi::record::CpuMode;
use perf_symbol::Guess;

use crate::calls::calls_of;
use crate::profile::Profile;
use crate::sample::SampleTotal;
use crate::table::frames::NONE;

/// A function in a file: the same in two captures if all of this is the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionKey {
    /// The name of the file without its folders; empty where nothing is mapped.
    pub dso: Vec<u8>,
    /// The name of the function; empty if it has none, so that the functions of a file without names are one.
    pub name: Arc<[u8]>,
    /// Whether it is code of the kernel.
    pub is_kernel: bool,
    /// Whether its name, or the frames that have it, are [guesses](perf_symbol::Guess).
    pub is_guess: bool,
}

/// What a function takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionTotal {
    /// Samples whose innermost function this is.
    pub own: SampleTotal,
    /// Samples that have it anywhere in their stack, each counted once.
    pub whole: SampleTotal,
}

/// What the functions of an event's samples take.
#[derive(Debug, Default)]
pub struct Functions {
    /// By function.
    pub totals: HashMap<FunctionKey, FunctionTotal>,
    /// All samples of the event that are in the profile.
    pub all: SampleTotal,
}

impl Functions {
    /// Counts the samples of an event, by its index in [`Profile::events`]. Takes time for each frame of each different
    /// stack.
    #[must_use]
    pub fn of(profile: &Profile, event: u32) -> Self {
        let mut of_stack: HashMap<u32, SampleTotal> = HashMap::new();
        let mut all = SampleTotal::default();
        for sample in profile.samples().filter(|sample| sample.event == event) {
            of_stack.entry(sample.stack).or_default().add(sample.total);
            all.add(sample.total);
        }
        let functions = FunctionNumbers::of(profile);
        let mut totals = vec![FunctionTotal::default(); functions.keys.len()];
        // The last stack that each function was counted in.
        let mut counted = vec![0_usize; functions.keys.len()];
        for (count, (&stack, &total)) in of_stack.iter().enumerate() {
            let frames = profile.stacks().frames(stack);
            let numbers = frames.flat_map(|frame| functions.of_frame(frame));
            for (depth, &number) in numbers.enumerate() {
                let number = number as usize;
                let (Some(sums), Some(last)) = (totals.get_mut(number), counted.get_mut(number)) else {
                    continue;
                };
                if depth == 0 {
                    sums.own.add(total);
                }
                if *last != count + 1 {
                    *last = count + 1;
                    sums.whole.add(total);
                }
            }
        }
        let totals = functions.keys.into_iter().zip(totals).filter(|(_, sums)| sums.whole.samples > 0);
        Self { totals: totals.collect(), all }
    }
}

/// The functions of all frames, by numbers.
#[derive(Debug)]
struct FunctionNumbers {
    keys: Vec<FunctionKey>,
    /// By frame, the innermost function first.
    frames: Vec<Vec<u32>>,
}

impl FunctionNumbers {
    fn of(profile: &Profile) -> Self {
        let named = profile.function_table();
        let mut numbers: HashMap<FunctionKey, u32> = HashMap::new();
        let mut keys = Vec::new();
        let mut number = |key: FunctionKey| {
            let next = keys.len() as u32;
            *numbers.entry(key).or_insert_with_key(|key| {
                keys.push(key.clone());
                next
            })
        };
        let frames = profile.frames().locations().iter().zip(0..).map(|(place, frame)| {
            let dso = named.short_name_of(place.dso);
            let key = |name: Arc<[u8]>, guess: Option<Guess>| FunctionKey {
                dso: if dso == NONE { Vec::new() } else { named.short_name(dso).to_vec() },
                name,
                is_kernel: matches!(place.mode, CpuMode::KERNEL | CpuMode::GUEST_KERNEL),
                is_guess: guess.is_some(),
            };
            let calls = calls_of(profile, frame).into_iter().rev();
            calls
                .map(|call| match call.symbol {
                    Some((_, symbol)) => number(key(Arc::clone(&symbol.name), symbol.guess)),
                    None => number(key(Arc::from(&b""[..]), place.guess)),
                })
                .collect()
        });
        let frames = frames.collect();
        Self { keys, frames }
    }

    fn of_frame(&self, frame: u32) -> &[u32] {
        self.frames.get(frame as usize).map_or(&[], |functions| functions)
    }
}
