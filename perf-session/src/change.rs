//! The changes that a record makes to a session.

use core::ops::Range;
use core::slice;

use perf_parse::{EventRecord, FileError};

use crate::ledger::ChangeNote;
use crate::map::Mapping;
use crate::maps::Maps;
use crate::session::{SampleContext, Session};
use crate::thread::Thread;

/// A change that a record made to a [`Session`]; returned by [`Session::update_changes`]. Borrows from the session, and a
/// sample also from its record.
///
/// Threads and processes have [keys](Thread::key), which are not used again as ids are. A list of one's own that is kept by
/// these keys equals the session's after each record:
///
/// ```
/// use std::collections::HashMap;
///
/// use perf_parse::Reader;
/// use perf_session::{Change, Mapping, Session};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let mut session = Session::new();
/// // The mappings of each process.
/// let mut processes: HashMap<u64, Vec<Mapping>> = HashMap::new();
/// for record in reader.records().in_time_order() {
///     let record = record?;
///     for change in session.update_changes(&record)? {
///         match change {
///             Change::ThreadBegun { thread, inherited } => {
///                 let of_parent = inherited.and_then(|key| processes.get(&key).cloned());
///                 processes.entry(thread.process_key()).or_insert(of_parent.unwrap_or_default());
///             }
///             Change::Mapped { thread, mapping, cut } => {
///                 let list = processes.entry(thread.process_key()).or_default();
///                 for cut in cut {
///                     list.retain(|mapping| mapping != cut.mapping);
///                     list.extend(cut.rest());
///                 }
///                 list.push(mapping.clone());
///             }
///             Change::Exec { thread, .. } => {
///                 processes.insert(thread.process_key(), Vec::new());
///             }
///             Change::ProcessRemoved { process_key } => {
///                 processes.remove(&process_key);
///             }
///             Change::Sample(sample) => {
///                 let mappings = &processes[&sample.thread().process_key()];
///                 let session = sample.session();
///                 assert_eq!(mappings.len(), session.maps(sample.thread()).unwrap().iter().count());
///             }
///             _ => {}
///         }
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change<'s, 'r> {
    /// The record is a sample. This is the last change of its record: what the sample made known comes before it.
    Sample(SampleContext<'s, 'r>),
    /// A thread became known: by its FORK record, or by the first record that has its ids.
    ///
    /// If its process is new, too, its mappings are a copy of those of the process that `inherited` is the
    /// [key](Thread::process_key) of; `None` if it begins without mappings.
    ThreadBegun {
        /// The thread.
        thread: &'s Thread,
        /// The key of the process whose mappings the thread's process begins with.
        inherited: Option<u64>,
    },
    /// A record has the process id of a thread that was known by its thread id alone.
    ThreadIdentified {
        /// The thread, with its process id.
        thread: &'s Thread,
        /// The key of its process before. It is another one if the process was known.
        process_before: u64,
    },
    /// A COMM record named the thread, which had another name or none.
    ThreadNamed {
        /// The thread, with its new name.
        thread: &'s Thread,
        /// The name before: see [`Thread::comm`].
        before: &'s [u8],
    },
    /// The thread has exited. It is kept for a while, because its last samples come later.
    ThreadExited {
        /// The thread.
        thread: &'s Thread,
    },
    /// The session dropped a thread: [some time](crate::SessionLimits::exited) after its exit, or because another thread has its
    /// id, so that the record of its exit was lost.
    ThreadRemoved {
        /// The thread.
        thread: &'s Thread,
    },
    /// The session dropped a process and its mappings, because it has no threads any more.
    ProcessRemoved {
        /// The [key](Thread::process_key) that its threads had.
        process_key: u64,
    },
    /// The process of a thread got a new image, so that all its mappings are gone. Samples of the kernel
    /// [find](SampleContext::find) them until the new image runs.
    Exec {
        /// The thread that called `exec`.
        thread: &'s Thread,
        /// The mappings that are gone.
        cut: CutMappings<'s>,
    },
    /// The process of a thread has a new mapping.
    Mapped {
        /// The thread.
        thread: &'s Thread,
        /// The new mapping.
        mapping: &'s Mapping,
        /// The mappings that it replaced, or whose parts it replaced.
        cut: CutMappings<'s>,
    },
    /// A kernel has a new mapping: its text, a module, or code that a KSYMBOL record registered.
    KernelMapped {
        /// The process id of the virtual machine; `None` for the host.
        guest: Option<i32>,
        /// The new mapping.
        mapping: &'s Mapping,
        /// The mappings that it replaced, or whose parts it replaced.
        cut: CutMappings<'s>,
    },
    /// A KSYMBOL record unregistered code of a kernel.
    KernelUnmapped {
        /// The process id of the virtual machine; `None` for the host.
        guest: Option<i32>,
        /// The mapping that is gone.
        mapping: &'s Mapping,
    },
    /// A CGROUP record named a cgroup.
    Cgroup {
        /// The id that samples have.
        id: u64,
        /// The path in its hierarchy.
        path: &'s [u8],
    },
    /// A HEADER_BUILD_ID record listed the build id of a file: [`Session::build_id`] may return another one for DSOs of this
    /// path.
    BuildId {
        /// The path.
        path: &'s [u8],
    },
}

