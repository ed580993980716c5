//! Ambiguities of the ABI: the reading that is used, and the number of possible readings.

use perf_parse::abi::attr::Attr;
use perf_parse::abi::branch::BranchSampleType;
use perf_parse::abi::sample_type::SampleType;
use testdata::oracle::{Body, Mmap2Id, Sample};

use compare::check;
use testdata::Bytes;

const KERNEL: u16 = 1;
const USER: u16 = 2;

/// Decodes the sample whose payload is `words`. Both byte orders return the same, except for AUX bytes, which have no
/// byte order.
fn sample(attr: &Attr, misc: u16, words: &[u64]) -> Option<Sample> {
    let [little, big] =
        [false, true].map(|big| match check(attr, big, &Bytes::new(big).u64s(words).record(9, misc))?.body {
            Body::Sample(sample) => Some(*sample),
            body => panic!("{body:?}"),
        });
    let aux = little.as_ref().and_then(|sample| sample.aux.clone());
    assert_eq!(little, big.map(|big| Sample { aux, ..big }));
    little
}

fn branches(asked: BranchSampleType, behind: SampleType) -> Attr {
    Attr {
        sample_type: SampleType::BRANCH_STACK | behind,
        branch_sample_type: asked,
        sample_regs_user: 1,
        ..Attr::default()
    }
}

/// Returns `hw_idx`, whether it is reported as present, and the number of possible readings.
fn hw_idx(attr: &Attr, words: &[u64]) -> (Option<u64>, Option<bool>, u32) {
    let sample = sample(attr, USER, words).unwrap();
    (sample.branch_stack.unwrap().hw_idx, sample.readings.hw_idx, sample.readings.fits)
}

#[test]
fn hw_idx_of_an_empty_branch_stack() {
    let attr = branches(BranchSampleType::HW_INDEX, SampleType::PHYS_ADDR);
    // nr, hw_idx, phys_addr
    assert_eq!(hw_idx(&attr, &[0, 7, 9]), (Some(7), Some(true), 1));
    // nr, phys_addr
    assert_eq!(hw_idx(&attr, &[0, 9]), (None, Some(false), 1));
    assert_eq!(sample(&attr, USER, &[0]), None);
    assert_eq!(sample(&attr, USER, &[0, 7, 9, 1]), None);

    // nr, then hw_idx and an ABI without registers, or an ABI and its register
    let attr = branches(BranchSampleType::HW_INDEX, SampleType::REGS_USER);
    assert_eq!(hw_idx(&attr, &[0, 2, 0]), (Some(2), Some(true), 2));

    // Not recorded, so not ambiguous.
    let attr = branches(BranchSampleType::NONE, SampleType::PHYS_ADDR);
    assert_eq!(hw_idx(&attr, &[0, 9]), (None, None, 1));
}

/// Returns the counters, whether they are reported as present, and the number of possible readings.
fn counters(attr: &Attr, words: &[u64]) -> (Option<Vec<u64>>, Option<bool>, u32) {
    let sample = sample(attr, USER, words).unwrap();
    (sample.branch_stack.unwrap().counters, sample.readings.counters, sample.readings.fits)
}

#[test]
fn branch_counters() {
    let [asked, not] = [BranchSampleType::COUNTERS, BranchSampleType::NONE]
        .map(|asked| branches(asked, SampleType::REGS_USER));
    // nr, two branches, two counters, abi, register
    let with = [2, 1, 2, 0, 3, 4, 0, 0x55, 0x66, 2, 0x11];
    for attr in [&asked, &not] {
        assert_eq!(counters(attr, &with), (Some(vec![0x55, 0x66]), Some(true), 1));
    }
    // nr, branch, abi, register
    let without = [1, 1, 2, 0, 2, 0x11];
    for attr in [&asked, &not] {
        assert_eq!(counters(attr, &without), (None, Some(false), 1));
    }
    // nr, branch, then a counter and an ABI without registers, or an ABI and its register
    let both = [1, 1, 2, 0, 2, 0];
    assert_eq!(counters(&asked, &both), (Some(vec![2]), Some(true), 2));
    assert_eq!(counters(&not, &both), (None, Some(false), 2));
    // Without entries there are no counters.
    assert_eq!(counters(&asked, &[0, 0]), (None, None, 1));
}

