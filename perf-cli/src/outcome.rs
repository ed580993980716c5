//! The result of a run: what the exit status says, and the message when nothing could be decoded.

use std::path::Path;

use perf_parse::file::{Account, FileError, FileErrorKind};

use crate::escape::shown;

/// The result of a run, from which the exit status follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was decoded.
    Clean,
    /// Records were delivered, but some bytes were truncated, skipped or not decodable.
    Partial,
    /// The command that was run ended with this status, which becomes the exit status.
    #[cfg(target_os = "linux")]
    Command(u8),
}

impl Outcome {
    /// Returns the outcome of this and of another run: that everything was decoded only if it was in both.
    pub(crate) fn and(self, other: Self) -> Self {
        if self == Self::Clean { other } else { self }
    }
}

/// Nothing could be decoded. The message says why and what to do.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl<T: core::fmt::Display> From<T> for Failure {
    fn from(error: T) -> Self {
        Self(error.to_string())
    }
}

/// Returns advice on a capture that was not fully decoded, to append to a line. Empty if there is nothing to do.
pub(crate) fn advice(account: &Account) -> &'static str {
    let has = |what: fn(&FileErrorKind) -> bool| account.diagnostics.iter().any(|it| what(&it.kind));
    if has(|kind| matches!(kind, FileErrorKind::Layout(_))) {
        return "; a newer version of perfdata may be able to decode it";
    }
    if has(|kind| matches!(kind, FileErrorKind::Invalid { field: "header.data.size", .. })) {
        return "; the recorder was killed before it completed the file; perfdata repair can write a valid copy";
    }
    if has(|kind| matches!(kind, FileErrorKind::Truncated { .. } | FileErrorKind::Boundary(_))) {
        return "; perfdata repair can write a valid copy of what is left";
    }
    ""
}

/// Returns the failure of a file that is not a capture, with advice.
pub(crate) fn not_readable(file: &Path, error: &FileError) -> Failure {
    let hint = match error.kind {
        FileErrorKind::NotPerfData => "; give a file that perf record wrote",
        FileErrorKind::Truncated { .. } => {
            "; the file is incomplete; copy it again from the machine that recorded it"
        }
        FileErrorKind::Invalid { .. } | FileErrorKind::Attr(_) => {
            "; the header or the attrs of the file are damaged; copy it again from the machine that recorded it"
        }
        _ => "",
    };
    Failure(format!("{}: {error}{hint}", shown(file)))
}
