//! Folded stacks: a line for each stack, with its functions outermost first, separated by semicolons, then a blank and the
//! weight of the stack.
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

mod order;

use std::io::{self, Write};
use std::num::NonZero;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_profile::{
    Call, CallTree, Profile, Symbol, Weight, each_call, event_name,
    table::number_cache::{NumberCache, UnknownNames},
    table::number_lists::NumberLists,
    text::{mark_of_guess, push_name},
    work::sorting::sort_by_key,
    work::waves::each_part,
};
use perf_session::Dso;

use self::order::{NameRanks, ranks_of_lines};

/// The outermost frame of a stack.
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

/// Options of folded stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The outermost frame.
    pub root: Root,
    /// The weight of a sample.
    pub weight: Weight,
    /// Appends `_[k]` to the names of kernel functions.
    pub mark_kernel: bool,
    /// Appends `_[i]` to the names of inlined functions.
    pub mark_inlined: bool,
    /// Appends `_[j]` to the names of functions of generated code.
    pub mark_jit: bool,
    /// Name of the event whose samples are folded, as [`event_name`] returns it. `None` chooses the event of the first sample:
    /// a sum over several events has no meaning.
    pub event: Option<Vec<u8>>,
    /// Number of threads that write. The output is the same for any number.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    /// Samples under the name of their thread, without marks, on one thread.
    fn default() -> Self {
        Self {
            root: Root::default(),
            weight: Weight::default(),
            mark_kernel: false,
            mark_inlined: false,
            mark_jit: false,
            event: None,
            threads: NonZero::<usize>::MIN,
        }
    }
}

/// Writes the stacks of all captures as one list, sorted by bytes.
///
/// Costs memory for each distinct call path.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut names = FoldedNames::default();
    let mut tree = CallTree::default();
    // By the name of the root and the node.
    let mut weights: HashMap<(u32, u32), u64> = HashMap::new();
    let mut event = options.event.clone();
    for profile in profiles {
        let of_events: Vec<_> = profile.events().iter().map(|it| event_name(&it.event)).collect();
        let first = profile.sample(0).and_then(|sample| of_events.get(sample.event as usize));
        let event = event.get_or_insert_with(|| first.cloned().unwrap_or_default());
        let roots: Vec<u32> = profile
            .threads()
            .iter()
            .map(|thread| names.number(&root(&thread.comm, (thread.pid, thread.tid), options.root)))
            .collect();
        let nodes = tree.add_stacks(profile, &names.of_frames(profile, options));
        for sample in profile.samples() {
            let of = profile.events().get(sample.event as usize);
            let is_wanted = of_events.get(sample.event as usize) == Some(event);
            let (Some(of), Some(&root), Some(&node)) = (
                of.filter(|_| is_wanted),
                roots.get(sample.thread as usize),
                nodes.get(sample.stack as usize),
            ) else {
                continue;
            };
            let weight = weights.entry((root, node)).or_default();
            *weight = weight.wrapping_add(options.weight.of(&sample, &of.event));
        }
    }
    let nodes = tree.into_nodes();
    let of_names = NameRanks::new(&names.list);
    let mut is_end = vec![false; nodes.len()];
    for &(_, node) in weights.keys() {
        if let Some(place) = is_end.get_mut(node as usize) {
            *place = true;
        }
    }
    let ranks = ranks_of_lines(&nodes, &is_end, &of_names);
    let mut lines: Vec<_> = weights
        .into_iter()
        .map(|((root, node), weight)| {
            let rank = ranks.get(node as usize).copied().unwrap_or(0);
            (of_names.of(root, node != 0), rank, root, node, weight)
        })
        .collect();
    sort_by_key(&mut lines, options.threads, |&line| line);
    let text = |lines: &[_]| {
        let (mut text, mut calls) = (Vec::new(), Vec::new());
        for &(_, _, root, node, weight) in lines {
            push_line(&mut text, &names, &nodes, root, node, weight, &mut calls);
        }
        text
    };
    each_part(&lines, LINES, options.threads, text, |text| out.write_all(&text))
}

/// Number of lines in the unit of work of a thread.
const LINES: usize = 4096;

/// Appends a line. `calls` is room for its functions.
fn push_line(
    text: &mut Vec<u8>,
    names: &FoldedNames,
    nodes: &[(u32, u32)],
    root: u32,
    mut node: u32,
    weight: u64,
    calls: &mut Vec<u32>,
) {
    calls.clear();
    while let Some(&(caller, name)) = nodes.get(node as usize).filter(|_| node != 0) {
        calls.push(name);
        node = caller;
    }
    text.extend_from_slice(names.get(root));
    for &name in calls.iter().rev() {
        text.push(b';');
        text.extend_from_slice(names.get(name));
    }
    // Writing to memory cannot fail.
    let _ = writeln!(text, " {weight}");
}

fn root(comm: &[u8], (pid, tid): (i32, i32), root: Root) -> Vec<u8> {
    let mut text = tidy(comm);
    text.iter_mut().filter(|byte| **byte == b' ').for_each(|byte| *byte = b'_');
    match root {
        Root::Comm => {}
        Root::Pid => text.extend_from_slice(format!("-{pid}").as_bytes()),
        Root::Tid => text.extend_from_slice(format!("-{pid}/{tid}").as_bytes()),
    }
    text
}

