//! Options of a symbolizer.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::limits::SymbolLimits;
use crate::symbol_cache::SymbolCache;

/// What a [`Symbolizer`](crate::Symbolizer) is asked to do.
///
/// # Examples
///
/// ```
/// use perf_symbol::SymbolOptions;
///
/// let mut options = SymbolOptions::default();
/// options.symfs = Some("/srv/target-root".into());
/// options.inlines = false;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SymbolOptions {
    /// Folder that is the root of the recorded machine: files are looked for below it and in `debug_dirs`, and what the
    /// running machine has and knows is not used. `None` for this machine.
    pub symfs: Option<PathBuf>,
    /// Folders that are searched first, with files by build id in their folder `.build-id`: as perf's cache is
    /// (`~/.debug`, also what `perf archive` packs), or as debug packages are (`/usr/lib/debug`).
    pub debug_dirs: Vec<PathBuf>,
    /// perf's cache of this user, searched after `debug_dirs`; not used with `symfs`. By default `~/.debug`.
    pub cache: Option<PathBuf>,
    /// File with the kernel's symbols and DWARF.
    pub vmlinux: Option<PathBuf>,
    /// Copy of `/proc/kallsyms` of the recorded machine.
    pub kallsyms: Option<PathBuf>,
    /// Copy of `/proc/kcore` of the recorded machine, as `perf record --kcore` puts into a capture: the kernel's code.
    pub kcore: Option<PathBuf>,
    /// When the recording ended. A file without a recorded build id that was modified later is not the one that was mapped:
    /// see [`Doubt::Modified`](crate::Doubt). `None` if it is not known.
    pub recorded_until: Option<SystemTime>,
    /// Whether lines and inlined functions are looked up in DWARF.
    pub inlines: bool,
    /// Whether files and lines are looked up as well. Without them, less of DWARF has to be decompressed and parsed. Of
    /// generated code, they are known nevertheless.
    pub lines: bool,
    /// How names are demangled.
    pub demangle: Demangle,
    /// Whether functions of C++ that have no name for the linker, such as inlined lambdas, are named with the namespaces,
    /// classes and functions that they are in; perf names them without.
    pub qualified: bool,
    /// Whether names of the kernel are demangled too; perf does not.
    pub demangle_kernel: bool,
    /// Where functions are kept that were looked up, for the next program. `None`, the default: nowhere.
    pub symbol_cache: Option<SymbolCache>,
    /// Limits of what files may make grow.
    pub limits: SymbolLimits,
}

/// How names are demangled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Demangle {
    /// Not at all.
    Never,
    /// As perf 6.1 prints them: those of C++ without parameters and return type, those of Rust without their hash. Functions of
    /// C++ that differ in their parameters have one name.
    Short,
    /// Like `Short`, but a function of C++ has its [full](Self::Full) name if the symbols of its file have another function with
    /// the same short name. Copies of a Rust function for other types, which differ in their hash alone, have one name.
    #[default]
    Distinct,
    /// With parameters, the return type of templates, and the hash of Rust.
    Full,
}

impl Default for SymbolOptions {
    fn default() -> Self {
        Self {
            symfs: None,
            debug_dirs: Vec::new(),
            cache: std::env::home_dir().map(|home| home.join(".debug")),
            vmlinux: None,
            kallsyms: None,
            kcore: None,
            recorded_until: None,
            inlines: true,
            lines: true,
            demangle: Demangle::default(),
            qualified: true,
            demangle_kernel: false,
            symbol_cache: None,
            limits: SymbolLimits::default(),
        }
    }
}
