//! The samples of a capture, one by one.

use core::ffi::c_int;
use core::fmt;

use perf_profile::{PassSteps, Samples, Symbols, WalkEnd};
use perf_symbol::unwind::StackEnd;

use crate::account::perfdata_account;
use crate::boundary::{Exclusive, call, exclusive, free, give, shared, value};
use crate::capture::{out_of_range, perfdata_capture};
use crate::error::{PERFDATA_OK, perfdata_error};
use crate::event::perfdata_event;
use crate::names::{check_flags, perfdata_name_options};
use crate::sample_pass::{FrameRow, RowPass, SampleRow};
use crate::selection::{self, perfdata_selection};
use crate::string::perfdata_string;
use crate::symbols;
use crate::versioned::{self, versioned};

/// Options of samples. A field that is 0 or NULL is the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_sample_options {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The samples that are wanted.
    pub selection: *const perfdata_selection,
    /// Where names come from.
    pub names: *const perfdata_name_options,
    /// The largest number of addresses of a stack; 127 by default.
    pub max_stack: u32,
    /// None yet; 0.
    pub flags: u32,
}

/// The sample has a time.
pub const PERFDATA_SAMPLE_HAS_TIME: u32 = 1;
/// The sample has a CPU.
pub const PERFDATA_SAMPLE_HAS_CPU: u32 = 1 << 1;
/// The sample has the address of its instruction.
pub const PERFDATA_SAMPLE_HAS_IP: u32 = 1 << 2;
/// The sample has the address of data.
pub const PERFDATA_SAMPLE_HAS_ADDR: u32 = 1 << 3;
/// The sample has the ids of its process and thread.
pub const PERFDATA_SAMPLE_HAS_TID: u32 = 1 << 4;

/// The stack is a call chain of the kernel's, or there is none.
pub const PERFDATA_STACK_RECORDED: u32 = 0;
/// Unwinding reached the outermost function of the thread.
pub const PERFDATA_STACK_ROOTED: u32 = 1;
/// The outer frames are those of an earlier stack of the thread.
pub const PERFDATA_STACK_COMPLETED: u32 = 2;
/// Unwinding ended at an address without a mapping.
pub const PERFDATA_STACK_NO_MAPPING: u32 = 3;
/// Unwinding ended at a function without unwind information.
pub const PERFDATA_STACK_NO_UNWIND_INFO: u32 = 4;
/// Unwinding ended at the end of the copied stack.
pub const PERFDATA_STACK_TRUNCATED: u32 = 5;
/// Unwinding ended at an impossible address.
pub const PERFDATA_STACK_GARBAGE: u32 = 6;
/// Unwinding ended for a reason that this version has no number for.
pub const PERFDATA_STACK_OTHER: u32 = 7;

/// A sample. It is the library's, and lives until the next call of perfdata_samples_next. A newer library may have further fields
/// at its end: `size` is what is there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_sample {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Nanoseconds of the capture's clock; UINT64_MAX without PERFDATA_SAMPLE_HAS_TIME.
    pub time: u64,
    /// Number of events that the sample stands for.
    pub period: u64,
    /// Address of the instruction; 0 without PERFDATA_SAMPLE_HAS_IP.
    pub ip: u64,
    /// Address of the data; 0 without PERFDATA_SAMPLE_HAS_ADDR.
    pub addr: u64,
    /// The name of the thread at that time.
    pub comm: perfdata_string,
    /// Id of the process; -1 without PERFDATA_SAMPLE_HAS_TID.
    pub pid: i32,
    /// Id of the thread; -1 without PERFDATA_SAMPLE_HAS_TID.
    pub tid: i32,
    /// The CPU; UINT32_MAX without PERFDATA_SAMPLE_HAS_CPU.
    pub cpu: u32,
    /// Index of the event, for perfdata_samples_event.
    pub event: u32,
    /// PERFDATA_SAMPLE_* bits.
    pub flags: u32,
    /// How the stack ends: PERFDATA_STACK_*.
    pub stack_end: u32,
    /// Number of frames, for perfdata_samples_frame.
    pub frame_count: usize,
}

/// The function is inlined into that of the next frame, at the same address.
pub const PERFDATA_FRAME_INLINED: u32 = 1;
/// The frame, or its name, is a guess.
pub const PERFDATA_FRAME_GUESSED: u32 = 1 << 1;
/// The frame is code of the kernel: of its image, a module, or a program that it loaded.
pub const PERFDATA_FRAME_KERNEL: u32 = 1 << 2;

