//! Generated records of the perf tool and feature sections: the decoder and the oracle accept the same ones and return
//! the same values.

use perf_parse::RawRecord;
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::feature::Feature;
use proptest::prelude::*;
use proptest::sample::select;
use testdata::Bytes;

use compare::{feature, user};

use crate::arbitrary::config;

fn record<O: Endian>(bytes: &[u8]) -> bool {
    let (raw, _) = RawRecord::<O>::parse(bytes).unwrap();
    user::check(&raw)
}

/// The values of the fields of simpleperf's records.
struct Simpleperf<'a> {
    big: bool,
    chain: &'a [(u64, u64)],
    words: [u64; 6],
    mask: u64,
    blob: &'a [u8],
    name: &'a str,
    dyn_size: u64,
    rest: &'a [u8],
}

impl Simpleperf<'_> {
    /// Returns the payload of a record of each type.
    fn records(&self) -> [(u32, Bytes); 11] {
        let new = || Bytes::new(self.big);
        let text = || new().u32(self.blob.len() as u32).raw(self.blob).raw(self.rest);
        let padded = (self.name.len() + 1).next_multiple_of(8);
        let named = |head: Bytes| head.padded(self.name.as_bytes(), padded);
        let pairs = || self.chain.iter().fold(new(), |to, &(first, second)| to.u64(first).u64(second)).out;
        let columns = || {
            let firsts = self.chain.iter().fold(new(), |to, &(first, _)| to.u64(first));
            self.chain.iter().fold(firsts, |to, &(_, second)| to.u64(second)).out
        };
        let nr = self.chain.len() as u64;
        let regs: Vec<u64> = (0..u64::from(self.mask.count_ones())).collect();
        let older = || {
            let state = new().u64s(&self.words).u64(2).u64(self.mask).u64s(&regs);
            let stack = state.u64(self.blob.len() as u64).raw(self.blob);
            if self.blob.is_empty() { stack } else { stack.u64(self.dyn_size) }
        };
        [
            (32_769, text()),
            (32_770, named(new().u64s(&self.words[..3]))),
            (32_771, named(new().u64s(&self.words[..3]))),
            (32_772, new().raw(self.blob)),
            (32_773, new()),
            (32_774, new().u64(nr).raw(&pairs()).raw(self.rest)),
            (32_775, new().u64s(&self.words[..3]).u64(nr).raw(&columns()).raw(self.rest)),
            (32_776, older()),
            (32_776, older().u64(nr).raw(&columns()).raw(self.rest)),
            (32_777, text()),
            (32_778, named(new().u64(self.words[0]))),
        ]
    }
}

/// Numbers as a record has them: counts, types and sizes are small.
fn number() -> impl Strategy<Value = (usize, u64)> {
    let small = 0_u64..6;
    let known = select(vec![8, 12, 15, 16, 17, 32, 64, 72, 128, 144, 152, u64::MAX]);
    (select(vec![2_usize, 4, 8]), prop_oneof![4 => small, 1 => known, 1 => any::<u64>()])
}

fn bytes(big: bool, numbers: &[(usize, u64)], text: &[u8]) -> Bytes {
    let bytes = numbers.iter().fold(Bytes::new(big), |bytes, &(width, value)| bytes.number(width, value));
    bytes.raw(text)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![3 => Just(0), 2 => Just(b'a'), 1 => any::<u8>()], 0..120)
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn of_made_records(
        kind in 64_u32..88,
        misc: u16,
        numbers in prop::collection::vec(number(), 0..24),
        text in text(),
    ) {
        let of = |big| bytes(big, &numbers, &text).record(kind, misc);
        record::<LittleEndian>(&of(false));
        record::<BigEndian>(&of(true));
    }

    /// Of simpleperf, whose words often are a count of the words after them.
    #[test]
    fn of_made_records_of_simpleperf(
        kind in 32_768_u32..32_781,
        numbers in prop::collection::vec(number(), 0..24),
        text in text(),
    ) {
        let of = |big| bytes(big, &numbers, &text).record(kind, 0);
        record::<LittleEndian>(&of(false));
        record::<BigEndian>(&of(true));
    }

    /// Records of simpleperf that it would accept: each field has any value.
    #[test]
    fn of_good_records_of_simpleperf(
        of_chain in prop::collection::vec(any::<(u64, u64)>(), 0..9),
        words in prop::array::uniform6(any::<u64>()),
        mask in any::<u64>(),
        blob in prop::collection::vec(any::<u8>(), 0..60),
        name in "[a-zA-Z0-9/._]{0,30}",
        dyn_size: u64,
        rest in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let made = |big| Simpleperf { big, chain: &of_chain, words, mask, blob: &blob, name: &name, dyn_size, rest: &rest };
        for (kind, fields) in made(false).records() {
            prop_assert!(record::<LittleEndian>(&fields.record(kind, 0)), "{kind}");
        }
        for (kind, fields) in made(true).records() {
            prop_assert!(record::<BigEndian>(&fields.record(kind, 0)), "{kind}");
        }
    }

    #[test]
    fn of_made_sections(
        feature in 0_u32..40,
        nr_cpus in 0_u32..4,
        numbers in prop::collection::vec(number(), 0..24),
        text in text(),
    ) {
        let of = |big| bytes(big, &numbers, &text).out;
        let section = of(false);
        feature::check(&feature::section::<LittleEndian>(Feature(feature), 0, &section), nr_cpus);
        let section = of(true);
        feature::check(&feature::section::<BigEndian>(Feature(feature), 0, &section), nr_cpus);
    }
}

/// An example of each section, with a byte changed or the end cut off.
fn changed<O: Endian>() {
    let mut accepted = 0;
    for example in testdata::features::examples(compare::is_big::<O>()) {
        let check = |bytes: &[u8]| {
            let section = feature::section::<O>(example.feature, 0, bytes);
            feature::check(&section, testdata::features::NR_CPUS)
        };
        for end in 0..=example.bytes.len() {
            let is_whole = check(&example.bytes[..end]);
            assert!(is_whole || !example.whole.contains(&end), "{:?} of {end} bytes", example.feature);
        }
        for at in 0..example.bytes.len() {
            for change in [1, 0xff] {
                let mut bytes = example.bytes.clone();
                bytes[at] ^= change;
                accepted += usize::from(check(&bytes));
            }
        }
    }
    assert!(accepted > 500, "{accepted}");
}

#[test]
fn of_changed_sections() {
    changed::<LittleEndian>();
    changed::<BigEndian>();
}
