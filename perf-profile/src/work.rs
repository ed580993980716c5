//! Work that is divided among threads.

pub mod batch;
pub mod both;
pub mod in_order;
pub mod sorting;
mod spawn;
pub mod turns;
pub mod waves;

pub(crate) use spawn::{permitted, spawn};
