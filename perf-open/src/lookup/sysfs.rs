//! Reading files of sysfs and tracefs.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use super::error::{LookupError, TextError};

/// The maximum number of bytes read from a file. A file of sysfs has at most a page, and the files of tracefs read here
/// are shorter than the limit.
const LIMIT: u64 = 1 << 18;

/// Returns what to do about an error of sysfs; empty if there is nothing to add.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::PermissionDenied => "needs more privilege",
        _ => "",
    }
}

pub(crate) fn unreadable(path: &Path, error: io::Error) -> LookupError {
    let advice = advice(&error);
    LookupError::Read { path: path.to_owned(), error, advice }
}

pub(crate) fn invalid(path: &Path, error: TextError) -> LookupError {
    LookupError::Text { path: path.to_owned(), error }
}

/// Reads the text of a file.
pub(crate) fn read(path: &Path) -> Result<String, LookupError> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| unreadable(path, error))?;
    file.take(LIMIT).read_to_end(&mut bytes).map_err(|error| unreadable(path, error))?;
    let text = String::from_utf8(bytes);
    text.map_err(|error| {
        invalid(path, TextError { offset: error.utf8_error().valid_up_to(), expected: "UTF-8" })
    })
}

/// Reads the text of a file; `None` if it does not exist.
pub(crate) fn read_optional(path: &Path) -> Result<Option<String>, LookupError> {
    match read(path) {
        Err(LookupError::Read { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Reads a file and parses its text.
pub(crate) fn parsed<T>(path: &Path, parse: impl Fn(&str) -> Result<T, TextError>) -> Result<T, LookupError> {
    parse(&read(path)?).map_err(|error| invalid(path, error))
}

/// Reads a file and parses its text; `None` if it does not exist.
pub(crate) fn parsed_optional<T>(
    path: &Path,
    parse: impl Fn(&str) -> Result<T, TextError>,
) -> Result<Option<T>, LookupError> {
    read_optional(path)?.map(|text| parse(&text)).transpose().map_err(|error| invalid(path, error))
}

/// Returns the names in a folder, sorted. Skips names that are not UTF-8, which no event string can contain.
pub(crate) fn names(path: &Path) -> Result<Vec<String>, LookupError> {
    let fault = |error| unreadable(path, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(fault)? {
        names.extend(entry.map_err(fault)?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns the names in a folder, sorted; empty if it does not exist.
pub(crate) fn names_optional(path: &Path) -> Result<Vec<String>, LookupError> {
    match names(path) {
        Err(LookupError::Read { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    }
}

/// Returns whether `name` can be the name of a file in a folder: not a path, not hidden, and not the folder above.
pub(crate) fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}
