//! The program's output: files that never replace an input and are either complete or absent, their permissions, a
//! bounded number of diagnostics, and no characters that control a terminal.

#![cfg(unix)]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "what a test does not expect fails it"
)]

#[path = "outputs/diagnostics.rs"]
mod diagnostics;
#[path = "outputs/escapes.rs"]
mod escapes;
#[path = "outputs/folder.rs"]
mod folder;
#[path = "outputs/inputs.rs"]
mod inputs;
#[path = "outputs/modes.rs"]
mod modes;
#[path = "outputs/whole.rs"]
mod whole;

use folder::{Folder, Run};
