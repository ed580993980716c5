//! The ambiguous parts of the ABI, and the readings that the oracle takes.

use perf_abi::attr::Attr;
use perf_abi::branch::BranchSampleType;
use perf_abi::sample_type::SampleType;

use super::{attr, sample, words_record};
use crate::oracle::*;

const KERNEL: u16 = 1;
const USER: u16 = 2;

/// Returns one ambiguous part of a sample, its reading and the number of fits.
macro_rules! outcome {
    ($sample:expr, $field:ident, $reading:ident) => {{
        let sample = $sample.unwrap();
        (sample.$field, sample.readings.$reading, sample.readings.fits)
    }};
}

fn branches(hw_idx: Option<u64>, counters: Option<Vec<u64>>) -> BranchStack {
    BranchStack { hw_idx, entries: Vec::new(), counters }
}

#[test]
fn hw_idx() {
    let attr = Attr {
        branch_sample_type: BranchSampleType::HW_INDEX,
        ..attr(SampleType::BRANCH_STACK | SampleType::PHYS_ADDR)
    };
    let words = [
        0, // branch_stack.nr
        7, // branch_stack.hw_idx
        9, // phys_addr
    ];
    let with = (Some(branches(Some(7), None)), Some(true), 1);
    assert_eq!(outcome!(sample(&attr, USER, &words), branch_stack, hw_idx), with);

    let words = [
        0, // branch_stack.nr
        9, // phys_addr
    ];
    let without = (Some(branches(None, None)), Some(false), 1);
    assert_eq!(outcome!(sample(&attr, USER, &words), branch_stack, hw_idx), without);
}

#[test]
fn hw_idx_where_both_fit() {
    let attr = Attr {
        branch_sample_type: BranchSampleType::HW_INDEX,
        sample_regs_user: 1,
        ..attr(SampleType::BRANCH_STACK | SampleType::REGS_USER)
    };
    let words = [
        0, // branch_stack.nr
        2, // branch_stack.hw_idx, or regs_user.abi
        0, // regs_user.abi, or regs_user.values
    ];
    let with = (Some(branches(Some(2), None)), Some(true), 2);
    assert_eq!(outcome!(sample(&attr, USER, &words), branch_stack, hw_idx), with);
}

#[test]
fn hw_idx_of_entries_is_there() {
    let attr = Attr { branch_sample_type: BranchSampleType::HW_INDEX, ..attr(SampleType::BRANCH_STACK) };
    let words = [
        1, // branch_stack.nr
        7, // branch_stack.hw_idx
        1, // branch_stack.from
        2, // branch_stack.to
        0, // branch_stack.flags
    ];
    let result = sample(&attr, USER, &words).unwrap();
    assert_eq!(result.branch_stack.unwrap().hw_idx, Some(7));
    assert_eq!(result.readings.hw_idx, None);
    assert!(sample(&attr, USER, &[1, 1, 2, 0]).is_err());
}

fn counters_attr(branch_sample_type: BranchSampleType) -> Attr {
    Attr { branch_sample_type, sample_regs_user: 1, ..attr(SampleType::BRANCH_STACK | SampleType::REGS_USER) }
}

/// Returns the counters of a sample, their reading, and the number of fits.
fn counters(attr: &Attr, words: &[u64]) -> (Option<Vec<u64>>, Option<bool>, u32) {
    let sample = sample(attr, USER, words).unwrap();
    (sample.branch_stack.unwrap().counters, sample.readings.counters, sample.readings.fits)
}

