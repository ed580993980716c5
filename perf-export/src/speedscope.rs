//! speedscope's JSON: a profile for each thread and event, whose samples are in the order of time.
//!
//! speedscope: `src/lib/file-format-spec.ts`.

use std::io::{self, Write};
use std::num::NonZero;

use perf_profile::{
    Call, Profile, SourceLine, Weight, calls_of, event_name,
    text::OneLine,
    unit::{has_periods, is_clock},
    unknown_name,
};
use serde::Serialize;

use hashbrown::HashMap;

use crate::json::{ComputedValues, JsonDocument};

/// Options of speedscope's JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The weight of a sample. Periods of clocks are nanoseconds; all others have no unit.
    pub weight: Weight,
    /// Name of the document.
    pub name: String,
    /// Number of threads that write. The output is the same for any number.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    /// Periods, no name, and one thread.
    fn default() -> Self {
        Self { weight: Weight::default(), name: String::new(), threads: NonZero::<usize>::MIN }
    }
}

/// Writes the samples of some captures.
///
/// A thread has a profile for each event, and for each name that it had. Samples that follow each other with the same
/// stack are one sample. The profile with the largest number of samples is shown first.
///
/// A function is one frame, so that speedscope adds up its time: the line is the function's first line that has a sample. The
/// file of a function without debug information is the program or library.
///
/// Costs memory for each frame and sample, besides the profiles. Writes a number for each frame of the stack of each sample,
/// as the format requires.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut frames = SpeedscopeFrames::default();
    let numbers: Vec<_> = profiles.iter().map(|profile| FrameNumbers::new(profile, &mut frames)).collect();
    let mut all = Vec::new();
    for (profile, numbers) in profiles.iter().zip(&numbers) {
        push_profiles(profile, numbers, options.weight, &mut all);
    }
    // Of several, the first one.
    let most = all.iter().map(|of_thread| of_thread.stacks.len()).max().unwrap_or(0);
    let shown = all.iter().position(|of_thread| of_thread.stacks.len() == most).unwrap_or(0);
    let mut document = JsonDocument::default();
    document.open(b'{');
    document.field("$schema", "https://www.speedscope.app/file-format-schema.json");
    document.key("shared");
    document.open(b'{');
    document.column("frames", &frames.list[..]);
    document.close(b'}');
    document.key("profiles");
    document.open(b'[');
    all.iter().for_each(|of_thread| of_thread.add_to(&mut document));
    document.close(b']');
    document.field("name", &options.name);
    document.field("activeProfileIndex", &shown);
    document.field("exporter", concat!("perf-export@", env!("CARGO_PKG_VERSION")));
    document.close(b'}');
    document.write(options.threads, out)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct SpeedscopeFrame {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// The functions of all captures.
#[derive(Default)]
struct SpeedscopeFrames {
    list: Vec<SpeedscopeFrame>,
    /// By the name and the file that was mapped.
    numbers: HashMap<(String, String), u32>,
}

impl SpeedscopeFrames {
    fn number(&mut self, name: &str, file: &str) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry((name.to_owned(), file.to_owned())).or_insert(next);
        if number == next {
            let file = Some(file.to_owned()).filter(|file| !file.is_empty());
            self.list.push(SpeedscopeFrame { name: name.to_owned(), file, line: None });
        }
        number
    }

    /// Notes a line of a function. The first one of all counts, so that their order does not matter.
    fn add_line(&mut self, number: u32, line: &SourceLine) {
        let file = OneLine(&line.file).to_string();
        let Some(frame) = self.list.get_mut(number as usize) else { return };
        let is_first = frame.line.is_none_or(|before| {
            (file.as_str(), line.line) < (frame.file.as_deref().unwrap_or_default(), before)
        });
        if is_first {
            (frame.file, frame.line) = (Some(file), Some(line.line));
        }
    }
}

/// The functions of each frame of a capture, the outermost one first.
struct FrameNumbers(Vec<Vec<u32>>);

