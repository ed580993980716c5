//! Symbols that are loaded before they are needed, while the capture is still read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use perf_abi::record::CpuMode;
use perf_session::{Dso, Session};

use crate::shared::{LazySymbols, SymbolStore, SymbolsKey, is_guest};
use crate::symbolizer::Symbolizer;

/// A thread that loads the symbols of files for a [`Symbolizer`] and its clones.
///
/// Functions are often looked up after the last record. The symbols of the files can be read before, by a thread that has
/// nothing else to do. The results are the same: what was loaded ahead is used only if build id and relocation are those of
/// the look-up.
///
/// Dropping it ends the thread, after the file that it is loading.
#[derive(Debug)]
pub struct LoadAhead {
    shared: Arc<SymbolStore>,
    /// `None` if there is no thread.
    queue: Option<Sender<(SymbolsKey, LazySymbols)>>,
    thread: Option<JoinHandle<()>>,
    is_ended: Arc<AtomicBool>,
}

impl LoadAhead {
    /// Starts the thread. If the system has none, or if files [can be fetched](crate::Files::can_fetch), nothing is loaded
    /// ahead: the order in which files are needed is not that in which they should be fetched.
    #[must_use]
    pub fn new(symbolizer: &Symbolizer) -> Self {
        let shared = Arc::clone(symbolizer.shared());
        let (queue, wanted) = mpsc::channel::<(SymbolsKey, LazySymbols)>();
        let is_ended = Arc::new(AtomicBool::new(false));
        let (finder, ended) = (shared.finder.clone(), Arc::clone(&is_ended));
        let load = move || {
            for (identity, symbols) in wanted {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                symbols.get_or_init(|| identity.load(&finder));
            }
        };
        let builder = thread::Builder::new().name("load-ahead".into());
        let thread = if shared.finder.can_fetch() { None } else { builder.spawn(load).ok() };
        Self { shared, queue: thread.is_some().then_some(queue), thread, is_ended }
    }

    /// Has the symbols of a DSO loaded, after those that were given before. `mode` is that of an address in it: the files of
    /// a guest are not those of the host.
    pub fn add(&self, session: &Session, dso: &Arc<Dso>, mode: CpuMode) {
        let Some(queue) = &self.queue else { return };
        let identity = SymbolsKey::of(session, dso, is_guest(mode));
        if let Some(symbols) = self.shared.ahead(&identity) {
            // The thread takes all until `queue` is dropped.
            let _ = queue.send((identity, symbols));
        }
    }
}

impl Drop for LoadAhead {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::Relaxed);
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic of it was reported, and lost nothing.
            let _ = thread.join();
        }
        self.shared.forget_ahead();
    }
}