#[test]
fn branch_counters() {
    let [asked, not_asked] = [BranchSampleType::COUNTERS, BranchSampleType(0)].map(counters_attr);
    let with = [
        2,    // branch_stack.nr
        1,    // branch_stack.from
        2,    // branch_stack.to
        0,    // branch_stack.flags
        3,    // branch_stack.from
        4,    // branch_stack.to
        0,    // branch_stack.flags
        0x55, // branch_stack.counters
        0x66, // branch_stack.counters
        2,    // regs_user.abi
        0x11, // regs_user.values
    ];
    let there = (Some(vec![0x55, 0x66]), Some(true), 1);
    assert_eq!(counters(&asked, &with), there);
    assert_eq!(counters(&not_asked, &with), there);

    let without = [
        1,    // branch_stack.nr
        1,    // branch_stack.from
        2,    // branch_stack.to
        0,    // branch_stack.flags
        2,    // regs_user.abi
        0x11, // regs_user.values
    ];
    // With a counter of 2, 0x11 would be the ABI of a register that is missing.
    assert_eq!(counters(&asked, &without), (None, Some(false), 1));
    assert_eq!(counters(&not_asked, &without), (None, Some(false), 1));
}

#[test]
fn branch_counters_where_both_fit() {
    let words = [
        1, // branch_stack.nr
        1, // branch_stack.from
        2, // branch_stack.to
        0, // branch_stack.flags
        2, // branch_stack.counters, or regs_user.abi
        0, // regs_user.abi, or regs_user.values
    ];
    let attr = counters_attr(BranchSampleType::COUNTERS);
    assert_eq!(counters(&attr, &words), (Some(vec![2]), Some(true), 2));
    let attr = counters_attr(BranchSampleType(0));
    assert_eq!(counters(&attr, &words), (None, Some(false), 2));
}

#[test]
fn branch_counters_of_no_entries() {
    let words = [
        0, // branch_stack.nr
        0, // regs_user.abi
    ];
    assert_eq!(counters(&counters_attr(BranchSampleType::COUNTERS), &words), (None, None, 1));
}

#[test]
fn regs_of_abi_0() {
    let user = Attr { sample_regs_user: 0b11, ..attr(SampleType::REGS_USER) };
    let intr = Attr { sample_regs_intr: 0b11, ..attr(SampleType::REGS_INTR) };

    let words = [
        0, // abi
    ];
    let absent = (Some(Regs { abi: 0, values: vec![] }), Some(false), 1);
    assert_eq!(outcome!(sample(&user, USER, &words), regs_user, regs_user), absent);
    assert_eq!(outcome!(sample(&intr, USER, &words), regs_intr, regs_intr), absent);

    let words = [
        0,    // abi
        0x11, // values
        0x22, // values
    ];
    let there = (Some(Regs { abi: 0, values: vec![0x11, 0x22] }), Some(true), 1);
    assert_eq!(outcome!(sample(&user, USER, &words), regs_user, regs_user), there);
    assert_eq!(outcome!(sample(&intr, USER, &words), regs_intr, regs_intr), there);
}

#[test]
fn regs_of_abi_0_and_an_empty_mask() {
    let words = [
        0, // abi
    ];
    let expected = (Some(Regs { abi: 0, values: vec![] }), None, 1);
    let user = attr(SampleType::REGS_USER);
    assert_eq!(outcome!(sample(&user, USER, &words), regs_user, regs_user), expected);
    let intr = attr(SampleType::REGS_INTR);
    assert_eq!(outcome!(sample(&intr, USER, &words), regs_intr, regs_intr), expected);
}

/// If several parts are ambiguous, the earlier ones keep their preferred reading longer.
#[test]
fn the_last_part_varies_first() {
    let attr = Attr {
        sample_regs_user: 1,
        sample_regs_intr: 1,
        ..attr(SampleType::REGS_USER | SampleType::REGS_INTR)
    };
    let words = [
        0, // regs_user.abi
        0, // regs_intr.abi, or regs_user.values
        0, // regs_intr.values, or regs_intr.abi
    ];
    let sample = sample(&attr, USER, &words).unwrap();
    assert_eq!(sample.regs_user, Some(Regs { abi: 0, values: vec![] }));
    assert_eq!(sample.regs_intr, Some(Regs { abi: 0, values: vec![0] }));
    let expected = Readings { regs_user: Some(false), regs_intr: Some(true), fits: 2, ..Readings::default() };
    assert_eq!(sample.readings, expected);
}

const EMPTY_STACK: Stack = Stack { size: 0, data: Vec::new(), dyn_size: None };

