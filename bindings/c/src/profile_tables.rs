//! The tables of a profile: samples refer to threads, events and stacks by index, stacks to frames, frames to functions.

use core::ffi::c_int;

use perf_profile::{EMPTY, NONE};

use crate::capture::out_of_range;
use crate::error::perfdata_error;
use crate::event::perfdata_event;
use crate::profile::perfdata_profile;
use crate::row::{count, row};
use crate::samples::{PERFDATA_FRAME_GUESSED, PERFDATA_FRAME_INLINED, PERFDATA_FRAME_KERNEL};
use crate::string::perfdata_string;
use crate::versioned::versioned;

/// The index of nothing: no DSO, no caller.
pub const PERFDATA_NONE: u32 = 0xffff_ffff;

/// Number of rows of each table of a profile. Indexes begin with 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_profile_counts {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Number of samples, for perfdata_profile_sample.
    pub samples: u32,
    /// Number of threads, for perfdata_profile_thread.
    pub threads: u32,
    /// Number of events, for perfdata_profile_event.
    pub events: u32,
    /// Number of stacks, for perfdata_profile_stack.
    pub stacks: u32,
    /// Number of frames, for perfdata_profile_frame.
    pub frames: u32,
    /// Number of functions at the addresses of frames, for perfdata_profile_function.
    pub functions: u32,
    /// Number of files, for perfdata_profile_dso.
    pub dsos: u32,
}

/// Samples that have everything in common that the profile keeps of them: one, if it keeps times.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_profile_sample_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Nanoseconds of the capture's clock; 0 without PERFDATA_PROFILE_TIMES.
    pub time: u64,
    /// How many samples these are.
    pub samples: u64,
    /// The sum of their periods.
    pub period: u64,
    /// Index of the thread.
    pub thread: u32,
    /// Index of the event.
    pub event: u32,
    /// Index of the stack; 0 is the empty one.
    pub stack: u32,
    /// The CPU; PERFDATA_NONE if it was not recorded, or is not kept.
    pub cpu: u32,
}

/// A thread, as long as it had a name: an exec or a new name begins another one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_profile_thread_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The name.
    pub comm: perfdata_string,
    /// Tells threads apart that have the same id at other times.
    pub key: u64,
    /// Id of the process.
    pub pid: i32,
    /// Id of the thread.
    pub tid: i32,
}

/// A stack: a frame, and the stack of its caller. Stack 0 is the empty one.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_profile_stack_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Index of the stack of the caller, which is less than that of this one; PERFDATA_NONE for stack 0.
    pub caller: u32,
    /// Index of the innermost frame; PERFDATA_NONE for stack 0.
    pub frame: u32,
}

/// An address in a mapping.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_profile_frame_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The address; a return address in callers.
    pub ip: u64,
    /// Its offset in the file.
    pub file_offset: u64,
    /// Index of the file; PERFDATA_NONE if it is in none.
    pub dso: u32,
    /// Index of the first function at the address, the innermost inlined one.
    pub function: u32,
    /// Number of functions; 0 if none is known.
    pub function_count: u32,
    /// PERFDATA_FRAME_GUESSED and PERFDATA_FRAME_KERNEL.
    pub flags: u32,
}

/// A function at the address of a frame.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_profile_function_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The name.
    pub name: perfdata_string,
    /// The source file; NULL if it is unknown.
    pub file: perfdata_string,
    /// Index of the name: equal for equal functions, at any address.
    pub symbol: u32,
    /// The line of the address, from 1 on; 0 if it is unknown.
    pub line: u32,
    /// PERFDATA_FRAME_INLINED and PERFDATA_FRAME_GUESSED.
    pub flags: u32,
}

/// A file that was mapped, or the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_profile_dso_row {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The path, or a name as `[kernel.kallsyms]`.
    pub path: perfdata_string,
}

versioned!(
    perfdata_profile_counts,
    perfdata_profile_sample_row,
    perfdata_profile_thread_row,
    perfdata_profile_stack_row,
    perfdata_profile_frame_row,
    perfdata_profile_function_row,
    perfdata_profile_dso_row,
);

fn flag(has: bool, bit: u32) -> u32 {
    if has { bit } else { 0 }
}

fn functions(profile: &perfdata_profile) -> u32 {
    let frames = profile.profile.frames().locations().len();
    (0..count(frames)).map(|frame| profile.profile.function_table().functions(frame).end).max().unwrap_or(0)
}

fn counts(profile: &perfdata_profile) -> perfdata_profile_counts {
    let it = &profile.profile;
    perfdata_profile_counts {
        size: 0,
        samples: count(it.samples().len()),
        threads: count(it.threads().len()),
        events: count(it.events().len()),
        stacks: count(it.stacks().len()),
        frames: count(it.frames().locations().len()),
        functions: functions(profile),
        dsos: count(it.frames().dsos().len()),
    }
}

/// Writes the number of rows of each table.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_count(
    profile: *const perfdata_profile,
    out: *mut perfdata_profile_counts,
    error: *mut *mut perfdata_error,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { row(profile, out, error, "perfdata_profile_counts", |profile| Ok(counts(profile))) }
}

