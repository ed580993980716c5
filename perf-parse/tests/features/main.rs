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

mod bytes;
mod captures;
mod encode;
mod every;
mod faults;
mod file;
mod memory;
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