#[test]
fn stack_of_no_bytes() {
    let attr = attr(SampleType::STACK_USER | SampleType::DATA_SRC | SampleType::CODE_PAGE_SIZE);
    let plain = [
        0,    // stack_user.size
        0x21, // data_src
        4096, // code_page_size
    ];
    for misc in [KERNEL, USER] {
        let sample = sample(&attr, misc, &plain).unwrap();
        assert_eq!(sample.stack_user, Some(EMPTY_STACK));
        assert_eq!((sample.data_src, sample.code_page_size), (Some(0x21), Some(4096)));
        assert_eq!((sample.readings.stack_stray, sample.readings.fits), (Some(false), 1));
    }

    let both = [
        0,    // stack_user.size
        0,    // the stray word, or data_src
        4096, // data_src with code_page_size cut off, or code_page_size
    ];
    let result = sample(&attr, USER, &both).unwrap();
    assert_eq!(result.stack_user, Some(EMPTY_STACK));
    assert_eq!((result.data_src, result.code_page_size), (Some(4096), None));
    assert_eq!((result.readings.stack_stray, result.readings.fits), (Some(true), 2));
    let result = sample(&attr, KERNEL, &both).unwrap();
    assert_eq!((result.data_src, result.code_page_size), (Some(0), Some(4096)));
    assert_eq!((result.readings.stack_stray, result.readings.fits), (Some(false), 2));
}

/// Only the CPU mode in `misc` counts, not the other bits.
#[test]
fn stack_of_no_bytes_by_cpu_mode() {
    let attr = attr(SampleType::STACK_USER | SampleType::DATA_SRC);
    let both = [
        0, // stack_user.size
        0, // the stray word with data_src cut off, or data_src
    ];
    for (misc, stray) in [(0, false), (1, false), (2, true), (3, false), (5, false), (0x4002, true)] {
        let expected = (if stray { None } else { Some(0) }, Some(stray), 2);
        assert_eq!(outcome!(sample(&attr, misc, &both), data_src, stack_stray), expected, "{misc:#x}");
    }
}

/// `regs_user` takes precedence over `misc` in showing whether the task has user registers.
#[test]
fn stack_of_no_bytes_by_regs_user() {
    let attr = Attr {
        sample_regs_user: 1,
        ..attr(SampleType::REGS_USER | SampleType::STACK_USER | SampleType::DATA_SRC)
    };
    let of_user = [
        2,    // regs_user.abi
        0x11, // regs_user.values
        0,    // stack_user.size
        0,    // the stray word with data_src cut off, or data_src
    ];
    let stray = (None, Some(true), 2);
    assert_eq!(outcome!(sample(&attr, KERNEL, &of_user), data_src, stack_stray), stray);
    let of_kernel_thread = [
        0, // regs_user.abi
        0, // stack_user.size
        0, // data_src, or the stray word
    ];
    let plain = (Some(0), Some(false), 2);
    assert_eq!(outcome!(sample(&attr, USER, &of_kernel_thread), data_src, stack_stray), plain);
}

/// If only one reading of the stack fits, it is taken for every CPU mode.
#[test]
fn stack_of_no_bytes_with_aux() {
    let attr = attr(SampleType::STACK_USER | SampleType::DATA_SRC | SampleType::AUX);
    let aux = |words: &[u64]| outcome!(sample(&attr, KERNEL, words), aux, stack_stray);
    let data_cut = [
        0,        // stack_user.size
        0,        // the stray word
        0x21,     // data_src
        16,       // aux.size
        u64::MAX, // aux.data, of which the second half is cut off
    ];
    assert_eq!(aux(&data_cut), (Some(vec![0xff; 8]), Some(true), 1));
    let all_data_cut = [
        0,    // stack_user.size
        0,    // the stray word
        0x21, // data_src
        8,    // aux.size, its data being cut off
    ];
    assert_eq!(aux(&all_data_cut), (Some(vec![]), Some(true), 1));
    let size_cut = [
        0,    // stack_user.size
        0,    // the stray word
        0x21, // data_src, aux.size being cut off
    ];
    assert_eq!(aux(&size_cut), (None, Some(true), 1));
    let not_cut = [
        0, // stack_user.size
        0, // data_src
        8, // aux.size
        0, // aux.data
    ];
    let plain = outcome!(sample(&attr, USER, &not_cut), aux, stack_stray);
    assert_eq!(plain, (Some(vec![0; 8]), Some(false), 1));
}

