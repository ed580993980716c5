//! Structures of programs that were built for another version.

use core::mem::{offset_of, size_of};
use core::ptr;

use crate::capture::{perfdata_capture_event, perfdata_capture_free, perfdata_capture_info, perfdata_info};
use crate::error::{PERFDATA_ERROR_ARGUMENT, PERFDATA_ERROR_UNSUPPORTED, PERFDATA_OK};
use crate::event::perfdata_event;
use crate::names::perfdata_name_options;
use crate::samples::{perfdata_sample_options, perfdata_samples_free, perfdata_samples_new};
use crate::tests::{open, text};
use crate::versioned::read;

/// Options of a newer version.
#[repr(C)]
struct Newer {
    options: perfdata_sample_options,
    further: [u64; 2],
}

fn options(size: usize) -> perfdata_sample_options {
    let (selection, names) = (ptr::null(), ptr::null());
    perfdata_sample_options { size, selection, names, max_stack: 7, flags: 0 }
}

#[test]
fn smaller_options_are_those_of_an_older_program() {
    let mut given = options(offset_of!(perfdata_sample_options, max_stack));
    // SAFETY: it has its size.
    let known = unsafe { read(&raw const given, "options") }.unwrap();
    assert_eq!((known.max_stack, known.size), (0, size_of::<perfdata_sample_options>()));
    given.size = size_of::<perfdata_sample_options>();
    // SAFETY: as above.
    assert_eq!(unsafe { read(&raw const given, "options") }.unwrap().max_stack, 7);
    // SAFETY: NULL is permitted.
    assert_eq!(unsafe { read(ptr::null::<perfdata_sample_options>(), "options") }.unwrap().max_stack, 0);
}

#[test]
fn larger_options_are_refused_if_the_rest_is_set() {
    let capture = open("plain.data");
    let mut newer = Newer { options: options(size_of::<Newer>()), further: [0, 0] };
    for (further, expected) in [(0, PERFDATA_OK), (1 << 40, PERFDATA_ERROR_UNSUPPORTED)] {
        newer.further[1] = further;
        let (mut samples, mut error) = (ptr::null_mut(), ptr::null_mut());
        let given = (&raw const newer).cast();
        // SAFETY: all arguments are valid.
        let code = unsafe { perfdata_samples_new(capture, given, &raw mut samples, &raw mut error) };
        assert_eq!(code, expected);
        assert_eq!(text(error).contains("install a newer libperfdata"), expected != PERFDATA_OK);
        // SAFETY: it is freed once.
        unsafe { perfdata_samples_free(samples) };
    }
    // SAFETY: it is freed once.
    unsafe { perfdata_capture_free(capture) };
}

#[test]
fn sizes_and_flags_that_are_impossible_are_refused() {
    let given = options(0);
    // SAFETY: only its size is read.
    let error = unsafe { read(&raw const given, "options") }.unwrap_err();
    assert_eq!(error.code(), PERFDATA_ERROR_ARGUMENT);
    let names = perfdata_name_options {
        size: size_of::<perfdata_name_options>(),
        flags: 1 << 31,
        symfs: ptr::null(),
        debug_dirs: ptr::null(),
        debug_dir_count: 0,
        vmlinux: ptr::null(),
        kallsyms: ptr::null(),
    };
    // SAFETY: it has its size.
    let error = unsafe { crate::names::read(&raw const names) }.unwrap_err();
    assert_eq!(error.code(), PERFDATA_ERROR_UNSUPPORTED);
}

/// A result is written as far as the program has room, and states its size.
#[test]
fn results_fit_into_smaller_and_larger_structures() {
    let capture = open("everything.data");
    let mut error = ptr::null_mut();
    // SAFETY: zero is a valid value of a structure of numbers and pointers.
    let mut info: perfdata_info = unsafe { core::mem::zeroed() };
    info.size = offset_of!(perfdata_info, arch);
    // SAFETY: all arguments are valid.
    let code = unsafe { perfdata_capture_info(capture, &raw mut info, &raw mut error) };
    assert_eq!((code, info.size), (PERFDATA_OK, offset_of!(perfdata_info, arch)));
    assert_eq!((info.mode.size, info.arch.data), (4, ptr::null()));
    let mut larger = [0_usize; 64];
    larger[0] = size_of_val(&larger);
    let out = larger.as_mut_ptr().cast::<perfdata_event>();
    // SAFETY: all arguments are valid.
    let code = unsafe { perfdata_capture_event(capture, 0, out, &raw mut error) };
    assert_eq!((code, larger[0]), (PERFDATA_OK, size_of::<perfdata_event>()));
    // SAFETY: as above.
    let code = unsafe { perfdata_capture_event(capture, 99, out, &raw mut error) };
    assert_eq!(code, PERFDATA_ERROR_ARGUMENT);
    assert!(text(error).starts_with("there is no event 99; there are "));
    // SAFETY: it is freed once.
    unsafe { perfdata_capture_free(capture) };
}
