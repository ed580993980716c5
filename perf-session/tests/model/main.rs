//! A session equals a plain model, for random sequences of records of few processes and few addresses.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// Returns a configuration with the same `cases` in every run.
fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(0x7065_7266), ..Config::default() }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn sessions_equal_the_model(first: u8, steps in prop::collection::vec(any::<[u8; 8]>(), 0..60)) {
        compare::session::check(&[&[first], steps.as_flattened()].concat(), true);
    }
}

/// The address space of one process, and the kernel's: mappings alone, so that many of them meet.
mod mappings {
    use super::*;

    proptest! {
        #![proptest_config(config(50))]

        #[test]
        fn of_few_processes(steps in prop::collection::vec(step(0..=7), 100..400)) {
            compare::session::check(&[&[3], steps.as_flattened()].concat(), false);
        }

        #[test]
        fn of_the_kernel(steps in prop::collection::vec(step(192..=223), 100..400)) {
            compare::session::check(&[&[0x83], steps.as_flattened()].concat(), false);
        }
    }

    /// A mapping of a fork or its parent, and sometimes a fork or a symbol.
    fn step(modes: core::ops::RangeInclusive<u8>) -> impl Strategy<Value = [u8; 8]> {
        let kind = prop_oneof![20 => 6..12_u8, 1 => Just(0), 4 => Just(12), 2 => Just(28)];
        let length = prop_oneof![8 => 0..6_u8, 1 => any::<u8>()];
        (kind, 2..4_u8, 2..4_u8, any::<u8>(), length, any::<[u8; 2]>(), modes).prop_map(
            |(kind, id, parent, start, length, [more, file], mode)| {
                [kind, id, parent, start, length, more, file, mode]
            },
        )
    }
}
