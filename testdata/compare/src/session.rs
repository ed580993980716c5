//! The comparison of a session with a plain model, for sequences of records.

mod mirror;
mod model;
mod step;

use std::collections::HashMap;

use perf_abi::attr::Attr;
use perf_abi::endian::Endianness;
use perf_abi::record::CpuMode;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::{EventRecord, Reader};
use perf_session::{Mapping, Maps, SampleContext, Session, SessionLimits};

pub use mirror::Mirror;
use model::{Fragment, Model, Space};
use step::{Kind, Step};

/// Bit of the first byte of a sequence: big-endian.
const BIG: u8 = 0x80;

/// Applies a sequence of records to a session and to the model, which must be equal after each of them, and so must lists
/// that are kept by the session's changes alone. With
/// `is_thorough`, all mappings are compared after each record; otherwise those of its threads, and all at the end.
///
/// The first byte of `bytes` is the limit of exited threads, with the bit `BIG`; then there are 8 bytes for each record.
/// Processes and addresses are few, so that they collide.
pub fn check(bytes: &[u8], is_thorough: bool) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let limit = usize::from(first & 7);
    let big = first & BIG != 0;
    let steps: Vec<Step> = rest.chunks_exact(8).filter_map(<[u8]>::first_chunk).map(Step::of).collect();
    let data: Vec<u8> = steps.iter().flat_map(|step| step.record(big)).collect();

    let attr = Attr { sample_type: SampleType::IP | SampleType::TID, ..Attr::default() };
    let events: Events = [(attr, vec![])].into_iter().collect();
    let endianness = if big { Endianness::Big } else { Endianness::Little };
    let reader = Reader::from_records(events, endianness, &data);

    let mut limits = SessionLimits::default();
    limits.exited = limit;
    let mut pair = Pair { session: Session::within(&limits), model: Model::new(limit), ..Pair::default() };
    let mut watched = Session::within(&limits);
    let mut mirror = Mirror::new(&watched);
    let mut records = reader.records();
    for step in &steps {
        let record = records.next().expect("as many records as steps").expect("the record is whole");
        let at = pair.session.update_at(&record).expect("the record can be decoded");
        let of_update = at.map(|at| (at.thread().key(), at.thread().process_key(), at.mode()));
        let of_at = pair.session.at(&record);
        assert_eq!(of_update, of_at.map(|at| (at.thread().key(), at.thread().process_key(), at.mode())));
        pair.model.apply(step);
        pair.check_step(step, &record, is_thorough);
        mirror.apply(watched.update_changes(&record).expect("the record can be decoded"));
        if is_thorough {
            mirror.check(&watched);
        }
    }
    assert!(records.next().is_none());
    mirror.check(&pair.session);
    pair.check_threads(|_| true);
    pair.check_kernel();
}

/// A session and the model that it must equal.
#[derive(Default)]
struct Pair {
    session: Session,
    model: Model,
    threads: Keys,
    processes: Keys,
}

/// The session's keys of what the model has numbers for.
#[derive(Default)]
struct Keys {
    key_of: HashMap<u64, u64>,
    number_of: HashMap<u64, u64>,
}

impl Keys {
    /// Asserts that the two name the same, always.
    fn check(&mut self, number: u64, key: u64) {
        assert_eq!(*self.key_of.entry(number).or_insert(key), key);
        assert_eq!(*self.number_of.entry(key).or_insert(number), number);
    }
}

impl Pair {
    fn check_step(&mut self, step: &Step, record: &EventRecord<'_>, is_thorough: bool) {
        self.check_threads(|tid| is_thorough || tid == step.tid || tid == step.ptid);
        if is_thorough || step.mode == 1 || step.kind == Kind::Ksymbol {
            self.check_kernel();
        }
        let at = self.session.at(record);
        assert_eq!(at.is_some(), step.kind == Kind::Sample);
        if let Some(at) = at {
            check_at(&at, step, &self.model, &mut self.threads);
        }
    }

    /// Compares the threads of the host, and the mappings of those that are `chosen`.
    fn check_threads(&mut self, chosen: impl Fn(i32) -> bool) {
        let expected = self.model.threads(None);
        let found: Vec<_> = self.session.threads().collect();
        assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
        for (thread, expected) in found.into_iter().zip(expected) {
            assert_eq!(
                (thread.tid(), thread.pid(), thread.ppid(), thread.comm(), thread.is_named()),
                (expected.tid, expected.pid, expected.ppid, expected.comm.as_slice(), expected.is_named)
            );
            self.threads.check(expected.birth, thread.key());
            self.processes.check(expected.process, thread.process_key());
            if chosen(thread.tid()) {
                let maps = self.session.maps(thread).expect("the thread is known");
                check_maps(maps, &self.model.fragments(Space::Process(expected.process)));
            }
            assert_eq!(self.session.thread(thread.tid()).map(perf_session::Thread::key), Some(thread.key()));
        }
    }

