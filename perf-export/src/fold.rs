//! Folded stacks: a line for each stack, its functions from the outermost one on with semicolons between them, a blank, and
//! what the stack counts.
//!
//! The lines are those that `inferno-collapse-perf` and `stackcollapse-perf.pl` make of the text of `perf script`, so names
//! are as there: arguments are cut from names of functions, blanks in names of threads become underscores, and semicolons
//! become colons. The differences from them:
//!
//! - A sample of a tracepoint without a call chain has its own address as stack. perf prints none, and they leave it out.
//! - perf drops a call chain that has an invalid marker, such as the return address -1, and they leave the sample out. Here
//!   it has the frames before that.
//! - Inlined functions are shown in all stacks. perf 6.1 shows them only where it unwound a copy of the stack, and then takes
//!   the name of the function around them from DWARF as well.
//! - An event is the one with its whole name. They cut names at the first colon, so that they take `cycles:u` and `cycles:k`
//!   for one event, and where perf pads names they count 1 instead of the period.
//! - A file that was deleted is `[name (deleted)]`. They take the last word for the file.
//! - A semicolon in the name of a thread becomes a colon, and bytes that are not UTF-8 are escaped.

use std::io::{self, Write};
use std::sync::Arc;

use hashbrown::HashMap;
use perf_session::Dso;

use crate::calls::{Call, calls_of};
use crate::event_name::event_name;
use crate::frames::NONE;
use crate::profile::{Profile, Thread};
use crate::text::push_name;
use crate::weight::Weight;

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
    let mut lines: HashMap<Vec<u8>, u64> = HashMap::new();
    let mut line = Vec::new();
    let mut event = options.event.clone();
    for profile in profiles {
        let names: Vec<_> = profile.events().iter().map(|it| event_name(&it.event)).collect();
        let first = profile.sample(0).and_then(|sample| names.get(sample.event as usize));
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
            *weight = weight.wrapping_add(options.weight.of(&sample, &of.event));
        }
        let mut texts: Vec<_> = roots.into_iter().collect();
        texts.sort_unstable_by_key(|&(_, number)| number);
        let labels = Labels::new(profile, options);
        for ((root, stack), weight) in weights {
            line.clear();
            line.extend_from_slice(texts.get(root as usize).map_or(&[][..], |(text, _)| text));
            labels.push_stack(&mut line, profile, stack);
            let sum = lines.entry_ref(line.as_slice()).or_default();
            *sum = sum.wrapping_add(weight);
        }
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_unstable();
    for (line, weight) in lines {
        out.write_all(&line)?;
        writeln!(out, " {weight}")?;
    }
    Ok(())
}

fn root(thread: &Thread, root: Root) -> Vec<u8> {
    let mut text = tidy(&thread.comm);
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
        let named = profile.named();
        let names: Vec<_> =
            named.symbols().iter().map(|symbol| tidy(without_arguments(&symbol.name))).collect();
        let frames = 0..profile.frames().places().len() as u32;
        Self(frames.map(|frame| label(profile, frame, &names, options)).collect())
    }

    fn push_stack(&self, line: &mut Vec<u8>, profile: &Profile, stack: u32) {
        let mut frames: Vec<u32> = profile.stacks().frames(stack).collect();
        frames.reverse();
        for frame in frames {
            line.extend_from_slice(self.0.get(frame as usize).map_or(&[][..], |label| label));
        }
    }
}

/// Returns the text of a frame. `names` are those of functions, by the numbers of their symbols.
fn label(profile: &Profile, frame: u32, names: &[Vec<u8>], options: &Options) -> Vec<u8> {
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
    let mut label = Vec::new();
    for Call { symbol, .. } in calls_of(profile, frame) {
        let Some((number, symbol)) = symbol else {
            push_unknown(&mut label, dso);
            label.extend_from_slice(mark);
            continue;
        };
        label.push(b';');
        label.extend_from_slice(names.get(number as usize).map_or(&[][..], |name| name));
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
    label.extend_from_slice(&tidy(file));
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

/// Returns a name without the character that separates names.
fn tidy(name: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    push_name(&mut text, name);
    text.iter_mut().filter(|byte| **byte == b';').for_each(|byte| *byte = b':');
    text
}

#[cfg(test)]
mod tests {
    use perf_session::Session;

    use super::*;
    use crate::builder::ProfileBuilder;
    use crate::profile::Keep;
    use crate::{Limits, Naming};

    #[test]
    fn arguments_are_cut_but_not_what_else_has_parentheses() {
        let cases = [
            ("main", "main"),
            ("f(int, char)", "f"),
            ("f(int) const", "f"),
            ("operator()(int)", "operator"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("a::(anonymous namespace)::f(int)", "a::(anonymous namespace)::f"),
            ("std::function<void (int)>::operator=(int)", "std::function<void (int)>::operator="),
            ("net/http.(*Server).Serve", "net/http.(*Server).Serve"),
            ("net/http.(*Server).Serve(x)", "net/http.(*Server).Serve"),
            ("run::{lambda(int)#1}::f(int)", "run::{lambda(int)#1}::f"),
            ("(", ""),
            ("", ""),
            // A bracket without a partner changes the depth; inferno counts them the same way.
            ("operator>>(int)", "operator>>(int)"),
        ];
        for (name, expected) in cases {
            assert_eq!(without_arguments(name.as_bytes()), expected.as_bytes(), "{name}");
        }
    }

    #[test]
    fn no_name_ends_a_frame_or_a_line() {
        let tidy = |name: &[u8]| String::from_utf8(tidy(name)).unwrap();
        assert_eq!(tidy(b"a;b;"), "a:b:");
        assert_eq!(tidy(b"a\nb\r"), "a\\nb\\r");
        assert_eq!(tidy(b"a b "), "a b ");
        assert_eq!(tidy(b"\xff\x1b[31m"), "\\xff\\u{1b}[31m");
        assert_eq!(tidy("\u{202e}x".as_bytes()), "\\u{202e}x");
    }

    #[test]
    fn roots_have_no_blanks_and_no_separators() {
        let thread = Thread { pid: 7, tid: -1, comm: b"a b \n"[..].into(), key: 1, process_key: 1 };
        assert_eq!(root(&thread, Root::Comm), b"a_b_\\n");
        assert_eq!(root(&thread, Root::Pid), b"a_b_\\n-7");
        assert_eq!(root(&thread, Root::Tid), b"a_b_\\n-7/-1");
        let thread = Thread { comm: b"a;b"[..].into(), ..thread };
        assert_eq!(root(&thread, Root::Comm), b"a:b");
    }

    #[test]
    fn a_profile_without_samples_has_no_stacks() {
        let builder = ProfileBuilder::new(Keep::default(), Limits::default());
        let profile = builder.finish(&Session::new(), None, Naming::default(), &mut |_, _| {});
        let mut out = Vec::new();
        write(&[profile], &Options::default(), &mut out).unwrap();
        assert!(out.is_empty());
    }
}
