//! The options of the verbs that print names of functions.

use std::path::PathBuf;

/// Where names come from.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Symbols")]
#[allow(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct SymbolArgs {
    /// Look for files below this folder, which is the root of the machine that recorded; use nothing of this machine
    #[arg(long, value_name = "DIR")]
    pub(crate) symfs: Option<PathBuf>,

    /// Look for files by build id in this folder first: a copy of ~/.debug or /usr/lib/debug. May be repeated
    #[arg(long = "debug-dir", value_name = "DIR")]
    pub(crate) debug_dirs: Vec<PathBuf>,

    /// File with the symbols and the debug information of the kernel
    #[arg(short = 'k', long, value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,

    /// Copy of /proc/kallsyms of the machine that recorded
    #[arg(long, value_name = "FILE")]
    pub(crate) kallsyms: Option<PathBuf>,

    /// Do not look up names; every symbol is [unknown]
    #[arg(long)]
    pub(crate) no_symbols: bool,

    /// Do not look up inlined functions and source lines
    #[arg(long)]
    pub(crate) no_inline: bool,

    /// Print names of C++ and Rust as they are in the file
    #[arg(long)]
    pub(crate) no_demangle: bool,
}
