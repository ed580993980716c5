//! Work that is divided among threads.

pub mod both;
pub mod sorting;
pub mod waves;
