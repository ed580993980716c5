//! Properties of a sample other than its addresses.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use perf_abi::branch::BranchFlags;
use perf_abi::record::RecordType;
use perf_abi::txn::Txn;
use perf_parse::sample::Tail;
use perf_parse::{EventRecord, Record};
use perf_session::{Mapping, SampleContext};

use super::machine::RecordingMachine;
use super::memory_access::{CacheLine, MemoryAccess, weight_of};
use super::plan::ReportPlan;
use super::sort_key::SortKey;
use super::texts::TextInterner;
use super::time_quantum::TimeQuantum;
use super::trace_field::TraceField;

/// What is wanted of a sample's tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceAsk {
    /// Its text.
    Text,
    /// The values of the fields that are keys, each with a NUL after it.
    Fields,
}

/// Appends what is wanted of a sample's tracepoint.
pub(super) type TraceText<'t> = &'t mut dyn FnMut(TraceAsk, &mut Vec<u8>);

/// What is known of a sample apart from its addresses. What no key needs is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct KeyFacts {
    /// The number of the name of the thread.
    pub(super) comm: u32,
    pub(super) tid: i32,
    pub(super) tgid: i32,
    /// -1 if it was not recorded.
    pub(super) cpu: i64,
    pub(super) cgroup: u64,
    /// Device and inode of the namespace of cgroups.
    pub(super) cgroup_id: (u64, u64),
    /// The start of the span of time.
    pub(super) time: u64,
    pub(super) weight: u64,
    /// The number of the text of the tracepoint.
    pub(super) trace: u32,
    /// The number of the values of its fields.
    pub(super) trace_fields: u32,
    /// Of the branch: what the keys need.
    pub(super) branch: BranchFlags,
    /// -1 if it is not known.
    pub(super) socket: i32,
    pub(super) transaction: Txn,
    pub(super) code_page_size: u64,
    pub(super) ins_lat: u16,
    pub(super) p_stage_cyc: u16,
    pub(super) access: MemoryAccess,
}

impl KeyFacts {
    /// Adds what a key needs of the fields of a sample.
    fn add(&mut self, key: SortKey, at: &SampleContext<'_, '_>, tail: &Tail<'_>) {
        let parts = || tail.weight_struct.unwrap_or_default();
        match key {
            SortKey::Transaction => self.transaction = tail.transaction.unwrap_or_default(),
            SortKey::CodePageSize => self.code_page_size = tail.code_page_size.unwrap_or(0),
            SortKey::LocalInsLat | SortKey::InsLat => self.ins_lat = parts().var2_w(),
            SortKey::LocalPStageCyc | SortKey::PStageCyc => self.p_stage_cyc = parts().var3_w(),
            key => self.access.add(key, at, tail),
        }
    }

    /// Returns the facts of a branch of the sample, with those of its flags that keys show.
    pub(super) fn with_branch(self, keys: &[SortKey], flags: BranchFlags) -> Self {
        let mut shown = BranchFlags(0);
        for key in keys {
            shown.0 |= match key {
                // With both, it is shown the same as with the first one.
                SortKey::Mispredict if flags.contains(BranchFlags::PREDICTED) => BranchFlags::PREDICTED.0,
                SortKey::Mispredict => flags.0 & BranchFlags::MISPRED.0,
                SortKey::InTx => flags.0 & BranchFlags::IN_TX.0,
                SortKey::Abort => flags.0 & BranchFlags::ABORT.0,
                SortKey::Cycles => BranchFlags(0).with_cycles(flags.cycles()).0,
                _ => 0,
            };
        }
        Self { branch: shown, ..self }
    }
}

