//! Addresses of a capture, moved by secret distances.

use core::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::callchain::CallchainContext;
use perf_abi::record::{CpuMode, RecordType};
use perf_parse::record::{Ksymbol, Mmap, Mmap2};
use perf_parse::rewrite::EditedRecord;
use perf_parse::write::SampleFields;
use perf_parse::{EventRecord, Record};
use perf_session::{Change, Dso, DsoKind, Mapping, SampleContext, Session};

use super::redaction::pseudonyms::Pseudonyms;
use super::reencode::reencoded;

/// Distances are multiples of the largest common page size.
const ALIGNMENT: u64 = 1 << 16;

/// Where the mappings of a process go that are below 4 GiB, and the others. perf recognizes the vDSO of a 32-bit process by it.
const LOW: (u64, u64) = (1 << 20, 0xf000_0000);
const HIGH: (u64, u64) = (1 << 32, 0x7f00_0000_0000);

/// Addresses from here on are those of kernels, and of `[vsyscall]`, which is at the same place everywhere.
const UPPER_HALF: u64 = 1 << 63;

/// How far kernels are moved down at most, in steps of 2 MiB, by which they are aligned.
const KERNEL_STEPS: u64 = 1 << 14;
const KERNEL_STEP: u64 = 1 << 21;

/// How many places are tried for what overlaps something else.
const TRIES: u64 = 64;

/// Moves each mapped object of a process by a secret distance, and the kernel by another one.
#[derive(Debug)]
pub(super) struct AddressMover {
    numbers: Pseudonyms,
    kernel: u64,
    /// By the keys of processes: what is mapped, and what was mapped before the last exec.
    layouts: HashMap<u64, Arc<MovedLayout>>,
    before_exec: HashMap<u64, Arc<MovedLayout>>,
    /// By file and base.
    objects: RefCell<HashMap<(*const Dso, u64), NumberedObject>>,
}

/// The number of an object.
#[derive(Debug)]
struct NumberedObject {
    number: u64,
    /// A file that is here keeps its place in memory.
    _file: Arc<Dso>,
}

/// How many numbers of objects are kept.
const OBJECTS: usize = 1 << 16;

/// The objects of a process by their numbers: a file that was mapped as a whole, or memory.
#[derive(Clone, Debug, Default)]
struct MovedLayout {
    /// How far each was moved up, wrapping.
    distances: BTreeMap<u64, u64>,
    /// The new ranges, with the numbers of their objects.
    ranges: BTreeMap<u64, (u64, u64)>,
}

impl AddressMover {
    pub(super) fn new(seed: Option<&[u8]>) -> Self {
        let numbers = seed.map_or_else(Pseudonyms::random, Pseudonyms::of_salt);
        let kernel = numbers.number("kernel", b"") % KERNEL_STEPS * KERNEL_STEP;
        let objects = RefCell::default();
        Self { numbers, kernel, layouts: HashMap::new(), before_exec: HashMap::new(), objects }
    }

    /// Applies a change of a session.
    pub(super) fn note(&mut self, change: &Change<'_, '_>) {
        match change {
            Change::ThreadBegun { thread, inherited: Some(parent) } => {
                for layouts in [&mut self.layouts, &mut self.before_exec] {
                    if let Some(layout) = layouts.get(parent).cloned() {
                        layouts.insert(thread.process_key(), layout);
                    }
                }
            }
            Change::Exec { thread, .. } => {
                let key = thread.process_key();
                self.before_exec.insert(key, self.layouts.remove(&key).unwrap_or_default());
            }
            Change::Mapped { thread, mapping, .. } => {
                let object = self.object(mapping);
                let layout = self.layouts.entry(thread.process_key()).or_default();
                Arc::make_mut(layout).place(&self.numbers, object, mapping);
            }
            Change::ProcessRemoved { process_key } => {
                self.layouts.remove(process_key);
                self.before_exec.remove(process_key);
            }
            _ => {}
        }
    }

