//! The options of the verbs that print names of functions.

use std::num::NonZero;
use std::path::PathBuf;
#[cfg(feature = "debuginfod")]
use std::time::Duration;

use perf_profile::{InterpreterFrames, NamingOptions};
use perf_symbol::Demangle;

/// Where names come from.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Symbols")]
#[allow(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct SymbolArgs {
    /// Look for files below this folder, which is the root of the machine that recorded; use nothing of this machine
    #[arg(long, value_name = "DIR")]
    pub(crate) symfs: Option<PathBuf>,

    /// Look for files by build id here first: in a folder such as ~/.debug or /usr/lib/debug, or in an archive of `perf archive`
    /// or `perfdata archive`. May be repeated. CAPTURE.tar.bz2, which `perf archive` makes on the machine that recorded, is
    /// found beside CAPTURE
    #[arg(long = "debug-dir", value_name = "DIR|ARCHIVE")]
    pub(crate) debug_dirs: Vec<PathBuf>,

    /// Fetch files that are not on this machine from debuginfod servers, by build id. Without URLS, the servers are those of
    /// the variable DEBUGINFOD_URLS. https:// needs perfdata built with the feature https. Without this option, nothing is
    /// fetched
    #[cfg(feature = "debuginfod")]
    #[arg(long, value_name = "URLS", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = servers)]
    pub(crate) debuginfod: Option<perf_symbol::DebuginfodOptions>,

    /// Fetch files for at most this time, those with the most samples first; a later run continues
    #[cfg(feature = "debuginfod")]
    #[arg(long, value_name = "SECONDS", requires = "debuginfod", default_value = "120",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) debuginfod_time: u64,

    /// Fetch at most this many bytes, those of the files with the most samples first: a number with a suffix B, K, M or G
    #[cfg(feature = "debuginfod")]
    #[arg(long, value_name = "SIZE", requires = "debuginfod", default_value = "1G", value_parser = super::size::size)]
    pub(crate) debuginfod_size: u64,

    /// File with the symbols and the debug information of the kernel
    #[arg(short = 'k', long, value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,

    /// Copy of /proc/kallsyms of the machine that recorded; by default, the one that `record --kcore` puts into the capture
    #[arg(long, value_name = "FILE")]
    pub(crate) kallsyms: Option<PathBuf>,

    /// Do not look up names; every symbol is [unknown]
    #[arg(long)]
    pub(crate) no_symbols: bool,

    /// Do not keep the names that were looked up, and do not use those that were kept. Without this option, names of files are kept
    /// in the folder perfdata in $XDG_CACHE_HOME or ~/.cache, so that the next run finds them without the symbols of the files
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// Do not look up inlined functions and source lines. Without this option, a sample in an inlined function is one of
    /// that function; with it, of the function that it is inlined into, as in perf report
    #[arg(long)]
    pub(crate) no_inline: bool,

    /// Frames of the interpreters of Python, Ruby, PHP, Lua, Perl and Node.js: show them, or fold them away, so that stacks have
    /// the functions of the program (of `python -X perf`, and of `node --interpreted-frames-native-stack` with --perf-prof) and
    /// what they call; without such frames, one frame of the interpreter
    #[arg(long, value_name = "HOW", value_enum, default_value_t, hide_possible_values = true)]
    pub(crate) interpreter_frames: InterpreterFramesArg,

    /// Print names of C++ and Rust as they are in the file
    #[arg(long, conflicts_with = "demangle")]
    pub(crate) no_demangle: bool,

    /// Print names of C++ with parameters and of Rust with their hash (full), or without (short). By default, functions of
    /// C++ have parameters where another function of the file has the same name; in the text of script they never have, as
    /// in perf 6.1
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true)]
    pub(crate) demangle: Option<Option<DemangleForm>>,
}

/// The form of demangled names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DemangleForm {
    Full,
    Short,
}

/// What is done with the frames of interpreters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InterpreterFramesArg {
    #[default]
    Show,
    Fold,
}

impl SymbolArgs {
    /// Returns what is done with the frames of interpreters.
    pub(crate) fn interpreter_frames(&self) -> InterpreterFrames {
        match self.interpreter_frames {
            InterpreterFramesArg::Show => InterpreterFrames::Show,
            InterpreterFramesArg::Fold => InterpreterFrames::Fold,
        }
    }

    /// Returns how names are demangled.
    pub(crate) fn demangle(&self) -> Demangle {
        match self.demangle.flatten() {
            _ if self.no_demangle => Demangle::Never,
            Some(DemangleForm::Full) => Demangle::Full,
            Some(DemangleForm::Short) => Demangle::Short,
            None => Demangle::Distinct,
        }
    }

    /// Returns which servers are asked for files, and within which limits; `None` if none is.
    #[cfg(feature = "debuginfod")]
    pub(crate) fn servers(&self) -> Option<perf_symbol::DebuginfodOptions> {
        let mut options = self.debuginfod.clone()?;
        options.total_time = Some(Duration::from_secs(self.debuginfod_time));
        options.total_size = Some(self.debuginfod_size);
        Some(options)
    }

    /// Returns how functions are found, by so many threads: by default, one for each processor.
    pub(crate) fn naming(&self, threads: Option<NonZero<usize>>) -> NamingOptions {
        let naming = NamingOptions { inlines: !self.no_inline, ..NamingOptions::default() };
        threads.map_or(naming, |threads| NamingOptions { threads, ..naming })
    }
}

/// Returns the servers of some URLS, or without them, those of the environment.
#[cfg(feature = "debuginfod")]
fn servers(urls: &str) -> Result<perf_symbol::DebuginfodOptions, String> {
    let mut options = perf_symbol::DebuginfodOptions::from_env();
    if !urls.trim().is_empty() {
        options = options.with_urls(urls);
    }
    if options.urls.is_empty() {
        return Err(
            "no server; set DEBUGINFOD_URLS, or give URLS, such as --debuginfod=http://localhost:8002".into(),
        );
    }
    if let Some(url) = options.urls.iter().find(|url| !perf_symbol::DebuginfodOptions::can_ask(url)) {
        let instead = if url.starts_with("https://") {
            "this perfdata was built without HTTPS; get it with cargo install perf-cli --features https"
        } else {
            "only http:// and https:// are supported"
        };
        return Err(format!("{url}: {instead}"));
    }
    if options.cache.is_none() {
        return Err("no folder for the files; set DEBUGINFOD_CACHE_PATH or HOME".into());
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "debuginfod")]
    fn only_servers_that_can_be_asked() {
        let error = |urls| servers(urls).err().unwrap_or_default();
        assert!(error("http://a ftp://b").contains("ftp://b: only http"));
        let needs_https = error("http://a https://b").contains("--features https");
        assert_eq!(needs_https, !cfg!(feature = "https"));
        assert!(error("nonsense").contains("no server"));
        assert!(!error("http://a").contains("http://a"));
    }
}
