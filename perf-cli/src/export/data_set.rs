//! The files of a capture in a data set. They replace those of the same capture, all of them or none.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use perf_export::columns::{ColumnsBuilder, Table};
use perf_export::parquet::{DataSetWriter, Options};

use crate::escape::shown;
use crate::outcome::Failure;
use crate::output::{FileContent, InputFile, Outputs, UnfinishedFile};

/// The files of a capture. They get their names when all are complete.
#[derive(Debug)]
pub(super) struct CaptureFiles<'a> {
    data_set: &'a Path,
    writer: DataSetWriter<File>,
    outputs: Outputs,
    /// The files with their final paths, in the order in which they were opened.
    unfinished: Vec<(PathBuf, UnfinishedFile)>,
}

impl<'a> CaptureFiles<'a> {
    /// Creates nothing yet. `inputs` are the files of the capture, which may not be replaced.
    pub(super) fn new(data_set: &'a Path, inputs: &[InputFile], options: Options) -> Self {
        let (writer, outputs) = (DataSetWriter::new(options), Outputs::of(inputs.iter().cloned()));
        Self { data_set, writer, outputs, unfinished: Vec::new() }
    }

    /// Writes the batches that are ready.
    pub(super) fn write(&mut self, builder: &mut ColumnsBuilder<'_>) -> Result<(), Failure> {
        let Self { data_set, writer, outputs, unfinished } = self;
        writer.write_ready(builder, |path| create(outputs, data_set.join(path), unfinished))
    }

    /// Gives the files their names. If that fails for one, the data set is as before.
    pub(super) fn publish(self) -> Result<(), Failure> {
        let Self { data_set, writer, mut unfinished, .. } = self;
        drop(writer.finish()?);
        let stale = stale(data_set, &unfinished);
        // The table `captures` is the last one: a capture that has a row there has all others.
        if unfinished.len() > Table::ALL.len() {
            unfinished.rotate_left(Table::ALL.len());
        }
        let publish = || {
            replace(unfinished)?;
            // A table of a tracepoint that the capture was exported with before, and is not now.
            let remove = |path: &PathBuf| fs::remove_file(path).map_err(|error| failed(path, &error));
            stale.iter().try_for_each(remove)
        };
        #[cfg(target_os = "linux")]
        let published = crate::output::without_signals(publish);
        #[cfg(not(target_os = "linux"))]
        let published = publish();
        published
    }
}

/// Creates a file, and adds it to those that are not finished.
fn create(
    outputs: &mut Outputs,
    path: PathBuf,
    unfinished: &mut Vec<(PathBuf, UnfinishedFile)>,
) -> Result<File, Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    }
    let (file, file_unfinished) = outputs.claim("-o", &path)?.create(FileContent::Report)?;
    unfinished.push((path, file_unfinished));
    Ok(file)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure(format!("{}: {error}", shown(path)))
}

/// Returns the files of tracepoints that a capture has in a data set, and that are not written now.
fn stale(data_set: &Path, written: &[(PathBuf, UnfinishedFile)]) -> Vec<PathBuf> {
    // In the folder of each table, a capture has its file at the same place.
    let Some((first, _)) = written.first() else { return Vec::new() };
    let within = first.strip_prefix(data_set).map(|path| path.components().skip(1).collect::<PathBuf>());
    let within = within.unwrap_or_default();
    let tables = fs::read_dir(data_set).into_iter().flatten().filter_map(Result::ok);
    let names = tables.map(|entry| entry.file_name());
    let names = names.filter(|name| name.as_encoded_bytes().starts_with(b"trace_"));
    let paths = names.map(|name| data_set.join(name).join(&within));
    paths.filter(|path| path.is_file() && written.iter().all(|(it, _)| it != path)).collect()
}

/// Replaces the files of a capture by new ones.
fn replace(unfinished: Vec<(PathBuf, UnfinishedFile)>) -> Result<(), Failure> {
    let mut before: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
    let mut replaced = Ok(());
    for (path, file) in unfinished {
        let failure = |error: io::Error| Failure(format!("{}: {error}", shown(&path)));
        replaced = keep(&path).map_err(failure).and_then(|old| {
            before.push((path.clone(), old));
            file.publish().map(drop)
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
    fn started(folder: &Path, names: &[&str], content: &str) -> Vec<(PathBuf, UnfinishedFile)> {
        let mut outputs = Outputs::default();
        let start = |name: &&str| {
            let path = folder.join(name);
            let (mut file, unfinished) =
                outputs.claim("-o", &path).unwrap().create(FileContent::Report).unwrap();
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
