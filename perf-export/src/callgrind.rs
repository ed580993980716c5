//! Callgrind's profiles, for KCachegrind, QCachegrind and `callgrind_annotate`: costs by function and line, and calls.
//!
//! An inlined function is a function that its caller calls, so that its time is with its caller's too. The number of calls is
//! not in samples: `calls=` has the number of samples in the call. The costs of a call that a stack has several times, as
//! recursive functions have, are those of the outermost one.
//!
//! Valgrind: "Callgrind Format Specification", `callgrind/docs/cl-format.xml`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use hashbrown::HashMap;
use perf_profile::call_graph::{CallGraph, GraphFunction};
use perf_profile::{Profile, SourceLine, Weight, event_name, text::OneLine};

/// Options of callgrind's profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What a sample counts.
    pub weight: Weight,
    /// Name of the event whose samples are written, as [`event_name`] returns it. `None` writes all events that have samples, each
    /// as a column.
    pub event: Option<Vec<u8>>,
    /// The command that was recorded, for the title; empty if it is not known.
    pub command: String,
}

/// The largest number of events: each line has a column for each.
pub const MAX_EVENTS: usize = 32;

/// What callgrind writes where a file is not known.
const UNKNOWN_FILE: &str = "???";

/// Writes the samples of all captures as one profile.
///
/// Costs memory for each line of a function and for each call, times the number of events.
///
/// # Errors
///
/// Those of `out`; [`InvalidInput`](io::ErrorKind::InvalidInput) if there are more than [`MAX_EVENTS`] events with samples and none
/// is chosen.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let events = match &options.event {
        Some(event) => vec![event.clone()],
        None => events_with_samples(profiles),
    };
    if events.len() > MAX_EVENTS {
        let message = format!(
            "{} events have samples, and callgrind's format has a column for each: choose one",
            events.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let graph = CallGraph::of(profiles, options.weight, &events);
    let mut text = CallgrindText::default();
    text.header(&graph, &options.command);
    out.write_all(text.taken().as_bytes())?;
    for (index, function) in graph.functions.iter().enumerate() {
        if !function.own.is_empty() || !function.calls.is_empty() {
            text.function(&graph, index, function);
            out.write_all(text.taken().as_bytes())?;
        }
    }
    text.costs("totals:", &graph.total);
    out.write_all(text.taken().as_bytes())
}

/// Returns the names of the events that have samples, in the order of the captures.
fn events_with_samples(profiles: &[Profile]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    let mut known = HashSet::new();
    for profile in profiles {
        let mut has_samples = vec![false; profile.events().len()];
        for sample in profile.samples() {
            if let Some(it) = has_samples.get_mut(sample.event as usize) {
                *it = true;
            }
        }
        for (event, _) in profile.events().iter().zip(has_samples).filter(|&(_, has)| has) {
            let name = event_name(&event.event);
            if known.insert(name.clone()) {
                events.push(name);
            }
        }
    }
    events
}

/// The text, and the numbers of the names in it: a name is written once, and by its number from then on.
#[derive(Debug, Default)]
struct CallgrindText {
    text: String,
    /// Objects: programs and libraries.
    objects: HashMap<String, usize>,
    /// Source files.
    files: HashMap<String, usize>,
    /// Functions whose name is written, by their index in the graph.
    functions: HashSet<usize>,
}

impl CallgrindText {
    fn taken(&mut self) -> String {
        core::mem::take(&mut self.text)
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn header(&mut self, graph: &CallGraph, command: &str) {
        self.line("# callgrind format");
        self.line("version: 1");
        self.line(concat!("creator: perf-export ", env!("CARGO_PKG_VERSION")));
        if !command.is_empty() {
            self.line(&format!("cmd: {}", OneLine(command.as_bytes())));
        }
        self.line("positions: line");
        let names = identifiers(&graph.events);
        for (name, event) in names.iter().zip(&graph.events) {
            self.line(&format!("event: {name} : {}", OneLine(event)));
        }
        self.line(&format!("events: {}", names.join(" ")));
        self.costs("summary:", &graph.total);
    }

    fn costs(&mut self, head: &str, costs: &[u64]) {
        self.text.push_str(head);
        for cost in costs {
            let _ = write!(self.text, " {cost}");
        }
        self.text.push('\n');
    }

    fn function(&mut self, graph: &CallGraph, index: usize, function: &GraphFunction) {
        self.text.push('\n');
        let object = OneLine(&function.dso).to_string();
        let file = file_of(function);
        Self::name(&mut self.text, &mut self.objects, "ob", &object);
        Self::name(&mut self.text, &mut self.files, "fl", &file);
        self.function_name("fn", index, function);
        // The file of the lines that follow: a macro of a header may be in the function.
        let mut current = file;
        for cost in &function.own {
            self.enter(&mut current, cost.line.as_ref());
            self.costs(&number_of(cost.line.as_ref()).to_string(), &cost.costs);
        }
        for call in &function.calls {
            let Some(callee) = graph.functions.get(call.callee) else { continue };
            self.enter(&mut current, call.line.as_ref());
            Self::name(&mut self.text, &mut self.objects, "cob", &OneLine(&callee.dso).to_string());
            Self::name(&mut self.text, &mut self.files, "cfi", &file_of(callee));
            self.function_name("cfn", call.callee, callee);
            let _ = writeln!(self.text, "calls={} {}", call.samples, number_of(first_line(callee)));
            self.costs(&number_of(call.line.as_ref()).to_string(), &call.costs);
        }
    }

    /// Names the file of the next line, if it is another one.
    fn enter(&mut self, current: &mut String, line: Option<&SourceLine>) {
        let Some(line) = line else { return };
        let file = OneLine(&line.file).to_string();
        if *current != file {
            Self::name(&mut self.text, &mut self.files, "fi", &file);
            *current = file;
        }
    }

    fn name(text: &mut String, numbers: &mut HashMap<String, usize>, key: &str, name: &str) {
        let name = if name.is_empty() { UNKNOWN_FILE } else { name };
        let _ = match numbers.get(name) {
            Some(number) => writeln!(text, "{key}=({number})"),
            None => {
                let number = numbers.len() + 1;
                numbers.insert(name.to_owned(), number);
                writeln!(text, "{key}=({number}) {name}")
            }
        };
    }

    /// Names a function. Its number is not that of its name: readers take a number for one function of one file.
    fn function_name(&mut self, key: &str, index: usize, function: &GraphFunction) {
        let number = index + 1;
        let _ = if self.functions.insert(index) {
            writeln!(self.text, "{key}=({number}) {}", OneLine(&function.name))
        } else {
            writeln!(self.text, "{key}=({number})")
        };
    }
}

/// Returns the first line that a function has a cost in.
fn first_line(function: &GraphFunction) -> Option<&SourceLine> {
    let own = function.own.iter().find_map(|it| it.line.as_ref());
    let calls = function.calls.iter().find_map(|it| it.line.as_ref());
    match (own, calls) {
        (Some(own), Some(call)) => {
            Some(if (&call.file, call.line) < (&own.file, own.line) { call } else { own })
        }
        (own, call) => own.or(call),
    }
}

/// Returns the source file of a function.
fn file_of(function: &GraphFunction) -> String {
    first_line(function).map_or_else(|| UNKNOWN_FILE.to_owned(), |line| OneLine(&line.file).to_string())
}

/// Returns the number of a line: 0 if it is not known.
fn number_of(line: Option<&SourceLine>) -> u32 {
    line.map_or(0, |it| it.line)
}

/// Returns names of events that readers take: of letters, digits and underscores, each once.
fn identifiers(events: &[Vec<u8>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(events.len());
    for event in events {
        let letter = |&byte: &u8| if byte.is_ascii_alphanumeric() { char::from(byte) } else { '_' };
        let mut name: String = event.iter().map(letter).collect();
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            name.insert(0, 'e');
        }
        while names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn events_are_identifiers_and_each_has_its_own() {
        let events = ["cpu-clock:u", "cpu_clock:u", "", "4k", "cycles"].map(|it| it.as_bytes().to_vec());
        assert_eq!(identifiers(&events), ["cpu_clock_u", "cpu_clock_u_", "e", "e4k", "cycles"]);
    }
}