/// AUX data of less than 8 bytes cannot contain the 8 bytes that are cut off.
#[test]
fn stack_of_no_bytes_with_little_aux() {
    let attr = attr(SampleType::STACK_USER | SampleType::AUX);
    let words = [
        0, // stack_user.size
        0, // stray
        4, // aux.size
    ];
    assert!(sample(&attr, USER, &words).is_err());
}

#[test]
fn stack_of_no_bytes_with_regs_intr() {
    let attr = Attr { sample_regs_intr: 0b11, ..attr(SampleType::STACK_USER | SampleType::REGS_INTR) };
    let words = [
        0,    // stack_user.size
        0,    // the stray word, or regs_intr.abi
        2,    // regs_intr.abi, or regs_intr.values
        0x11, // regs_intr.values, of which the second is cut off or not
    ];
    let stray = (Some(Regs { abi: 2, values: vec![0x11] }), Some(true), 2);
    assert_eq!(outcome!(sample(&attr, USER, &words), regs_intr, stack_stray), stray);
    let plain = (Some(Regs { abi: 0, values: vec![2, 0x11] }), Some(false), 2);
    assert_eq!(outcome!(sample(&attr, KERNEL, &words), regs_intr, stack_stray), plain);

    let abi_cut = [
        0, // stack_user.size
        0, // the stray word, regs_intr.abi being cut off
    ];
    assert_eq!(outcome!(sample(&attr, USER, &abi_cut), regs_intr, stack_stray), (None, Some(true), 2));
}

/// Each field that can be the last one is `None` if it is cut off.
#[test]
fn stack_of_no_bytes_and_any_last_field() {
    let fields = [
        SampleType::WEIGHT,
        SampleType::WEIGHT_STRUCT,
        SampleType::DATA_SRC,
        SampleType::TRANSACTION,
        SampleType::REGS_INTR,
        SampleType::PHYS_ADDR,
        SampleType::CGROUP,
        SampleType::DATA_PAGE_SIZE,
        SampleType::CODE_PAGE_SIZE,
        SampleType::AUX,
    ];
    let words = [
        0, // stack_user.size
        0, // the stray word
    ];
    for field in fields {
        let readings = Readings { stack_stray: Some(true), fits: 2, ..Readings::default() };
        let expected = Sample { stack_user: Some(EMPTY_STACK), readings, ..Sample::default() };
        let attr = attr(SampleType::STACK_USER | field);
        assert_eq!(sample(&attr, USER, &words), Ok(expected), "{field:?}");
    }
}

/// The stray word itself is cut off if no field follows the stack.
#[test]
fn stack_of_no_bytes_at_the_end() {
    let attr = attr(SampleType::STACK_USER);
    let words = [
        0, // stack_user.size
    ];
    let expected = (Some(EMPTY_STACK), Some(false), 1);
    assert_eq!(outcome!(sample(&attr, USER, &words), stack_user, stack_stray), expected);
    assert!(sample(&attr, USER, &[0, 0]).is_err());
}

/// If an attr requests a stack and there is none, the kernel writes a plain zero.
#[test]
fn stack_of_no_bytes_though_asked_for() {
    let attr = Attr {
        sample_stack_user: 8,
        ..attr(SampleType::STACK_USER | SampleType::DATA_SRC | SampleType::CGROUP)
    };
    let words = [
        0,    // stack_user.size
        0,    // data_src
        0x2a, // cgroup
    ];
    assert_eq!(outcome!(sample(&attr, USER, &words), cgroup, stack_stray), (Some(0x2a), None, 1));
}

