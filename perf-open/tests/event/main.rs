//! Event strings, and the PMUs that they name: the texts of sysfs, and folders of them.

#![cfg(target_os = "linux")]

mod errors;
mod fake;
mod folders;
mod list;
mod probes;
mod strings;
mod text;
mod tracefs;