impl FrameNumbers {
    fn new(profile: &Profile, frames: &mut SpeedscopeFrames) -> Self {
        let mut of_symbols: HashMap<u32, u32> = HashMap::new();
        let number = |frame: u32| {
            let dso = profile.frames().dso_of(frame);
            let guess = profile.frames().location(frame).and_then(|place| place.guess);
            let file = || dso.map(|dso| OneLine(dso.name()).to_string()).unwrap_or_default();
            let of_call = |call: Call<'_>| {
                let number = match call.symbol {
                    // What has the same name in the same file.
                    Some((number, symbol)) => *of_symbols
                        .entry(number)
                        .or_insert_with(|| frames.number(&OneLine(&symbol.label()).to_string(), &file())),
                    None => frames.number(&unknown_name(dso, guess), &file()),
                };
                if let Some(line) = call.line.filter(|_| call.symbol.is_some()) {
                    frames.add_line(number, line);
                }
                number
            };
            calls_of(profile, frame).into_iter().map(of_call).collect()
        };
        Self((0..profile.frames().locations().len() as u32).map(number).collect())
    }

    /// Returns the functions of a stack, the outermost one first.
    fn of_stack(&self, profile: &Profile, stack: u32) -> Vec<u32> {
        let frames: Vec<_> = profile.stacks().frames(stack).collect();
        let of_frames = frames.iter().rev().filter_map(|&frame| self.0.get(frame as usize));
        of_frames.flatten().copied().collect()
    }
}

/// The samples of an event in a thread.
struct ThreadProfile<'a> {
    profile: &'a Profile,
    numbers: &'a FrameNumbers,
    name: String,
    unit: &'static str,
    end_value: u64,
    /// A stack of the profile for each sample.
    stacks: Vec<u32>,
    weights: Vec<u64>,
}

impl ThreadProfile<'_> {
    fn add_to<'d>(&'d self, document: &mut JsonDocument<'d>) {
        let Self { profile, numbers, name, unit, end_value, stacks, weights } = self;
        document.open(b'{');
        document.field("type", "sampled");
        document.field("name", name);
        document.field("unit", unit);
        document.field("startValue", &0);
        document.field("endValue", end_value);
        document.column("samples", ComputedValues(stacks, |stack| numbers.of_stack(profile, stack)));
        document.column("weights", &weights[..]);
        document.close(b'}');
    }
}

fn push_profiles<'a>(
    profile: &'a Profile,
    numbers: &'a FrameNumbers,
    weight: Weight,
    all: &mut Vec<ThreadProfile<'a>>,
) {
    let names: Vec<_> =
        profile.events().iter().map(|it| OneLine(&event_name(&it.event)).to_string()).collect();
    // Those of a thread together, those of the first event first.
    let key = |number: &u32| profile.sample(*number).map(|it| (it.thread, it.event));
    let mut samples: Vec<u32> = (0..profile.samples().len() as u32).collect();
    samples.sort_by_key(key);
    for of_thread in samples.chunk_by(|one, other| key(one) == key(other)) {
        let Some((first, thread, event)) = of_thread.first().and_then(|&first| {
            let first = profile.sample(first)?;
            let thread = profile.threads().get(first.thread as usize)?;
            Some((first, thread, profile.events().get(first.event as usize)?))
        }) else {
            continue;
        };
        let name = names.get(first.event as usize);
        let (mut stacks, mut weights): (Vec<u32>, Vec<u64>) = Default::default();
        let mut end_value = 0_u64;
        for sample in of_thread.iter().filter_map(|&number| profile.sample(number)) {
            let weight = weight.of(&sample, &event.event);
            end_value = end_value.wrapping_add(weight);
            match weights.last_mut() {
                Some(last) if stacks.last() == Some(&sample.stack) => *last = last.wrapping_add(weight),
                _ => {
                    stacks.push(sample.stack);
                    weights.push(weight);
                }
            }
        }
        let is_time = weight == Weight::Period && is_clock(&event.event.attr) && has_periods(&event.event);
        let comm = OneLine(&thread.comm);
        let name = name.map_or("", |name| name);
        all.push(ThreadProfile {
            profile,
            numbers,
            name: format!("{comm} {}/{} {name}", thread.pid, thread.tid),
            unit: if is_time { "nanoseconds" } else { "none" },
            end_value,
            stacks,
            weights,
        });
    }
}
