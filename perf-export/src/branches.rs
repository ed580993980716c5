//! Branch stacks (LBR), for compilers and optimizers of programs.
//!
//! [`perf_profile::branches`] counts the branches of a file. [`preagg`] and [`autofdo`] write these counts, [`brstack`] writes
//! samples one by one. All addresses are those that the file's symbols have.

pub mod autofdo;
pub mod brstack;
pub mod preagg;
