//! Feature sections: bytes written by hand in both byte orders, and captures.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "what a test does not expect fails it"
)]

#[path = "features/bytes.rs"]
mod bytes;
#[path = "features/captures.rs"]
mod captures;
#[path = "features/every.rs"]
mod every;
#[path = "features/faults.rs"]
mod faults;
#[path = "features/file.rs"]
mod file;
#[path = "features/memory.rs"]
mod memory;
#[path = "features/values.rs"]
mod values;

/// Makes a test for each byte order from a function that is generic over it.
macro_rules! in_both_orders {
    ($($name:ident),* $(,)?) => {
        mod little {
            $( #[test] fn $name() { super::$name::<perf_parse::abi::endian::LittleEndian>(); } )*
        }
        mod big {
            $( #[test] fn $name() { super::$name::<perf_parse::abi::endian::BigEndian>(); } )*
        }
    };
}
pub(crate) use in_both_orders;