/// Collects the facts of samples, each combination once.
#[derive(Debug)]
pub(super) struct FactsInterner {
    keys: Vec<SortKey>,
    time_quantum: TimeQuantum,
    machine: RecordingMachine,
    numbers: HashMap<KeyFacts, u32>,
    list: Vec<KeyFacts>,
    pub(super) texts: TextInterner,
    /// The namespaces of cgroups, by thread.
    namespaces: BTreeMap<i32, (u64, u64)>,
    /// The last name of the first thread with an id, and the number of that thread.
    last_comms: HashMap<i32, (u64, u32)>,
    cgroups: BTreeMap<u64, Vec<u8>>,
    trace: Vec<u8>,
}

/// What a sample that is none of a tracepoint has in place of the text.
const NO_TRACE: &[u8] = b"N/A";

/// The number of its values.
const NO_FIELDS: u32 = u32::MAX;

/// The namespace of cgroups in a NAMESPACES record.
///
/// Kernel: `CGROUP_NS_INDEX`, `include/uapi/linux/perf_event.h`.
const CGROUP_NAMESPACE: usize = 6;

impl FactsInterner {
    pub(super) fn new(plan: &ReportPlan) -> Self {
        Self {
            keys: plan.layout.keys().collect(),
            time_quantum: plan.time_quantum,
            machine: plan.machine.clone(),
            numbers: HashMap::new(),
            list: Vec::new(),
            texts: TextInterner::default(),
            namespaces: BTreeMap::new(),
            last_comms: HashMap::new(),
            cgroups: BTreeMap::new(),
            trace: Vec::new(),
        }
    }

    /// Returns the facts of a sample; `None` if there is no room for a text. `trace` is given if a key needs the text of a
    /// tracepoint, and the event is one.
    pub(super) fn of(
        &mut self,
        at: &SampleContext<'_, '_>,
        mut trace: Option<TraceText<'_>>,
        texts: usize,
    ) -> Option<KeyFacts> {
        let keys = core::mem::take(&mut self.keys);
        let mut facts = KeyFacts::default();
        let mut add = |&key: &SortKey| match key {
            SortKey::Trace => {
                facts.trace = self.trace(TraceAsk::Text, &mut trace, texts)?;
                Some(())
            }
            // The first one has the values of all.
            SortKey::Field(TraceField(0)) => {
                facts.trace_fields = self.trace(TraceAsk::Fields, &mut trace, texts)?;
                Some(())
            }
            SortKey::Field(_) => Some(()),
            key => self.add(&mut facts, key, at, texts),
        };
        let added = keys.iter().try_for_each(&mut add);
        self.keys = keys;
        added.map(|()| facts)
    }

    /// Adds what a key needs, other than the text of a tracepoint.
    fn add(
        &mut self,
        facts: &mut KeyFacts,
        key: SortKey,
        at: &SampleContext<'_, '_>,
        texts: usize,
    ) -> Option<()> {
        let (sample, thread) = (at.sample(), at.thread());
        match key {
            SortKey::Comm => facts.comm = self.texts.number(thread.comm(), texts)?,
            SortKey::Pid | SortKey::Tid => {
                facts.tid = thread.tid();
                self.see(thread.tid(), thread.key(), thread.comm(), texts)?;
            }
            SortKey::Tgid => {
                facts.tgid = thread.pid();
                let main = at.session().thread(thread.pid()).unwrap_or(thread);
                self.see(thread.pid(), main.key(), main.comm(), texts)?;
            }
            SortKey::Cpu => facts.cpu = sample.cpu().map_or(-1, Into::into),
            SortKey::Cgroup => {
                facts.cgroup = sample.tail().ok().and_then(|tail| tail.cgroup).unwrap_or(0);
                if facts.cgroup != 0 && !self.cgroups.contains_key(&facts.cgroup) {
                    let path = at.session().cgroup(facts.cgroup).unwrap_or(b"unknown");
                    self.cgroups.insert(facts.cgroup, path.to_vec());
                }
            }
            SortKey::CgroupId => {
                facts.cgroup_id = self.namespaces.get(&thread.tid()).copied().unwrap_or_default();
            }
            SortKey::Time => facts.time = self.time_quantum.start_of(sample.time().unwrap_or(0)),
            SortKey::LocalWeight | SortKey::Weight => {
                let tail = sample.tail().ok();
                facts.weight = tail.and_then(|tail| weight_of(&tail)).unwrap_or(0);
            }
            SortKey::Socket => facts.socket = self.machine.socket(sample.cpu()),
            key => {
                if let Ok(tail) = sample.tail() {
                    facts.add(key, at, &tail);
                }
            }
        }
        Some(())
    }

