//! The terminal: taken over, and given back as it was, whatever ends the program.

#[cfg(test)]
pub(crate) mod test_keys;
mod text;

#[cfg(target_os = "linux")]
use alloc::sync::Arc;
#[cfg(target_os = "linux")]
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io::{self, IsTerminal, Stdout, stdout};
use std::sync::Once;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
#[cfg(target_os = "linux")]
use std::time::Instant;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::streams;
pub(crate) use text::{begin_of, has_colors, heat, put, shortened};

/// Whether the terminal is taken over.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The longest time until a signal is seen.
const WAIT: Duration = Duration::from_millis(100);

/// The terminal while it is taken over.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    signals: TerminalSignals,
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, Hide)
}

/// Gives the terminal back, if it is taken over.
fn give_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        // Nothing can be done about a terminal that is gone.
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Makes a panic give the terminal back, before its message is printed.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
}

/// Returns whether the terminal can print lines alone, by its name in `TERM`: it neither moves the cursor nor has colours.
pub(crate) fn is_dumb() -> bool {
    // Windows has no such variable.
    match std::env::var_os("TERM") {
        Some(name) => name.is_empty() || name == "dumb",
        None => cfg!(unix),
    }
}

/// Returns whether the program has a terminal for a browser: its input and its output, and one that can move the cursor.
///
/// perf: `setup_browser`, `tools/perf/ui/setup.c`.
pub(crate) fn is_there() -> bool {
    !is_dumb() && streams::are_of_process() && io::stdin().is_terminal() && stdout().is_terminal()
}

/// Returns whether a key was pressed together with Control.
pub(crate) fn is_control(key: KeyEvent, letter: char) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char(letter)
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        self.signals.free();
    }
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    pub(crate) fn new() -> io::Result<Self> {
        give_back_on_panic();
        let signals = TerminalSignals::new()?;
        if let Err(error) = take() {
            give_back();
            return Err(error);
        }
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).inspect_err(|_| give_back())?;
        Ok(Self { terminal, signals })
    }

    /// Draws the whole screen.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(Rect, &mut Buffer)) -> io::Result<()> {
        self.terminal.draw(|frame| draw(frame.area(), frame.buffer_mut())).map(drop)
    }

    /// Waits for a key; `None` if the screen has to be drawn again first, as its size may have changed.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    pub(crate) fn key(&mut self) -> io::Result<Option<KeyEvent>> {
        while !self.wait_for_event()? {}
        read_key()
    }

    /// Like [`key`](Self::key), until a time, after which it is `None`.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    #[cfg(target_os = "linux")]
    pub(crate) fn key_until(&mut self, end: Instant) -> io::Result<Option<KeyEvent>> {
        while !self.wait_for_event()? {
            if Instant::now() >= end {
                return Ok(None);
            }
        }
        read_key()
    }

    /// Waits a short time, and returns whether there is a key or a change of the size.
    fn wait_for_event(&self) -> io::Result<bool> {
        let waited = wait();
        self.signals.end()?;
        waited?;
        event::poll(Duration::ZERO)
    }

    /// Stops the program until the shell continues it.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        self.pause(stop)?
    }

    /// Gives the terminal back while something is done that may write to it.
    ///
    /// # Errors
    ///
    /// Those of the terminal.
    pub(crate) fn pause<T>(&mut self, act: impl FnOnce() -> T) -> io::Result<T> {
        give_back();
        let done = act();
        self.signals.end()?;
        take()?;
        self.terminal.clear()?;
        Ok(done)
    }
}

/// Reads the event that is there; `None` if it is no key that was pressed.
fn read_key() -> io::Result<Option<KeyEvent>> {
    Ok(match event::read()? {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(key),
        _ => None,
    })
}

/// Waits for input, a change of the size, or a signal; the latter two are seen after [`WAIT`].
///
/// # Errors
///
/// If the terminal is gone. crossterm would read its end again and again.
#[cfg(target_os = "linux")]
fn wait() -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let input = io::stdin();
    let mut terminal = [PollFd::new(&input, PollFlags::IN)];
    let most = Timespec { tv_sec: 0, tv_nsec: i64::from(WAIT.subsec_nanos()) };
    match poll(&mut terminal, Some(&most)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    let is_gone = terminal.iter().any(|it| it.revents().intersects(gone));
    if is_gone { Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal is gone")) } else { Ok(()) }
}

#[cfg(not(target_os = "linux"))]
fn wait() -> io::Result<()> {
    event::poll(WAIT).map(drop)
}

#[cfg(target_os = "linux")]
fn stop() -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)
}

/// Other systems have no such signal, or their terminals do it without the program.
#[cfg(not(target_os = "linux"))]
fn stop() -> io::Result<()> {
    Ok(())
}

/// The signals that end the program: they do so after the terminal is given back.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug)]
struct TerminalSignals {
    /// The last one; 0 without one.
    seen: Arc<AtomicUsize>,
    /// Whether the terminal is not taken over, so that signals end the program at once.
    is_free: Arc<AtomicBool>,
}

#[cfg(target_os = "linux")]
impl TerminalSignals {
    fn new() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
        use signal_hook::flag;

        // Handlers stay until the program ends, so there is one set of them.
        static ALL: OnceLock<TerminalSignals> = OnceLock::new();
        crate::output::end_later(true);
        if let Some(all) = ALL.get() {
            all.is_free.store(false, Ordering::SeqCst);
            return Ok(all.clone());
        }
        let all = Self { seen: Arc::default(), is_free: Arc::default() };
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&all.is_free))?;
            flag::register_usize(signal, Arc::clone(&all.seen), signal as usize)?;
        }
        Ok(ALL.get_or_init(|| all).clone())
    }

    /// Ends the program as a signal asked for; without one, does nothing.
    fn end(&self) -> io::Result<()> {
        let signal = self.seen.load(Ordering::SeqCst);
        if signal == 0 {
            return Ok(());
        }
        give_back();
        crate::output::end_by(signal as i32)
    }

    /// From now on signals end the program at once.
    fn free(&self) {
        self.is_free.store(true, Ordering::SeqCst);
        crate::output::end_later(false);
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct TerminalSignals;

#[cfg(not(target_os = "linux"))]
impl TerminalSignals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Signals end the program at once.
    fn end(&self) -> io::Result<()> {
        Ok(())
    }

    fn free(&self) {}
}
