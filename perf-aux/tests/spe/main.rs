//! Arm SPE: every header, any bytes, records over buffers, metadata.

mod account;
mod info;
mod lengths;
mod random;
mod writer;
