//! The call graph of captures: what each function costs, line by line, and what it calls.

use std::collections::{BTreeMap, HashMap};

use perf_abi::record::CpuMode;

use crate::calls::{Call, calls_of, unknown_name};
use crate::event_name::event_name;
use crate::function_table::SourceLine;
use crate::profile::Profile;
use crate::weight::Weight;

/// The functions of some captures, their costs and their calls, for some events.
///
/// All costs are one number for each of [`events`](Self::events), in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallGraph {
    /// Names of the events, as [`event_name`] returns them.
    pub events: Vec<Vec<u8>>,
    /// The functions, sorted by file and name.
    pub functions: Vec<GraphFunction>,
    /// What all samples cost together.
    pub total: Vec<u64>,
}

/// A function of a file. An inlined function is a function that its caller calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphFunction {
    /// The path of the mapped file, or a name as `[kernel.kallsyms]`; empty where nothing is mapped.
    pub dso: Vec<u8>,
    /// The name; with [`Guess::MARK`](perf_symbol::Guess::MARK) if it is a guess. A function without a name has that of its
    /// file, in brackets.
    pub name: Vec<u8>,
    /// Whether it is code of the kernel.
    pub is_kernel: bool,
    /// The samples that have it anywhere in their stack, each counted once.
    pub whole: Vec<u64>,
    /// The samples whose innermost function it is, by line, sorted; without a line first.
    pub own: Vec<LineCost>,
    /// Its calls, sorted by line and callee.
    pub calls: Vec<GraphCall>,
}

/// What a line of a function costs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineCost {
    /// The line; `None` if it is not known.
    pub line: Option<SourceLine>,
    /// The cost.
    pub costs: Vec<u64>,
}

/// A call from a line of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphCall {
    /// The line of the call; `None` if it is not known.
    pub line: Option<SourceLine>,
    /// Index of the called function in [`CallGraph::functions`].
    pub callee: usize,
    /// Number of samples in the call. How often it was called is not known.
    pub samples: u64,
    /// What the samples in the call cost. If a stack has a call several times, its outermost one counts.
    pub costs: Vec<u64>,
}

impl CallGraph {
    /// Adds up the samples of some events, which are named as [`event_name`] names them. Of several captures, functions with
    /// the same name in the same file are one.
    ///
    /// Takes time for each frame of each different stack, and memory for each line and call times the number of events.
    #[must_use]
    pub fn of(profiles: &[Profile], weight: Weight, events: &[Vec<u8>]) -> Self {
        let mut counts = GraphCounts { events: events.len(), ..GraphCounts::default() };
        profiles.iter().for_each(|profile| counts.add(profile, weight, events));
        counts.into_graph(events)
    }
}

/// A function by its file, its name, and whether it is code of the kernel.
type FunctionName = (Vec<u8>, Vec<u8>, bool);
/// A line by its file and number.
type LineOf = Option<(std::sync::Arc<[u8]>, u32)>;

/// A function and the line in it that a stack is at. Both are numbers of [`GraphCounts`].
#[derive(Clone, Copy, Debug)]
struct StackEntry {
    function: u32,
    line: u32,
}

/// The sums, by numbers in the order in which functions and lines are met.
#[derive(Debug, Default)]
struct GraphCounts {
    events: usize,
    functions: HashMap<FunctionName, u32>,
    lines: HashMap<LineOf, u32>,
    whole: HashMap<u32, Vec<u64>>,
    /// By function and line.
    own: HashMap<(u32, u32), Vec<u64>>,
    /// By caller, line and callee: the number of samples, and the costs.
    calls: HashMap<(u32, u32, u32), (u64, Vec<u64>)>,
    total: Vec<u64>,
}

impl GraphCounts {
    fn add(&mut self, profile: &Profile, weight: Weight, events: &[Vec<u8>]) {
        self.total.resize(self.events, 0);
        let of_events: Vec<Option<usize>> = profile
            .events()
            .iter()
            .map(|it| {
                let name = event_name(&it.event);
                events.iter().position(|wanted| *wanted == name)
            })
            .collect();
        let frames: Vec<Vec<StackEntry>> = (0..profile.frames().locations().len() as u32)
            .map(|frame| self.entries(profile, frame))
            .collect();
        // By stack and event, in order, so that numbers are given in the same order in each run.
        let mut of_stacks: BTreeMap<(u32, usize), (u64, u64)> = BTreeMap::new();
        for sample in profile.samples() {
            let index = sample.event as usize;
            let (Some(Some(event)), Some(of)) = (of_events.get(index), profile.events().get(index)) else {
                continue;
            };
            let (samples, cost) = of_stacks.entry((sample.stack, *event)).or_default();
            *samples = samples.wrapping_add(sample.total.samples);
            *cost = cost.wrapping_add(weight.of(&sample, &of.event));
        }
        let mut entries = Vec::new();
        for ((stack, event), (samples, cost)) in of_stacks {
            entries.clear();
            let of_frames = profile.stacks().frames(stack).filter_map(|frame| frames.get(frame as usize));
            entries.extend(of_frames.flatten().copied());
            if entries.is_empty() {
                let function = self.function((Vec::new(), unknown_name(None, None).into_bytes(), false));
                entries.push(StackEntry { function, line: self.line(None) });
            }
            self.add_stack(&entries, event, samples, cost);
        }
    }