/// A frame of a stack: a function, or one that is inlined into the function of the next frame. It is the library's, and lives until
/// the next call of perfdata_samples_next.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_frame {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The address: a return address in all frames but the innermost one.
    pub ip: u64,
    /// The address as perf prints it: that of a stack which was unwound is one less than a return address.
    pub address: u64,
    /// The offset of `address` in its file; UINT64_MAX if it is in no mapping.
    pub file_offset: u64,
    /// The offset of `address` in its function; UINT64_MAX if it is unknown.
    pub function_offset: u64,
    /// The name of the function; NULL if it is unknown.
    pub function: perfdata_string,
    /// The source file, as the compiler recorded its path; NULL if it is unknown.
    pub file: perfdata_string,
    /// The path of the mapped file, or a name as `[kernel.kallsyms]`; NULL if the address is in no mapping.
    pub dso: perfdata_string,
    /// The line in the source file, from 1 on; 0 if it is unknown.
    pub line: u32,
    /// PERFDATA_FRAME_* bits.
    pub flags: u32,
    /// The mode of the CPU: PERF_RECORD_MISC_KERNEL, _USER and so on.
    pub mode: u32,
    /// None yet; 0.
    pub reserved: u32,
}

versioned!(perfdata_sample_options, perfdata_sample, perfdata_frame);

/// The samples of a capture, one by one, in order of time. One thread uses it at a time; it may move to another one.
pub struct perfdata_samples(pub(crate) Exclusive<SamplesState>);

impl fmt::Debug for perfdata_samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("perfdata_samples").finish_non_exhaustive()
    }
}

/// What the handle has.
pub(crate) struct SamplesState {
    /// `None` after the last record.
    steps: Option<PassSteps<'static, RowPass>>,
    /// After the last record.
    pub(crate) end: Option<(RowPass, WalkEnd<'static>)>,
    /// What `sample` and `frames` point to.
    row: SampleRow,
    sample: perfdata_sample,
    frames: Vec<perfdata_frame>,
    /// The build id of the last mapping that was asked for.
    pub(crate) build_id: Vec<u8>,
}

impl SamplesState {
    fn pass(&mut self) -> Option<&mut RowPass> {
        match (&mut self.steps, &mut self.end) {
            (Some(steps), _) => Some(steps.pass()),
            (None, end) => end.as_mut().map(|(pass, _)| pass),
        }
    }

    /// Returns the next sample; `None` after the last one.
    fn next(&mut self) -> Result<Option<SampleRow>, perfdata_error> {
        loop {
            if let Some(row) = self.pass().and_then(|pass| pass.ready.pop_front()) {
                return row.map(Some);
            }
            let Some(steps) = &mut self.steps else { return Ok(None) };
            if !steps.step() {
                self.end = self.steps.take().map(PassSteps::end);
            }
        }
    }

