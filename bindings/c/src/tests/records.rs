//! The fields of records, and the errors of captures.

use std::ffi::CString;

use perf_parse::Reader;

use crate::error::{PERFDATA_ERROR_FORMAT, PERFDATA_ERROR_IO, perfdata_error};
use crate::open::{perfdata_capture_open, perfdata_capture_open_bytes};
use crate::record_fields::{Field, FieldValue, fields_of};
use crate::tests::{path, text};

fn value<'f>(fields: &'f [Field], name: &str) -> &'f FieldValue {
    &fields.iter().find(|field| field.name == name).unwrap_or_else(|| panic!("no {name} in {fields:?}")).value
}

#[test]
fn fields_have_the_values_of_the_record() {
    let reader = Reader::open(path("callchain.data")).unwrap();
    let (mut comms, mut samples) = (0, 0);
    for record in reader.records() {
        let record = record.unwrap();
        let fields = fields_of(&record.decode().unwrap()).unwrap();
        match record.decode().unwrap() {
            perf_parse::record::Record::Comm(comm) => {
                comms += 1;
                assert_eq!(value(&fields, "comm"), &FieldValue::Text(comm.comm.to_vec()));
                assert_eq!(value(&fields, "tid"), &FieldValue::Signed(comm.tid.into()));
            }
            perf_parse::record::Record::Sample(sample) => {
                samples += 1;
                assert_eq!(value(&fields, "ip"), &FieldValue::Unsigned(sample.ip().unwrap()));
                let chain: Vec<_> = sample.callchain().unwrap().unwrap().words().iter().collect();
                let in_fields = fields.iter().filter(
                    |field| matches!(field.value, FieldValue::Unsigned(word) if chain.contains(&word)),
                );
                assert!(in_fields.count() >= chain.len());
            }
            _ => {}
        }
    }
    assert!(comms > 0 && samples > 0);
}

#[test]
fn errors_have_codes_and_offsets() {
    let (mut capture, mut error) = (core::ptr::null_mut(), core::ptr::null_mut());
    let missing = CString::new("/nonexistent/perf.data").unwrap();
    // SAFETY: all arguments are valid.
    let code = unsafe { perfdata_capture_open(missing.as_ptr(), &raw mut capture, &raw mut error) };
    assert_eq!(code, PERFDATA_ERROR_IO);
    assert!(text(error).starts_with("/nonexistent/perf.data: "));
    let bytes = b"no capture at all, but long enough for a header";
    // SAFETY: all arguments are valid.
    let code = unsafe {
        perfdata_capture_open_bytes(bytes.as_ptr().cast(), bytes.len(), &raw mut capture, &raw mut error)
    };
    assert_eq!(code, PERFDATA_ERROR_FORMAT);
    // SAFETY: it is live.
    assert_eq!(unsafe { error.as_ref() }.and_then(perfdata_error::offset), Some(0));
    assert!(!text(error).is_empty());
    assert!(capture.is_null());
}