    pub(super) fn keys(&self) -> &[SortKey] {
        &self.keys
    }

    /// Returns whether a key is the text or a field of tracepoints.
    pub(super) fn needs_trace(&self) -> bool {
        self.keys.iter().any(|key| matches!(key, SortKey::Trace | SortKey::Field(_)))
    }

    /// Returns the value of a field of tracepoints; `N/A` for samples of others.
    pub(super) fn trace_field(&self, facts: &KeyFacts, TraceField(number): TraceField) -> &[u8] {
        let values = self.texts.get(facts.trace_fields);
        let mut values = values.split(|&byte| byte == 0);
        values.nth(number.into()).filter(|_| facts.trace_fields != NO_FIELDS).unwrap_or(NO_TRACE)
    }

    /// Returns whether a key says what is mapped where the data is.
    pub(super) fn needs_data(&self) -> bool {
        let needs =
            |key: &SortKey| matches!(key, SortKey::SymbolDaddr | SortKey::DsoDaddr | SortKey::Dcacheline);
        self.keys.iter().any(needs)
    }

    /// Adds the line of the cache that the data is in, if a key needs it. `dso` is the number of what is mapped there.
    pub(super) fn with_line(
        &self,
        mut facts: KeyFacts,
        at: &SampleContext<'_, '_>,
        mapping: Option<&Mapping>,
        dso: u32,
    ) -> KeyFacts {
        if self.keys.contains(&SortKey::Dcacheline) {
            facts.access.line = CacheLine::of(at, mapping, dso, self.machine.line_size);
        }
        facts
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

    fn trace(&mut self, ask: TraceAsk, trace: &mut Option<TraceText<'_>>, texts: usize) -> Option<u32> {
        self.trace.clear();
        match trace {
            None if ask == TraceAsk::Fields => return Some(NO_FIELDS),
            None => self.trace.extend_from_slice(NO_TRACE),
            Some(push) => push(ask, &mut self.trace),
        }
        self.texts.number(&self.trace, texts)
    }

    /// Notes what records that are not samples say.
    pub(super) fn apply(&mut self, record: &EventRecord<'_>) {
        if record.kind() != RecordType::NAMESPACES || !self.keys.contains(&SortKey::CgroupId) {
            return;
        }
        // The walk has the error of a record that cannot be decoded, as the session decodes it too.
        let Ok(Record::Namespaces(it)) = record.decode() else { return };
        if let Some(link) = it.link_info.iter().nth(CGROUP_NAMESPACE) {
            self.namespaces.insert(it.tid, (link.dev, link.ino));
        }
    }

    /// Returns the number of facts; `None` if there is no room for them.
    pub(super) fn number(&mut self, facts: KeyFacts, limit: usize) -> Option<u32> {
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

    /// Returns facts by their number.
    pub(super) fn get(&self, number: u32) -> Option<&KeyFacts> {
        self.list.get(number as usize)
    }

    /// Returns the last name of the first thread with an id; empty if no sample is of such a thread.
    pub(super) fn last_comm(&self, tid: i32) -> &[u8] {
        self.last_comms.get(&tid).map_or(&[], |&(_, comm)| self.texts.get(comm))
    }

    /// Returns the path of a cgroup; `None` for no cgroup.
    pub(super) fn cgroup(&self, id: u64) -> Option<&[u8]> {
        (id != 0).then(|| self.cgroups.get(&id).map_or(&b"unknown"[..], |path| path))
    }
}
