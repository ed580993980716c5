//! Names, inlined functions, files and lines of the addresses in a Linux perf capture.
//!
//! `perf-session` finds the file and the offset of each frame of a sample. A [`Symbolizer`] finds the functions there: by
//! the symbols of ELF files, by kallsyms, by the maps and dumps of JIT compilers, by DWARF, and by the table that programs of Go
//! have for their runtime.
//!
//! # Examples
//!
//! ```
//! use perf_parse::event::Events;
//! use perf_parse::file::{DeferredSamples, FileError};
//! use perf_parse::{EventRecord, Reader};
//! use perf_session::{Periods, Session};
//! use perf_symbol::{SymbolOptions, Symbolizer};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let mut session = Session::new();
//! session.add_features(reader.features());
//! let mut symbolizer = Symbolizer::new(SymbolOptions::default());
//! let mut periods = Periods::default();
//! // `user` is the user part of the call chain, if it came in a later record.
//! let mut print = |record: &EventRecord<'_>, user: Option<&[u64]>, events: &Events| -> Result<(), FileError> {
//!     let Some(at) = session.update_at(record)? else { return Ok(()) };
//!     // A sample of a group (`:S`) counts for each event of the group.
//!     for (event, period) in periods.of(&at, events)? {
//!         println!("{period} of event {}", event.index);
//!         for (depth, frame) in at.stack(user)?.enumerate() {
//!             for function in symbolizer.functions_at(&at, &frame, depth > 0) {
//!                 let name = function.name.as_deref().unwrap_or(b"[unknown]");
//!                 println!("\t{:x} {}", frame.ip, name.escape_ascii());
//!             }
//!         }
//!     }
//!     Ok(())
//! };
//! let mut waiting = DeferredSamples::within(reader.limits());
//! let mut records = reader.records().in_time_order();
//! while let Some(record) = records.next() {
//!     let record = record?;
//!     if waiting.hold(&record) {
//!         continue;
//!     }
//!     if let Some(ended) = waiting.end(&record) {
//!         for sample in &ended.samples {
//!             print(&sample.record, ended.user_of(sample), records.events())?;
//!         }
//!     }
//!     print(&record, None, records.events())?;
//! }
//! for sample in waiting.take_all() {
//!     print(&sample.record, None, records.events())?;
//! }
//! for looked in symbolizer.lookups() {
//!     if let Some(why) = looked.why {
//!         println!("{}: {why}", looked.dso.name().escape_ascii());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Stacks that were copied into samples are unwound by [`unwind`].
//!
//! # Which file
//!
//! A file is used if its build id is the recorded one. Folders that have files by build id are searched first, then the
//! recorded path, then the process that has mapped it, if it still runs: see [`FileFinder::find_mapped`]. If no build id was
//! recorded, the file at the path is used. If it was replaced or modified since, its names are guesses, and
//! [`SymbolLookup::doubt`] reports that. Evidence of it is another inode on the recorded device, the same inode in another
//! generation, and a time of modification after the end of the recording. Go's own build id is in no capture, so it proves
//! nothing about the recorded file; it tells two files apart, such as a program and the debug file of another one:
//! [`ElfImage::go_build_id`].
//!
//! Android maps libraries from an apk, where they are stored without compression. One of the path `APK!/PATH`, as simpleperf
//! records it, is read from the apk, unless a file has that path; so is one that is mapped by the path of the apk and an offset
//! there, as perf records it.
//!
//! Captures of Android's simpleperf have symbols of their files themselves: [`NameSource::Recorded`]. They name what no file
//! names, and come before a file that may be another one. A file with the recorded build id comes before them, as it has all
//! symbols and lines. They are shown demangled with their parameters, as simpleperf shows them, unless
//! [`Demangle::Never`] is asked for.
//!
//! The bytes of files come from a trait, [`Files`]: those of this machine, of an archive, of another machine or of a web page.
//! [`Function::source`] is the table that has the name, [`Function::origin`] how its file was found, and [`Function::guess`] why
//! the name may be wrong.
//!
//! # Many addresses, threads, time
//!
//! [`Symbolizer::functions_of`] looks up many addresses of a file in one call. A clone of a symbolizer shares its files and their
//! tables, so each thread has one. All types can be sent to other threads; [`Symbolizer`], [`DwarfLines`] and
//! [`GoLines`] are used by one at a time, as each look-up parses more, and all others are shared by threads too
//! (`Send + Sync`). Where the system starts no thread, as on `wasm32-unknown-unknown`, nothing is loaded ahead, and all else is
//! as before.
//!
//! A [`Cancellation`] ends look-ups early. [`SymbolLimits`] bound the memory of each file, and of a symbolizer with its clones:
//! [`SymbolLimits::total`] of files and symbols, [`SymbolLimits::dwarf`] of DWARF, [`SymbolLimits::cached`] and
//! [`SymbolLimits::long_names`] of results.
//!
//! # Hostile files
//!
//! Files are input like a capture: no file causes a panic or an endless loop. [`SymbolLimits`] bounds what compressed sections,
//! DWARF, symbols and names may take.
//!
//! # Features
//!
//! `debuginfod`, off by default: files that are not on this machine, from debuginfod servers by HTTP. Nothing is fetched
//! unless a program uses `Debuginfod` as its files.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::cast_possible_truncation,
        reason = "a test that indexes wrongly should fail loudly"
    )
)]

