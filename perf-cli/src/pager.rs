//! The pager of long texts on a terminal, as git and perf have it.
//!
//! It is started by the first text, and standard output stays the terminal: colours and widths are the same with it and without.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// What is written to.
static PAGER: Mutex<PagerState> = Mutex::new(PagerState::Off);

/// Whether text goes to a pager.
#[derive(Debug)]
enum PagerState {
    Off,
    /// The command of one, which the first text starts.
    Planned(OsString),
    Runs {
        child: Child,
        interrupted: Arc<AtomicBool>,
    },
}

/// Has the text of standard output go to a pager, if it is a terminal and the user has one. The terminal must not be a dumb one.
pub(crate) fn plan() {
    if io::stdout().is_terminal() && io::stdin().is_terminal() {
        let variables = ["PERFDATA_PAGER", "PERF_PAGER", "PAGER"].map(env::var_os);
        *state() = chosen(variables).map_or(PagerState::Off, PagerState::Planned);
    }
}

/// Returns the command of the pager, by the variables that name one: the first one that is set counts. `None` for no pager: the
/// command is empty, or `cat`.
fn chosen(variables: [Option<OsString>; 3]) -> Option<OsString> {
    let command = variables.into_iter().flatten().next().unwrap_or_else(|| "less".into());
    Some(command).filter(|command| !command.is_empty() && command != "cat")
}

fn state() -> MutexGuard<'static, PagerState> {
    PAGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a pager; what keeps it from starting leaves the text on the terminal.
fn start(command: &OsString) -> PagerState {
    let mut shell = Command::new("sh");
    // Without a program of this name, the text goes to the terminal.
    let script = "command -v ${1%% *} >/dev/null 2>&1 || exec cat; eval \"exec $1\"";
    shell.args(["-c", script, "sh"]).arg(command).stdin(Stdio::piped());
    // As in git: short texts stay on the screen, and colours are shown.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if env::var_os(name).is_none() {
            shell.env(name, value);
        }
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    // The pager stays when Ctrl-C ends the output; a second one ends this program too.
    let signals = flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&interrupted))
        .and_then(|_| flag::register(SIGINT, Arc::clone(&interrupted)));
    match signals.and_then(|_| shell.spawn()) {
        Ok(child) => PagerState::Runs { child, interrupted },
        Err(_) => PagerState::Off,
    }
}

/// Writes to the pager; `None` if there is none.
pub(crate) fn write(bytes: &[u8]) -> Option<io::Result<usize>> {
    let mut state = state();
    if let PagerState::Planned(command) = &*state {
        *state = start(command);
    }
    let PagerState::Runs { child, interrupted } = &mut *state else { return None };
    if interrupted.load(Ordering::Relaxed) {
        return Some(Err(io::ErrorKind::BrokenPipe.into()));
    }
    child.stdin.as_mut().map(|to| to.write(bytes))
}

/// Ends the text, and waits until the user leaves the pager.
pub(crate) fn end() {
    if let PagerState::Runs { mut child, .. } = core::mem::replace(&mut *state(), PagerState::Off) {
        // Closes its input first.
        let _ = child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_counts() {
        let of = |variables: [Option<&str>; 3]| {
            chosen(variables.map(|it| it.map(OsString::from))).map(|it| it.to_str().unwrap().to_owned())
        };
        assert_eq!(of([None, None, None]).as_deref(), Some("less"));
        assert_eq!(of([None, None, Some("most -s")]).as_deref(), Some("most -s"));
        assert_eq!(of([None, Some("more"), Some("most")]).as_deref(), Some("more"));
        assert_eq!(of([Some(""), Some("more"), None]), None);
        assert_eq!(of([None, None, Some("cat")]), None);
    }
}
