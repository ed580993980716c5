//! A profile in the formats of other tools.

use core::ffi::{c_char, c_int, c_void};
use core::num::NonZero;
use std::io::{self, BufWriter, Write};
use std::thread::available_parallelism;

use perf_export::flamegraph::FlameDocument;
use perf_export::otlp::OtlpEncoding;
use perf_export::{firefox, flamegraph, fold, otlp, pprof, speedscope};
use perf_profile::Profile;

use crate::boundary::{call, shared};
use crate::error::{PERFDATA_ERROR_CANCELLED, PERFDATA_OK, perfdata_error};
use crate::names::check_flags;
use crate::profile::perfdata_profile;
use crate::source::perfdata_write_fn;
use crate::string;
use crate::versioned::{self, versioned};

/// Folded stacks.
pub const PERFDATA_FORMAT_FOLDED: u32 = 1;
/// A flame graph as a page that loads nothing.
pub const PERFDATA_FORMAT_FLAMEGRAPH: u32 = 2;
/// A flame graph as a static picture, SVG.
pub const PERFDATA_FORMAT_SVG: u32 = 3;
/// A profile for `go tool pprof`: protobuf, compressed by gzip.
pub const PERFDATA_FORMAT_PPROF: u32 = 4;
/// JSON for speedscope.app.
pub const PERFDATA_FORMAT_SPEEDSCOPE: u32 = 5;
/// JSON for profiler.firefox.com.
pub const PERFDATA_FORMAT_FIREFOX: u32 = 6;
/// A profile of OpenTelemetry, as protobuf.
pub const PERFDATA_FORMAT_OTLP: u32 = 7;
/// The same as JSON.
pub const PERFDATA_FORMAT_OTLP_JSON: u32 = 8;

/// Options of an export. A field that is 0 or NULL is the default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_export_options {
    /// Size of this structure in bytes.
    pub size: usize,
    /// The name of the capture, which flame graphs, Firefox and speedscope show.
    pub name: *const c_char,
    /// The name of the event that folded stacks, flame graphs and Firefox show first or alone; by default the first one.
    pub event: *const c_char,
    /// Number of threads that work on it; 0 is one for each processor.
    pub threads: u32,
    /// None yet; 0.
    pub flags: u32,
}

versioned!(perfdata_export_options);

/// What the formats need, of the options of the program.
struct Export<'a> {
    format: u32,
    name: &'a str,
    event: Option<&'a [u8]>,
    threads: NonZero<usize>,
}

impl<'a> Export<'a> {
    /// # Safety
    ///
    /// `options` is NULL, or has its size and strings that end with a NUL.
    unsafe fn read(format: u32, options: *const perfdata_export_options) -> Result<Self, perfdata_error> {
        // SAFETY: the caller passes NULL or a structure with its size.
        let options = unsafe { versioned::read(options, "perfdata_export_options") }?;
        check_flags(options.flags, 0, "perfdata_export_options")?;
        // SAFETY: the caller passes NULL or a string.
        let name = unsafe { string::text(options.name, "name") }?.unwrap_or("");
        // SAFETY: as above.
        let event = unsafe { string::bytes(options.event) };
        let of_machine = || available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let threads = NonZero::new(options.threads as usize).unwrap_or_else(of_machine);
        Ok(Self { format, name, event, threads })
    }

    fn write(&self, profile: &Profile, out: &mut dyn Write) -> Result<(), perfdata_error> {
        let &Self { format, name, event, threads } = self;
        let profiles = core::slice::from_ref(profile);
        match format {
            PERFDATA_FORMAT_FOLDED => {
                let mut options = fold::Options::default();
                (options.event, options.threads) = (event.map(Into::into), threads);
                fold::write(profiles, &options, out)?;
            }
            PERFDATA_FORMAT_FLAMEGRAPH | PERFDATA_FORMAT_SVG => {
                let mut options = flamegraph::Options::default();
                let is_page = format == PERFDATA_FORMAT_FLAMEGRAPH;
                options.document = if is_page { FlameDocument::Page } else { FlameDocument::Svg };
                options.captures = [name.into()].into();
                (options.event, options.threads) = (event.map(Into::into), threads);
                flamegraph::write(profiles, &options, out)?;
            }
            PERFDATA_FORMAT_PPROF => {
                let mut options = pprof::Options::default();
                options.threads = threads;
                pprof::write(profiles, &options, out)?;
            }
            PERFDATA_FORMAT_SPEEDSCOPE => {
                let mut options = speedscope::Options::default();
                (options.name, options.threads) = (name.to_owned(), threads);
                speedscope::write(profiles, &options, out)?;
            }
            PERFDATA_FORMAT_FIREFOX => {
                let mut options = firefox::Options::default();
                (options.product, options.threads) = (name.to_owned(), threads);
                options.event = event.map(Into::into);
                firefox::write(profiles, &options, out)?;
            }
            PERFDATA_FORMAT_OTLP | PERFDATA_FORMAT_OTLP_JSON => {
                let mut options = otlp::Options::default();
                let is_json = format == PERFDATA_FORMAT_OTLP_JSON;
                options.encoding = if is_json { OtlpEncoding::Json } else { OtlpEncoding::Protobuf };
                options.threads = threads;
                otlp::write(profiles, &options, out)?;
            }
            _ => {
                let text =
                    format!("format {format} is unknown to this library; use one of PERFDATA_FORMAT_*");
                return Err(perfdata_error::argument(text));
            }
        }
        Ok(())
    }
}

