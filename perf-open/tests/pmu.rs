//! PMUs: the texts of sysfs, and folders of them.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that unwraps wrongly should fail loudly"
)]

mod fake;
#[path = "pmu/folders.rs"]
mod folders;
#[path = "pmu/probes.rs"]
mod probes;
#[path = "pmu/text.rs"]
mod text;
#[path = "pmu/tracefs.rs"]
mod tracefs;