    fn advance(&mut self) -> Result<bool, perfdata_error> {
        self.frames.clear();
        let last = core::mem::take(&mut self.row);
        if let Some(pass) = self.pass() {
            pass.spare = Some(last);
        }
        let Some(row) = self.next()? else { return Ok(false) };
        self.frames.extend(row.frames.iter().map(frame_of));
        self.sample = sample_of(&row);
        self.row = row;
        Ok(true)
    }
}

fn sample_of(row: &SampleRow) -> perfdata_sample {
    let flags = [
        (row.time.is_some(), PERFDATA_SAMPLE_HAS_TIME),
        (row.cpu.is_some(), PERFDATA_SAMPLE_HAS_CPU),
        (row.ip.is_some(), PERFDATA_SAMPLE_HAS_IP),
        (row.addr.is_some(), PERFDATA_SAMPLE_HAS_ADDR),
        (row.tid.is_some(), PERFDATA_SAMPLE_HAS_TID),
    ];
    perfdata_sample {
        size: size_of::<perfdata_sample>(),
        time: row.time.unwrap_or(u64::MAX),
        period: row.period,
        ip: row.ip.unwrap_or(0),
        addr: row.addr.unwrap_or(0),
        comm: perfdata_string::of(&row.comm),
        pid: row.pid.unwrap_or(-1),
        tid: row.tid.unwrap_or(-1),
        cpu: row.cpu.unwrap_or(u32::MAX),
        event: u32::try_from(row.event).unwrap_or(u32::MAX),
        flags: flags.iter().map(|&(has, bit)| if has { bit } else { 0 }).sum(),
        stack_end: match row.end {
            None => PERFDATA_STACK_RECORDED,
            Some(StackEnd::Rooted) => PERFDATA_STACK_ROOTED,
            Some(StackEnd::Completed) => PERFDATA_STACK_COMPLETED,
            Some(StackEnd::NoMapping) => PERFDATA_STACK_NO_MAPPING,
            Some(StackEnd::NoUnwindInfo) => PERFDATA_STACK_NO_UNWIND_INFO,
            Some(StackEnd::Truncated) => PERFDATA_STACK_TRUNCATED,
            Some(StackEnd::Garbage) => PERFDATA_STACK_GARBAGE,
            Some(_) => PERFDATA_STACK_OTHER,
        },
        frame_count: row.frames.len(),
    }
}

fn frame_of(row: &FrameRow) -> perfdata_frame {
    let flags = [
        (row.is_inlined, PERFDATA_FRAME_INLINED),
        (row.is_guess, PERFDATA_FRAME_GUESSED),
        (row.is_kernel(), PERFDATA_FRAME_KERNEL),
    ];
    perfdata_frame {
        size: size_of::<perfdata_frame>(),
        ip: row.ip,
        address: row.address,
        file_offset: row.file_offset.unwrap_or(u64::MAX),
        function_offset: row.function_offset.unwrap_or(u64::MAX),
        function: perfdata_string::of_option(row.name.as_deref()),
        file: perfdata_string::of_option(row.file.as_deref()),
        dso: perfdata_string::of_option(row.dso.as_ref().map(|dso| dso.path())),
        line: row.line,
        flags: flags.iter().map(|&(has, bit)| if has { bit } else { 0 }).sum(),
        mode: row.mode.into(),
        reserved: 0,
    }
}

/// Begins to read the samples of a capture. `options` may be NULL.
///
/// # Safety
///
/// `capture` is a live handle; `options` is NULL or has its size; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_new(
    capture: *const perfdata_capture,
    options: *const perfdata_sample_options,
    out: *mut *mut perfdata_samples,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        // SAFETY: the caller passes NULL or a structure with its size.
        let options = unsafe { versioned::read(options, "perfdata_sample_options") }?;
        check_flags(options.flags, 0, "perfdata_sample_options")?;
        // SAFETY: the caller passes NULL or a selection.
        let selection = unsafe { selection::read(options.selection) }?;
        // SAFETY: the caller passes NULL or options.
        let symbols = unsafe { symbols::symbols(capture, options.names) }?;
        let wanted = if options.max_stack == 0 { Symbols::MAX_CHAIN } else { options.max_stack as usize };
        let max_stack = Symbols::max_stack(capture.reader().features(), wanted);
        let samples = Samples::shared(capture.reader().clone()).select(selection);
        let steps = samples.steps(symbols.clone(), RowPass::new(symbols, max_stack))?;
        let row = SampleRow::default();
        let (sample, frames, build_id) = (sample_of(&row), Vec::new(), Vec::new());
        let state = SamplesState { steps: Some(steps), end: None, row, sample, frames, build_id };
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_samples(Exclusive::new(state))) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Reads the next sample. Returns 1 and writes it, 0 after the last one, or an error. After PERFDATA_ERROR_FORMAT, a sample that
/// cannot be decoded, the next call returns the one after it. A sample that reads several counters comes once for each.
///
/// # Safety
///
/// `samples` is a live handle that no other call uses; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_next(
    samples: *mut perfdata_samples,
    out: *mut *const perfdata_sample,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle that no other call uses.
        let samples = unsafe { exclusive(samples) }?;
        if out.is_null() {
            return Err(perfdata_error::argument("the place of the sample is NULL"));
        }
        let sample = samples.0.run(|state| Ok(state.advance()?.then_some(&raw const state.sample)))?;
        // SAFETY: the caller passes what can be written.
        unsafe { out.write(sample.unwrap_or(core::ptr::null())) };
        Ok(c_int::from(sample.is_some()))
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Returns a frame of the last sample, the innermost one at index 0; NULL if there are not as many.
///
/// # Safety
///
/// `samples` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_frame(
    samples: *const perfdata_samples,
    index: usize,
) -> *const perfdata_frame {
    // SAFETY: the caller passes NULL or a live handle.
    let samples = unsafe { samples.as_ref() };
    let frame = samples.and_then(|it| it.0.get()).and_then(|state| state.frames.get(index));
    frame.map_or(core::ptr::null(), core::ptr::from_ref)
}

/// Returns the number of events that are known so far. It grows while a pipe is read.
///
/// # Safety
///
/// `samples` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_event_count(samples: *mut perfdata_samples) -> usize {
    value(0, || {
        // SAFETY: the caller passes NULL or a live handle that no other call uses.
        let samples = unsafe { samples.as_mut() }?;
        samples.0.run(|state| Ok(state.pass().map_or(0, |pass| pass.events.len()))).ok()
    })
}

/// Writes an event by its index, which samples have. Events are known from the first sample on. The name lives until the next
/// call of perfdata_samples_next.
///
/// # Safety
///
/// `samples` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_event(
    samples: *mut perfdata_samples,
    index: usize,
    out: *mut perfdata_event,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle that no other call uses.
        let samples = unsafe { exclusive(samples) }?;
        let event = samples.0.run(|state| {
            let events = state.pass().map_or(&[][..], |pass| &pass.events);
            let event = events.get(index).ok_or_else(|| out_of_range("event", index, events.len()))?;
            Ok(event.to_c())
        })?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, event, "perfdata_event") }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes what was read so far, and what could not be.
///
/// # Safety
///
/// `samples` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_account(
    samples: *const perfdata_samples,
    out: *mut perfdata_account,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let samples = unsafe { shared(samples) }?;
        let account = samples.0.get().and_then(|state| match &state.end {
            Some((_, end)) => Some(end.account()),
            None => state.steps.as_ref().map(PassSteps::account),
        });
        let account =
            account.ok_or_else(|| perfdata_error::argument("the handle has no account any more"))?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, account.into(), "perfdata_account") }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Frees samples. NULL has no effect.
///
/// # Safety
///
/// `samples` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_samples_free(samples: *mut perfdata_samples) {
    // SAFETY: the caller passes NULL or a live handle, once.
    unsafe { free(samples) };
}
