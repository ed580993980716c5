//! The bodies of the fuzz targets and their common parts.
//!
//! A body is a function of bytes. It panics if an assertion fails that must hold for any bytes. The programs in
//! `fuzz_targets` pass the bodies to libFuzzer. The test `corpora` of perf-cli runs every input of the corpora through
//! them with a stable compiler.

pub mod annotate;
pub mod aux_trace;
pub mod command_line;
pub mod coresight;
pub mod deferred;
pub mod edit;
pub mod features;
pub mod folder;
pub mod go_lines;
pub mod ibs;
pub mod index;
pub mod input;
pub mod intel_pt;
pub mod jitdump;
pub mod made;
pub mod mutate;
pub mod parse_attr;
pub mod parse_features;
pub mod parse_file;
pub mod parse_pipe;
pub mod parse_record;
pub mod parse_ring;
pub mod parse_sample;
#[cfg(target_os = "linux")]
pub mod pmu_terms;
pub mod print_fmt;
pub mod profile;
pub mod repair;
pub mod session;
pub mod shape;
pub mod spe;
pub mod symbol_elf;
pub mod symbol_text;
pub mod time_order;
pub mod tracepoint_format;
pub mod unwind;
pub mod walk;
pub mod write_read;

/// A body. Returns whether the input is useful, so that it may go into a corpus.
pub type Body = fn(&[u8]) -> bool;

/// The targets by name. Their archives and folders have the same names.
pub const TARGETS: &[(&str, Body)] = &[
    ("parse_sample", parse_sample::run),
    ("parse_record", parse_record::run),
    ("parse_attr", parse_attr::run),
    ("parse_file", parse_file::run),
    ("parse_pipe", parse_pipe::run),
    ("parse_ring", parse_ring::run),
    ("parse_features", parse_features::run),
    ("tracepoint_format", tracepoint_format::run),
    ("print_fmt", print_fmt::run),
    #[cfg(target_os = "linux")]
    ("pmu_terms", pmu_terms::run),
    ("write_read", write_read::run),
    ("repair", repair::run),
    ("edit", edit::run),
    ("command_line", command_line::run),
    ("folder", folder::run),
    ("deferred", deferred::run),
    ("time_order", time_order::run),
    ("index", index::run),
    ("session", session::run),
    ("symbol_elf", symbol_elf::run),
    ("symbol_text", symbol_text::run),
    ("go_lines", go_lines::run),
    ("annotate", annotate::run),
    ("jitdump", jitdump::run),
    ("unwind", unwind::run),
    ("intel_pt", intel_pt::run),
    ("profile", profile::run),
    ("ibs", ibs::run),
    ("coresight", coresight::run),
    ("spe", spe::run),
    ("aux_trace", aux_trace::run),
];
