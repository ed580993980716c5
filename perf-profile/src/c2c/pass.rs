//! Groups memory accesses by line of the cache.

use core::cmp::{Ordering, Reverse};
use core::num::NonZero;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::sample_type::SampleType;
use perf_parse::FileError;
use perf_parse::file::Account;
use perf_session::{SampleContext, Session};

use super::access::{C2cAccess, MeanTime};
use super::counts::AccessCounts;
use super::line_key::{LineKey, line_of};
use super::nodes::MachineNodes;
use super::options::{C2cKey, C2cOptions, C2cSort};
use super::report::{C2cLine, C2cReport, Names};
use crate::error::ProfileError;
use crate::function_table::NamingOptions;
use crate::limits::Limits;
use crate::observer::Observer;
use crate::report::{NO_DATA_SRC, line_size, weight_of};
use crate::sample::SampleTotal;
use crate::samples::Samples;
use crate::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use crate::stack_table::{StackTable, has_stacks};
use crate::symbols::{Symbols, recorded_frame};

/// The most frames of a stack.
///
/// perf: `PERF_MAX_STACK_DEPTH`, `include/uapi/linux/perf_event.h`.
const MAX_STACK: usize = 127;

/// What tells a row of a line from others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct AccessKey {
    line: usize,
    offset: u64,
    pid: i32,
    tid: i32,
    ip: u64,
    /// `None` where no code is mapped.
    dso: Option<Vec<u8>>,
}

struct C2cPass {
    options: C2cOptions,
    symbols: Symbols,
    size: u64,
    nodes: MachineNodes,
    lines: Vec<C2cLine>,
    by_line: HashMap<LineKey, usize>,
    by_access: HashMap<AccessKey, usize>,
    /// The keys of the rows of each line.
    keys: Vec<Vec<AccessKey>>,
    counts: AccessCounts,
    table: StackTable,
    /// The number of stacks of all rows.
    stacks: usize,
    comms: HashMap<(i32, u64), Arc<[u8]>>,
    dropped: u64,
    unknown_nodes: u64,
}

impl Samples<'_> {
    /// Groups memory accesses by line of the cache, as `perf c2c report` does. All samples count that are selected, of any event.
    ///
    /// # Errors
    ///
    /// [`ProfileError::AccessesNotRecorded`] if no event has the source of data, what is wrong with the selection, and
    /// [`ProfileError::Cancelled`].
    pub fn c2c(
        self,
        options: &C2cOptions,
        symbols: &Symbols,
        observer: &mut dyn Observer,
    ) -> Result<C2cReport, ProfileError> {
        let source = self.source();
        let info = source.info();
        let has_source = |sample_type: SampleType| sample_type.contains(SampleType::DATA_SRC);
        if !info.events().iter().any(|event| has_source(event.attr.sample_type)) {
            return Err(ProfileError::AccessesNotRecorded);
        }
        let arch = info.features().arch().ok().flatten().unwrap_or_default();
        let line = line_size(&arch);
        let sort = options.sort.unwrap_or_else(|| C2cSort::default_of(&arch));
        let mut pass = C2cPass {
            options: options.clone(),
            symbols: symbols.clone(),
            size: if options.double { line * 2 } else { line },
            nodes: MachineNodes::new(info.features()),
            lines: Vec::new(),
            by_line: HashMap::new(),
            by_access: HashMap::new(),
            keys: Vec::new(),
            counts: AccessCounts::default(),
            table: StackTable::default(),
            stacks: 0,
            comms: HashMap::new(),
            dropped: 0,
            unknown_nodes: 0,
        };
        let one = NonZero::<usize>::MIN;
        let walked = self.walk(symbols.clone(), &mut pass, &mut NoWorker, one, observer)?;
        let (account, omitted) = (walked.account().clone(), walked.omitted());
        Ok(pass.finish(walked.session(), sort, observer, account, omitted))
    }
}

impl<'r> SamplePass<'r> for C2cPass {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    const TAKES_GROUPS: bool = true;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let sample = at.sample();
        let tail = sample.tail().map_err(|error| at.record().error(error))?;
        let (address, ip) = (sample.addr().unwrap_or(0), sample.ip().unwrap_or(0));
        let source = tail.data_src.unwrap_or(NO_DATA_SRC);
        let data = at.find(at.mode(), address);
        let mut counts = AccessCounts::of(source, address, self.options.version);
        let is_counted = counts.neither == 0 && address != 0;
        if is_counted && (data.is_none() || at.find_data(ip).is_none()) {
            counts.unmapped = 1;
        }
        self.counts.add(&counts);
        let key = LineKey::of(at, address, data, self.size);
        let access =
            Access { at, ip, address, in_file: data.map_or(address, |it| it.offset_of(address)), counts };
        let Some(line) = self.line(key, address) else {
            self.dropped += 1;
            return Ok(());
        };
        let Some(row) = self.row(line, &access) else {
            self.dropped += 1;
            return Ok(());
        };
        let physical = tail.phys_addr.filter(|&it| it != 0);
        let node = physical.and_then(|it| self.nodes.of_memory(it));
        self.unknown_nodes += u64::from(physical.is_some() && node.is_none());
        let weight = weight_of(&tail).unwrap_or(0);
        self.count(line, row, &access, physical.zip(node), weight);
        self.add_stack(line, row, at, counted)
    }
}

