//! Properties of a sample other than its addresses.

use alloc::collections::BTreeMap;

use hashbrown::HashMap;
use perf_abi::branch::BranchFlags;
use perf_abi::record::RecordType;
use perf_abi::txn::Txn;
use perf_parse::event::Event;
use perf_parse::sample::Tail;
use perf_parse::{EventRecord, Record};
use perf_profile::Symbols;
use perf_profile::tracepoints::TracepointTexts;
use perf_session::{At, Mapping};

use super::keys::Key;
use super::machine::Machine;
use super::memory::{Access, Line};
use super::texts::Texts;
use crate::render::weight;

/// The texts of tracepoints, and the names of the kernel's functions in them.
pub(super) type Tracing<'t, 'a> = (&'t mut TracepointTexts<'a>, &'t mut Symbols);

/// What is known of a sample apart from its addresses. What no key needs is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Facts {
    /// The number of the name of the thread.
    pub(super) comm: u32,
    pub(super) tid: i32,
    pub(super) tgid: i32,
    /// -1 if it was not recorded.
    pub(super) cpu: i64,
    pub(super) cgroup: u64,
    /// Device and inode of the namespace of cgroups.
    pub(super) cgroup_id: (u64, u64),
    /// The start of the span of `--time-quantum`.
    pub(super) time: u64,
    pub(super) weight: u64,
    /// The number of the text of the tracepoint.
    pub(super) trace: u32,
    /// Of the branch: what the keys need.
    pub(super) branch: BranchFlags,
    /// -1 if it is not known.
    pub(super) socket: i32,
    pub(super) transaction: Txn,
    pub(super) code_page_size: u64,
    pub(super) ins_lat: u16,
    pub(super) p_stage_cyc: u16,
    pub(super) access: Access,
}

impl Facts {
    /// Adds what a key needs of the fields of a sample.
    fn add(&mut self, key: Key, at: &At<'_, '_>, tail: &Tail<'_>) {
        let parts = || tail.weight_struct.unwrap_or_default();
        match key {
            Key::Transaction => self.transaction = tail.transaction.unwrap_or_default(),
            Key::CodePageSize => self.code_page_size = tail.code_page_size.unwrap_or(0),
            Key::LocalInsLat | Key::InsLat => self.ins_lat = parts().var2_w(),
            Key::LocalPStageCyc | Key::PStageCyc => self.p_stage_cyc = parts().var3_w(),
            key => self.access.add(key, at, tail),
        }
    }
}

/// Collects facts, each combination once.
#[derive(Debug)]
pub(super) struct AllFacts {
    keys: Vec<Key>,
    time_quantum: u64,
    machine: Machine,
    numbers: HashMap<Facts, u32>,
    pub(super) list: Vec<Facts>,
    pub(super) texts: Texts,
    /// The namespaces of cgroups, by thread.
    namespaces: BTreeMap<i32, (u64, u64)>,
    /// The last name of the first thread with an id, and the number of that thread.
    pub(super) last_comms: HashMap<i32, (u64, u32)>,
    pub(super) cgroups: BTreeMap<u64, Vec<u8>>,
    trace: Vec<u8>,
}

/// The namespace of cgroups in a NAMESPACES record.
///
/// Kernel: `CGROUP_NS_INDEX`, `include/uapi/linux/perf_event.h`.
const CGROUP_NAMESPACE: usize = 6;

impl AllFacts {
    pub(super) fn new(keys: Vec<Key>, time_quantum: u64, machine: Machine) -> Self {
        Self {
            keys,
            time_quantum: time_quantum.max(1),
            machine,
            numbers: HashMap::new(),
            list: Vec::new(),
            texts: Texts::default(),
            namespaces: BTreeMap::new(),
            last_comms: HashMap::new(),
            cgroups: BTreeMap::new(),
            trace: Vec::new(),
        }
    }