#[test]
fn registers_of_abi_0() {
    for (field, other) in [(SampleType::REGS_USER, false), (SampleType::REGS_INTR, true)] {
        let attr = Attr {
            sample_type: field | SampleType::AUX,
            sample_regs_user: 0b101,
            sample_regs_intr: 0b101,
            ..Attr::default()
        };
        let regs = |words: &[u64]| {
            let sample = sample(&attr, USER, words).unwrap();
            let (regs, reading) = if other {
                (sample.regs_intr, sample.readings.regs_intr)
            } else {
                (sample.regs_user, sample.readings.regs_user)
            };
            (regs.unwrap().values, reading, sample.readings.fits)
        };
        // abi, aux.size
        assert_eq!(regs(&[0, 0]), (vec![], Some(false), 1));
        // abi, two registers, aux.size
        assert_eq!(regs(&[0, 7, 8, 0]), (vec![7, 8], Some(true), 1));
        // abi, then an AUX size and its data, or two registers and an AUX size
        assert_eq!(regs(&[0, 16, 8, 0]), (vec![], Some(false), 2));
        // Only an ABI of 0 is ambiguous.
        assert_eq!(regs(&[1, 7, 8, 0]), (vec![7, 8], None, 1));
        // It is not ambiguous either if the event records no registers.
        let none = Attr { sample_regs_user: 0, sample_regs_intr: 0, ..attr };
        let read = sample(&none, USER, &[0, 0]).unwrap();
        assert_eq!((read.readings.regs_user, read.readings.regs_intr), (None, None));
        assert_eq!(sample(&none, USER, &[0, 7, 8, 0]), None);
    }
}

/// Returns an attr that asks for a stack of 0 bytes.
fn stack(others: SampleType) -> Attr {
    let sample_type = SampleType::STACK_USER | others;
    Attr { sample_type, sample_regs_user: 1, sample_regs_intr: 0b11, ..Attr::default() }
}

#[test]
fn stray_word_of_an_empty_stack() {
    // For a sample in user space the kernel writes size and dyn_size, but reserves room only for the size.
    let attr = stack(SampleType::IP | SampleType::WEIGHT | SampleType::DATA_SRC | SampleType::TRANSACTION);
    // ip, size, stray word, weight, data_src; the transaction is cut off
    let read = sample(&attr, USER, &[1, 0, 0, 5, 6]).unwrap();
    assert_eq!((read.weight, read.data_src, read.transaction), (Some(5), Some(6), None));
    assert_eq!((read.readings.stack_stray, read.readings.fits), (Some(true), 2));
    // In the kernel there is no stack to copy, and nothing follows the size.
    let read = sample(&attr, KERNEL, &[1, 0, 0, 5, 6]).unwrap();
    assert_eq!((read.weight, read.data_src, read.transaction), (Some(0), Some(5), Some(6)));
    assert_eq!((read.readings.stack_stray, read.readings.fits), (Some(false), 2));
    // A word other than zero is no stray word.
    let read = sample(&attr, USER, &[1, 0, 4, 5, 6]).unwrap();
    assert_eq!((read.weight, read.data_src, read.transaction), (Some(4), Some(5), Some(6)));
    assert_eq!((read.readings.stack_stray, read.readings.fits), (Some(false), 1));
    // The event asks for some bytes and the sample has none: the kernel had no stack, and nothing is ambiguous.
    let asked = Attr { sample_stack_user: 64, ..attr };
    let read = sample(&asked, USER, &[1, 0, 0, 5, 6]).unwrap();
    assert_eq!((read.weight, read.data_src, read.transaction), (Some(0), Some(5), Some(6)));
    assert_eq!((read.readings.stack_stray, read.readings.fits), (None, 1));
}

