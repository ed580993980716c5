#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;

#[macro_use]
mod words;

pub mod coresight;
pub mod ibs;
pub mod perf_text;
pub mod pt;
pub mod spe;
#[cfg(feature = "alloc")]
pub mod trace;
