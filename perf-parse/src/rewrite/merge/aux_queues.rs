//! The AUX areas of several captures in one.

use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use perf_abi::record::RecordType;

use super::error::CaptureMergeError;
use crate::record::user::UserRecord;
use crate::record::{RawRecord, Record};
use crate::rewrite::record_words::RecordWords;

/// Offset of the queue's index in an AUXTRACE record: after the header, and the size, the offset and the reference.
const IDX: usize = 32;

/// The queues of the AUX areas. A reader takes all data of a queue for one sequence of the CPU or the thread.
///
/// perf: `auxtrace_queues__add_event`, `tools/perf/util/auxtrace.c`.
#[derive(Debug, Default)]
pub(super) struct AuxQueues {
    /// The AUXTRACE_INFO of the first capture that has one.
    info: Option<Vec<u8>>,
    /// The capture that has data of a CPU and a thread.
    owners: BTreeMap<(i32, i32), usize>,
    /// The new index of each capture's queue.
    indexes: BTreeMap<(usize, u32), u32>,
    /// The new indexes.
    used: BTreeSet<u32>,
}

impl AuxQueues {
    /// Returns what is written of a record AUXTRACE_INFO or AUXTRACE; `None` for what is written already.
    ///
    /// # Errors
    ///
    /// If no reader could tell the data of two captures apart.
    pub(super) fn record(
        &mut self,
        capture: usize,
        raw: &RawRecord<'_>,
    ) -> Result<Option<Vec<u8>>, CaptureMergeError> {
        let differ = |field, must| Err(CaptureMergeError::Differ { capture, field, must });
        let mut words = RecordWords::of(raw);
        if raw.kind() == RecordType::AUXTRACE_INFO {
            return match &self.info {
                None => {
                    self.info = Some(words.bytes.clone());
                    Ok(Some(words.bytes))
                }
                Some(info) if *info == words.bytes => Ok(None),
                Some(_) => differ(
                    "AUXTRACE_INFO",
                    "that of the capture before: a file describes one kind of AUX data",
                ),
            };
        }
        let Ok(Record::User(UserRecord::Auxtrace(it), _)) = raw.decode_user() else {
            return Ok(Some(words.bytes));
        };
        match self.owners.entry((it.cpu, it.tid)) {
            Entry::Vacant(entry) => {
                entry.insert(capture);
            }
            Entry::Occupied(entry) if *entry.get() != capture => {
                return differ(
                    "AUXTRACE",
                    "of other CPUs and threads than in the capture before: a reader would take the data for one sequence",
                );
            }
            Entry::Occupied(_) => {}
        }
        let used = &mut self.used;
        let index = *self.indexes.entry((capture, it.idx)).or_insert_with(|| {
            let after = || used.last().map_or(0, |last| last.saturating_add(1));
            let index = if used.contains(&it.idx) { after() } else { it.idx };
            used.insert(index);
            index
        });
        words.set_u32(IDX, index);
        Ok(Some(words.bytes))
    }
}
