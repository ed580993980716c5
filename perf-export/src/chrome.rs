//! Chrome's Trace Events: the functions of each thread over time, for ui.perfetto.dev, chrome://tracing and speedscope.
//!
//! A sample tells where a thread was at one moment. Here its stack lasts from the sample to the next one of the same thread and
//! event, but not longer than twice the median of the times between these samples; a function lasts while it stays in the stack. So a
//! function that is left and entered again between two samples is one. Between stacks the thread shows nothing: it may have waited,
//! or have run without a sample.
//!
//! A thread has a track for each event. The ids of processes and tracks are numbers of their own, as ids are used again, and two
//! captures may have the same; the names have the recorded ids.
//!
//! Chrome: "Trace Event Format".

use std::collections::HashMap;
use std::io::{self, Write};

use perf_profile::{Call, Profile, calls_of, event_name, text::OneLine};
use serde::Serialize;

use crate::call_name::call_name;

/// Options of Trace Events: none yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {}

/// Writes the samples of all captures. The profiles need the time of each sample: without times, all are at 0.
///
/// Costs memory for each frame, and 4 bytes for each sample, besides the profiles. Writes two events for each function that appears
/// in a stack and was not in the stack before.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[Profile], _: &Options, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut events = EventList { out, is_first: true };
    let mut ids = TrackIds::default();
    for profile in profiles {
        ids.processes.clear();
        write_profile(profile, &mut ids, &mut events)?;
    }
    events.out.write_all(b"\n]}\n")
}

/// The ids that are given.
#[derive(Default)]
struct TrackIds {
    /// By the key of the process, in this capture.
    processes: HashMap<u64, u32>,
    last_process: u32,
    last_track: u32,
}

/// The elements of the array, one a line.
struct EventList<'a> {
    out: &'a mut dyn Write,
    is_first: bool,
}

impl EventList<'_> {
    fn push(&mut self, event: &TraceEvent<'_>) -> io::Result<()> {
        self.out.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        serde_json::to_writer(&mut *self.out, event).map_err(io::Error::from)
    }
}

/// An event: its kind is `ph`.
#[derive(Serialize)]
struct TraceEvent<'a> {
    ph: &'static str,
    pid: u32,
    tid: u32,
    /// Microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// The mapped file.
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<NameArgument<'a>>,
}

#[derive(Serialize)]
struct NameArgument<'a> {
    name: &'a str,
}

/// A function of a frame.
struct FunctionText {
    name: String,
    file: String,
}

fn write_profile(profile: &Profile, ids: &mut TrackIds, events: &mut EventList<'_>) -> io::Result<()> {
    let functions: Vec<Vec<FunctionText>> =
        (0..profile.frames().locations().len() as u32).map(|frame| texts(profile, frame)).collect();
    let names: Vec<String> =
        profile.events().iter().map(|it| OneLine(&event_name(&it.event)).to_string()).collect();
    let key = |number: &u32| profile.sample(*number).map(|it| (it.thread, it.event));
    let mut samples: Vec<u32> = (0..profile.samples().len() as u32).collect();
    samples.sort_by_key(|number| (key(number), profile.sample(*number).map(|it| it.time)));
    // Times are those of a machine that may run for months: microseconds from the first sample on have digits for nanoseconds.
    let start = profile.span().map_or(0, |(first, _)| first);
    for of_track in samples.chunk_by(|one, other| key(one) == key(other)) {
        let Some(first) = of_track.first().and_then(|&number| profile.sample(number)) else { continue };
        let (Some(thread), Some(event)) =
            (profile.threads().get(first.thread as usize), names.get(first.event as usize))
        else {
            continue;
        };
        let comm = OneLine(&thread.comm);
        let process = match ids.processes.get(&thread.process_key) {
            Some(&process) => process,
            None => {
                ids.last_process += 1;
                ids.processes.insert(thread.process_key, ids.last_process);
                events.push(&title(
                    "process_name",
                    ids.last_process,
                    0,
                    &format!("{comm} {}", thread.pid),
                ))?;
                ids.last_process
            }
        };
        ids.last_track += 1;
        let name = format!("{comm} {}/{} {event}", thread.pid, thread.tid);
        events.push(&title("thread_name", process, ids.last_track, &name))?;
        let of = Track { profile, functions: &functions, process, track: ids.last_track, start };
        of.write(of_track, events)?;
    }
    Ok(())
}

