//! Bytes that no kernel wrote: the view and the oracle accept the same records and return the same values.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::branch::BranchSampleType;
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::sample_type::SampleType;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};

use crate::samples;
use compare::check;
use testdata::Bytes;

/// Returns a configuration with the same `cases` in every run.
pub(crate) fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(0x7065_7266), ..Config::default() }
}

/// Eight bytes of a payload.
#[derive(Clone, Copy, Debug)]
enum Word {
    One(u64),
    Two(u32, u32),
}

impl Word {
    fn append(self, bytes: Bytes) -> Bytes {
        match self {
            Self::One(word) => bytes.u64(word),
            Self::Two(first, second) => bytes.u32(first).u32(second),
        }
    }
}

/// Returns words that are often a plausible count or size.
fn word() -> impl Strategy<Value = Word> {
    let two = |(first, second)| Word::Two(first, second);
    prop_oneof![
        4 => (0_u64..4).prop_map(Word::One),
        2 => select(vec![8_u64, 16, 24]).prop_map(Word::One),
        2 => (select(vec![0_u32, 4, 12, 20]), any::<u32>()).prop_map(two),
        1 => any::<u64>().prop_map(Word::One),
        1 => any::<(u32, u32)>().prop_map(two),
        1 => select(vec![u64::MAX, 1 << 61, 1 << 32, -512_i64 as u64, -640_i64 as u64]).prop_map(Word::One),
    ]
}

/// Returns attrs that record few fields, so that short payloads can be samples, and that rarely have unknown bits.
fn attr() -> impl Strategy<Value = Attr> {
    let sample_type = prop_oneof![
        12 => proptest::bits::u64::sampled(0..=4, 0..25),
        4 => proptest::bits::u64::masked(OPEN.0),
        1 => proptest::bits::u64::sampled(0..=3, 0..64),
    ];
    let read_format = prop_oneof![12 => 0_u64..32, 1 => any::<u64>()];
    let branches = select(vec![0, 1 << 17, 1 << 19, 1 << 17 | 1 << 19]);
    let regs = || select(vec![0, 1, 0b101, 1 << 63]);
    (sample_type, read_format, branches, regs(), regs(), select(vec![0_u32, 16]), any::<bool>()).prop_map(
        |(sample_type, read_format, branches, user, intr, stack, all)| Attr {
            sample_type: SampleType(sample_type),
            read_format: ReadFormat(read_format),
            branch_sample_type: BranchSampleType(branches),
            sample_regs_user: user,
            sample_regs_intr: intr,
            sample_stack_user: stack,
            flags: if all { AttrFlags::SAMPLE_ID_ALL } else { AttrFlags::NONE },
            ..Attr::default()
        },
    )
}

/// The ambiguous fields, and the fields that may lose their end to a stray word.
const OPEN: SampleType = SampleType(
    SampleType::BRANCH_STACK.0
        | SampleType::REGS_USER.0
        | SampleType::STACK_USER.0
        | SampleType::WEIGHT.0
        | SampleType::REGS_INTR.0
        | SampleType::AUX.0,
);

fn misc() -> impl Strategy<Value = u16> {
    prop_oneof![4 => select(vec![0_u16, 1, 2, 1 << 14, 1 << 14 | 2]), 1 => any::<u16>()]
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn any_sample(
        attr in attr(),
        misc in misc(),
        words in prop::collection::vec(word(), 0..14),
        end in prop_oneof![8 => Just(Vec::new()), 1 => prop::collection::vec(any::<u8>(), 0..8)],
        big: bool,
    ) {
        let bytes = words.iter().fold(Bytes::new(big), |bytes, word| word.append(bytes)).raw(&end);
        check(&attr, big, &bytes.record(9, misc));
    }

    #[test]
    fn any_record(
        attr in attr(),
        kind in (0_u32..64).prop_filter("not a sample", |&kind| kind != 9),
        misc in misc(),
        words in prop::collection::vec(word(), 0..14),
        end in prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(0_u8..3, 0..8)],
        big: bool,
    ) {
        let kind = if kind < 46 { kind % 23 } else { kind };
        let bytes = words.iter().fold(Bytes::new(big), |bytes, word| word.append(bytes)).raw(&end);
        check(&attr, big, &bytes.record(if kind == 9 { 10 } else { kind }, misc));
    }

    /// A valid sample in which one word is changed, missing or added.
    #[test]
    fn any_sample_with_a_fault(
        sample_type in samples::sample_type(),
        seed: u64,
        at: prop::sample::Index,
        fault in 0..3,
        wrong in word(),
        misc in misc(),
        big: bool,
    ) {
        let made = samples::made(sample_type, seed);
        let bytes = made.write(big, misc);
        let mut words: Vec<&[u8]> = bytes[8..].chunks(8).collect();
        let wrong = wrong.append(Bytes::new(big)).out;
        let at = at.index(words.len() + 1);
        match fault {
            0 => words.insert(at, &wrong),
            1 if at < words.len() => words[at] = &wrong,
            _ if at < words.len() => drop(words.remove(at)),
            _ => {}
        }
        let bytes = words.into_iter().fold(Bytes::new(big), Bytes::raw);
        check(&made.attr, big, &bytes.record(9, misc));
    }

    /// Any bytes after a header whose size does not match them.
    #[test]
    fn any_size(
        attr in attr(),
        kind in 0_u32..24,
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        size in prop_oneof![0..8_u16, 8..100_u16],
        cut: prop::sample::Index,
        big: bool,
    ) {
        let size = if size < 8 { size } else { size.max(bytes.len() as u16 + 9) };
        let whole = Bytes::new(big).u32(kind).u16(0).u16(size).raw(&bytes).out;
        prop_assert!(check(&attr, big, &whole).is_none());
        prop_assert!(check(&attr, big, &whole[..cut.index(8)]).is_none());
    }
}
