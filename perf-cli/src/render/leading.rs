//! The leading fields of samples: numbers at known positions, before the sections of variable size.

use perf_abi::sample_type::SampleType;
use perf_parse::Sample;

use super::Scalars;
use super::name::name;

/// Describes the leading fields in the kernel's order: for each its `sample_type` bit, name, getter and printer.
macro_rules! leading_fields {
    ($($field:ident: $bit:ident, $name:literal, $getter:ident, $print:ident;)*) => {
        /// A leading field of samples.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Leading {
            $($field),*
        }

        /// The `sample_type` bits of all leading fields.
        const BITS: SampleType = SampleType::NONE$(.union(SampleType::$bit))*;

        impl Leading {
            /// Returns the field of a name.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$field),)*
                    _ => None,
                }
            }

            /// Passes the field to `sink`. Returns whether the sample has it.
            #[inline(always)]
            pub(super) fn print(self, sample: &Sample<'_>, sink: &mut impl Scalars) -> bool {
                match self {
                    $(Self::$field => match sample.$getter() {
                        Some(value) => {
                            sink.$print(name!($name), value.into());
                            true
                        }
                        None => false,
                    },)*
                }
            }
        }

        /// Passes all leading fields of a sample to `sink`.
        #[inline(always)]
        pub(super) fn leading(sample: &Sample<'_>, sink: &mut impl Scalars) {
            $(Leading::$field.print(sample, sink);)*
        }
    };
}

leading_fields! {
    Identifier: IDENTIFIER, "identifier", identifier, number;
    Ip: IP, "ip", ip, hex;
    Pid: TID, "pid", pid, task;
    Tid: TID, "tid", tid, task;
    Time: TIME, "time", time, time;
    Addr: ADDR, "addr", addr, hex;
    Id: ID, "id", id, number;
    StreamId: STREAM_ID, "stream_id", stream_id, number;
    Cpu: CPU, "cpu", cpu, number;
    Period: PERIOD, "period", period, number;
}

/// Returns whether samples of a type have only leading fields.
#[inline]
pub(super) fn are_all(sample_type: SampleType) -> bool {
    sample_type.without(BITS) == SampleType::NONE
}
