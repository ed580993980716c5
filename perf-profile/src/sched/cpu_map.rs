//! The threads that run on each CPU, as `perf sched map` has them.

use std::collections::BTreeMap;

use super::event::{SchedSample, SwitchEvent};
use super::perf_tasks::{PerfTask, PerfTasks, PerfVersion, TaskId};

/// The threads that run on each CPU, each with a short name.
///
/// perf: `map_switch_event`, `tools/perf/builtin-sched.c`.
#[derive(Debug)]
pub struct CpuMap {
    tasks: PerfTasks,
    short_names: Vec<Option<[u8; 2]>>,
    next_name: [u8; 2],
    /// The thread that runs on each CPU.
    current: BTreeMap<u32, TaskId>,
    /// The CPUs in the order in which they are shown, if each is shown from its first switch on.
    compact: Option<Vec<u32>>,
    /// One more than the highest number of a CPU so far.
    cpus: u32,
    /// The names that are shown; all if `None`.
    names: Option<MapNames>,
}

/// The names of the threads that are shown.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MapNames {
    /// The names.
    pub names: Vec<Vec<u8>>,
    /// Whether a part of a name is enough.
    pub is_fuzzy: bool,
}

impl MapNames {
    /// Selects threads by their names, or by parts of them.
    #[must_use]
    pub fn new(names: Vec<Vec<u8>>, is_fuzzy: bool) -> Self {
        Self { names, is_fuzzy }
    }

    fn has(&self, comm: &[u8]) -> bool {
        let is_part = |name: &[u8]| name.is_empty() || comm.windows(name.len()).any(|part| part == name);
        self.names.iter().any(|name| if self.is_fuzzy { is_part(name) } else { name == comm })
    }
}

/// A switch as a line of the map.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MapLine<'m> {
    /// What each CPU runs, in the order in which they are shown.
    pub cells: Vec<MapCell<'m>>,
    /// The thread that runs from now on, if its name is shown for the first time, or is a new one.
    pub named: Option<(&'m PerfTask, [u8; 2])>,
    /// Whether the CPU is shown for the first time in a compact map.
    pub is_new_cpu: bool,
    /// Whether the thread that runs from now on is shown.
    pub shows_next: bool,
    /// Whether the thread that ran before is shown, if threads are selected by name.
    pub shows_previous: bool,
}

/// What a CPU runs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MapCell<'m> {
    /// The CPU.
    pub cpu: u32,
    /// The thread and its short name; `None` before the first switch of the CPU.
    pub task: Option<(&'m PerfTask, [u8; 2])>,
}

/// The most CPUs, as perf has them. Samples of others are skipped.
const CPUS: u32 = 4096;

impl CpuMap {
    /// Has no switches yet. `cpus` is the number of CPUs of the machine, which perf 6.1 shows from the first line on; a compact map
    /// has only CPUs with switches.
    #[must_use]
    pub fn new(version: PerfVersion, cpus: u32, is_compact: bool, names: Option<MapNames>) -> Self {
        Self {
            tasks: PerfTasks::new(version).without_exits(),
            short_names: Vec::new(),
            next_name: *b"A0",
            current: BTreeMap::new(),
            compact: is_compact.then(Vec::new),
            cpus: match version {
                PerfVersion::V6_1 => cpus.clamp(1, CPUS),
                PerfVersion::V7_2 => 1,
            },
            names,
        }
    }

    /// Returns the threads.
    #[must_use]
    pub fn tasks(&self) -> &PerfTasks {
        &self.tasks
    }

    /// Returns the threads, which records that are not samples change.
    pub fn tasks_mut(&mut self) -> &mut PerfTasks {
        &mut self.tasks
    }

    /// Takes a switch, and returns its line; `None` if there are too many CPUs or threads. `shows` is whether the CPU is shown:
    /// otherwise, a new name of a thread is still to be shown.
    pub fn switch(
        &mut self,
        at: &SchedSample<'_>,
        switch: &SwitchEvent<'_>,
        shows: bool,
    ) -> Option<MapLine<'_>> {
        if at.cpu >= CPUS {
            return None;
        }
        self.cpus = self.cpus.max(at.cpu + 1);
        let mut is_new_cpu = false;
        if let Some(shown) = self.compact.as_mut().filter(|shown| !shown.contains(&at.cpu)) {
            shown.push(at.cpu);
            is_new_cpu = true;
        }
        let next = self.tasks.find(-1, switch.next_tid)?;
        let previous = self.tasks.find(-1, switch.prev_tid)?;
        self.current.insert(at.cpu, next);
        let is_new = self.short_name(next).is_none();
        if is_new {
            self.give_name(next);
        }
        let has = |id: TaskId| {
            let comm = self.tasks.get(id).map_or(&b""[..], |task| &task.comm);
            self.names.as_ref().is_none_or(|names| names.has(comm))
        };
        let shows_next = has(next);
        let shows_previous = self.names.is_some() && has(previous) && self.short_name(previous).is_some();
        let is_renamed = shows && shows_next && self.tasks.take_renamed(next);
        let cpus: Vec<u32> = self.compact.clone().unwrap_or_else(|| (0..self.cpus).collect());
        let cell = |cpu| MapCell { cpu, task: self.current.get(&cpu).and_then(|&id| self.named(id)) };
        let cells = cpus.into_iter().map(cell).collect();
        let named = if is_new || is_renamed { self.named(next) } else { None };
        Some(MapLine { cells, named, is_new_cpu, shows_next, shows_previous })
    }

    fn short_name(&self, id: TaskId) -> Option<[u8; 2]> {
        *self.short_names.get(id.index())?
    }

    fn named(&self, id: TaskId) -> Option<(&PerfTask, [u8; 2])> {
        Some((self.tasks.get(id)?, self.short_name(id).unwrap_or(*b"  ")))
    }

    fn give_name(&mut self, id: TaskId) {
        let Some(task) = self.tasks.get(id) else { return };
        let name = match &self.names {
            _ if *task.comm == *b"swapper" => *b". ",
            Some(names) if !names.has(&task.comm) => *b"- ",
            _ => {
                let name = self.next_name;
                let [letter, digit] = &mut self.next_name;
                if *letter < b'Z' {
                    *letter += 1;
                } else {
                    *letter = b'A';
                    *digit = if *digit < b'9' { *digit + 1 } else { b'0' };
                }
                name
            }
        };
        if self.short_names.len() <= id.index() {
            self.short_names.resize(id.index() + 1, None);
        }
        if let Some(place) = self.short_names.get_mut(id.index()) {
            *place = Some(name);
        }
    }
}
