//! The files of a capture in a data set. They replace those of the same capture, all of them or none.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use perf_export::columns::{ColumnsBuilder, Table};
use perf_export::parquet::{Writers, path_of};

use crate::Failure;
use crate::escape::shown;
use crate::output::{Holds, InputFile, Outputs, Unfinished};

/// The files of a capture. They get their names when all are complete.
#[derive(Debug)]
pub(super) struct CaptureFiles<'a> {
    data_set: &'a Path,
    inputs: &'a [InputFile],
    /// `None` before the first batch, as the name of a stream is not known before.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    writers: Writers<File>,
    /// The files with their final paths, in the order of [`Table::ALL`].
    unfinished: Vec<(PathBuf, Unfinished)>,
}

impl<'a> CaptureFiles<'a> {
    /// Creates nothing yet. `inputs` are the files of the capture, which may not be replaced.
    pub(super) fn new(data_set: &'a Path, inputs: &'a [InputFile]) -> Self {
        Self { data_set, inputs, open: None }
    }

    /// Writes the batches that are ready.
    pub(super) fn write(&mut self, builder: &mut ColumnsBuilder<'_>) -> Result<(), Failure> {
        while let Some((table, batch)) = builder.take()? {
            let open = match &mut self.open {
                Some(open) => open,
                None => self.open.insert(open(self.data_set, self.inputs, builder)?),
            };
            open.writers.write(table, &batch)?;
        }
        Ok(())
    }

    /// Gives the files their names. If that fails for one, the data set is as before.
    pub(super) fn publish(self) -> Result<(), Failure> {
        let Some(Open { writers, unfinished }) = self.open else { return Ok(()) };
        drop(writers.finish()?);
        #[cfg(target_os = "linux")]
        let published = crate::output::without_signals(|| replace(unfinished));
        #[cfg(not(target_os = "linux"))]
        let published = replace(unfinished);
        published
    }
}

/// Creates the files.
fn open(data_set: &Path, inputs: &[InputFile], builder: &ColumnsBuilder<'_>) -> Result<Open, Failure> {
    let capture = builder.capture();
    let host = builder.origin().hostname.as_deref().map(String::from_utf8_lossy);
    let date = builder.date();
    let mut outputs = Outputs::of(inputs.iter().cloned());
    let mut unfinished = Vec::new();
    let create = |table: Table| {
        let path = data_set.join(path_of(table, host.as_deref(), date, capture));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| Failure(format!("{}: {error}", shown(folder))))?;
        }
        let (file, file_unfinished) = outputs.claim("-o", &path)?.create(Holds::Report)?;
        unfinished.push((path, file_unfinished));
        Ok::<_, Failure>(file)
    };
    let writers = Writers::new(capture, builder.origin(), create)?;
    Ok(Open { writers, unfinished })
}

/// Replaces the files of a capture by new ones.
fn replace(unfinished: Vec<(PathBuf, Unfinished)>) -> Result<(), Failure> {
    let mut before: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
    let mut replaced = Ok(());
    for (path, file) in unfinished {
        let failure = |error: io::Error| Failure(format!("{}: {error}", shown(&path)));
        replaced = keep(&path).map_err(failure).and_then(|old| {
            before.push((path.clone(), old));
            file.publish()
        });
        if replaced.is_err() {
            break;
        }
    }
    for (path, old) in before {
        // A file that cannot be put back or removed is left: the failure is reported already.
        let _ = match (&replaced, old) {
            (Ok(()), Some(old)) => fs::remove_file(old),
            (Ok(()), None) => Ok(()),
            // Nothing is renamed if both are still one file.
            (Err(_), Some(old)) => fs::rename(&old, &path).and_then(|()| fs::remove_file(&old)),
            (Err(_), None) => fs::remove_file(&path),
        };
    }
    replaced
}

/// Keeps a file under a second, hidden name; returns it. `None` if there is no file yet.
fn keep(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".old");
    let old = path.with_file_name(name);
    // Of a run that was killed.
    match fs::remove_file(&old) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match fs::hard_link(path, &old) {
        Ok(()) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Starts to write files with a content each.
    fn started(folder: &Path, names: &[&str], content: &str) -> Vec<(PathBuf, Unfinished)> {
        let mut outputs = Outputs::default();
        let start = |name: &&str| {
            let path = folder.join(name);
            let (mut file, unfinished) = outputs.claim("-o", &path).unwrap().create(Holds::Report).unwrap();
            file.write_all(content.as_bytes()).unwrap();
            (path, unfinished)
        };
        names.iter().map(start).collect()
    }

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = files
            .filter(|path| path.is_file())
            .map(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                (name, fs::read_to_string(path).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    fn all(names: &[&str], content: &str) -> Vec<(String, String)> {
        names.iter().map(|&name| (name.to_owned(), content.to_owned())).collect()
    }

    #[test]
    fn files_are_replaced_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["a", "b", "c"];
        replace(started(folder.path(), &names, "1")).unwrap();
        assert_eq!(contents(folder.path()), all(&names, "1"));
        replace(started(folder.path(), &names, "2")).unwrap();
        assert_eq!(contents(folder.path()), all(&names, "2"));
        // The last one becomes a folder before it is replaced. `b` is new by then.
        let files = started(folder.path(), &["a", "new", "c"], "3");
        fs::remove_file(folder.path().join("c")).unwrap();
        fs::create_dir(folder.path().join("c")).unwrap();
        fs::write(folder.path().join("c/in the way"), "").unwrap();
        let Failure(why) = replace(files).unwrap_err();
        assert!(why.contains("/c: "), "{why}");
        assert_eq!(contents(folder.path()), all(&["a", "b"], "2"));
    }
}