/// An access, as far as rows need it.
struct Access<'a, 's, 'r> {
    at: &'a SampleContext<'s, 'r>,
    ip: u64,
    address: u64,
    /// The address in the file that is mapped.
    in_file: u64,
    counts: AccessCounts,
}

impl C2cPass {
    /// Returns the place of a line; `None` if there is no room for it.
    fn line(&mut self, key: LineKey, address: u64) -> Option<usize> {
        if let Some(&line) = self.by_line.get(&key) {
            return Some(line);
        }
        if self.lines.len() >= self.options.limit {
            return None;
        }
        self.lines.push(C2cLine {
            address: line_of(address, self.size),
            counts: AccessCounts::default(),
            cpus: BTreeSet::new(),
            memory_nodes: BTreeSet::new(),
            physical: 0,
            accesses: Vec::new(),
            is_shown: false,
            last_physical: 0,
            key,
        });
        self.keys.push(Vec::new());
        self.by_line.insert(key, self.lines.len() - 1);
        Some(self.lines.len() - 1)
    }

    /// Returns the place of the row of an access in its line; `None` if there is no room for it.
    fn row(&mut self, line: usize, access: &Access<'_, '_, '_>) -> Option<usize> {
        let Access { at, ip, address, in_file, .. } = *access;
        let thread = at.thread();
        let frame = self.symbols.own_frame(at);
        let has = |key| self.options.keys.contains(&key);
        let key = AccessKey {
            line,
            offset: address & (self.size - 1),
            pid: if has(C2cKey::Pid) { thread.pid() } else { 0 },
            tid: if has(C2cKey::Tid) { thread.tid() } else { 0 },
            ip: if has(C2cKey::Iaddr) { ip } else { 0 },
            dso: match frame.mapping {
                Some(mapping) if has(C2cKey::Dso) => Some(crate::table::frames::short_name(mapping.dso())),
                _ => None,
            },
        };
        if let Some(&row) = self.by_access.get(&key) {
            return Some(row);
        }
        if self.by_access.len() >= self.options.limit {
            return None;
        }
        let Self { table, symbols, options, .. } = self;
        let own = recorded_frame(frame);
        let frame = table.frames.number(at, &own, symbols.symbolizer_mut(), options.limit)?;
        let rows = &mut self.lines.get_mut(line)?.accesses;
        rows.push(C2cAccess {
            offset: in_file & (self.size - 1),
            ip,
            mode: at.mode(),
            pid: thread.pid(),
            tid: thread.tid(),
            comm: thread.comm().into(),
            threads: BTreeMap::new(),
            counts: AccessCounts::default(),
            cpus: BTreeSet::new(),
            by_node: BTreeMap::new(),
            memory_nodes: BTreeSet::new(),
            physical: 0,
            remote_hitm: MeanTime::default(),
            local_hitm: MeanTime::default(),
            remote_peer: MeanTime::default(),
            local_peer: MeanTime::default(),
            other_loads: MeanTime::default(),
            period: 0,
            stacks: BTreeMap::new(),
            frame,
            thread_key: thread.key(),
            last_physical: 0,
        });
        let row = rows.len() - 1;
        self.keys.get_mut(line)?.push(key.clone());
        self.by_access.insert(key, row);
        Some(row)
    }

    /// Adds the period of an access to its row, and to the row's stack. Stacks without room are left out.
    fn add_stack(
        &mut self,
        line: usize,
        row: usize,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
    ) -> Result<(), FileError> {
        let Self { lines, symbols, table, options, stacks, .. } = self;
        let Some(row) = lines.get_mut(line).and_then(|line| line.accesses.get_mut(row)) else {
            return Ok(());
        };
        row.period = row.period.saturating_add(counted.period);
        if !options.stacks || !has_stacks(counted.event) {
            return Ok(());
        }
        let limits = Limits { frames: options.limit, ..Limits::default() };
        let (stack, end) = counted.stack(at, symbols)?;
        let number = table.number(at, &stack, end, symbols.symbolizer_mut(), MAX_STACK, &limits);
        symbols.done(stack);
        let Some(number) = number else { return Ok(()) };
        if *stacks < options.limit || row.stacks.contains_key(&number) {
            let total = row.stacks.entry(number).or_insert_with(|| {
                *stacks += 1;
                SampleTotal::default()
            });
            total.add(SampleTotal { samples: 1, period: counted.period });
        }
        Ok(())
    }

