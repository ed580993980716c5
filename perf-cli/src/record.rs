//! `perfdata record`, but for the kernel's part of it: what perf writes before the first record of the kernel's, and
//! behind the last.
//!
//! The kernel tells of tasks and mappings as they begin. What ran before the recording is told by made-up records
//! ([`synthesize`]), read from `/proc`. Behind the records stands what is known of the machine ([`host`]) and of the
//! files that samples hit ([`build_ids`]).
//!
//! All of it reads the machine below a root folder, which is `/` but in tests.

mod build_ids;
mod elf;
mod host;
mod kernel;
mod maps;
mod processes;
mod synthesize;

#[cfg(test)]
mod tests;