#[test]
fn stray_word_by_the_user_registers() {
    let attr = stack(SampleType::REGS_USER | SampleType::WEIGHT);
    for misc in [KERNEL, USER] {
        // abi, register, size, then the weight, or the stray word
        let read = sample(&attr, misc, &[2, 7, 0, 0]).unwrap();
        assert_eq!((read.weight, read.readings.stack_stray, read.readings.fits), (None, Some(true), 2));
        // abi without registers, size, weight
        let read = sample(&attr, misc, &[0, 0, 0]).unwrap();
        assert_eq!((read.weight, read.readings.stack_stray), (Some(0), Some(false)));
    }
}

#[test]
fn stray_word_cuts_the_last_field_off() {
    // Nothing follows the stack: the stray word itself is cut off.
    let last = stack(SampleType::IP);
    let read = sample(&last, USER, &[1, 0]).unwrap();
    assert_eq!((read.readings.stack_stray, read.readings.fits), (Some(false), 1));
    assert_eq!(sample(&last, USER, &[1, 0, 0]), None);

    // size, stray word; then each possible last field without its last 8 bytes
    for field in [
        SampleType::WEIGHT,
        SampleType::WEIGHT_STRUCT,
        SampleType::DATA_SRC,
        SampleType::TRANSACTION,
        SampleType::PHYS_ADDR,
        SampleType::CGROUP,
        SampleType::DATA_PAGE_SIZE,
        SampleType::CODE_PAGE_SIZE,
    ] {
        let read = sample(&stack(field), USER, &[0, 0]).unwrap();
        let all_gone = Sample {
            stack_user: read.stack_user.clone(),
            readings: read.readings.clone(),
            ..Sample::default()
        };
        assert_eq!(read, all_gone);
        assert_eq!(read.readings.fits, 2);
    }

    let intr = |words: &[u64]| sample(&stack(SampleType::REGS_INTR), USER, words).unwrap();
    assert_eq!(intr(&[0, 0]).regs_intr, None);
    assert_eq!(intr(&[0, 0, 2, 7]).regs_intr.unwrap().values, [7]);
    // Two registers are missing, not one: no kernel wrote this sample.
    assert_eq!(sample(&stack(SampleType::REGS_INTR), USER, &[0, 0, 2]), None);

    let aux = |words: &[u64]| sample(&stack(SampleType::AUX), USER, words).unwrap();
    assert_eq!(aux(&[0, 0]).aux, None);
    assert_eq!(aux(&[0, 0, 8]).aux, Some(vec![]));
    assert_eq!(aux(&[0, 0, 16, u64::MAX]).aux, Some(vec![0xff; 8]));
    assert_eq!(aux(&[0, 0, 16, u64::MAX]).readings.fits, 1);
    // Nothing was cut off, so the zero is no stray word.
    assert_eq!(sample(&stack(SampleType::AUX), USER, &[0, 0, 16, 1, 2]), None);
}

#[test]
fn stray_word_with_registers_of_abi_0_behind() {
    // size, stray word, abi 0, then a register that was cut off, or an AUX size that was cut off
    let attr = stack(SampleType::REGS_INTR | SampleType::AUX);
    let read = sample(&attr, USER, &[0, 0, 0]).unwrap();
    assert_eq!(read.readings.stack_stray, Some(true));
    assert_eq!((read.regs_intr.unwrap().values, read.aux), (vec![], None));
}