mod answers;
mod archive;
mod arena;
mod bounds;
mod budget;
mod bytes;
mod cancellation;
mod code;
mod code_machine;
mod code_origin;
mod debug_alone;
mod debug_link;
#[cfg(feature = "debuginfod")]
mod debuginfod;
mod decompress;
mod decompressed;
mod demangle;
mod doubt;
mod dso_files;
mod dso_states;
mod dso_symbols;
mod elf_machine;
mod elf_symbol;
mod elf_symbols;

mod file_finder;
mod file_origin;
mod files;
mod front;
mod function;
mod function_lists;
mod go;
mod guess;
mod image;
mod interrupts;
pub mod jitdump;
mod kallsyms;
mod kernel;
mod kernel_frames;
mod lazy_symtab;
mod limits;
mod lines;
mod live;
mod load_ahead;

mod mounts;
mod name_forms;
mod names;
mod never_called;
mod no_symbols;
mod options;
mod overlay;
mod perf_map;
mod plt;
mod plt_got;
mod plt_names;
mod python;
mod recorded;
mod relocate;
mod relocations;
mod remapped;
mod reservation;
mod shared;
mod sole_names;
mod spelling;
mod stack_finder;
mod symbol_cache;
mod symbol_lookup;
mod symbolizer;
mod symtab;
mod trampolines;
mod units;
pub mod unwind;

pub use bytes::FileBytes;
pub use cancellation::{Cancellation, Cancelled};
pub use code::{FunctionCode, NoCode};
pub use code_machine::CodeMachine;
pub use code_origin::CodeOrigin;
#[cfg(feature = "debuginfod")]
#[cfg_attr(docsrs, doc(cfg(feature = "debuginfod")))]
pub use debuginfod::{Debuginfod, DebuginfodOptions, Download};
pub use demangle::{demangle, demangle_full};
pub use doubt::Doubt;
pub use dso_files::DsoFiles;
pub use elf_machine::elf_machine;
pub use file_finder::FileFinder;
pub use file_origin::FileOrigin;
pub use files::{BuildIdFile, Files, ReadFiles, path_of};
pub use function::Function;
pub use function_lists::FunctionLists;
pub use go::{GoFrame, GoLines};
pub use guess::Guess;
pub use image::{ElfImage, ElfSection, ProgramSegment};
pub use jitdump::{JitFunction, Jitdump};
pub use kallsyms::Kallsyms;
pub use limits::SymbolLimits;
pub use lines::{DwarfFrame, DwarfLines, LineRow};
pub use load_ahead::LoadAhead;
pub use no_symbols::NoSymbols;
pub use options::{Demangle, SymbolOptions};
pub use perf_map::PerfMap;
pub use stack_finder::{StackFinder, StackFrame};
pub use symbol_cache::SymbolCache;
pub use symbol_lookup::SymbolLookup;
pub use symbolizer::Symbolizer;
pub use symtab::{NameSource, Symbol, Symtab};
