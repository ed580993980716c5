//! Linux perf captures in the formats of other tools.
//!
//! `perf-profile` makes a [`Profile`](perf_profile::Profile) of a capture. Each format is a module with `Options` and one
//! function, `write(profiles, &options, out)`. Where more than one thread helps, `options.threads` is their number; the output
//! is the same for any number. The tables of a capture (`columns`, `parquet`) are made of its records instead, batch by batch,
//! in memory that does not grow with the capture.
//!
//! # Examples
//!
//! The folded stacks of a tenth of a capture, as `perfdata fold --time 10%-20%` prints them:
//!
//! ```
//! use perf_export::fold;
//! use perf_parse::Reader;
//! use perf_profile::{Samples, Selection, Symbols};
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let symbols = Symbols::of(&reader);
//! let selection = Selection { time: "10%-20%".parse()?, ..Selection::default() };
//! let profile = Samples::of(&reader).select(selection).threads(4).profile(&symbols, &mut ())?;
//! fold::write(&[profile], &fold::Options::default(), &mut std::io::stdout())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! One per format; only `fold` is on by default:
//!
//! - `fold`: folded stacks, as the scripts around flame graphs read them.
//! - `flamegraph`: flame graphs, as a page for a browser or a static picture; and pages of annotated functions.
//! - `firefox`: processed profiles of the Firefox Profiler.
//! - `pprof`: profiles for `go tool pprof`.
//! - `otlp`: profiles of OpenTelemetry, as protobuf or JSON.
//! - `speedscope`: speedscope's JSON.
//! - `callgrind`: callgrind's profiles, for KCachegrind and `callgrind_annotate`.
//! - `chrome`: Chrome's Trace Events, for Perfetto and chrome://tracing.
//! - `perfetto`: Perfetto's own traces, for ui.perfetto.dev and its trace processor.
//! - `csv`: a row for each sample.
//! - `dot`: call graphs for Graphviz.
//! - `branches`: branch stacks, as compilers and BOLT read them.
//! - `arrow`: the tables of a capture as record batches of Arrow.
//! - `parquet`: the same tables as Parquet files.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
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

#[cfg(feature = "flamegraph")]
#[cfg_attr(docsrs, doc(cfg(feature = "flamegraph")))]
pub mod annotation;
#[cfg(feature = "branches")]
#[cfg_attr(docsrs, doc(cfg(feature = "branches")))]
pub mod branches;
#[cfg(any(feature = "chrome", feature = "csv"))]
mod call_name;
#[cfg(feature = "callgrind")]
#[cfg_attr(docsrs, doc(cfg(feature = "callgrind")))]
pub mod callgrind;
#[cfg(feature = "chrome")]
#[cfg_attr(docsrs, doc(cfg(feature = "chrome")))]
pub mod chrome;
#[cfg(feature = "arrow")]
#[cfg_attr(docsrs, doc(cfg(feature = "arrow")))]
pub mod columns;
#[cfg(feature = "csv")]
#[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
pub mod csv;
#[cfg(feature = "dot")]
#[cfg_attr(docsrs, doc(cfg(feature = "dot")))]
pub mod dot;
#[cfg(feature = "firefox")]
#[cfg_attr(docsrs, doc(cfg(feature = "firefox")))]
pub mod firefox;
#[cfg(feature = "flamegraph")]
#[cfg_attr(docsrs, doc(cfg(feature = "flamegraph")))]
pub mod flamegraph;
#[cfg(feature = "fold")]
#[cfg_attr(docsrs, doc(cfg(feature = "fold")))]
pub mod fold;
#[cfg(feature = "flamegraph")]
mod html;
#[cfg(any(feature = "firefox", feature = "speedscope"))]
mod json;
#[cfg(feature = "otlp")]
#[cfg_attr(docsrs, doc(cfg(feature = "otlp")))]
pub mod otlp;
#[cfg(feature = "parquet")]
#[cfg_attr(docsrs, doc(cfg(feature = "parquet")))]
pub mod parquet;
#[cfg(feature = "perfetto")]
#[cfg_attr(docsrs, doc(cfg(feature = "perfetto")))]
pub mod perfetto;
#[cfg(feature = "pprof")]
#[cfg_attr(docsrs, doc(cfg(feature = "pprof")))]
pub mod pprof;
#[cfg(any(feature = "otlp", feature = "perfetto", feature = "pprof"))]
mod proto_tables;
#[cfg(feature = "speedscope")]
#[cfg_attr(docsrs, doc(cfg(feature = "speedscope")))]
pub mod speedscope;
#[cfg(any(
    feature = "firefox",
    feature = "flamegraph",
    feature = "otlp",
    feature = "perfetto",
    feature = "pprof"
))]
mod strings;
#[cfg(feature = "arrow")]
mod text_table;
