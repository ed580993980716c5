//! The instructions and source lines of functions, with the samples of a Linux perf capture.
//!
//! An [`Annotator`] counts the samples of a capture by their addresses, finds the functions of these, and makes of each function that
//! is asked for an [`Annotation`](perf_profile::annotation::Annotation): plain rows, which a program prints, draws or writes. The
//! crate `perf-export` makes a page of them. No other program is started: instructions are [disassembled](disassembly) here, and
//! lines are read from DWARF by `perf-symbol`.
//!
//! | machine | code of |
//! |---|---|
//! | x86, 16, 32 and 64 bits | files, the kernel and its modules, the vDSO, BPF programs, JIT compilers, `TEXT_POKE` records |
//! | A64, A32, T32, little-endian | the same |
//! | others | none: [`NoAnnotation::Machine`] |
//!
//! Code is that of the file that names are from; [`CodeOrigin`](perf_symbol::CodeOrigin) lists the other places. Texts of source lines
//! are embedded in DWARF, or [found](source) on this machine. [`AnnotateLimits`] bounds what captures and files may make grow.
//!
//! # Examples
//!
//! The hottest function, as text:
//!
//! ```
//! use perf_annotate::{AnnotateOptions, Annotator};
//! use perf_parse::Reader;
//! use perf_profile::annotation::PercentType;
//! use perf_profile::{Samples, Symbols};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let symbols = Symbols::of(&reader);
//! let mut annotator = Annotator::of(Samples::of(&reader), &symbols, AnnotateOptions::default(), &mut ())?;
//! if let Some(hottest) = annotator.functions().first() {
//!     println!("{} in {}", hottest.name.escape_ascii(), hottest.dso.escape_ascii());
//!     match annotator.annotate(0) {
//!         Ok(function) => {
//!             for instruction in &function.instructions {
//!                 let of_event = function.events.first().zip(instruction.totals.first());
//!                 let percent = of_event.map_or(0.0, |(event, total)| PercentType::default().percent(event, total));
//!                 let line = instruction.line.and_then(|index| function.lines.get(index as usize));
//!                 let line = line.map_or_else(String::new, |line| format!("line {}", line.line));
//!                 println!("{percent:6.2} {:x} {:40} {line}", instruction.address, instruction.text);
//!             }
//!         }
//!         Err(why) => println!("{why}"),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Code that a program has itself:
//!
//! ```
//! use perf_annotate::disassembly::Disassembler;
//! use perf_symbol::CodeMachine;
//!
//! let mut disassembler = Disassembler::new(CodeMachine::Aarch64).ok_or("no disassembler")?;
//! for instruction in disassembler.instructions(&[0xc0, 0x03, 0x5f, 0xd6], 0x1000) {
//!     assert_eq!((instruction.address, &*instruction.text), (0x1000, "ret"));
//! }
//! # Ok::<(), &str>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        reason = "a test that indexes wrongly should fail loudly"
    )
)]

mod annotated_functions;
mod annotator;
mod branches;
mod code;
pub mod disassembly;
mod function_rows;
mod instruction_reader;
mod no_annotation;
mod options;
mod pass;
mod sampled_function;
pub mod source;

pub use annotated_functions::AnnotatedFunctions;
pub use annotator::Annotator;
pub use instruction_reader::{InstructionBytes, InstructionReader};
pub use no_annotation::NoAnnotation;
pub use options::{AnnotateLimits, AnnotateOptions};
pub use sampled_function::SampledFunction;
