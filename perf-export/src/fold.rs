//! Folded stacks: a line for each stack, its functions from the outermost one on with semicolons between them, a blank, and
//! what the stack counts.
//!
//! The lines are those that `inferno-collapse-perf` and `stackcollapse-perf.pl` make of the text of `perf script`, so names
//! are as there: arguments are cut from names of functions, blanks in names of threads become underscores, and semicolons
//! become colons.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

use perf_abi::event::EventType;
use perf_parse::event::Event;
use perf_session::Dso;

use crate::event_name::event_name;
use crate::frames::NONE;
use crate::named::FunctionAt;
use crate::profile::{Profile, Sample, Thread};
use crate::text::push_name;

/// What the outermost frame of a stack is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Root {
    /// The name of the thread: `nginx`.
    #[default]
    Comm,
    /// With the id of the process: `nginx-123`.
    Pid,
    /// With the ids of the process and the thread: `nginx-123/125`.
    Tid,
}

/// What a stack counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weight {
    /// What the event counted: the sum of the periods, which for samples without one are the event's. Samples of tracepoints
    /// count 1 each, because the text of `perf script` has no period of them.
    #[default]
    Period,
    /// The number of samples.
    Samples,
}

impl Weight {
    /// Returns what a sample counts.
    #[must_use]
    pub fn of(self, sample: &Sample, event: &Event) -> u64 {
        match self {
            Self::Period if event.attr.kind != EventType::TRACEPOINT => sample.total.period,
            _ => sample.total.samples,
        }
    }
}

/// How stacks are folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What the outermost frame is.
    pub root: Root,
    /// What a stack counts.
    pub weight: Weight,
    /// Whether `_[k]` follows the names of functions of the kernel.
    pub mark_kernel: bool,
    /// Whether `_[i]` follows the names of inlined functions.
    pub mark_inlined: bool,
    /// Whether `_[j]` follows the names of functions of generated code.
    pub mark_jit: bool,
    /// Only samples of the event with this name, as [`event_name`] returns it. Without it, of the event of the first sample:
    /// the sum of several events would mean nothing.
    pub event: Option<Vec<u8>>,
}

/// Writes the stacks of some captures as one list, ordered by their bytes.
///
/// Takes memory for each different stack of threads with a name.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = BTreeMap::new();
    let mut event = options.event.clone();
    for profile in profiles {
        let names: Vec<_> = profile.events().iter().map(|it| event_name(&it.event)).collect();
        let first = profile.samples().first().and_then(|sample| names.get(sample.event as usize));
        let event = event.get_or_insert_with(|| first.cloned().unwrap_or_default());
        // The stacks of threads whose root is the same.
        let mut roots = HashMap::new();
        let mut weights: HashMap<(u32, u32), u64> = HashMap::new();
        let root_of: Vec<u32> = profile
            .threads()
            .iter()
            .map(|thread| {
                let next = roots.len() as u32;
                *roots.entry(root(thread, options.root)).or_insert(next)
            })
            .collect();
        for sample in profile.samples() {
            let (Some(of), Some(name)) =
                (profile.events().get(sample.event as usize), names.get(sample.event as usize))
            else {
                continue;
            };
            if name != event {
                continue;
            }
            let root = root_of.get(sample.thread as usize).copied().unwrap_or(NONE);
            let weight = weights.entry((root, sample.stack)).or_default();
            *weight = weight.wrapping_add(options.weight.of(sample, &of.event));
        }
        let mut texts: Vec<_> = roots.into_iter().collect();
        texts.sort_unstable_by_key(|&(_, number)| number);
        let labels = Labels::new(profile, options);
        for ((root, stack), weight) in weights {
            let mut line = texts.get(root as usize).map_or_else(Vec::new, |(text, _)| text.clone());
            labels.push_stack(&mut line, profile, stack);
            let sum: &mut u64 = lines.entry(line).or_default();
            *sum = sum.wrapping_add(weight);
        }
    }
    for (line, weight) in lines {
        out.write_all(&line)?;
        writeln!(out, " {weight}")?;
    }
    Ok(())
}