/// Writes a sample by its index. Samples are in the order in which they came, which is that of time.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_sample(
    profile: *const perfdata_profile,
    index: u32,
    out: *mut perfdata_profile_sample_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |profile: &perfdata_profile| {
        let sample = profile.profile.sample(index);
        let sample =
            sample.ok_or_else(|| out_of_range("sample", index as usize, profile.profile.samples().len()))?;
        Ok(perfdata_profile_sample_row {
            size: 0,
            time: sample.time,
            samples: sample.total.samples,
            period: sample.total.period,
            thread: sample.thread,
            event: sample.event,
            stack: sample.stack,
            cpu: sample.cpu.unwrap_or(PERFDATA_NONE),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(profile, out, error, "perfdata_profile_sample_row", make) }
}

/// Writes a thread by its index.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_thread(
    profile: *const perfdata_profile,
    index: u32,
    out: *mut perfdata_profile_thread_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |profile: &perfdata_profile| {
        let threads = profile.profile.threads();
        let thread = threads.get(index as usize);
        let thread = thread.ok_or_else(|| out_of_range("thread", index as usize, threads.len()))?;
        Ok(perfdata_profile_thread_row {
            size: 0,
            comm: perfdata_string::of(&thread.comm),
            key: thread.key,
            pid: thread.pid,
            tid: thread.tid,
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(profile, out, error, "perfdata_profile_thread_row", make) }
}

/// Writes an event of the profile by its index, which is not that in the capture: only events with samples are there.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_event(
    profile: *const perfdata_profile,
    index: u32,
    out: *mut perfdata_event,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |profile: &perfdata_profile| {
        let event = profile.events.get(index as usize);
        Ok(event.ok_or_else(|| out_of_range("event", index as usize, profile.events.len()))?.to_c())
    };
    // SAFETY: as the caller promises.
    unsafe { row(profile, out, error, "perfdata_event", make) }
}

/// Writes a stack by its index.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_stack(
    profile: *const perfdata_profile,
    index: u32,
    out: *mut perfdata_profile_stack_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |profile: &perfdata_profile| {
        let stacks = profile.profile.stacks();
        let node = stacks.node(index);
        let (caller, frame) = match node {
            _ if index == EMPTY => (PERFDATA_NONE, PERFDATA_NONE),
            Some(node) => node,
            None => return Err(out_of_range("stack", index as usize, stacks.len())),
        };
        Ok(perfdata_profile_stack_row { size: 0, caller, frame })
    };
    // SAFETY: as the caller promises.
    unsafe { row(profile, out, error, "perfdata_profile_stack_row", make) }
}

/// Writes a frame by its index.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_frame(
    profile: *const perfdata_profile,
    index: u32,
    out: *mut perfdata_profile_frame_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |profile: &perfdata_profile| {
        let frames = profile.profile.frames();
        let place = frames.location(index);
        let place = place.ok_or_else(|| out_of_range("frame", index as usize, frames.locations().len()))?;
        let functions = profile.profile.function_table().functions(index);
        Ok(perfdata_profile_frame_row {
            size: 0,
            ip: place.ip,
            file_offset: place.offset,
            dso: if place.dso == NONE { PERFDATA_NONE } else { place.dso },
            function: functions.start,
            function_count: functions.end.saturating_sub(functions.start),
            flags: flag(place.guess.is_some(), PERFDATA_FRAME_GUESSED)
                | flag(frames.dso_of(index).is_some_and(|dso| dso.kind().is_kernel()), PERFDATA_FRAME_KERNEL),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(profile, out, error, "perfdata_profile_frame_row", make) }
}

/// Writes a function at an address by its index, which frames have.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_function(
    profile: *const perfdata_profile,
    index: u32,
    out: *mut perfdata_profile_function_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |profile: &perfdata_profile| {
        let table = profile.profile.function_table();
        let at = table.function(index);
        let at = at.ok_or_else(|| out_of_range("function", index as usize, functions(profile) as usize))?;
        let (symbol, line) = (table.symbol(at.symbol), table.line(at.line));
        Ok(perfdata_profile_function_row {
            size: 0,
            name: perfdata_string::of_option(symbol.map(|it| &*it.name)),
            file: perfdata_string::of_option(line.map(|it| &*it.file)),
            symbol: at.symbol,
            line: line.map_or(0, |it| it.line),
            flags: symbol.map_or(0, |it| {
                flag(it.is_inlined, PERFDATA_FRAME_INLINED) | flag(it.guess.is_some(), PERFDATA_FRAME_GUESSED)
            }),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { row(profile, out, error, "perfdata_profile_function_row", make) }
}

/// Writes a file by its index, which frames have.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_dso(
    profile: *const perfdata_profile,
    index: u32,
    out: *mut perfdata_profile_dso_row,
    error: *mut *mut perfdata_error,
) -> c_int {
    let make = |profile: &perfdata_profile| {
        let dsos = profile.profile.frames().dsos();
        let dso = dsos.get(index as usize);
        let dso = dso.ok_or_else(|| out_of_range("dso", index as usize, dsos.len()))?;
        Ok(perfdata_profile_dso_row { size: 0, path: perfdata_string::of(dso.path()) })
    };
    // SAFETY: as the caller promises.
    unsafe { row(profile, out, error, "perfdata_profile_dso_row", make) }
}
