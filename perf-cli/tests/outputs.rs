//! What leaves the program: files that never replace an input and are whole or not there, what they may be read by,
//! diagnostics in bounded numbers, and nothing that a terminal obeys.

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