fn root(thread: &Thread, root: Root) -> Vec<u8> {
    let mut text = Vec::new();
    push_name(&mut text, &thread.comm);
    text.iter_mut().filter(|byte| **byte == b' ').for_each(|byte| *byte = b'_');
    let Thread { pid, tid, .. } = thread;
    match root {
        Root::Comm => {}
        Root::Pid => text.extend_from_slice(format!("-{pid}").as_bytes()),
        Root::Tid => text.extend_from_slice(format!("-{pid}/{tid}").as_bytes()),
    }
    text
}

/// The text of each frame: its functions from the outermost one on, a semicolon before each.
#[derive(Debug)]
struct Labels(Vec<Vec<u8>>);

impl Labels {
    fn new(profile: &Profile, options: &Options) -> Self {
        let frames = 0..profile.frames().places().len() as u32;
        Self(frames.map(|frame| label(profile, frame, options)).collect())
    }

    fn push_stack(&self, line: &mut Vec<u8>, profile: &Profile, stack: u32) {
        let mut frames: Vec<u32> = profile.stacks().frames(stack).collect();
        frames.reverse();
        for frame in frames {
            line.extend_from_slice(self.0.get(frame as usize).map_or(&[][..], |label| label));
        }
    }
}

fn label(profile: &Profile, frame: u32, options: &Options) -> Vec<u8> {
    let named = profile.named();
    let dso = profile.frames().dso_of(frame);
    let mark: &[u8] = match dso.map(|dso| dso.name()) {
        Some(name) if options.mark_kernel && (name.starts_with(b"[") || name.ends_with(b"vmlinux")) => {
            b"_[k]"
        }
        Some(name) if options.mark_jit && name.starts_with(b"/tmp/perf-") && name.ends_with(b".map") => {
            b"_[j]"
        }
        _ => b"",
    };
    let symbols = named.functions_of(frame).iter().rev();
    let mut symbols = symbols.filter_map(|FunctionAt { symbol, .. }| named.symbol(*symbol)).peekable();
    let mut label = Vec::new();
    // Outside of the functions that are known there is one, which they are inlined into.
    if symbols.peek().is_none_or(|outermost| outermost.is_inlined) {
        push_unknown(&mut label, dso);
        label.extend_from_slice(mark);
    }
    for symbol in symbols {
        label.push(b';');
        push_tidy(&mut label, without_arguments(&symbol.name));
        let of_inlined: &[u8] = if options.mark_inlined { b"_[i]" } else { b"" };
        label.extend_from_slice(if symbol.is_inlined { of_inlined } else { mark });
    }
    label
}

/// Appends what a function without a name is called: the name of the file without its folders.
fn push_unknown(label: &mut Vec<u8>, dso: Option<&Arc<Dso>>) {
    let Some(dso) = dso else { return label.extend_from_slice(b";[unknown]") };
    let file = dso.name().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    label.extend_from_slice(b";[");
    push_tidy(label, file);
    label.push(b']');
}

/// Returns the name of a function without its arguments: up to the first parenthesis that is in no other brackets. Those of
/// an anonymous namespace of C++, and of the receiver of a method of Go, are part of the name.
fn without_arguments(name: &[u8]) -> &[u8] {
    let mut depth = 0_i32;
    for (index, byte) in name.iter().enumerate() {
        let (before, rest) = name.split_at(index);
        match byte {
            b'(' if depth == 0 && !before.ends_with(b".") && !rest.starts_with(b"(anonymous namespace)") => {
                return before;
            }
            b'<' | b'{' | b'[' | b'(' => depth += 1,
            b'>' | b'}' | b']' | b')' => depth -= 1,
            _ => {}
        }
    }
    name
}

/// Appends a name without the character that separates names.
fn push_tidy(label: &mut Vec<u8>, name: &[u8]) {
    let start = label.len();
    push_name(label, name);
    let added = label.get_mut(start..).unwrap_or_default();
    added.iter_mut().filter(|byte| **byte == b';').for_each(|byte| *byte = b':');
}
