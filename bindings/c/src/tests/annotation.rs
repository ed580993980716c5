//! Annotated functions: what C gets is what the library has.

use core::mem::{MaybeUninit, size_of};
use core::ptr;

use perf_annotate::{AnnotateOptions, Annotator};
use perf_parse::Reader;
use perf_profile::annotation::{AnnotatedTarget, Annotation};
use perf_profile::{SampleTotal, Samples, Symbols};

use crate::annotation::{perfdata_annotation, perfdata_annotation_free, perfdata_annotation_info};
use crate::annotation_instruction::{
    PERFDATA_INSTRUCTION_CALL, PERFDATA_INSTRUCTION_DATA, PERFDATA_INSTRUCTION_IS_STMT,
    PERFDATA_INSTRUCTION_TARGET, perfdata_annotation_instruction,
};
use crate::annotation_rows::{perfdata_annotation_event, perfdata_annotation_function};
use crate::annotation_totals::{
    perfdata_annotation_function_total, perfdata_annotation_instruction_total, perfdata_total,
};
use crate::annotator::{
    perfdata_annotator, perfdata_annotator_annotate, perfdata_annotator_free, perfdata_annotator_new,
};
use crate::annotator_tables::{
    perfdata_annotator_event_totals, perfdata_annotator_find, perfdata_annotator_function,
    perfdata_annotator_function_count, perfdata_annotator_function_total,
};
use crate::capture::perfdata_capture_free;
use crate::error::{PERFDATA_ERROR_ARGUMENT, PERFDATA_ERROR_NO_CODE, PERFDATA_OK, perfdata_error};
use crate::profile_tables::PERFDATA_NONE;
use crate::string::perfdata_string;
use crate::tests::{open, text};
use crate::versioned::Versioned;

/// Returns a folder with a program of three functions, and a capture of it.
fn made() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    testdata::annotated::write(folder.path());
    folder
}

/// Returns a row that a call writes.
fn written<T: Versioned>(write: impl FnOnce(*mut T, *mut *mut perfdata_error) -> i32) -> T {
    // SAFETY: all bytes 0 are a valid value of each structure of the API.
    let mut row = unsafe { MaybeUninit::<T>::zeroed().assume_init() }.with_size(size_of::<T>());
    let mut error = ptr::null_mut();
    let code = write(&raw mut row, &raw mut error);
    assert_eq!((code, text(error).as_str()), (PERFDATA_OK, ""));
    row
}

fn bytes(text: perfdata_string) -> Vec<u8> {
    assert!(!text.data.is_null());
    // SAFETY: its handle is live.
    unsafe { core::slice::from_raw_parts(text.data.cast(), text.size) }.to_vec()
}

fn pair(total: perfdata_total) -> SampleTotal {
    SampleTotal { samples: total.samples, period: total.period }
}

fn annotator(path: &str) -> *mut perfdata_annotator {
    let capture = open(path);
    let (mut annotator, mut error) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: all arguments are valid.
    let code = unsafe { perfdata_annotator_new(capture, ptr::null(), &raw mut annotator, &raw mut error) };
    assert_eq!((code, text(error).as_str()), (PERFDATA_OK, ""));
    // SAFETY: it is freed once.
    unsafe { perfdata_capture_free(capture) };
    annotator
}

/// Compares a handle with what the library has.
fn compare(handle: *const perfdata_annotation, it: &Annotation) {
    // SAFETY: the handle is live.
    let head = written(|out, error| unsafe { perfdata_annotation_info(handle, out, error) });
    assert_eq!((bytes(head.symbol), bytes(head.dso)), (it.symbol.to_vec(), it.dso.to_vec()));
    assert_eq!((head.start, head.end, bytes(head.code)), (it.start, it.end, b"file".to_vec()));
    let counts = (it.events.len(), it.functions.len(), it.lines.len(), it.instructions.len());
    assert_eq!((1, 1, 0), (head.events, head.functions, head.lines + head.sources + head.branches));
    assert_eq!(counts, (1, 1, 0, head.instructions as usize));
    // SAFETY: as above.
    let event = written(|out, error| unsafe { perfdata_annotation_event(handle, 0, out, error) });
    assert_eq!(bytes(event.name), it.events[0].name.as_bytes());
    assert_eq!((event.samples, event.period), (it.events[0].total.samples, it.events[0].total.period));
    assert_eq!(event.all_samples, it.events[0].of_capture.samples);
    // SAFETY: as above.
    let function = written(|out, error| unsafe { perfdata_annotation_function(handle, 0, out, error) });
    assert_eq!((bytes(function.name), function.caller), (it.functions[0].name.to_vec(), PERFDATA_NONE));
    // SAFETY: as above.
    let total = written(|out, error| unsafe { perfdata_annotation_function_total(handle, 0, 0, out, error) });
    assert_eq!(pair(total), it.functions[0].totals[0]);
    for (index, it) in (0..).zip(&it.instructions) {
        // SAFETY: as above.
        let row = written(|out, error| unsafe { perfdata_annotation_instruction(handle, index, out, error) });
        assert_eq!((row.address, bytes(row.bytes)), (it.address, it.bytes.to_vec()));
        assert_eq!((bytes(row.text), row.function), (it.text.as_bytes().to_vec(), it.function));
        let place = (it.line.unwrap_or(PERFDATA_NONE), it.column.unwrap_or(0), it.discriminator);
        assert_eq!((row.line, row.column, row.discriminator), place);
        let has = |bit| row.flags & bit != 0;
        assert_eq!(has(PERFDATA_INSTRUCTION_IS_STMT), it.is_stmt);
        let target = (row.target_address, row.target_name, row.target_offset);
        let is_call = has(PERFDATA_INSTRUCTION_CALL);
        assert_target(target, has(PERFDATA_INSTRUCTION_TARGET), is_call, it.target.as_ref());
        let data = (row.data_address, row.data_name, row.data_offset);
        assert_target(data, has(PERFDATA_INSTRUCTION_DATA), false, it.data.as_ref());
        // SAFETY: as above.
        let total = written(|out, error| unsafe {
            perfdata_annotation_instruction_total(handle, index, 0, out, error)
        });
        assert_eq!(pair(total), it.totals[0]);
    }
}

