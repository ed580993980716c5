//! Errors as exceptions.

use core::fmt::Display;

use js_sys::{Error, Reflect};
use perf_parse::FileError;
use perf_profile::ProfileError;
use perf_profile::report::ReportError;
use wasm_bindgen::JsValue;

use crate::object::number;

/// Returns an exception with a message.
pub(crate) fn of(message: impl Display) -> JsValue {
    Error::new(&message.to_string()).into()
}

/// Returns the exception for bytes that cannot be read, with their offset.
pub(crate) fn of_file(error: FileError) -> JsValue {
    let exception = of(error);
    // Setting a member of an error cannot fail.
    let _ = Reflect::set(&exception, &"offset".into(), &number(error.offset));
    exception
}

/// Returns the exception for samples that cannot be selected or counted.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn of_profile(error: ProfileError) -> JsValue {
    match error {
        ProfileError::Record(error) => of_file(error),
        error => of(error),
    }
}

/// Returns the exception for a report that a capture cannot have.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn of_report(error: ReportError) -> JsValue {
    of_profile(error.into())
}
