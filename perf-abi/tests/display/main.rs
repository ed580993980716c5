//! The display of values: names where they have them, numbers where not, and nothing lost.

use perf_abi::attr::{AttrFlags, AuxAction};
use perf_abi::aux_area::{AuxFlags, AuxFormat};
use perf_abi::branch::{BranchFlags, BranchNewType, BranchType};
use perf_abi::callchain::CallchainContext;
use perf_abi::data_src::{DataSrc, MemLvl, MemLvlNum, MemOp, MemSnoop};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::mmap_page::Capabilities;
use perf_abi::record::{CpuMode, Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_abi::weight::WeightStruct;

#[test]
fn a_code_prints_as_its_name_or_its_number() {
    assert_eq!(EventType::SOFTWARE.to_string(), "SOFTWARE");
    assert_eq!(EventType(8).to_string(), "8");
    assert_eq!(format!("{:?}", EventType::SOFTWARE), "EventType(SOFTWARE)");
    assert_eq!(format!("{:?}", EventType(8)), "EventType(8)");
    assert_eq!(format!("[{:<8}]", EventType::RAW), "[RAW     ]");
    assert_eq!(format!("[{:>8}]", EventType(8)), "[       8]");
    assert_eq!(RecordType(4242).to_string(), "4242");
    assert_eq!(Feature(200).to_string(), "200");
    assert_eq!(EventType(8).name(), None);
    assert_eq!(CallchainContext(u64::MAX).to_string(), u64::MAX.to_string());
    assert_eq!(CallchainContext::of(u64::MAX), Some(CallchainContext(u64::MAX)));
    assert_eq!(CallchainContext::of(CallchainContext::MAX - 1), None);
}

#[test]
fn flags_print_as_their_names_joined_and_what_is_left_in_hexadecimal() {
    let flags = SampleType::IP | SampleType::CALLCHAIN;
    assert_eq!(flags.to_string(), "IP|CALLCHAIN");
    assert_eq!(format!("{flags:?}"), "SampleType(IP|CALLCHAIN)");
    assert_eq!(SampleType::NONE.to_string(), "0x0");
    assert_eq!(SampleType(1 << 63).to_string(), "0x8000000000000000");
    assert_eq!((flags | SampleType(1 << 40)).to_string(), "IP|CALLCHAIN|0x10000000000");
    assert_eq!(AuxAction(1 | 1 << 31).to_string(), "START_PAUSED|0x80000000");
    assert_eq!(
        Capabilities(0x1e | 1 << 6).to_string(),
        "BIT0_IS_DEPRECATED|USER_RDPMC|USER_TIME|USER_TIME_ZERO|0x40"
    );
}

#[test]
fn fields_print_by_name_behind_the_flags() {
    let flags = AttrFlags::DISABLED.with_precise_ip(2);
    assert_eq!(flags.to_string(), "DISABLED precise_ip=2");
    assert_eq!(AttrFlags::NONE.with_precise_ip(3).to_string(), "precise_ip=3");
    let branch = BranchFlags::MISPRED
        .with_cycles(9)
        .with_kind(BranchType::EXTEND_ABI)
        .with_new_type(BranchNewType(14));
    assert_eq!(branch.to_string(), "MISPRED cycles=9 type=EXTEND_ABI new_type=14");
    assert_eq!(BranchFlags(branch.0 | 1 << 40).to_string(), format!("{branch} 0x10000000000"));
    assert_eq!(WeightStruct(7 << 32 | 5).to_string(), "var1_dw=5 var2_w=7");
    assert_eq!(DataSrc::NA.to_string(), "op=NA lvl=NA snoop=NA lock=NA dtlb=NA lvl_num=NA");
    let source = DataSrc::NONE
        .with_op(MemOp::LOAD)
        .with_lvl(MemLvl::HIT | MemLvl::L2)
        .with_snoop(MemSnoop::NO_SNOOP)
        .with_lvl_num(MemLvlNum::L2);
    assert_eq!(format!("{source:?}"), "DataSrc(op=LOAD lvl=HIT|L2 snoop=NO_SNOOP lvl_num=L2)");
    assert_eq!(DataSrc(1 << 51).to_string(), "0x8000000000000");
    assert_eq!(
        AuxFlags::TRUNCATED.with_pmu_format_type(AuxFormat::RAW).to_string(),
        "TRUNCATED pmu_format_type=RAW"
    );
}

#[test]
fn a_setter_touches_its_field_alone_and_drops_what_does_not_fit() {
    let all = AttrFlags(u64::MAX);
    assert_eq!(all.with_precise_ip(0).0, !(3 << 15));
    assert_eq!(AttrFlags::NONE.with_precise_ip(0xff).0, 3 << 15);
    assert_eq!(DataSrc(u64::MAX).with_lvl(MemLvl(0)).0, !(0x3fff << 5));
}

#[test]
fn sets_of_flags() {
    let both = SampleType::IP | SampleType::TIME;
    assert!(both.contains(SampleType::IP) && both.contains(both) && both.contains(SampleType::NONE));
    assert!(!both.contains(SampleType::IP | SampleType::TID));
    assert!(both.intersects(SampleType::IP | SampleType::TID) && !both.intersects(SampleType::TID));
    assert_eq!(both.without(SampleType::IP), SampleType::TIME);
    let mut set = SampleType::NONE;
    set |= SampleType::IP;
    assert_eq!(set, SampleType::IP);
    assert_eq!(SampleType::KNOWN.0, SampleType::MAX - 1);
    assert_eq!(SampleType(1 << 25 | 1).unknown(), 1 << 25);
    assert_eq!(u64::from(SampleType::from(5)), 5);
}

#[test]
fn misc_bits_are_named_by_the_type_of_the_record() {
    let names = |misc: Misc, kind| misc.names(kind).to_string();
    assert_eq!(names(Misc::from(CpuMode::USER) | Misc::EXACT_IP, RecordType::SAMPLE), "USER|EXACT_IP");
    assert_eq!(names(Misc(0), RecordType::SAMPLE), "0x0");
    assert_eq!(names(Misc(6), RecordType::SAMPLE), "CPUMODE_6");
    assert_eq!(names(Misc(0x6000), RecordType::SWITCH), "SWITCH_OUT|SWITCH_OUT_PREEMPT");
    assert_eq!(names(Misc(0x6000), RecordType::SWITCH_CPU_WIDE), "SWITCH_OUT|SWITCH_OUT_PREEMPT");
    assert_eq!(names(Misc(0x6000), RecordType::LOST), "0x6000");
    assert_eq!(names(Misc(0x7002), RecordType::MMAP2), "USER|PROC_MAP_PARSE_TIMEOUT|MMAP_DATA|MMAP_BUILD_ID");
    assert_eq!(names(Misc(0x7002), RecordType::MMAP), "USER|MMAP_DATA|0x5000");
    assert_eq!(names(Misc(0x2000), RecordType::COMM), "COMM_EXEC");
    assert_eq!(names(Misc(0x2000), RecordType::FORK), "FORK_EXEC");
    assert_eq!(names(Misc(0x2000), RecordType::EXIT), "0x2000");
    assert_eq!(names(Misc(0x8001), RecordType::HEADER_BUILD_ID), "KERNEL|BUILD_ID_SIZE");
    assert_eq!(names(Misc(0x8000), RecordType::LOST_SAMPLES), "LOST_SAMPLES_BPF");
    assert_eq!(names(Misc(0xfff8), RecordType(99)), "0xfff8");
    assert_eq!(names(Misc(0x0ff9), RecordType::SAMPLE), "KERNEL|0xff8");
    assert_eq!(format!("{:?}", Misc(0x4002)), "Misc(0x4002)");
}

#[test]
fn every_bit_of_misc_is_printed_once() {
    for kind in (0..100).map(RecordType) {
        for bit in 3..16 {
            let misc = Misc(1 << bit);
            let printed = misc.names(kind).to_string();
            let number = printed.strip_prefix("0x").map(|hex| u16::from_str_radix(hex, 16).unwrap());
            assert_eq!(number, Misc::bit_name(kind, bit).is_none().then_some(misc.0), "{kind} bit {bit}");
        }
    }
}