    /// Returns the facts of a sample; `None` if there is no room for a text. `trace` is given if a key needs the text of a
    /// tracepoint.
    pub(super) fn of(
        &mut self,
        at: &At<'_, '_>,
        event: &Event,
        mut trace: Option<Tracing<'_, '_>>,
        texts: usize,
    ) -> Option<Facts> {
        let (sample, thread) = (at.sample(), at.thread());
        let mut facts = Facts::default();
        for index in 0..self.keys.len() {
            match self.keys[index] {
                Key::Comm => facts.comm = self.texts.number(thread.comm(), texts)?,
                Key::Pid | Key::Tid => {
                    facts.tid = thread.tid();
                    self.see(thread.tid(), thread.key(), thread.comm(), texts)?;
                }
                Key::Tgid => {
                    facts.tgid = thread.pid();
                    let main = at.session().thread(thread.pid()).unwrap_or(thread);
                    self.see(thread.pid(), main.key(), main.comm(), texts)?;
                }
                Key::Cpu => facts.cpu = sample.cpu().map_or(-1, Into::into),
                Key::Cgroup => {
                    facts.cgroup = sample.tail().ok().and_then(|tail| tail.cgroup).unwrap_or(0);
                    if facts.cgroup != 0 && !self.cgroups.contains_key(&facts.cgroup) {
                        let path = at.session().cgroup(facts.cgroup).unwrap_or(b"unknown");
                        self.cgroups.insert(facts.cgroup, path.to_vec());
                    }
                }
                Key::CgroupId => {
                    facts.cgroup_id = self.namespaces.get(&thread.tid()).copied().unwrap_or_default();
                }
                Key::Time => {
                    let time = sample.time().unwrap_or(0);
                    facts.time = time / self.time_quantum * self.time_quantum;
                }
                Key::LocalWeight | Key::Weight => {
                    let tail = sample.tail().ok();
                    facts.weight = tail.and_then(|tail| weight(&tail)).unwrap_or(0);
                }
                Key::Trace => facts.trace = self.trace(at, event, trace.take(), texts)?,
                Key::Socket => facts.socket = self.machine.socket(sample.cpu()),
                key => {
                    if let Ok(tail) = sample.tail() {
                        facts.add(key, at, &tail);
                    }
                }
            }
        }
        Some(facts)
    }

    /// Returns whether a key is the text of tracepoints.
    pub(super) fn needs_trace(&self) -> bool {
        self.keys.contains(&Key::Trace)
    }

    /// Returns whether a key says what is mapped where the data is.
    pub(super) fn needs_data(&self) -> bool {
        let needs = |key: &Key| matches!(key, Key::SymbolDaddr | Key::DsoDaddr | Key::Dcacheline);
        self.keys.iter().any(needs)
    }

    /// Adds the line of the cache that the data is in, if a key needs it. `dso` is the number of what is mapped there.
    pub(super) fn with_line(
        &self,
        mut facts: Facts,
        at: &At<'_, '_>,
        mapping: Option<&Mapping>,
        dso: u32,
    ) -> Facts {
        if self.keys.contains(&Key::Dcacheline) {
            facts.access.line = Line::of(at, mapping, dso, self.machine.line_size);
        }
        facts
    }

    /// Adds what the keys need of a branch.
    pub(super) fn with_branch(&self, facts: Facts, flags: BranchFlags) -> Facts {
        let mut kept = BranchFlags(0);
        for key in &self.keys {
            kept.0 |= match key {
                // With both, it prints the same as with the first one.
                Key::Mispredict if flags.contains(BranchFlags::PREDICTED) => BranchFlags::PREDICTED.0,
                Key::Mispredict => flags.0 & BranchFlags::MISPRED.0,
                Key::InTx => flags.0 & BranchFlags::IN_TX.0,
                Key::Abort => flags.0 & BranchFlags::ABORT.0,
                Key::Cycles => BranchFlags(0).with_cycles(flags.cycles()).0,
                _ => 0,
            };
        }
        Facts { branch: kept, ..facts }
    }

    /// Notes the name of the thread with an id that was seen first.
    fn see(&mut self, tid: i32, key: u64, comm: &[u8], texts: usize) -> Option<()> {
        match self.last_comms.get(&tid) {
            Some(&(first, number)) if first != key || self.texts.get(number) == comm => {}
            _ => {
                let number = self.texts.number(comm, texts)?;
                self.last_comms.insert(tid, (key, number));
            }
        }
        Some(())
    }

    fn trace(
        &mut self,
        at: &At<'_, '_>,
        event: &Event,
        trace: Option<Tracing<'_, '_>>,
        texts: usize,
    ) -> Option<u32> {
        self.trace.clear();
        let known = trace.and_then(|(traces, names)| Some((traces.of(event)?, traces, names)));
        match known {
            None => self.trace.extend_from_slice(b"N/A"),
            Some((index, traces, names)) => {
                let raw = at.sample().tail().ok().and_then(|tail| tail.raw).unwrap_or_default();
                traces.push(&mut self.trace, index, raw, at, names);
            }
        }
        self.texts.number(&self.trace, texts)
    }

    /// Notes what records that are not samples say.
    pub(super) fn apply(&mut self, record: &EventRecord<'_>) {
        if record.kind() != RecordType::NAMESPACES || !self.keys.contains(&Key::CgroupId) {
            return;
        }
        // The walk has the error of a record that cannot be decoded, as the session decodes it too.
        let Ok(Record::Namespaces(it)) = record.decode() else { return };
        if let Some(link) = it.link_info.iter().nth(CGROUP_NAMESPACE) {
            self.namespaces.insert(it.tid, (link.dev, link.ino));
        }
    }

    /// Returns the number of facts; `None` if there is no room for them.
    pub(super) fn number(&mut self, facts: Facts, limit: usize) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&facts) {
            return Some(number);
        }
        if self.list.len() >= limit {
            return None;
        }
        let number = self.list.len() as u32;
        self.numbers.insert(facts, number);
        self.list.push(facts);
        Some(number)
    }
}
