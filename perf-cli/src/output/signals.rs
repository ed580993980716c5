//! What signals do to files that are not whole yet.

use alloc::sync::Arc;
use core::sync::atomic::AtomicBool;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The files that a signal which ends the program is to remove; `None` where it is not.
static UNFINISHED: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

/// A limit on the size of files (`ulimit -f`) becomes an error of a write: its signal would end the program at once.
pub(crate) fn survive_file_size_limit() {
    // A handler, as an ignored signal would be ignored by the commands that are run too.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// From here on Ctrl-C, and other signals that end the program, remove the files that are not whole yet.
pub(crate) fn remove_unfinished_on_signals() {
    let ignored = ignored();
    let wanted =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |signal| ignored & (1 << (signal - 1)) == 0);
    *unfinished_files() = Some(Vec::new());
    let (ready, is_ready) = mpsc::channel();
    // Without the thread, or without handlers, signals end the program as ever.
    let _ = thread::Builder::new().spawn(move || {
        let Ok(mut signals) = Signals::new(wanted) else { return };
        drop(ready);
        for signal in signals.forever() {
            // One that has its name by now is not there any more.
            unfinished_files().iter().flatten().for_each(|file| drop(fs::remove_file(file)));
            let _ = emulate_default_handler(signal);
        }
    });
    let _: Result<(), _> = is_ready.recv();
}

fn unfinished_files() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file is not whole yet.
pub(super) fn unfinished(file: &Path) {
    if let Some(files) = &mut *unfinished_files() {
        files.push(file.to_owned());
    }
}

/// The signals that are ignored, as `nohup` asks for, a bit each.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