fn assert_target(row: (u64, perfdata_string, u64), has: bool, is_call: bool, it: Option<&AnnotatedTarget>) {
    assert_eq!(has, it.is_some());
    let Some(it) = it else { return assert!(row.1.data.is_null()) };
    let expected = (it.address, it.name.to_vec(), it.offset, it.is_call);
    assert_eq!((row.0, bytes(row.1), row.2, is_call), expected);
}

#[test]
fn functions_are_those_of_the_library() {
    let folder = made();
    let path = folder.path().join("perf.data");
    let reader = Reader::open(&path).unwrap();
    let symbols = Symbols::of(&reader);
    let mut expected =
        Annotator::of(Samples::of(&reader), &symbols, AnnotateOptions::default(), &mut ()).unwrap();
    let annotator = annotator(path.to_str().unwrap());
    // SAFETY: the handle is live.
    let count = unsafe { perfdata_annotator_function_count(annotator) };
    assert_eq!((count, expected.functions().len()), (2, 2));
    // SAFETY: as above.
    let all = written(|out, error| unsafe { perfdata_annotator_event_totals(annotator, 0, out, error) });
    assert_eq!((all.samples, all.period, all.unnamed_samples, all.beyond_samples), (5, 5000, 0, 0));
    for index in 0..count {
        let function = expected.functions()[index].clone();
        // SAFETY: as above.
        let row = written(|out, error| unsafe { perfdata_annotator_function(annotator, index, out, error) });
        assert_eq!((bytes(row.name), bytes(row.dso)), (function.name.to_vec(), function.dso.to_vec()));
        assert_eq!((row.start, row.length), (function.start, function.size.unwrap()));
        // SAFETY: as above.
        let total = written(|out, error| unsafe {
            perfdata_annotator_function_total(annotator, index, 0, out, error)
        });
        assert_eq!(pair(total), function.totals[0]);
        let (mut annotation, mut error) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: as above.
        let code =
            unsafe { perfdata_annotator_annotate(annotator, index, &raw mut annotation, &raw mut error) };
        assert_eq!((code, text(error).as_str()), (PERFDATA_OK, ""));
        compare(annotation, &expected.annotate(index).unwrap());
        // SAFETY: it is freed once.
        unsafe { perfdata_annotation_free(annotation) };
    }
    // SAFETY: it is freed once.
    unsafe { perfdata_annotator_free(annotator) };
}

#[test]
fn functions_are_found_by_their_names() {
    let folder = made();
    let annotator = annotator(folder.path().join("perf.data").to_str().unwrap());
    let mut index = 7;
    for (name, first, expected) in [(c"second", 0, (1, 1)), (c"second", 2, (0, 7)), (c"third", 0, (0, 7))] {
        index = 7;
        let name = name.as_ptr();
        // SAFETY: all arguments are valid.
        let code =
            unsafe { perfdata_annotator_find(annotator, name, first, &raw mut index, ptr::null_mut()) };
        assert_eq!((code, index), expected);
    }
    // SAFETY: NULL is permitted.
    let code = unsafe { perfdata_annotator_find(annotator, ptr::null(), 0, &raw mut index, ptr::null_mut()) };
    assert_eq!(code, PERFDATA_ERROR_ARGUMENT);
    // SAFETY: it is freed once.
    unsafe { perfdata_annotator_free(annotator) };
}

#[test]
fn functions_without_code_are_errors() {
    let folder = made();
    let annotator = annotator(folder.path().join("perf.data").to_str().unwrap());
    let (mut annotation, mut error) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: all arguments are valid.
    let code = unsafe { perfdata_annotator_annotate(annotator, 2, &raw mut annotation, &raw mut error) };
    assert_eq!((code, annotation), (PERFDATA_ERROR_ARGUMENT, ptr::null_mut()));
    assert_eq!(text(error), "there is no function 2; there are 2, from 0 on");
    // SAFETY: it is freed once.
    unsafe { perfdata_annotator_free(annotator) };
    let error = perfdata_error::from(perf_annotate::NoAnnotation::NoSize);
    assert_eq!(error.code(), PERFDATA_ERROR_NO_CODE);
}

/// The rules of threads: an annotator may move to another one, and threads share an annotation.
#[test]
fn handles_may_be_used_by_other_threads() {
    fn moves<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    moves::<perfdata_annotator>();
    is_shared::<perfdata_annotation>();
}
