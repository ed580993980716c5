//! The columns that nearly all rows of `samples` have: those up to the end of the stack.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, DictionaryArray, PrimitiveArray, StringArray, TimestampMicrosecondArray,
    new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::ArrowError;
use perf_abi::record::CpuMode;
use perf_profile::text::mode_name;
use perf_symbol::unwind::StackEnd;

use super::column::ColumnKind;
use super::context::Context;
use crate::text_table::TextTable;

/// The first columns of a row of `samples`. A row is written at once, and the columns are made of all rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleHead {
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) process_key: u64,
    pub(super) thread_key: u64,
    /// A number of [`SampleHeads::number`].
    pub(super) comm: Option<u32>,
    pub(super) event: u32,
    pub(super) period: u64,
    pub(super) weight: Option<u64>,
    pub(super) ip: Option<u64>,
    pub(super) mode: CpuMode,
    pub(super) stack_id: Option<u64>,
    pub(super) stack_end: Option<StackEnd>,
}

/// The first columns of `samples`.
#[derive(Debug, Default)]
pub(super) struct SampleHeads {
    rows: Vec<SampleHead>,
    comms: TextTable,
    /// Index of the comm of the previous row.
    comm: u32,
    /// The names of the events that have samples, by their index. Empty for the others.
    events: Vec<String>,
}

/// The ends of stacks, each at the index that it is as a number.
pub(super) const ENDS: [StackEnd; 6] = [
    StackEnd::Rooted,
    StackEnd::Completed,
    StackEnd::Truncated,
    StackEnd::NoUnwindInfo,
    StackEnd::NoMapping,
    StackEnd::Garbage,
];

impl SampleHeads {
    /// Number of the columns.
    pub(super) const COLUMNS: usize = 17;

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(super) fn push(&mut self, head: SampleHead) {
        self.rows.push(head);
    }

    /// Returns the number of a name of a thread, which holds until the columns are made.
    #[inline]
    pub(super) fn number(&mut self, comm: &str) -> u32 {
        if self.comms.get(self.comm) != comm || comm.is_empty() {
            self.comm = self.comms.number(comm);
        }
        self.comm
    }

    /// Sets the name of an event.
    pub(super) fn name_event(&mut self, index: usize, name: String) {
        if self.events.len() <= index {
            self.events.resize_with(index + 1, String::new);
        }
        if let Some(event) = self.events.get_mut(index) {
            *event = name;
        }
    }

    /// Returns the columns, in the order of the table, and starts again.
    pub(super) fn finish(&mut self, context: &Context) -> Result<Vec<ArrayRef>, ArrowError> {
        let rows = &self.rows;
        let time = |it: &SampleHead| it.time;
        let bits = |it: Option<u64>| it.map(u64::cast_signed);
        let has_utc = context.origin.to_wall_clock.is_some();
        let utc: ArrayRef = if has_utc {
            let utc = |it: &SampleHead| context.utc(time(it));
            let array: TimestampMicrosecondArray = some::<TimestampMicrosecondType>(rows, utc);
            Arc::new(array.with_timezone("UTC"))
        } else {
            new_null_array(&ColumnKind::Timestamp.data_type(), rows.len())
        };
        let (event_keys, event_names) = self.event_keys();
        let columns: Vec<ArrayRef> = vec![
            words(rows, |_| Some(0), [context.capture.as_str()].into_iter())?,
            Arc::new(some::<Int64Type>(rows, |it| bits(it.time))),
            utc,
            Arc::new(some::<Int32Type>(rows, |it| it.cpu.map(u32::cast_signed))),
            Arc::new(all::<Int32Type>(rows, |it| it.pid)),
            Arc::new(all::<Int32Type>(rows, |it| it.tid)),
            Arc::new(all::<Int64Type>(rows, |it| it.process_key.cast_signed())),
            Arc::new(all::<Int64Type>(rows, |it| it.thread_key.cast_signed())),
            words(rows, |it| it.comm.map(u32::cast_signed), self.comms.iter())?,
            Arc::new(all::<Int32Type>(rows, |it| it.event.cast_signed())),
            words(rows, |it| event_keys.get(it.event as usize).copied(), event_names.into_iter())?,
            Arc::new(all::<Int64Type>(rows, |it| it.period.cast_signed())),
            Arc::new(some::<Int64Type>(rows, |it| bits(it.weight))),
            Arc::new(some::<Int64Type>(rows, |it| bits(it.ip))),
            words(rows, |it| Some(mode_key(it.mode)), (0..MODES).map(|mode| mode_name(CpuMode(mode))))?,
            Arc::new(some::<Int64Type>(rows, |it| bits(it.stack_id))),
            words(rows, |it| it.stack_end.map(|it| it as i32), ENDS.map(StackEnd::name).into_iter())?,
        ];
        self.rows.clear();
        self.comms.clear();
        Ok(columns)
    }

    /// Returns the number of the name of each event that a row has, and these names.
    fn event_keys(&self) -> (Vec<i32>, Vec<&str>) {
        let mut keys = vec![-1; self.events.len()];
        let mut names = Vec::new();
        // Events may have the same name.
        let mut key_of = HashMap::new();
        for row in &self.rows {
            if let Some(key) = keys.get_mut(row.event as usize)
                && *key < 0
            {
                let name = self.events.get(row.event as usize).map_or("", String::as_str);
                *key = *key_of.entry(name).or_insert_with(|| {
                    names.push(name);
                    names.len() as i32 - 1
                });
            }
        }
        (keys, names)
    }
}

/// Number of modes that have a name: `unknown` is the first.
const MODES: u8 = CpuMode::GUEST_USER.0 + 1;

/// Returns the key of a mode. Each word of a dictionary is there once: pandas refuses others.
fn mode_key(mode: CpuMode) -> i32 {
    if mode.0 < MODES { mode.0.into() } else { 0 }
}

/// Returns a column that has a value in each row.
fn all<T: ArrowPrimitiveType>(
    rows: &[SampleHead],
    value: impl Fn(&SampleHead) -> T::Native,
) -> PrimitiveArray<T> {
    let values: Vec<T::Native> = rows.iter().map(value).collect();
    PrimitiveArray::new(values.into(), None)
}

/// Returns a column that has a value in some rows.
fn some<T: ArrowPrimitiveType>(
    rows: &[SampleHead],
    value: impl Fn(&SampleHead) -> Option<T::Native>,
) -> PrimitiveArray<T> {
    let values: Vec<T::Native> = rows.iter().map(|row| value(row).unwrap_or_default()).collect();
    let has_nulls = rows.iter().any(|row| value(row).is_none());
    let nulls = has_nulls.then(|| rows.iter().map(|row| value(row).is_some()).collect::<NullBuffer>());
    PrimitiveArray::new(values.into(), nulls)
}

/// Returns a column of words by their numbers.
fn words<'w>(
    rows: &[SampleHead],
    number: impl Fn(&SampleHead) -> Option<i32>,
    words: impl Iterator<Item = &'w str>,
) -> Result<ArrayRef, ArrowError> {
    let words = StringArray::from_iter_values(words);
    Ok(Arc::new(DictionaryArray::try_new(some::<Int32Type>(rows, number), Arc::new(words))?))
}
