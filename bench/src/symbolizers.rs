//! Libraries and programs that find functions, inlined functions and lines of the addresses of a file.

mod addr2line;
mod blazesym;
mod llvm;
mod ours;

use std::path::Path;

use crate::failure::Failure;

/// Number of addresses that those get at once which take many.
const BATCH: usize = 1 << 16;

/// Called for each function: the number of its address, its name, and its line. The name is that of the linker, empty if there
/// is none. The innermost function comes first.
pub(crate) type OnFunction<'a> = dyn FnMut(usize, &[u8], u32) + 'a;

/// A file that was opened for look-ups.
pub(crate) trait OpenedFile {
    /// Finds the functions at addresses.
    fn find(&mut self, addresses: &[u64], each: &mut OnFunction<'_>) -> Result<(), Failure>;
}

/// Opens a file.
type OpenFunction = dyn Fn(&Path) -> Result<Box<dyn OpenedFile>, Failure>;

/// One way to find functions.
pub(crate) struct SymbolizerPeer {
    pub(crate) name: String,
    open: Box<OpenFunction>,
}

impl SymbolizerPeer {
    fn new<T: OpenedFile + 'static>(
        name: impl Into<String>,
        open: impl Fn(&Path) -> Result<T, Failure> + 'static,
    ) -> Self {
        Self { name: name.into(), open: Box::new(move |path| Ok(Box::new(open(path)?))) }
    }

    /// Opens a file. What it reads before the first look-up is up to it.
    pub(crate) fn open(&self, path: &Path) -> Result<Box<dyn OpenedFile>, Failure> {
        (self.open)(path).map_err(|failure| Failure::of(&self.name, failure))
    }
}

/// Number of ways of perf-symbol, which come first.
pub(crate) const OURS: usize = 3;

/// Returns all ways, perf-symbol first, and why others could not take part.
pub(crate) fn all() -> (Vec<SymbolizerPeer>, Vec<String>) {
    let mut peers = vec![
        SymbolizerPeer::new("perf-symbol", ours::FileSymbols::open),
        SymbolizerPeer::new("perf-symbol, one at a time", ours::SingleAddresses::open),
        SymbolizerPeer::new("perf-symbol, file not mapped", ours::FileSymbols::read),
        SymbolizerPeer::new("addr2line", addr2line::DwarfContext::open),
        SymbolizerPeer::new("blazesym", blazesym::ElfSource::open),
    ];
    match llvm::Program::find() {
        Some(llvm) => {
            let name = format!("llvm-symbolizer {}", llvm.version);
            peers.push(SymbolizerPeer::new(name, move |path| llvm.start(path)));
            (peers, Vec::new())
        }
        None => (peers, vec!["llvm-symbolizer: not installed".into()]),
    }
}

/// Returns the range of addresses of a file's `.text`.
pub(crate) fn text(path: &Path) -> Result<std::ops::Range<u64>, Failure> {
    addr2line::DwarfContext::open(path)?.text().ok_or_else(|| Failure::of(path.display(), "has no .text"))
}