    /// Returns the number of the object that a mapping is a part of.
    fn object(&self, mapping: &Mapping) -> u64 {
        if let Some(file) = mapping.remapped() {
            // Memory stays over the file whose code it has.
            return self.object(&file);
        }
        let (dso, base) = (mapping.dso(), mapping.range().start.wrapping_sub(mapping.pgoff()));
        let mut objects = self.objects.borrow_mut();
        if objects.len() >= OBJECTS {
            objects.clear();
        }
        let key = (Arc::as_ptr(dso), base);
        let object = objects.entry(key).or_insert_with(|| {
            let text = format!("{base:x} {:?} {:?} {:?}", dso.build_id(), dso.inode(), dso.name());
            let number = self.numbers.number("object", text.as_bytes());
            NumberedObject { number, _file: Arc::clone(dso) }
        });
        object.number
    }

    /// Returns the moved address of a mode; 0 for one that nothing is mapped at.
    fn moved(&self, at: &SampleContext<'_, '_>, mode: CpuMode, address: u64) -> u64 {
        match mode {
            CpuMode::KERNEL => address.wrapping_sub(self.kernel),
            CpuMode::USER if address >= UPPER_HALF => address,
            CpuMode::USER => {
                let object = at.find(mode, address).map(|mapping| self.object(mapping));
                let key = at.thread().process_key();
                let layouts = [self.layouts.get(&key), self.before_exec.get(&key)];
                let moved = object.and_then(|object| {
                    layouts.into_iter().flatten().find_map(|layout| layout.moved(object, address))
                });
                moved.unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Moves the addresses of a sample.
    pub(super) fn sample(&self, at: &SampleContext<'_, '_>, fields: &mut SampleFields) {
        let of_half = |address: u64| {
            let mode = if address >= UPPER_HALF { CpuMode::KERNEL } else { CpuMode::USER };
            self.moved(at, mode, address)
        };
        fields.ip = fields.ip.map(|ip| self.moved(at, at.mode(), ip));
        fields.addr = fields.addr.map(of_half);
        let mut mode = Some(at.mode());
        for word in fields.callchain.iter_mut().flatten() {
            if let Some(context) = CallchainContext::of(*word) {
                mode = mode_of(context);
            } else if let Some(mode) = mode {
                *word = self.moved(at, mode, *word);
            }
        }
        for branch in fields.branch_stack.iter_mut().flat_map(|it| &mut it.entries) {
            (branch.from, branch.to) = (of_half(branch.from), of_half(branch.to));
        }
    }

    /// Returns what becomes of a record that is not a sample, after the session got it.
    pub(super) fn record(&self, session: &Session, record: &EventRecord<'_>) -> EditedRecord {
        let (raw, misc) = (record.raw(), record.misc());
        let replaced = |moved: Record<'_>| {
            let layout = record.event().map(|event| &event.layout)?;
            reencoded(&raw, layout, misc, &moved).map(EditedRecord::Replaced)
        };
        let Ok(decoded) = record.decode() else { return EditedRecord::LeftOut };
        let edited = match decoded {
            Record::Mmap(it) => {
                let place = (it.pid, it.tid, it.addr, it.pgoff, it.filename);
                self.mmap(session, misc.cpumode(), place)
                    .and_then(|(addr, pgoff)| replaced(Record::Mmap(Mmap { addr, pgoff, ..it })))
            }
            Record::Mmap2(it) => {
                let place = (it.pid, it.tid, it.addr, it.pgoff, it.filename);
                self.mmap(session, misc.cpumode(), place)
                    .and_then(|(addr, pgoff)| replaced(Record::Mmap2(Mmap2 { addr, pgoff, ..it })))
            }
            Record::Ksymbol(it) => {
                replaced(Record::Ksymbol(Ksymbol { addr: it.addr.wrapping_sub(self.kernel), ..it }))
            }
            // With addresses, or with code that has them.
            _ if WITH_ADDRESSES.contains(&record.kind()) => None,
            _ => Some(EditedRecord::Kept),
        };
        edited.unwrap_or(EditedRecord::LeftOut)
    }

    /// Returns the moved address and the offset of a mapping.
    fn mmap(
        &self,
        session: &Session,
        mode: CpuMode,
        (pid, tid, addr, pgoff, filename): (i32, i32, u64, u64, &[u8]),
    ) -> Option<(u64, u64)> {
        match mode {
            CpuMode::KERNEL => {
                let is_address = filename.starts_with(b"[kernel.kallsyms]") && pgoff != 0;
                let pgoff = if is_address { pgoff.wrapping_sub(self.kernel) } else { pgoff };
                Some((addr.wrapping_sub(self.kernel), pgoff))
            }
            CpuMode::USER if addr >= UPPER_HALF => Some((addr, pgoff)),
            CpuMode::USER => {
                let thread = session.thread(tid).or_else(|| session.thread(pid))?;
                let mapping = session.maps(thread)?.find(addr)?;
                let layout = self.layouts.get(&thread.process_key())?;
                let addr = layout.moved(self.object(mapping), addr)?;
                // The kernel gives memory the address as an offset.
                let is_memory = mapping.dso().kind() == DsoKind::Memory;
                Some((addr, if is_memory { addr } else { pgoff }))
            }
            _ => None,
        }
    }
}

/// The kinds of records with addresses that are not moved.
const WITH_ADDRESSES: &[RecordType] = &[
    RecordType::TEXT_POKE,
    RecordType::AUX,
    RecordType::ITRACE_START,
    RecordType::AUX_OUTPUT_HW_ID,
    RecordType::CALLCHAIN_DEFERRED,
];

/// Returns the mode of the addresses after a context; `None` for what is no address.
fn mode_of(context: CallchainContext) -> Option<CpuMode> {
    match context {
        CallchainContext::KERNEL => Some(CpuMode::KERNEL),
        CallchainContext::USER => Some(CpuMode::USER),
        CallchainContext::USER_DEFERRED => None,
        _ => Some(CpuMode(0)),
    }
}

impl MovedLayout {
    /// Finds a place for a part of an object that has no other object; none if the other parts of the object have places and this
    /// one would overlap.
    fn place(&mut self, numbers: &Pseudonyms, object: u64, mapping: &Mapping) {
        let range = mapping.range();
        if range.start >= UPPER_HALF {
            return;
        }
        let len = range.end.saturating_sub(range.start);
        if let Some(&distance) = self.distances.get(&object) {
            self.take(range.start.wrapping_add(distance), len, object);
            return;
        }
        let (first, last) = if range.end <= 1 << 32 { LOW } else { HIGH };
        let Some(room) = last.checked_sub(first.saturating_add(len)).map(|room| room / ALIGNMENT) else {
            return;
        };
        for attempt in 0..TRIES {
            let number = numbers.number("place", &[object.to_le_bytes(), attempt.to_le_bytes()].concat());
            let steps = number.checked_rem(room.max(1)).unwrap_or(0);
            let start =
                first.wrapping_add(steps.wrapping_mul(ALIGNMENT)).wrapping_add(range.start % ALIGNMENT);
            if self.take(start, len, object) {
                self.distances.insert(object, start.wrapping_sub(range.start));
                return;
            }
        }
    }

    /// Takes a range for an object. Returns whether no other object has a part of it.
    fn take(&mut self, start: u64, len: u64, object: u64) -> bool {
        let (mut start, Some(mut end)) = (start, start.checked_add(len)) else { return false };
        let overlapping = |ranges: &BTreeMap<u64, (u64, u64)>, start: u64, end: u64| {
            let (&at, &(last, owner)) = ranges.range(..end).next_back()?;
            (last > start).then_some((at, last, owner))
        };
        let mut all = Vec::new();
        let mut until = end;
        while let Some((at, last, owner)) = overlapping(&self.ranges, start, until) {
            if owner != object {
                return false;
            }
            all.push((at, last));
            until = at;
        }
        for (at, last) in all {
            self.ranges.remove(&at);
            (start, end) = (start.min(at), end.max(last));
        }
        self.ranges.insert(start, (end, object));
        true
    }

    /// Returns where an address of an object is now.
    fn moved(&self, object: u64, address: u64) -> Option<u64> {
        let moved = address.wrapping_add(*self.distances.get(&object)?);
        let (_, &(end, owner)) = self.ranges.range(..=moved).next_back()?;
        (moved < end && owner == object).then_some(moved)
    }
}
