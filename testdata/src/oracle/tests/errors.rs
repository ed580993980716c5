//! Records that the oracle refuses, and the reasons it gives.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use super::{attr, sample, words_record};
use crate::oracle::*;

/// Checks that the error starts with `what`.
#[track_caller]
fn refused<T: core::fmt::Debug>(result: Result<T, String>, what: &str) {
    match result {
        Err(error) if error.starts_with(what) => {}
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn header() {
    let attr = Attr::default();
    refused(record(&attr, false, &[]), "header.type");
    refused(record(&attr, false, &[14, 0, 0, 0, 0]), "header.misc");
    refused(record(&attr, false, &[14, 0, 0, 0, 0, 0, 8]), "header.size: 2 bytes needed");
    refused(record(&attr, false, &[14, 0, 0, 0, 0, 0, 7, 0]), "header.size: 7, but");
    refused(record(&attr, false, &[14, 0, 0, 0, 0, 0, 16, 0]), "header.size: 16, but");
    refused(record(&attr, true, &[0, 0, 0, 14, 0, 0, 8, 0]), "header.size: 2048, but");
}

#[test]
fn unknown_sample_type() {
    for bit in [25, 63] {
        refused(sample(&attr(SampleType(1 << bit)), 0, &[]), "attr.sample_type");
    }
}

#[test]
fn both_weights() {
    let both = SampleType::WEIGHT | SampleType::WEIGHT_STRUCT;
    refused(sample(&attr(both), 0, &[0]), "attr.sample_type: WEIGHT and");
}

/// Unknown bits of `read_format` matter only if the record has counter values.
#[test]
fn unknown_read_format() {
    let of = |sample_type| Attr { read_format: ReadFormat(1 << 5), ..attr(sample_type) };
    refused(sample(&of(SampleType::READ), 0, &[1]), "attr.read_format");
    refused(record(&of(SampleType::IP), false, &words_record(8, 0, &[0, 1], false)), "attr.read_format");
    assert_eq!(sample(&of(SampleType::IP), 0, &[0x401000]).unwrap().ip, Some(0x401000));
}

#[test]
fn sample_residue_and_shortage() {
    let fields = [
        (SampleType::IDENTIFIER, "identifier"),
        (SampleType::IP, "ip"),
        (SampleType::TID, "pid"),
        (SampleType::TIME, "time"),
        (SampleType::ADDR, "addr"),
        (SampleType::ID, "id"),
        (SampleType::STREAM_ID, "stream_id"),
        (SampleType::CPU, "cpu"),
        (SampleType::PERIOD, "period"),
        (SampleType::READ, "read.value"),
        (SampleType::CALLCHAIN, "callchain.nr"),
        (SampleType::RAW, "raw.size"),
        (SampleType::BRANCH_STACK, "branch_stack.nr"),
        (SampleType::REGS_USER, "regs.abi"),
        (SampleType::STACK_USER, "stack_user.size"),
        (SampleType::WEIGHT, "weight"),
        (SampleType::WEIGHT_STRUCT, "weight_struct"),
        (SampleType::DATA_SRC, "data_src"),
        (SampleType::TRANSACTION, "transaction"),
        (SampleType::REGS_INTR, "regs.abi"),
        (SampleType::PHYS_ADDR, "phys_addr"),
        (SampleType::CGROUP, "cgroup"),
        (SampleType::DATA_PAGE_SIZE, "data_page_size"),
        (SampleType::CODE_PAGE_SIZE, "code_page_size"),
        (SampleType::AUX, "aux.size"),
    ];
    for (field, name) in fields {
        let attr = Attr { sample_stack_user: 8, ..attr(field) };
        refused(sample(&attr, 0, &[]), name);
        if field == SampleType::RAW {
            continue; // A zero word is 4 bytes of size 0, and 4 left over.
        }
        assert!(sample(&attr, 0, &[0]).is_ok(), "{name}");
        refused(sample(&attr, 0, &[0, 0]), "8 bytes left over");
    }
    refused(sample(&attr(SampleType::RAW), 0, &[0]), "4 bytes left over");
}

/// Counts and sizes that need more bytes than the record has, up to the largest value.
#[test]
fn counts_that_do_not_fit() {
    let group = Attr { read_format: ReadFormat::GROUP, ..attr(SampleType::READ) };
    let hw_index = Attr { branch_sample_type: BranchSampleType::HW_INDEX, ..attr(SampleType::BRANCH_STACK) };
    for nr in [2, u64::MAX / 8 + 1, u64::MAX] {
        refused(sample(&group, 0, &[nr, 1]), "read.value");
        refused(sample(&attr(SampleType::CALLCHAIN), 0, &[nr, 1]), "callchain.ips");
        refused(sample(&attr(SampleType::BRANCH_STACK), 0, &[nr, 1, 1, 1]), "branch_stack.from");
        refused(sample(&hw_index, 0, &[nr, 1, 1, 1, 1]), "branch_stack.from");
        refused(record(&Attr::default(), false, &words_record(16, 0, &[0, nr, 1, 1], false)), "dev");
        refused(record(&Attr::default(), false, &words_record(22, 0, &[0, nr, 1], false)), "ips");
    }
    for size in [9, u64::MAX / 2, u64::MAX - 7, u64::MAX] {
        refused(sample(&attr(SampleType::STACK_USER), 0, &[size, 1]), "stack_user.data");
        refused(sample(&attr(SampleType::AUX), 0, &[size, 1]), "aux.data");
    }
    refused(sample(&attr(SampleType::STACK_USER), 0, &[8, 1]), "stack_user.dyn_size");
    refused(sample(&attr(SampleType::RAW), 0, &[u64::from_ne_bytes([0xff; 8])]), "raw.data");
    let regs = Attr { sample_regs_user: 0b11, ..attr(SampleType::REGS_USER) };
    refused(sample(&regs, 0, &[2, 1]), "regs.values");
}

/// If the stray word is not zero, only the plain reading remains, which has one word too many here.
#[test]
fn stray_word_that_is_not_0() {
    refused(sample(&attr(SampleType::STACK_USER), 0, &[0, 1]), "8 bytes left over");
    refused(sample(&attr(SampleType::STACK_USER), 2, &[0, 1]), "stack_user: the stray word");
}

/// The error is the one of the preferred reading.
#[test]
fn no_reading_fits() {
    let attr = Attr { sample_regs_user: 0b11, ..attr(SampleType::REGS_USER) };
    refused(sample(&attr, 0, &[0, 1]), "8 bytes left over");
}

#[test]
fn strings_without_nul() {
    let letters = u64::from_ne_bytes([b'a'; 8]);
    let strings = [
        (1, 4, "filename"),  // MMAP
        (3, 1, "comm"),      // COMM
        (10, 8, "filename"), // MMAP2
        (10, 7, "filename"), // MMAP2 before 3.16
        (17, 2, "name"),     // KSYMBOL
        (19, 1, "path"),     // CGROUP
    ];
    for (kind, words_before, field) in strings {
        let mut words = vec![0; words_before];
        words.push(letters);
        for big in [false, true] {
            let with = |words: &[u64]| record(&Attr::default(), big, &words_record(kind, 0, words, big));
            refused(with(&words), &format!("{field}: no NUL"));
            refused(with(&words[..words_before.min(7)]), &format!("{field}: no NUL"));
            words.push(0);
            assert!(with(&words).is_ok(), "{kind}");
            words.pop();
        }
    }
}

#[test]
fn padding_of_a_string_is_ignored() {
    let bytes = [
        3, 0, 0, 0, // type: COMM
        0, 0, // misc
        24, 0, // size
        1, 0, 0, 0, // pid
        2, 0, 0, 0, // tid
        b'l', b's', 0, b'x', 0, b'y', b'z', 0xff, // comm
    ];
    let expected = Body::Comm { pid: 1, tid: 2, comm: b"ls".to_vec() };
    assert_eq!(record(&Attr::default(), false, &bytes).map(|record| record.body), Ok(expected));
}

/// A string ends before the trailer: zeros in the trailer do not count as its NUL.
#[test]
fn nul_in_the_trailer() {
    let attr = Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(SampleType::TIME) };
    let words = [
        0,                             // pid, tid
        u64::from_ne_bytes([b'a'; 8]), // comm
        0,                             // sample_id.time
    ];
    refused(record(&attr, false, &words_record(3, 0, &words, false)), "comm: no NUL");
}

#[test]
fn trailer_too_short() {
    let attr =
        Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(SampleType::TIME | SampleType::TID | SampleType::IP) };
    let words = [
        0, // sample_id.pid, tid
    ];
    for kind in [0, 14, 23, 63] {
        refused(record(&attr, false, &words_record(kind, 0, &words, false)), "sample_id: a payload of 8");
    }
}