    /// Returns the functions of a frame, the innermost one first.
    fn entries(&mut self, profile: &Profile, frame: u32) -> Vec<StackEntry> {
        let dso = profile.frames().dso_of(frame);
        let location = profile.frames().location(frame);
        let is_kernel = location.is_some_and(|it| matches!(it.mode, CpuMode::KERNEL | CpuMode::GUEST_KERNEL));
        let path = dso.map(|dso| dso.name().to_vec()).unwrap_or_default();
        let entry = |call: Call<'_>| {
            let name = match call.symbol {
                Some((_, symbol)) => symbol.label().into_owned(),
                None => unknown_name(dso, location.and_then(|it| it.guess)).into_bytes(),
            };
            let function = self.function((path.clone(), name, is_kernel));
            let line = self.line(call.line.filter(|_| call.symbol.is_some()));
            StackEntry { function, line }
        };
        calls_of(profile, frame).into_iter().rev().map(entry).collect()
    }

    fn function(&mut self, name: FunctionName) -> u32 {
        let next = self.functions.len() as u32;
        *self.functions.entry(name).or_insert(next)
    }

    fn line(&mut self, line: Option<&SourceLine>) -> u32 {
        let next = self.lines.len() as u32;
        *self.lines.entry(line.map(|it| (it.file.clone(), it.line))).or_insert(next)
    }

    /// Adds the samples of a stack, which has its innermost function first.
    fn add_stack(&mut self, entries: &[StackEntry], event: usize, samples: u64, cost: u64) {
        let Some(&innermost) = entries.first() else { return };
        let events = self.events;
        let add = |costs: &mut Vec<u64>| {
            costs.resize(events, 0);
            if let Some(sum) = costs.get_mut(event) {
                *sum = sum.wrapping_add(cost);
            }
        };
        add(&mut self.total);
        add(self.own.entry((innermost.function, innermost.line)).or_default());
        // Outermost first, so that the outermost of equal calls counts.
        let mut functions: Vec<u32> = entries.iter().map(|it| it.function).collect();
        functions.sort_unstable();
        functions.dedup();
        for function in functions {
            add(self.whole.entry(function).or_default());
        }
        let mut pairs: HashMap<(u32, u32), u32> = HashMap::new();
        for pair in entries.windows(2).rev() {
            if let [callee, caller] = pair {
                pairs.entry((caller.function, callee.function)).or_insert(caller.line);
            }
        }
        for ((caller, callee), line) in pairs {
            let (count, costs) = self.calls.entry((caller, line, callee)).or_default();
            *count = count.wrapping_add(samples);
            add(costs);
        }
    }

    fn into_graph(self, events: &[Vec<u8>]) -> CallGraph {
        let Self { functions: numbers, lines, mut whole, own, calls, total, .. } = self;
        let lines_by_number = by_number(lines);
        let line_of = |number: u32| {
            let line = lines_by_number.get(number as usize).cloned().flatten();
            line.map(|(file, line)| SourceLine { file, line })
        };
        // From the numbers in the order of meeting to those in the order of names.
        let mut sorted: Vec<(FunctionName, u32)> = numbers.into_iter().collect();
        sorted.sort_unstable();
        let mut places = vec![0_usize; sorted.len()];
        let mut functions = Vec::with_capacity(sorted.len());
        for (place, ((dso, name, is_kernel), number)) in sorted.into_iter().enumerate() {
            if let Some(it) = places.get_mut(number as usize) {
                *it = place;
            }
            let whole = whole.remove(&number).unwrap_or_default();
            functions.push(GraphFunction { dso, name, is_kernel, whole, ..GraphFunction::default() });
        }
        let place = |number: u32| places.get(number as usize).copied().unwrap_or_default();
        for ((function, line), costs) in own {
            if let Some(it) = functions.get_mut(place(function)) {
                it.own.push(LineCost { line: line_of(line), costs });
            }
        }
        for ((caller, line, callee), (samples, costs)) in calls {
            if let Some(it) = functions.get_mut(place(caller)) {
                it.calls.push(GraphCall { line: line_of(line), callee: place(callee), samples, costs });
            }
        }
        for function in &mut functions {
            function.own.sort_unstable_by(|one, other| key(&one.line).cmp(&key(&other.line)));
            function.calls.sort_unstable_by(|one, other| {
                (key(&one.line), one.callee).cmp(&(key(&other.line), other.callee))
            });
        }
        // Frames that no sample of these events has.
        let total = if total.is_empty() { vec![0; events.len()] } else { total };
        CallGraph { events: events.to_vec(), functions, total }
    }
}

/// What lines are sorted by.
fn key(line: &Option<SourceLine>) -> Option<(&[u8], u32)> {
    line.as_ref().map(|it| (&*it.file, it.line))
}

/// Returns what was numbered, by its number.
fn by_number(numbers: HashMap<LineOf, u32>) -> Vec<LineOf> {
    let mut list = vec![None; numbers.len()];
    for (line, number) in numbers {
        if let Some(place) = list.get_mut(number as usize) {
            *place = line;
        }
    }
    list
}
