//! Linux perf captures in browsers and node: the npm package `perfdata`.
//!
//! A thin layer over `perf-parse`, `perf-profile` and `perf-export`: it translates options and results. The class is
//! [`Capture`]; `types.d.ts` has the types of what its methods take and return.

#![deny(missing_docs)]

mod capture;
mod error;
mod info;
mod memory_files;
mod object;
mod observer;
mod options;
mod quality;
mod report;
mod row;
mod slices;
mod source;
mod timeline;

pub use capture::Capture;

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &'static str = include_str!("types.d.ts");

/// Makes a panic an exception with its message and place. Without this it would be a trap without a word.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| {
        wasm_bindgen::throw_str(&format!(
            "perfdata has a bug: {panic}. Make a new instance of the module, and please report the bug with the capture"
        ));
    }));
}
