//! Feature sections: bytes written by hand in both byte orders, and captures.

mod captures;
mod encode;
mod faults;
mod file;
mod memory;
mod simpleperf;
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

/// Returns whether the byte order is big-endian.
fn big<O: perf_parse::abi::endian::Endian>() -> bool {
    O::ENDIANNESS == perf_parse::abi::endian::Endianness::Big
}
