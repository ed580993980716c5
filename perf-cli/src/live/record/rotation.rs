//! `--switch-output` and `--timestamp-filename`: files with the times of their ends in their names.

use core::time::Duration;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use crate::args::live::record::{RecordArgs, Switch};
use crate::escape::shown;
use crate::local_time;
use crate::outcome::Failure;

/// The files that a recording has finished.
#[derive(Debug)]
pub(super) struct Rotation<'a> {
    args: &'a RecordArgs,
    /// The finished files, oldest first, if only some of them are kept.
    files: VecDeque<PathBuf>,
    /// When the current file began.
    began: Instant,
}

impl<'a> Rotation<'a> {
    pub(super) fn new(args: &'a RecordArgs) -> Self {
        Self { args, files: VecDeque::new(), began: Instant::now() }
    }

    /// Returns whether another file begins now. `size` returns that of the current file.
    pub(super) fn is_due(&self, is_signalled: bool, size: impl FnOnce() -> Option<u64>) -> bool {
        match super::switch_of(self.args) {
            None => false,
            Some(Switch::Signal) => is_signalled,
            Some(Switch::Size(most)) => size().is_some_and(|size| size >= most),
            Some(Switch::Time(time)) => self.began.elapsed() >= time,
        }
    }

    /// Renames the current file, which is finished, if the command line asks for it, and removes files that are too
    /// many. Returns the name of the file.
    ///
    /// perf: `record__switch_output`.
    pub(super) fn finished(&mut self) -> Result<PathBuf, Failure> {
        let path = &self.args.output;
        let is_named = self.args.when.timestamp_filename || super::switch_of(self.args).is_some();
        if !is_named || !path.is_file() {
            return Ok(path.clone());
        }
        let named = || {
            let mut name = path.clone().into_os_string();
            name.push(format!(".{}", now()));
            PathBuf::from(name)
        };
        let mut name = named();
        // Two files that end in the same hundredth of a second must not replace each other.
        while name.symlink_metadata().is_ok() {
            thread::sleep(Duration::from_millis(10));
            name = named();
        }
        fs::rename(path, &name).map_err(|error| format!("{}: {error}", shown(&name)))?;
        self.began = Instant::now();
        if let Some(most) = self.args.when.switch_max_files {
            self.files.push_back(name.clone());
            while self.files.len() > usize::try_from(most).unwrap_or(usize::MAX)
                && let Some(oldest) = self.files.pop_front()
            {
                remove(&oldest)?;
            }
        }
        Ok(name)
    }
}

fn remove(path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).map_err(|error| Failure(format!("{}: {error}", shown(path))))
}

/// Returns the local time to a hundredth of a second, for example `2024022913070142`.
fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let hundredths = now.subsec_millis() / 10;
    match i64::try_from(now.as_secs()).ok().and_then(local_time::of) {
        Some(time) => {
            let (year, month, day) = (time.year(), time.month(), time.month_day());
            let (hour, minute, second) = (time.hour(), time.minute(), time.second());
            format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}{hundredths:02}")
        }
        None => format!("{}{hundredths:02}", now.as_secs()),
    }
}