/// The names in lines, each once. They have no semicolons.
#[derive(Debug, Default)]
struct FoldedNames {
    list: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
}

impl FoldedNames {
    fn number(&mut self, name: &[u8]) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry_ref(name).or_insert(next);
        if number == next {
            self.list.push(name.to_vec());
        }
        number
    }

    fn get(&self, number: u32) -> &[u8] {
        self.list.get(number as usize).map_or(&[], |name| name)
    }

    /// Returns the names of the functions of each frame, the outermost one first.
    fn of_frames(&mut self, profile: &Profile, options: &Options) -> NumberLists {
        let symbols = profile.function_table().symbols();
        // A symbol may have each mark.
        let mut known = NumberCache::of(symbols.len() * NameMark::COUNT);
        let mut of_unknown = UnknownNames::of(profile.frames().dsos().len());
        let mut name = Vec::new();
        let mut of_frames = NumberLists::default();
        for (place, frame) in profile.frames().locations().iter().zip(0..) {
            let dso = profile.frames().dsos().get(place.dso as usize);
            let of_file = mark_of(dso, options);
            of_frames.push(each_call(profile, frame).map(|(Call { symbol, .. }, _)| {
                name.clear();
                let Some((number, symbol)) = symbol else {
                    return of_unknown.number(place.dso, place.guess.is_some(), || {
                        push_unknown(&mut name, dso);
                        name.extend_from_slice(mark_of_guess(place.guess));
                        name.extend_from_slice(of_file.text());
                        self.number(&name)
                    });
                };
                let of_inlined = if options.mark_inlined { NameMark::Inlined } else { NameMark::None };
                let mark = if symbol.is_inlined { of_inlined } else { of_file };
                known.number(number * NameMark::COUNT as u32 + mark as u32, || {
                    push_tidy(&mut name, folded_name(symbol));
                    name.extend_from_slice(mark_of_guess(symbol.guess));
                    name.extend_from_slice(mark.text());
                    self.number(&name)
                })
            }));
        }
        of_frames
    }
}

/// The mark after the name of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameMark {
    None,
    Kernel,
    Inlined,
    Jit,
}

impl NameMark {
    /// Number of marks.
    const COUNT: usize = 4;

    fn text(self) -> &'static [u8] {
        match self {
            Self::None => b"",
            Self::Kernel => b"_[k]",
            Self::Inlined => b"_[i]",
            Self::Jit => b"_[j]",
        }
    }
}

/// Returns the mark of functions in a file that are not inlined.
fn mark_of(dso: Option<&Arc<Dso>>, options: &Options) -> NameMark {
    match dso.map(|dso| dso.name()) {
        Some(name) if options.mark_kernel && (name.starts_with(b"[") || name.ends_with(b"vmlinux")) => {
            NameMark::Kernel
        }
        Some(name) if options.mark_jit && name.starts_with(b"/tmp/perf-") && name.ends_with(b".map") => {
            NameMark::Jit
        }
        _ => NameMark::None,
    }
}

/// Appends what a function without a name is called: the name of the file without its folders.
fn push_unknown(out: &mut Vec<u8>, dso: Option<&Arc<Dso>>) {
    let Some(dso) = dso else { return out.extend_from_slice(b"[unknown]") };
    let file = dso.name().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    out.push(b'[');
    push_tidy(out, file);
    out.push(b']');
}

/// Returns the name of a function as folded stacks have it: without arguments, unless these tell it from another function.
fn folded_name(symbol: &Symbol) -> &[u8] {
    let Symbol { name, raw_name, .. } = symbol;
    let short = || perf_symbol::demangle(raw_name, raw_name.len().max(name.len()));
    let has_them = raw_name.starts_with(b"_Z") && *short() != **name;
    if has_them { name } else { without_arguments(name) }
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
    push_tidy(&mut text, name);
    text
}

/// Appends a name without that character.
fn push_tidy(out: &mut Vec<u8>, name: &[u8]) {
    let start = out.len();
    push_name(out, name);
    let pushed = out.get_mut(start..).unwrap_or_default();
    pushed.iter_mut().filter(|byte| **byte == b';').for_each(|byte| *byte = b':');
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Arch;
    use perf_session::Session;
    use perf_symbol::{StackFinder, Symbolizer};

    use super::*;
    use perf_profile::ProfileBuilder;
    use perf_profile::SampleDetail;
    use perf_profile::{Limits, NamingOptions};

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
        assert_eq!(root(b"a b \n", (7, -1), Root::Comm), b"a_b_\\n");
        assert_eq!(root(b"a b \n", (7, -1), Root::Pid), b"a_b_\\n-7");
        assert_eq!(root(b"a b \n", (7, -1), Root::Tid), b"a_b_\\n-7/-1");
        assert_eq!(root(b"a;b", (7, -1), Root::Comm), b"a:b");
    }

    #[test]
    fn a_profile_without_samples_has_no_stacks() {
        let builder = ProfileBuilder::new(SampleDetail::default(), Limits::default());
        let files = Symbolizer::new(perf_symbol::SymbolOptions::default()).finder().clone();
        let mut finder = StackFinder::new(Arch::X86, 127, files);
        let profile =
            builder.finish(&Session::new(), &mut finder, None, NamingOptions::default(), &mut |_, _| {});
        let mut out = Vec::new();
        write(&[profile], &Options::default(), &mut out).unwrap();
        assert!(out.is_empty());
    }
}