/// Returns the event that names a process or a track.
fn title<'a>(kind: &'a str, process: u32, track: u32, name: &'a str) -> TraceEvent<'a> {
    let args = Some(NameArgument { name });
    TraceEvent { ph: "M", pid: process, tid: track, ts: None, name: Some(kind), cat: None, args }
}

/// Returns the functions of a frame, the outermost one first.
fn texts(profile: &Profile, frame: u32) -> Vec<FunctionText> {
    let file = profile.frames().dso_of(frame).map(|dso| OneLine(dso.name()).to_string()).unwrap_or_default();
    let text = |call: &Call<'_>| FunctionText { name: call_name(profile, frame, call), file: file.clone() };
    calls_of(profile, frame).iter().map(text).collect()
}

/// The samples of an event in a thread.
struct Track<'a> {
    profile: &'a Profile,
    functions: &'a [Vec<FunctionText>],
    process: u32,
    track: u32,
    /// The time that is 0.
    start: u64,
}

impl<'a> Track<'a> {
    fn write(&self, samples: &[u32], events: &mut EventList<'_>) -> io::Result<()> {
        let longest = self.longest(samples);
        let mut open: Vec<&'a FunctionText> = Vec::new();
        // When the last stack ends.
        let mut end = 0;
        for sample in samples.iter().filter_map(|&number| self.profile.sample(number)) {
            if sample.time > end {
                self.close(&mut open, 0, end, events)?;
            }
            let stack = self.stack(sample.stack);
            let is_same = |(one, other): &(&&FunctionText, &&FunctionText)| {
                one.name == other.name && one.file == other.file
            };
            let kept = open.iter().zip(&stack).take_while(is_same).count();
            self.close(&mut open, kept, sample.time, events)?;
            for function in stack.into_iter().skip(kept) {
                events.push(&self.event("B", sample.time, Some(function)))?;
                open.push(function);
            }
            end = sample.time.saturating_add(longest);
        }
        self.close(&mut open, 0, end, events)
    }

    /// Ends the innermost functions, so that `kept` are left.
    fn close(
        &self,
        open: &mut Vec<&FunctionText>,
        kept: usize,
        time: u64,
        events: &mut EventList<'_>,
    ) -> io::Result<()> {
        for _ in kept..open.len() {
            events.push(&self.event("E", time, None))?;
        }
        open.truncate(kept);
        Ok(())
    }

    fn event(&self, ph: &'static str, time: u64, function: Option<&'a FunctionText>) -> TraceEvent<'a> {
        TraceEvent {
            ph,
            pid: self.process,
            tid: self.track,
            ts: Some(time.saturating_sub(self.start) as f64 / 1000.0),
            name: function.map(|it| &*it.name),
            cat: function.map(|it| &*it.file).filter(|file| !file.is_empty()),
            args: None,
        }
    }

    /// Returns the functions of a stack, the outermost one first.
    fn stack(&self, stack: u32) -> Vec<&'a FunctionText> {
        let frames: Vec<u32> = self.profile.stacks().frames(stack).collect();
        frames.iter().rev().filter_map(|&frame| self.functions.get(frame as usize)).flatten().collect()
    }

    /// Returns how long a stack lasts at most: twice the median of the times between samples, in nanoseconds; 0 of one sample.
    fn longest(&self, samples: &[u32]) -> u64 {
        let times: Vec<u64> =
            samples.iter().filter_map(|&number| self.profile.sample(number)).map(|it| it.time).collect();
        let mut distances: Vec<u64> =
            times.windows(2).filter_map(|pair| pair.last()?.checked_sub(*pair.first()?)).collect();
        let middle = distances.len() / 2;
        if distances.is_empty() { 0 } else { distances.select_nth_unstable(middle).1.saturating_mul(2) }
    }
}