    fn check_kernel(&self) {
        check_maps(self.session.kernel_maps(), &self.model.fragments(Space::Kernel(None)));
    }
}

/// Compares what a sample has, which may be of a guest.
fn check_at(at: &SampleContext<'_, '_>, step: &Step, model: &Model, keys: &mut Keys) {
    let machine = step.machine();
    let threads = model.threads(machine);
    let expected = threads.iter().find(|thread| thread.tid == step.tid).expect("the sample is of it");
    let thread = at.thread();
    assert_eq!(
        (thread.tid(), thread.pid(), thread.comm()),
        (step.tid, expected.pid, expected.comm.as_slice())
    );
    keys.check(expected.birth, thread.key());
    let before_exec = model.fragments(Space::BeforeExec(expected.process));
    let of = |mode, fragments: &[Fragment<'_>], before: &[Fragment<'_>]| {
        for addr in addresses(fragments).chain(addresses(before)) {
            check_found(at.find(mode, addr), find(fragments, addr).or_else(|| find(before, addr)));
        }
    };
    let process = model.fragments(Space::Process(expected.process));
    let kernel = model.fragments(Space::Kernel(None));
    let guest_kernel = model.fragments(Space::Kernel(machine));
    let is_guest = machine.is_some();
    of(CpuMode::USER, &process, &before_exec);
    of(CpuMode::KERNEL, &kernel, &[]);
    let (process, before_exec) = if is_guest { (&process[..], &before_exec[..]) } else { (&[][..], &[][..]) };
    of(CpuMode::GUEST_USER, process, before_exec);
    of(CpuMode::GUEST_KERNEL, if is_guest { &guest_kernel } else { &[] }, &[]);
    of(CpuMode::HYPERVISOR, &[], &[]);
    // A stack looks first where the process was last.
    let place = |mapping: Option<&Mapping>| {
        mapping.map(|it| (it.range(), it.pgoff(), it.is_executable(), it.dso().name().to_vec()))
    };
    for frame in at.stack(None).into_iter().flatten() {
        assert_eq!(place(frame.mapping), place(at.find(frame.mode, frame.ip)), "{frame:?}");
    }
}

fn check_maps(maps: &Maps, expected: &[Fragment<'_>]) {
    let found: Vec<_> = maps.iter().collect();
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    assert_eq!(maps.is_empty(), expected.is_empty());
    for (mapping, fragment) in found.into_iter().zip(expected) {
        check_found(Some(mapping), Some(fragment));
    }
    for addr in addresses(expected) {
        check_found(maps.find(addr), find(expected, addr));
    }
}

fn check_found(found: Option<&Mapping>, expected: Option<&Fragment<'_>>) {
    let (Some(mapping), Some(fragment)) = (found, expected) else {
        assert!(found.is_none() && expected.is_none(), "{found:?} {expected:?}");
        return;
    };
    assert_eq!(mapping.range(), fragment.start..fragment.end);
    for addr in [fragment.start, fragment.end - 1] {
        assert_eq!(mapping.offset_of(addr), fragment.offset_of(addr));
    }
    let (what, dso) = (&fragment.what, mapping.dso());
    assert_eq!((mapping.prot(), mapping.flags()), (what.prot, what.flags));
    assert_eq!((dso.name(), dso.path(), dso.kind()), (what.name.as_slice(), what.path.as_slice(), what.kind));
    assert_eq!(dso.inode().map(|inode| inode.ino), what.ino);
    assert_eq!(dso.build_id().map(|id| id.as_bytes().to_vec()), what.build_id);
}

fn find<'f, 'm>(fragments: &'f [Fragment<'m>], addr: u64) -> Option<&'f Fragment<'m>> {
    fragments.iter().find(|it| it.start <= addr && addr < it.end)
}

/// The addresses around the boundaries.
fn addresses(fragments: &[Fragment<'_>]) -> impl Iterator<Item = u64> {
    let ends = fragments.iter().flat_map(|it| [it.start, it.end]);
    ends.chain([0, u64::MAX]).flat_map(|addr| [addr.wrapping_sub(1), addr, addr.wrapping_add(1)])
}