/// The evidence for the stray word does not outweigh the preferred reading of an earlier part.
#[test]
fn stack_of_no_bytes_after_hw_idx() {
    let attr = Attr {
        branch_sample_type: BranchSampleType::HW_INDEX,
        sample_regs_intr: 1,
        ..attr(
            SampleType::BRANCH_STACK | SampleType::STACK_USER | SampleType::DATA_SRC | SampleType::REGS_INTR,
        )
    };
    // Without hw_idx these words could also be: size, stray, data_src, abi and a register that is cut off; or
    // size, data_src, abi 9 and its register. Bit 4 of an ABI would be that of vector registers.
    let words = [
        0, // branch_stack.nr
        0, // branch_stack.hw_idx
        0, // stack_user.size
        9, // data_src
        0, // regs_intr.abi
    ];
    let sample = sample(&attr, USER, &words).unwrap();
    let expected = Readings {
        hw_idx: Some(true),
        stack_stray: Some(false),
        regs_intr: Some(false),
        fits: 3,
        ..Readings::default()
    };
    assert_eq!((sample.data_src, sample.readings), (Some(9), expected));
}

/// The values of `prot`, `flags` and `filename`.
type Mmap2Tail = (Option<u32>, Option<u32>, Vec<u8>);

/// Decodes an MMAP2 record whose words from `prot` on are `words`.
fn mmap2(misc: u16, words: &[u64], big: bool) -> Result<Mmap2Tail, String> {
    let head = [
        0, // pid, tid
        0, // addr
        0, // len
        0, // pgoff
        0, // maj, min
        0, // ino
        0, // ino_generation
    ];
    let bytes = words_record(10, misc, &[&head, words].concat(), big);
    match record(&Attr::default(), big, &bytes)?.body {
        Body::Mmap2 { prot, flags, filename, .. } => Ok((prot, flags, filename)),
        body => panic!("{body:?}"),
    }
}

#[test]
fn mmap2_layout() {
    let name = u64::from_le_bytes(*b"/bin/ls\0");
    let with_prot = |prot: u64| [2 << 32 | prot, name];
    // `perf inject --jit` stores the mode of the file, simpleperf 0x4000.
    for prot in [5, 0xff, 0x100, 0x4000, 0x6261, 0x81a4] {
        let current = Ok((Some(prot as u32), Some(2), b"/bin/ls".to_vec()));
        assert_eq!(mmap2(USER, &with_prot(prot), false), current);
    }
    // A path takes the place of the protection, of the flags, and of the path.
    let path = [*b"/usr/bin", *b"/cat\0\0\0\0"].map(u64::from_le_bytes);
    assert_eq!(mmap2(USER, &path, false), Ok((None, None, b"/usr/bin/cat".to_vec())));
    // Neither a path nor a protection: one character and an empty path.
    let words = [u64::from_le_bytes(*b"a\0\0\0\0\0\0\0"), 0];
    assert_eq!(mmap2(USER, &words, false), Ok((Some(0x61), Some(0), Vec::new())));
    // With a build id it is the current layout, whatever value `prot` has.
    let current = Ok((Some(0x6261), Some(2), b"/bin/ls".to_vec()));
    assert_eq!(mmap2(0x4002, &with_prot(0x6261), false), current);
}

/// A name of one character looks like a small `prot`, but no name would follow.
#[test]
fn mmap2_before_3_16_with_a_short_name() {
    let words = [
        u64::from_le_bytes(*b"a\0\0\0\0\0\0\0"), // filename
    ];
    assert_eq!(mmap2(USER, &words, false), Ok((None, None, b"a".to_vec())));
    let words = [
        u64::from_be_bytes(*b"a\0\0\0\0\0\0\0"), // filename
    ];
    assert_eq!(mmap2(USER, &words, true), Ok((None, None, b"a".to_vec())));
    let words = [
        0, // an empty filename
    ];
    assert_eq!(mmap2(USER, &words, false), Ok((None, None, Vec::new())));
    assert!(mmap2(0x4002, &words, false).is_err());
}
