//! The profile of a capture: its samples, with stacks and names that are each kept once.

use core::ffi::{c_int, c_void};

use perf_profile::{Observer, Profile, ProfileOptions, SampleDetail, Samples, Symbols, TimeDetail};

use crate::account::perfdata_account;
use crate::boundary::{call, free, give, shared};
use crate::capture::perfdata_capture;
use crate::error::{PERFDATA_OK, perfdata_error};
use crate::event::NamedEvent;
use crate::names::{PERFDATA_NAMES_NO_INLINES, check_flags, perfdata_name_options};
use crate::selection::{self, perfdata_selection};
use crate::symbols;
use crate::versioned::{self, versioned};

/// Keep the CPU of samples.
pub const PERFDATA_PROFILE_CPUS: u32 = 1;
/// Keep the time of each sample, and with it each sample alone. Firefox, speedscope and OTLP need it.
pub const PERFDATA_PROFILE_TIMES: u32 = 1 << 1;
/// Keep of times only in which of at most 1,024 spans they are. Flame graphs with a time line need it, or all times.
pub const PERFDATA_PROFILE_SPANS: u32 = 1 << 2;
/// Keep the texts of tracepoints and the switches of threads, which Firefox shows.
pub const PERFDATA_PROFILE_MARKS: u32 = 1 << 3;
/// Count the times that threads were off the CPU as further events.
pub const PERFDATA_PROFILE_OFF_CPU: u32 = 1 << 4;

const ALL: u32 = PERFDATA_PROFILE_CPUS
    | PERFDATA_PROFILE_TIMES
    | PERFDATA_PROFILE_SPANS
    | PERFDATA_PROFILE_MARKS
    | PERFDATA_PROFILE_OFF_CPU;

/// Options of a profile. A field that is 0 or NULL is the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_profile_options {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The samples that are wanted.
    pub selection: *const perfdata_selection,
    /// Where names come from.
    pub names: *const perfdata_name_options,
    /// PERFDATA_PROFILE_* bits. Without them, samples that differ in time and CPU only are counted together.
    pub flags: u32,
    /// The largest number of addresses of a stack; 127 by default.
    pub max_stack: u32,
    /// Number of threads that work on it; 0 is one for each processor.
    pub threads: u32,
    /// None yet; 0.
    pub reserved: u32,
    /// Called about once a mebibyte with the number of bytes that were read; a result that is not 0 cancels. It is called on the
    /// thread of the call, and may not throw. May be NULL.
    pub progress: Option<unsafe extern "C" fn(user: *mut c_void, bytes: u64) -> c_int>,
    /// The first argument of `progress`.
    pub user: *mut c_void,
}

versioned!(perfdata_profile_options);

/// The profile of a capture. It does not change: any number of threads may use it at the same time. Strings that it returns live as
/// long as it does.
#[derive(Debug)]
pub struct perfdata_profile {
    pub(crate) profile: Profile,
    pub(crate) events: Vec<NamedEvent>,
}

/// Asks the program whether to go on.
pub(crate) struct Progress {
    progress: Option<unsafe extern "C" fn(user: *mut c_void, bytes: u64) -> c_int>,
    user: *mut c_void,
    is_cancelled: bool,
}

impl Progress {
    pub(crate) fn new(
        progress: Option<unsafe extern "C" fn(user: *mut c_void, bytes: u64) -> c_int>,
        user: *mut c_void,
    ) -> Self {
        Self { progress, user, is_cancelled: false }
    }
}

impl Observer for Progress {
    fn bytes(&mut self, reached: u64) {
        if let Some(progress) = self.progress {
            // SAFETY: the program gave `user` with its callback, and is in the call that this is part of.
            self.is_cancelled |= unsafe { progress(self.user, reached) } != 0;
        }
    }

    fn is_cancelled(&mut self) -> bool {
        self.is_cancelled
    }
}

/// Makes the profile of a capture. `options` may be NULL. What could not be decoded is in its account.
///
/// # Safety
///
/// `capture` is a live handle; `options` is NULL or has its size; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_new(
    capture: *const perfdata_capture,
    options: *const perfdata_profile_options,
    out: *mut *mut perfdata_profile,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let capture = unsafe { shared(capture) }?;
        // SAFETY: the caller passes NULL or a structure with its size.
        let given = unsafe { versioned::read(options, "perfdata_profile_options") }?;
        check_flags(given.flags, ALL, "perfdata_profile_options")?;
        // SAFETY: the caller passes NULL or a selection.
        let selection = unsafe { selection::read(given.selection) }?;
        // SAFETY: the caller passes NULL or options.
        let names = unsafe { versioned::read(given.names, "perfdata_name_options") }?;
        // SAFETY: the caller passes NULL or options.
        let symbols = unsafe { symbols::symbols(capture, given.names) }?;
        let has = |flag| given.flags & flag != 0;
        let mut options = ProfileOptions::default();
        options.detail = SampleDetail {
            times: match () {
                () if has(PERFDATA_PROFILE_TIMES) => TimeDetail::Each,
                () if has(PERFDATA_PROFILE_SPANS) => TimeDetail::Spans,
                () => TimeDetail::Nothing,
            },
            cpus: has(PERFDATA_PROFILE_CPUS),
            max_stack: if given.max_stack == 0 { Symbols::MAX_CHAIN } else { given.max_stack as usize },
        };
        options.inlines = names.flags & PERFDATA_NAMES_NO_INLINES == 0;
        options.off_cpu = has(PERFDATA_PROFILE_OFF_CPU);
        options.marks = has(PERFDATA_PROFILE_MARKS);
        let mut progress = Progress::new(given.progress, given.user);
        let samples = Samples::of(capture.reader()).select(selection).threads(given.threads as usize);
        let profile = samples.profile_with(&symbols, &options, &mut progress)?;
        let events = profile.events().iter().map(|it| NamedEvent::new(&it.event)).collect();
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_profile { profile, events }) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes what was read of the capture, and what could not be.
///
/// # Safety
///
/// `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_account(
    profile: *const perfdata_profile,
    out: *mut perfdata_account,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let profile = unsafe { shared(profile) }?;
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, profile.profile.account().into(), "perfdata_account") }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Frees a profile. NULL has no effect.
///
/// # Safety
///
/// `profile` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_free(profile: *mut perfdata_profile) {
    // SAFETY: the caller passes NULL or a live handle, once.
    unsafe { free(profile) };
}
