//! Event strings.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that unwraps wrongly should fail loudly"
)]

#[path = "event/errors.rs"]
mod errors;
mod fake;
#[path = "event/list.rs"]
mod list;
#[path = "event/strings.rs"]
mod strings;