#[test]
fn text_poke_padding() {
    let poke = |size: u8, padding: &[u8]| {
        let mut bytes = vec![
            20, 0, 0, 0, // type: TEXT_POKE
            1, 0, // misc: KERNEL
            size, 0, // size
            0, 0, 0, 0, 0, 0, 0, 0, // addr
            1, 0, // old_len
            2, 0,    // new_len
            0xcc, // old
            0xeb, 0xfe, // new
        ];
        bytes.extend(padding);
        record(&Attr::default(), false, &bytes)
    };
    assert!(poke(24, &[0]).is_ok());
    refused(poke(23, &[]), "padding");
    refused(poke(32, &[0; 9]), "8 bytes left over");
}

/// The payload of the perf tool's records is not decoded, and they have no trailer.
#[test]
fn user_records() {
    let attr = Attr { flags: AttrFlags::SAMPLE_ID_ALL, ..attr(SampleType::TIME) };
    for kind in [64, 81, 86, u32::MAX] {
        let mut bytes = words_record(kind, 0, &[], false);
        assert_eq!(record(&attr, false, &bytes).unwrap().body, Body::Other(vec![]));
        bytes.extend([1, 2, 3]);
        bytes[6] = 11;
        let expected = Record { kind, misc: 0, size: 11, body: Body::Other(vec![1, 2, 3]), sample_id: None };
        assert_eq!(record(&attr, false, &bytes), Ok(expected));
    }
}
