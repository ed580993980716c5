//! See `bodies::command_line`.
#![no_main]

use bodies::mutate::{Random, mutate};
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|data: &[u8]| -> Corpus {
    if bodies::command_line::run(data) { Corpus::Keep } else { Corpus::Reject }
});

// The mutator that knows the fields makes three of four inputs; libFuzzer makes the others.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(4) {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut capture = data[..size].to_vec();
    mutate(&mut capture, &mut Random::new(seed.into()));
    capture.truncate(max_size);
    data[..capture.len()].copy_from_slice(&capture);
    capture.len()
});