    fn count(
        &mut self,
        line: usize,
        row: usize,
        access: &Access<'_, '_, '_>,
        physical: Option<(u64, u64)>,
        weight: u64,
    ) {
        let Access { at, counts, .. } = access;
        let Self { lines, nodes, comms, .. } = self;
        let Some(line) = lines.get_mut(line) else { return };
        let Some(row) = line.accesses.get_mut(row) else { return };
        line.counts.add(counts);
        row.counts.add(counts);
        row.add_time(counts, weight);
        let cpu = at.sample().cpu();
        if let Some(cpu) = cpu {
            line.cpus.insert(cpu);
            row.cpus.insert(cpu);
        }
        if let Some(node) = nodes.of_cpu(cpu.unwrap_or(0)) {
            row.by_node.entry(node).or_default().add(counts);
        }
        if let Some((address, node)) = physical {
            line.memory_nodes.insert(node);
            row.memory_nodes.insert(node);
            for (last, count) in
                [(&mut line.last_physical, &mut line.physical), (&mut row.last_physical, &mut row.physical)]
            {
                if *last != address {
                    (*last, *count) = (address, *count + 1);
                }
            }
        }
        let thread = at.thread();
        let known = comms.entry((thread.tid(), thread.key())).or_default();
        if **known != *thread.comm() {
            *known = thread.comm().into();
        }
        row.threads.entry(thread.tid()).or_insert_with(|| Arc::clone(known));
    }

    fn finish(
        self,
        session: &Session,
        sort: C2cSort,
        observer: &mut dyn Observer,
        account: Account,
        omitted: u64,
    ) -> C2cReport {
        let Self { options, mut symbols, nodes, lines, keys, counts, mut table, comms, .. } = self;
        table.finish();
        let naming = NamingOptions { inlines: options.stacks, threads: options.threads };
        let (finder, symbolizer) = symbols.parts();
        let progress = &mut |done, all| observer.names(done, all);
        let (named, _) = table.look_up(session, finder, symbolizer.as_deref(), naming, progress);

        let mut lines: Vec<(C2cLine, Vec<AccessKey>)> = lines.into_iter().zip(keys).collect();
        lines.sort_by(|(one, _), (other, _)| one.key.compare(&other.key));
        lines.sort_by_key(|(line, _)| Reverse(sort.of(&line.counts)));
        let (mut shared, mut shared_lines) = (AccessCounts::default(), 0);
        for (line, _) in lines.iter().filter(|(line, _)| line.counts.hitm() + line.counts.peer() > 0) {
            shared.add(&line.counts);
            shared_lines += 1;
        }
        let all = sort.of(&shared);
        let order = |line: C2cLine, keys: Vec<AccessKey>| {
            let of_line = sort.of(&line.counts);
            let is_shown = options.all || all > 0 && of_line as f64 / all as f64 >= SHOWN;
            let mut rows: Vec<_> = line.accesses.into_iter().zip(keys).collect();
            rows.sort_by(|(_, one), (_, other)| compare(&options.keys, one, other));
            rows.sort_by_key(|(row, key)| {
                (key.offset, Reverse((sort.of(&row.counts), sort.second(&row.counts))))
            });
            let last_comm = |row: &C2cAccess| comms.get(&(row.tid, row.thread_key)).map(Arc::clone);
            let accesses = rows.into_iter().map(|(mut row, _)| {
                let now = session.thread(row.tid).filter(|thread| thread.key() == row.thread_key);
                row.comm =
                    now.map(|thread| thread.comm().into()).or_else(|| last_comm(&row)).unwrap_or_default();
                row
            });
            C2cLine { accesses: accesses.collect(), is_shown, ..line }
        };
        let lines = lines.into_iter().map(|(line, keys)| order(line, keys)).collect();
        let (dropped, unknown_nodes) = (self.dropped, self.unknown_nodes);
        let names = Names { named, table, version: options.version };
        C2cReport {
            lines,
            counts,
            shared,
            shared_lines,
            nodes,
            sort,
            names,
            dropped,
            unknown_nodes,
            account,
            omitted,
        }
    }
}

/// The part of all lines that a line has at least if it is shown.
///
/// perf: `DISPLAY_LINE_LIMIT`, `tools/perf/builtin-c2c.c`.
const SHOWN: f64 = 0.001;

/// Compares rows in the order in which perf has those with equal counts.
fn compare(keys: &[C2cKey], one: &AccessKey, other: &AccessKey) -> Ordering {
    let by = |key: &C2cKey| match key {
        C2cKey::Pid => other.pid.cmp(&one.pid),
        C2cKey::Tid => one.tid.cmp(&other.tid),
        C2cKey::Iaddr => one.ip.cast_signed().cmp(&other.ip.cast_signed()),
        C2cKey::Dso => (one.dso.is_none(), &one.dso).cmp(&(other.dso.is_none(), &other.dso)),
    };
    let first = one.offset.cmp(&other.offset);
    keys.iter().fold(first, |order, key| order.then_with(|| by(key)))
}