/// The user registers of one reading are no evidence for another reading with other registers.
#[test]
fn stray_word_of_another_reading() {
    let attr = Attr {
        sample_type: SampleType::BRANCH_STACK
            | SampleType::REGS_USER
            | SampleType::STACK_USER
            | SampleType::WEIGHT
            | SampleType::DATA_SRC
            | SampleType::AUX,
        ..Attr::default()
    };
    let words = [
        1, 1, 2, 0,  // branch_stack: nr and a branch
        2,  // regs_user.abi of user space, or branch_stack.counters
        0,  // stack_user.size, or regs_user.abi of no user space
        0,  // weight, or stack_user.size
        0,  // data_src, or the stray word
        16, // aux.size, or weight
        5,  // aux.data, or data_src
        8,  // aux.data, or aux.size
    ];
    let read = sample(&attr, USER, &words).unwrap();
    assert_eq!(read.readings.fits, 2);
    assert_eq!((read.readings.counters, read.readings.stack_stray), (Some(false), Some(false)));
    assert_eq!((read.weight, read.data_src, read.aux.map(|aux| aux.len())), (Some(0), Some(0), Some(16)));
}

#[test]
fn mmap2_of_linux_3_12() {
    for big in [false, true] {
        let mmap2 = |misc, prot_flags: &[u32], filename: &[u8]| {
            let bytes = Bytes::new(big).u64s(&[1, 2, 3, 4]).u32(8).u32(1).u64(5).u64(6);
            let bytes = prot_flags.iter().fold(bytes, |bytes, &word| bytes.u32(word)).raw(filename);
            match check(&Attr::default(), big, &bytes.record(10, misc))?.body {
                Body::Mmap2 { prot, flags, filename, file, .. } => {
                    assert_eq!(matches!(file, Mmap2Id::BuildId { .. }), misc & 1 << 14 != 0);
                    Some((prot, flags, filename))
                }
                body => panic!("{body:?}"),
            }
        };
        // The layout since 3.16.
        assert_eq!(mmap2(2, &[0, 2], b"/a\0\0\0\0\0\0"), Some((Some(0), Some(2), b"/a".to_vec())));
        assert_eq!(mmap2(2, &[0xff, 2], b"\0\0\0\0\0\0\0\0"), Some((Some(0xff), Some(2), vec![])));
        // The layout before 3.16: the name is in the place of the protection.
        assert_eq!(mmap2(2, &[], b"/usr/bin/cat\0\0\0\0"), Some((None, None, b"/usr/bin/cat".to_vec())));
        assert_eq!(mmap2(2, &[], b"a\0\0\0\0\0\0\0"), Some((None, None, b"a".to_vec())));
        assert_eq!(mmap2(2, &[], b"\0\0\0\0\0\0\0\0"), Some((None, None, vec![])));
        // Not a protection, and not a name: the mode of a file, as `perf inject --jit` writes it.
        let mode = mmap2(1, &[0x81a4, 1], b"/a\0\0\0\0\0\0");
        assert_eq!(mode, Some((Some(0x81a4), Some(1), b"/a".to_vec())));
        // Bytes after the NUL of the name, in each layout.
        assert_eq!(mmap2(2, &[5, 2], b"/a\0rubbish\0\0\0\0\0\0"), Some((Some(5), Some(2), b"/a".to_vec())));
        let name = b"/usr/bin/cat\0bad";
        assert_eq!(mmap2(2, &[], name), Some((None, None, b"/usr/bin/cat".to_vec())));
        assert_eq!(mmap2(2, &[], b"/usr/bin/cat").map(|it| it.2), None);
        assert_eq!(mmap2(2, &[], b""), None);
        // Build ids are newer than the protection, so any value is accepted as protection.
        assert_eq!(
            mmap2(2 | 1 << 14, &[0x100, 2], b"/a\0\0\0\0\0\0"),
            Some((Some(0x100), Some(2), b"/a".to_vec()))
        );
        assert_eq!(mmap2(2 | 1 << 14, &[1, 2], b""), None);
        assert_eq!(mmap2(2 | 1 << 14, &[1], b""), None);
    }
}
