//! Signal handling for files that are not complete yet.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::{fs, io};

use crate::streams;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The files and folders to remove if a signal ends the program; `None` if signals are not handled.
static UNFINISHED: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

/// Whether another part of the program ends it after a signal, by [`end_by`].
static ENDS_LATER: AtomicBool = AtomicBool::new(false);

/// Makes a file size limit (`ulimit -f`) an error of the write. By default, its signal ends the program at once.
///
/// A program that calls [`run`](crate::run) with its own streams also decides about its signals.
pub(crate) fn survive_file_size_limit() {
    if !streams::are_of_process() {
        return;
    }
    // Uses a handler, because commands that the program runs would inherit an ignored signal.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Makes Ctrl-C, and other signals that end the program, remove the files that are not complete yet, and unpacked archives. A
/// thread handles them until the program ends. A second call does nothing.
///
/// A program that calls [`run`](crate::run) with its own streams also decides about its signals.
pub(crate) fn remove_unfinished_on_signals() {
    if !streams::are_of_process() {
        return;
    }
    let ignored = ignored();
    let wanted =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |signal| ignored & (1 << (signal - 1)) == 0);
    if unfinished_files().is_some() {
        return;
    }
    *unfinished_files() = Some(Vec::new());
    let (installing, is_installed) = mpsc::channel();
    // Without the thread or the handlers, signals end the program as usual.
    let _ = thread::Builder::new().name("signals".into()).spawn(move || {
        let Ok(mut signals) = Signals::new(wanted) else { return };
        drop(installing);
        for signal in signals.forever() {
            if !ENDS_LATER.load(Ordering::SeqCst) {
                let _ = end_by(signal);
            }
        }
    });
    let _: Result<(), _> = is_installed.recv();
}

/// Leaves it to the caller to end the program after a signal, by [`end_by`], as it must give back the terminal before; or not
/// any more.
pub(crate) fn end_later(is_later: bool) {
    ENDS_LATER.store(is_later, Ordering::SeqCst);
}

/// Removes the files that are not complete yet, and ends the program by a signal.
///
/// # Errors
///
/// If the signal is none that ends a program.
pub(crate) fn end_by(signal: i32) -> io::Result<()> {
    // Locked until the end, so that no further file is created. One that was published no longer exists under this name.
    let files = unfinished_files();
    files.iter().flatten().for_each(|path| {
        if fs::remove_file(path).is_err() {
            remove_folder(path);
        }
    });
    emulate_default_handler(signal)
}

/// Removes a folder into which another thread may still unpack an archive: that thread may add a file once the others are removed.
fn remove_folder(path: &Path) {
    const ATTEMPTS: usize = 1000;
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => break,
        }
    }
}

/// Waits for the end by a signal, if one ends the program: files that are removed then may make it fail meanwhile, and its status
/// would not tell of the signal.
pub(crate) fn leave_end_to_signal() {
    drop(unfinished_files());
}

fn unfinished_files() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a file or folder that is not complete yet, and registers its path before a signal can end the program.
pub(crate) fn create_unfinished<T>(
    create: impl FnOnce() -> io::Result<T>,
    path: impl FnOnce(&T) -> &Path,
) -> io::Result<T> {
    let mut files = unfinished_files();
    let created = create()?;
    if let Some(files) = &mut *files {
        files.push(path(&created).to_owned());
    }
    Ok(created)
}

/// Does something that a signal must not end in the middle. A signal ends the program afterwards.
#[cfg(feature = "parquet")]
pub(crate) fn without_signals<T>(work: impl FnOnce() -> T) -> T {
    let _files = unfinished_files();
    work()
}

/// Returns the signals that are ignored (`nohup` ignores one), one bit each.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
