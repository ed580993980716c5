//! See `bodies::pmu_terms`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::pmu_terms::run(data) { Corpus::Keep } else { Corpus::Reject }
});
