//! See `bodies::symbol_elf`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::symbol_elf::run(data) { Corpus::Keep } else { Corpus::Reject }
});
