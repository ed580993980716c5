//! The files of a capture in a data set. They replace those of the same capture, all of them or none.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use perf_export::columns::{ColumnsBuilder, Table};
use perf_export::parquet::{Writers, path_of, path_of_trace};

use crate::Failure;
use crate::escape::shown;
use crate::output::{Holds, InputFile, Outputs, Unfinished};

/// The files of a capture. They get their names when all are complete.
#[derive(Debug)]
pub(super) struct CaptureFiles<'a> {
    data_set: &'a Path,
    inputs: &'a [InputFile],
    /// The partition, where it is not that of the capture.
    partition: Partition<'a>,
    /// `None` before the first batch, as the name of a stream is not known before.
    open: Option<Open>,
}

/// The values of the folders `host=` and `date=` that were asked for. `None` takes that of the capture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partition<'a> {
    pub(super) host: Option<&'a str>,
    pub(super) date: Option<&'a str>,
}

#[derive(Debug)]
struct Open {
    writers: Writers<File>,
    outputs: Outputs,
    /// The host and the day of the capture, and its name.
    place: Place,
    /// The files with their final paths: those of tracepoints, and those of [`Table::ALL`] in this order.
    traces: Vec<(PathBuf, Unfinished)>,
    unfinished: Vec<(PathBuf, Unfinished)>,
}

/// Where the files of a capture are in a data set.
#[derive(Debug)]
struct Place {
    host: Option<String>,
    date: Option<String>,
    capture: String,
}

impl Place {
    fn of_table(&self, table: Table) -> PathBuf {
        path_of(table, self.host.as_deref(), self.date.as_deref(), &self.capture)
    }

    fn of_trace(&self, name: &str) -> PathBuf {
        path_of_trace(name, self.host.as_deref(), self.date.as_deref(), &self.capture)
    }
}

impl<'a> CaptureFiles<'a> {
    /// Creates nothing yet. `inputs` are the files of the capture, which may not be replaced.
    pub(super) fn new(data_set: &'a Path, inputs: &'a [InputFile], partition: Partition<'a>) -> Self {
        Self { data_set, inputs, partition, open: None }
    }

    /// Writes the batches that are ready.
    pub(super) fn write(&mut self, builder: &mut ColumnsBuilder<'_>) -> Result<(), Failure> {
        while let Some((table, batch)) = builder.take()? {
            let open = match &mut self.open {
                Some(open) => open,
                None => self.open.insert(open(self.data_set, self.inputs, self.partition, builder)?),
            };
            open.writers.write(table, &batch)?;
        }
        // Those of tracepoints: the tables are open once a batch of them is there.
        while let Some(open) = &mut self.open
            && let Some((name, batch)) = builder.take_trace()
        {
            let Open { writers, outputs, place, traces, .. } = open;
            writers.write_trace(&name, &batch, || {
                create(outputs, self.data_set.join(place.of_trace(&name)), traces)
            })?;
        }
        Ok(())
    }

    /// Gives the files their names. If that fails for one, the data set is as before.
    pub(super) fn publish(self) -> Result<(), Failure> {
        let Some(Open { writers, place, mut traces, unfinished, .. }) = self.open else { return Ok(()) };
        drop(writers.finish()?);
        let stale = stale(self.data_set, &place, &traces);
        traces.extend(unfinished);
        let publish = || {
            replace(traces)?;
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

/// Creates the files.
fn open(
    data_set: &Path,
    inputs: &[InputFile],
    partition: Partition<'_>,
    builder: &ColumnsBuilder<'_>,
) -> Result<Open, Failure> {
    let recorded = builder.origin().hostname.as_deref().map(String::from_utf8_lossy);
    let place = Place {
        host: partition.host.or(recorded.as_deref()).map(str::to_owned),
        date: partition.date.or(builder.date()).map(str::to_owned),
        capture: builder.capture().to_owned(),
    };
    let mut outputs = Outputs::of(inputs.iter().cloned());
    let mut unfinished = Vec::new();
    let open = |table: Table| create(&mut outputs, data_set.join(place.of_table(table)), &mut unfinished);
    let writers = Writers::new(builder.capture(), builder.origin(), open)?;
    Ok(Open { writers, outputs, place, traces: Vec::new(), unfinished })
}

/// Creates a file, and adds it to those that are not finished.
fn create(
    outputs: &mut Outputs,
    path: PathBuf,
    unfinished: &mut Vec<(PathBuf, Unfinished)>,
) -> Result<File, Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    }
    let (file, file_unfinished) = outputs.claim("-o", &path)?.create(Holds::Report)?;
    unfinished.push((path, file_unfinished));
    Ok(file)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure(format!("{}: {error}", shown(path)))
}

/// Returns the files of tracepoints that a capture has in a data set, and that are not written now.
fn stale(data_set: &Path, place: &Place, written: &[(PathBuf, Unfinished)]) -> Vec<PathBuf> {
    let tables = fs::read_dir(data_set).into_iter().flatten().filter_map(Result::ok);
    let names = tables.filter_map(|entry| entry.file_name().into_string().ok());
    let paths =
        names.filter(|name| name.starts_with("trace_")).map(|name| data_set.join(place.of_trace(&name)));
    paths.filter(|path| path.is_file() && written.iter().all(|(it, _)| it != path)).collect()
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
