//! What the fuzz targets share: their input, and records of perf-parse as the plain values of the oracle.

pub mod eager;
pub mod input;

pub use eager::{body, sample};
pub use input::Input;
