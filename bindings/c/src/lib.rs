//! `libperfdata`: captures of Linux perf for C and C++.
//!
//! The API is `include/perfdata.h`, made from this crate; `README.md` introduces it. Each file here has one handle. All of them
//! translate between C and the crates `perf-parse`, `perf-profile`, `perf-annotate` and `perf-export`, which do the work.
//!
//! A function that can fail returns a code and writes an error to its last argument. No function has global state, and no panic
//! leaves one: it becomes `PERFDATA_ERROR_INTERNAL`.

#![allow(
    non_camel_case_types,
    reason = "the types have the names of the C API, which a reader of either finds in the other"
)]

pub mod account;
pub mod annotate_options;
pub mod annotation;
pub mod annotation_instruction;
pub mod annotation_rows;
pub mod annotation_totals;
pub mod annotator;
pub mod annotator_tables;
mod boundary;
pub mod branches;
pub mod capture;
pub mod error;
pub mod event;
pub mod export;
pub mod final_state;
pub mod names;
pub mod open;
pub mod profile;
pub mod profile_tables;
pub mod record_fields;
pub mod records;
mod row;
mod sample_pass;
pub mod samples;
pub mod selection;
pub mod source;
pub mod string;
pub mod symbolizer;
mod symbols;
#[cfg(test)]
mod tests;
pub mod trace_samples;
mod versioned;

use string::perfdata_string;

/// Returns the version of the library, for example "0.1.0", which also ends with a NUL. It lives as long as the library.
#[unsafe(no_mangle)]
pub extern "C" fn perfdata_version() -> perfdata_string {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    perfdata_string::of(&VERSION.as_bytes()[..VERSION.len() - 1])
}
