//! The records of a capture, one by one.

use core::ffi::{c_int, c_void};
use core::fmt;

use perf_parse::EventRecord;
use perf_parse::file::EventRecords;

use crate::account::perfdata_account;
use crate::boundary::{Exclusive, call, exclusive, free, give, shared};
use crate::capture::{out_of_range, perfdata_capture};
use crate::error::{PERFDATA_OK, perfdata_error};
use crate::names::check_flags;
use crate::record_fields::{Field, fields_of, perfdata_field};
use crate::versioned::{self, versioned};

/// Return records in order of time, and not in that of the capture.
pub const PERFDATA_RECORDS_IN_TIME_ORDER: u32 = 1;

/// The record has a time.
pub const PERFDATA_RECORD_HAS_TIME: u32 = 1;
/// The record has a CPU.
pub const PERFDATA_RECORD_HAS_CPU: u32 = 1 << 1;
/// The record has the ids of a process and a thread.
pub const PERFDATA_RECORD_HAS_TID: u32 = 1 << 2;
/// The event of the record is known.
pub const PERFDATA_RECORD_HAS_EVENT: u32 = 1 << 3;

/// A record. It is the library's, and lives until the next call of perfdata_records_next.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_record {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The bytes of the record with its header, in the byte order of the capture; of a compressed capture, decompressed.
    pub data: *const c_void,
    /// Number of these bytes.
    pub data_size: usize,
    /// Number of bytes of the capture before the record; of a compressed record, before the one that has it.
    pub offset: u64,
    /// Nanoseconds of the capture's clock; UINT64_MAX without PERFDATA_RECORD_HAS_TIME.
    pub time: u64,
    /// PERF_RECORD_* of the kernel and of perf.
    pub r#type: u32,
    /// PERF_RECORD_MISC_* bits.
    pub misc: u32,
    /// Id of the process; -1 without PERFDATA_RECORD_HAS_TID.
    pub pid: i32,
    /// Id of the thread; -1 without PERFDATA_RECORD_HAS_TID.
    pub tid: i32,
    /// The CPU; UINT32_MAX without PERFDATA_RECORD_HAS_CPU.
    pub cpu: u32,
    /// Index of the event; UINT32_MAX without PERFDATA_RECORD_HAS_EVENT.
    pub event: u32,
    /// PERFDATA_RECORD_* bits.
    pub flags: u32,
    /// None yet; 0.
    pub reserved: u32,
}

versioned!(perfdata_record);

/// The records of a capture, one by one. One thread uses it at a time; it may move to another one.
pub struct perfdata_records(Exclusive<State>);

impl fmt::Debug for perfdata_records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("perfdata_records").finish_non_exhaustive()
    }
}

struct State {
    records: EventRecords<'static>,
    current: Option<EventRecord<'static>>,
    /// What a program gets of the current record.
    record: Option<perfdata_record>,
    fields: Vec<Field>,
}

impl State {
    fn advance(&mut self) -> Result<Option<*const perfdata_record>, perfdata_error> {
        self.record = None;
        self.fields.clear();
        self.current = self.records.next().transpose()?;
        self.record = self.current.as_ref().map(record_of);
        Ok(self.record.as_ref().map(core::ptr::from_ref))
    }
}

fn record_of(record: &EventRecord<'_>) -> perfdata_record {
    let bytes = record.raw().as_bytes().as_ptr();
    let (ids, event) = (record.pid_tid(), record.event_index());
    let flags = [
        (record.time().is_some(), PERFDATA_RECORD_HAS_TIME),
        (record.cpu().is_some(), PERFDATA_RECORD_HAS_CPU),
        (ids.is_some(), PERFDATA_RECORD_HAS_TID),
        (event.is_some(), PERFDATA_RECORD_HAS_EVENT),
    ];
    let (pid, tid) = ids.unwrap_or((-1, -1));
    perfdata_record {
        size: size_of::<perfdata_record>(),
        data: bytes.cast(),
        data_size: record.raw().as_bytes().len(),
        offset: record.offset(),
        time: record.time().unwrap_or(u64::MAX),
        r#type: record.kind().0,
        misc: record.misc().0.into(),
        pid,
        tid,
        cpu: record.cpu().unwrap_or(u32::MAX),
        event: event.and_then(|event| u32::try_from(event).ok()).unwrap_or(u32::MAX),
        flags: flags.iter().map(|&(has, bit)| if has { bit } else { 0 }).sum(),
        reserved: 0,
    }
}

/// Begins to read the records of a capture. `flags` are PERFDATA_RECORDS_* bits.
///
/// # Safety
///
/// `capture` is a live handle; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_records_new(
    capture: *const perfdata_capture,
    flags: u32,
    out: *mut *mut perfdata_records,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        check_flags(flags, PERFDATA_RECORDS_IN_TIME_ORDER, "perfdata_records_new")?;
        let records = capture.reader().owned_records();
        let in_order = flags & PERFDATA_RECORDS_IN_TIME_ORDER != 0;
        let records = if in_order { records.in_time_order() } else { records };
        let state = State { records, current: None, record: None, fields: Vec::new() };
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_records(Exclusive::new(state))) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Reads the next record. Returns 1 and writes it, 0 after the last one, or an error. After an error, the next call returns the
/// next record that can be read.
///
/// # Safety
///
/// `records` is a live handle that no other call uses; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_records_next(
    records: *mut perfdata_records,
    out: *mut *const perfdata_record,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle that no other call uses.
        let records = unsafe { exclusive(records) }?;
        if out.is_null() {
            return Err(perfdata_error::argument("the place of the record is NULL"));
        }
        let record = records.0.run(State::advance)?;
        // SAFETY: the caller passes what can be written.
        unsafe { out.write(record.unwrap_or(core::ptr::null())) };
        Ok(c_int::from(record.is_some()))
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Decodes the last record into fields, and writes how many it has. They live until the next call of perfdata_records_next.
///
/// # Safety
///
/// `records` is a live handle that no other call uses; `count` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_records_decode(
    records: *mut perfdata_records,
    count: *mut usize,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle that no other call uses.
        let records = unsafe { exclusive(records) }?;
        if count.is_null() {
            return Err(perfdata_error::argument("the place of the count is NULL"));
        }
        let found = records.0.run(|state| {
            let current = state.current.as_ref();
            let current =
                current.ok_or_else(|| perfdata_error::argument("there is no record; read one first"))?;
            state.fields = fields_of(&current.decode()?)?;
            Ok(state.fields.len())
        })?;
        // SAFETY: the caller passes what can be written.
        unsafe { count.write(found) };
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes a field of the record that was decoded, in the order of the record.
///
/// # Safety
///
/// `records` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_records_field(
    records: *const perfdata_records,
    index: usize,
    out: *mut perfdata_field,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let records = unsafe { shared(records) }?;
        let fields = records.0.get().map_or(&[][..], |state| &state.fields);
        let field = fields.get(index).ok_or_else(|| out_of_range("field", index, fields.len()))?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, field.to_c(), "perfdata_field") }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes what was read so far, and what could not be.
///
/// # Safety
///
/// `records` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_records_account(
    records: *const perfdata_records,
    out: *mut perfdata_account,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let records = unsafe { shared(records) }?;
        let account = records.0.get().map(|state| state.records.account());
        let account =
            account.ok_or_else(|| perfdata_error::argument("the handle has no account any more"))?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, account.into(), "perfdata_account") }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Frees records. NULL has no effect.
///
/// # Safety
///
/// `records` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_records_free(records: *mut perfdata_records) {
    // SAFETY: the caller passes NULL or a live handle, once.
    unsafe { free(records) };
}
