//! The program's output: lines on standard output and standard error, and files.

pub(crate) mod aside;
#[cfg(target_os = "linux")]
mod capture_folder;
mod diagnostics;
mod document;
mod file_id;
mod files;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
pub(crate) mod stale;
mod stderr;
mod stdout;

#[cfg(target_os = "linux")]
pub(crate) use capture_folder::CaptureFolder;
pub(crate) use diagnostics::Diagnostics;
pub(crate) use document::write_document;
pub(crate) use file_id::InputFile;
#[cfg(target_os = "linux")]
pub(crate) use files::UnfinishedFile;
pub(crate) use files::{FileContent, OutputClaim, Outputs};
#[cfg(all(target_os = "linux", feature = "parquet"))]
pub(crate) use signals::without_signals;
#[cfg(target_os = "linux")]
pub(crate) use signals::{
    create_unfinished, end_by, end_later, leave_end_to_signal, remove_unfinished_on_signals,
    survive_file_size_limit,
};
pub(crate) use stderr::{line, say};
pub(crate) use stdout::Output;

/// Number of bytes of a capture that are written at a time: with 8 KiB, the calls took longer than an edit.
pub(crate) const BUFFER: usize = 1 << 20;
