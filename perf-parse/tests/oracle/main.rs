//! The lazy view equals the eager oracle, field by field and in both byte orders: for every field and record type,
//! for every ambiguity of the ABI, and for bytes that no kernel wrote.

mod ambiguous;
mod arbitrary;
mod batches;
mod captures;
mod fields;
mod records;
mod samples;
mod simd_regs;
mod simpleperf;
mod user;

/// `xorshift64*`: pseudorandom numbers, the same in every run.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        // The state must not be zero.
        Self(seed ^ 0x9e37_79b9_7f4a_7c15 | 1 << 63)
    }

    fn u64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.u64() >> 33) as usize % end
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.u64() as u8).collect()
    }

    fn u64s(&mut self, len: usize) -> Vec<u64> {
        (0..len).map(|_| self.u64()).collect()
    }
}