/// Output into a callback of the program.
struct CallbackWriter {
    write: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int,
    user: *mut c_void,
    is_cancelled: bool,
}

impl Write for CallbackWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the program gave `user` with its callback, and the bytes live during the call.
        let code = unsafe { (self.write)(self.user, bytes.as_ptr().cast(), bytes.len()) };
        if code != 0 {
            self.is_cancelled = true;
            return Err(io::Error::other(format!("the callback returned {code}")));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Number of bytes that a callback or a descriptor gets at a time.
const BUFFER: usize = 64 << 10;

/// Has a callback get what is written, part by part.
///
/// # Safety
///
/// `write` may be called with `user`.
pub(crate) unsafe fn into_callback(
    write: perfdata_write_fn,
    user: *mut c_void,
    print: impl FnOnce(&mut dyn Write) -> Result<(), perfdata_error>,
) -> Result<(), perfdata_error> {
    let write = write.ok_or_else(|| perfdata_error::argument("the callback write is NULL"))?;
    let mut out = CallbackWriter { write, user, is_cancelled: false };
    let mut buffered = BufWriter::with_capacity(BUFFER, &mut out);
    let mut written = print(&mut buffered);
    if written.is_ok() {
        written = buffered.flush().map_err(perfdata_error::from);
    }
    // What is left after a failure is not wanted.
    let _ = buffered.into_parts();
    match written {
        Err(error) if out.is_cancelled => {
            Err(perfdata_error::new(PERFDATA_ERROR_CANCELLED, String::from_utf8_lossy(error.text())))
        }
        written => written,
    }
}

/// Writes a profile in a format, PERFDATA_FORMAT_*, into a callback, which gets it part by part on the thread of the call. `options`
/// may be NULL. A result of the callback that is not 0 ends the export with PERFDATA_ERROR_CANCELLED.
///
/// # Safety
///
/// `profile` is a live handle; `options` is NULL or has its size; `write` may be called with `user`; `error` is NULL or can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_write(
    profile: *const perfdata_profile,
    format: u32,
    options: *const perfdata_export_options,
    write: perfdata_write_fn,
    user: *mut c_void,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let profile = unsafe { shared(profile) }?;
        // SAFETY: the caller passes NULL or a structure with its size.
        let export = unsafe { Export::read(format, options) }?;
        // SAFETY: the caller gave the callback and its argument.
        unsafe { into_callback(write, user, |out| export.write(&profile.profile, out)) }?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes a profile in a format, PERFDATA_FORMAT_*, into a file descriptor, which stays the caller's. `options` may be NULL.
///
/// # Safety
///
/// `profile` is a live handle; `options` is NULL or has its size; `fd` is an open descriptor; `error` is NULL or can be written.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_profile_write_fd(
    profile: *const perfdata_profile,
    format: u32,
    options: *const perfdata_export_options,
    fd: c_int,
    error: *mut *mut perfdata_error,
) -> c_int {
    use std::fs::File;
    use std::os::fd::BorrowedFd;

    let act = || {
        // SAFETY: the caller passes a live handle.
        let profile = unsafe { shared(profile) }?;
        // SAFETY: the caller passes NULL or a structure with its size.
        let export = unsafe { Export::read(format, options) }?;
        if fd < 0 {
            return Err(perfdata_error::argument(format!("the file descriptor is {fd}")));
        }
        // SAFETY: it is not negative, and the caller keeps it open during the call.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        let file = File::from(fd.try_clone_to_owned()?);
        let mut out = BufWriter::with_capacity(BUFFER, file);
        export.write(&profile.profile, &mut out)?;
        out.flush()?;
        Ok(PERFDATA_OK)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}
