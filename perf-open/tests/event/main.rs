//! Event strings, PMUs, and the files of sysfs that describe PMUs.

#![cfg(target_os = "linux")]

mod errors;
mod fake;
mod folders;
mod list;
mod probes;
mod strings;
mod text;
mod tracefs;
mod tracers;