/// The changes that a record made to a session, in the order in which they happened; made by
/// [`Session::update_changes`]. Empty for most records.
#[derive(Clone, Debug)]
pub struct Changes<'s, 'r> {
    session: &'s Session,
    notes: slice::Iter<'s, ChangeNote>,
    sample: Option<SampleContext<'s, 'r>>,
}

impl Session {
    /// Applies a record as [`update`](Self::update) does, and returns what it changed, for programs that keep lists of their
    /// own. See [`Change`] for an example.
    ///
    /// Costs as much as `update` and [`at`](Self::at) for a record that changes nothing. What a record changed is copied
    /// when this is called, and not by `update`; a mapping that replaces others also copies the nodes of the tree that it
    /// changes, so that the iterator can find them.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update).
    pub fn update_changes<'s, 'r>(
        &'s mut self,
        record: &'r EventRecord<'r>,
    ) -> Result<Changes<'s, 'r>, FileError> {
        self.machines.ledger.start();
        let updated = self.update(record);
        self.machines.ledger.stop();
        updated?;
        Ok(Changes { session: self, notes: self.machines.ledger.notes().iter(), sample: self.at(record) })
    }
}

impl<'s, 'r> Changes<'s, 'r> {
    /// Returns the session, as the record left it.
    #[must_use]
    pub fn session(&self) -> &'s Session {
        self.session
    }

    fn change(&self, note: &'s ChangeNote) -> Change<'s, 'r> {
        match note {
            ChangeNote::ThreadBegun { thread, inherited } => {
                Change::ThreadBegun { thread, inherited: *inherited }
            }
            ChangeNote::ThreadIdentified { thread, process_before } => {
                Change::ThreadIdentified { thread, process_before: *process_before }
            }
            ChangeNote::ThreadNamed { thread, before } => Change::ThreadNamed { thread, before },
            ChangeNote::ThreadExited(thread) => Change::ThreadExited { thread },
            ChangeNote::ThreadRemoved(thread) => Change::ThreadRemoved { thread },
            ChangeNote::ProcessRemoved(key) => Change::ProcessRemoved { process_key: *key },
            ChangeNote::Exec { thread, before } => {
                Change::Exec { thread, cut: CutMappings::new(Some(before), 0..u64::MAX) }
            }
            ChangeNote::Mapped { thread, mapping, before } => {
                let cut = CutMappings::new(before.as_ref(), mapping.range());
                Change::Mapped { thread, mapping, cut }
            }
            ChangeNote::KernelMapped { guest, mapping, before } => {
                let cut = CutMappings::new(before.as_ref(), mapping.range());
                Change::KernelMapped { guest: *guest, mapping, cut }
            }
            ChangeNote::KernelUnmapped { guest, mapping } => {
                Change::KernelUnmapped { guest: *guest, mapping }
            }
            ChangeNote::Cgroup(id) => {
                Change::Cgroup { id: *id, path: self.session.cgroup(*id).unwrap_or_default() }
            }
            ChangeNote::BuildId(path) => Change::BuildId { path },
        }
    }
}

impl<'s, 'r> Iterator for Changes<'s, 'r> {
    type Item = Change<'s, 'r>;

    #[inline]
    fn next(&mut self) -> Option<Change<'s, 'r>> {
        match self.notes.next() {
            Some(note) => Some(self.change(note)),
            None => self.sample.take().map(Change::Sample),
        }
    }
}

/// The mappings that a change took away, as a whole or in part, in ascending order of their addresses. Each step takes
/// logarithmic time.
#[derive(Clone, Debug)]
pub struct CutMappings<'s> {
    before: Option<&'s Maps>,
    range: Range<u64>,
    next: Option<&'s Mapping>,
}

/// A mapping that a change took away, as a whole or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutMapping<'s> {
    /// The mapping, as it was before.
    pub mapping: &'s Mapping,
    /// The addresses that it does not have any more: all of its range, or a part.
    pub range: Range<u64>,
}

impl<'s> CutMappings<'s> {
    fn new(before: Option<&'s Maps>, range: Range<u64>) -> Self {
        let next = before.and_then(|maps| maps.first_in(&range));
        Self { before, range, next }
    }
}

impl<'s> Iterator for CutMappings<'s> {
    type Item = CutMapping<'s>;

    fn next(&mut self) -> Option<CutMapping<'s>> {
        let mapping = self.next.take()?;
        let whole = mapping.range();
        let range = whole.start.max(self.range.start)..whole.end.min(self.range.end);
        self.next = self.before.and_then(|maps| maps.first_in(&(whole.end..self.range.end)));
        Some(CutMapping { mapping, range })
    }
}

impl CutMapping<'_> {
    /// Returns whether nothing of the mapping is left.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.range == self.mapping.range()
    }

    /// Returns the mappings that are left of it: none, the part before the range, the part after it, or both.
    pub fn rest(&self) -> impl Iterator<Item = Mapping> + use<> {
        let whole = self.mapping.range();
        let before = (whole.start < self.range.start).then(|| self.mapping.head(self.range.start));
        let after = (self.range.end < whole.end).then(|| self.mapping.tail(self.range.end));
        before.into_iter().chain(after)
    }
}
