//! speedscope's JSON: a profile for each thread and event, whose samples are in the order of time.
//!
//! speedscope: `src/lib/file-format-spec.ts`.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use hashbrown::HashMap;

use crate::json::write_json;
use perf_profile::Line;
use perf_profile::Profile;
use perf_profile::Weight;
use perf_profile::event_name;
use perf_profile::text::OneLine;
use perf_profile::unit::{has_periods, is_clock};
use perf_profile::{Call, calls_of, unknown_name};

/// How profiles are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What a sample weighs. Periods of clocks are nanoseconds; all others have no unit.
    pub weight: Weight,
    /// The name of the document.
    pub name: String,
}

/// Writes the samples of some captures.
///
/// A thread has a profile for each event, and for each name that it had. Samples with the same stack that follow each
/// other are written as one. The profile with the largest number of samples is shown first.
///
/// A function is one frame, so that speedscope adds up what it counts: the line is the first one of the function that a
/// sample is in. The file of a function without debug information is the program or library.
///
/// Besides the profiles, takes memory for each frame and sample; writes a number for each frame of the stack of each sample,
/// which the format needs.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut frames = Frames::default();
    let numbers: Vec<_> = profiles.iter().map(|profile| Numbers::new(profile, &mut frames)).collect();
    let mut all = Vec::new();
    for (profile, numbers) in profiles.iter().zip(&numbers) {
        push_profiles(profile, numbers, options.weight, &mut all);
    }
    // Of several, the first one.
    let most = all.iter().map(|of_thread| of_thread.samples.samples.len()).max().unwrap_or(0);
    let shown = all.iter().position(|of_thread| of_thread.samples.samples.len() == most).unwrap_or(0);
    let document = Document {
        schema: "https://www.speedscope.app/file-format-schema.json",
        shared: Shared { frames: frames.list },
        profiles: all,
        name: &options.name,
        active_profile_index: shown,
        exporter: concat!("perf-export@", env!("CARGO_PKG_VERSION")),
    };
    write_json(&document, out)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    shared: Shared,
    profiles: Vec<OfThread<'a>>,
    name: &'a str,
    active_profile_index: usize,
    exporter: &'static str,
}

#[derive(Serialize)]
struct Shared {
    frames: Vec<Frame>,
}

#[derive(Serialize)]
struct Frame {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// The functions of all captures.
#[derive(Default)]
struct Frames {
    list: Vec<Frame>,
    /// By the name and the file that was mapped.
    numbers: HashMap<(String, String), u32>,
}

impl Frames {
    fn number(&mut self, name: &str, file: &str) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry((name.to_owned(), file.to_owned())).or_insert(next);
        if number == next {
            let file = Some(file.to_owned()).filter(|file| !file.is_empty());
            self.list.push(Frame { name: name.to_owned(), file, line: None });
        }
        number
    }

    /// Notes a line of a function. The first one of all counts, so that their order does not matter.
    fn add_line(&mut self, number: u32, line: &Line) {
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
struct Numbers(Vec<Vec<u32>>);

impl Numbers {
    fn new(profile: &Profile, frames: &mut Frames) -> Self {
        let mut of_symbols: HashMap<u32, u32> = HashMap::new();
        let number = |frame: u32| {
            let dso = profile.frames().dso_of(frame);
            let guess = profile.frames().place(frame).and_then(|place| place.guess);
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
        Self((0..profile.frames().places().len() as u32).map(number).collect())
    }

    fn of_frame(&self, frame: u32) -> &[u32] {
        self.0.get(frame as usize).map_or(&[], |numbers| numbers)
    }
}

/// The samples of an event in a thread.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfThread<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Stacks<'a>,
    weights: Vec<u64>,
}

fn push_profiles<'a>(
    profile: &'a Profile,
    numbers: &'a Numbers,
    weight: Weight,
    all: &mut Vec<OfThread<'a>>,
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
        let mut stacks = Stacks { profile, numbers, samples: Vec::new() };
        let mut weights: Vec<u64> = Vec::new();
        let mut end_value = 0_u64;
        for sample in of_thread.iter().filter_map(|&number| profile.sample(number)) {
            let weight = weight.of(&sample, &event.event);
            end_value = end_value.wrapping_add(weight);
            match weights.last_mut() {
                Some(last) if stacks.samples.last() == Some(&sample.stack) => {
                    *last = last.wrapping_add(weight)
                }
                _ => {
                    stacks.samples.push(sample.stack);
                    weights.push(weight);
                }
            }
        }
        let is_time = weight == Weight::Period && is_clock(&event.event.attr) && has_periods(&event.event);
        all.push(OfThread {
            kind: "sampled",
            name: format!(
                "{} {}/{} {}",
                OneLine(&thread.comm),
                thread.pid,
                thread.tid,
                name.map_or("", |name| name)
            ),
            unit: if is_time { "nanoseconds" } else { "none" },
            start_value: 0,
            end_value,
            samples: stacks,
            weights,
        });
    }
}

/// Stacks, each with its functions from the outermost one on.
struct Stacks<'a> {
    profile: &'a Profile,
    numbers: &'a Numbers,
    samples: Vec<u32>,
}

impl Serialize for Stacks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.samples.len()))?;
        let (mut frames, mut stack) = (Vec::new(), Vec::new());
        for &sample in &self.samples {
            frames.clear();
            frames.extend(self.profile.stacks().frames(sample));
            stack.clear();
            for &frame in frames.iter().rev() {
                stack.extend_from_slice(self.numbers.of_frame(frame));
            }
            all.serialize_element(&stack)?;
        }
        all.end()
    }
}
