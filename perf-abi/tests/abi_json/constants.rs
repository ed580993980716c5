//! Every C constant has a Rust constant of the same value, and every C name that Rust gives exists in C.

use std::collections::{BTreeMap, BTreeSet};

use perf_abi::Name;
use perf_abi::attr::{AttrFlags, AttrVersion, AuxAction};
use perf_abi::aux_area::{AuxFlags, AuxFormat};
use perf_abi::auxtrace::{self, *};
use perf_abi::branch::*;
use perf_abi::breakpoint::{BreakpointLen, BreakpointType};
use perf_abi::callchain::{self, CallchainContext};
use perf_abi::data_src::*;
use perf_abi::event::{self, *};
use perf_abi::feature::Feature;
use perf_abi::file::{self, CompressType, DirVersion, HeaderVersion};
use perf_abi::ioctl::{Encoding, IocFlags, PointerWidth, Request};
use perf_abi::ksymbol::{self, *};
use perf_abi::mmap_page::Capabilities;
use perf_abi::namespaces::NamespaceIndex;
use perf_abi::open::OpenFlags;
use perf_abi::read_format::ReadFormat;
use perf_abi::record::{self, *};
use perf_abi::regs::RegsAbi;
use perf_abi::sample_type::SampleType;
use perf_abi::txn::Txn;

use crate::{Facts, none};

/// The names of the types that list their constants.
pub(crate) const LISTED: &[&[Name]] = &[
    ArmSpeCpuWord::NAMES,
    ArmSpeHeaderWord::NAMES,
    ArmSpeWord::NAMES,
    AttrFlags::NAMES,
    AttrVersion::NAMES,
    AuxAction::NAMES,
    AuxFlags::NAMES,
    AuxtraceErrorType::NAMES,
    AuxtraceType::NAMES,
    BpfEventType::NAMES,
    BranchFlags::NAMES,
    BranchNewType::NAMES,
    BranchPriv::NAMES,
    BranchSampleShift::NAMES,
    BranchSampleType::NAMES,
    BranchSpec::NAMES,
    BranchType::NAMES,
    BreakpointLen::NAMES,
    BreakpointType::NAMES,
    CallchainContext::NAMES,
    Capabilities::NAMES,
    CompressType::NAMES,
    CpuMapType::NAMES,
    CpuMode::NAMES,
    CsBlockWord::NAMES,
    CsEteWord::NAMES,
    CsEtmv3Exception::NAMES,
    CsEtmv3Word::NAMES,
    CsEtmv4Exception::NAMES,
    CsEtmv4Word::NAMES,
    CsMagic::NAMES,
    CsWord::NAMES,
    DataSrc::NAMES,
    DirVersion::NAMES,
    EventType::NAMES,
    EventUpdateType::NAMES,
    Feature::NAMES,
    HeaderVersion::NAMES,
    HwCacheId::NAMES,
    HwCacheOpId::NAMES,
    HwCacheOpResultId::NAMES,
    HwId::NAMES,
    IntelBtsWord::NAMES,
    IntelPtWord::NAMES,
    IocFlags::NAMES,
    ItracePeriod::NAMES,
    KsymbolFlags::NAMES,
    KsymbolType::NAMES,
    MemBlk::NAMES,
    MemHops::NAMES,
    MemLock::NAMES,
    MemLvl::NAMES,
    MemLvlNum::NAMES,
    MemOp::NAMES,
    MemRegion::NAMES,
    MemRemote::NAMES,
    MemSnoop::NAMES,
    MemSnoopx::NAMES,
    MemTlb::NAMES,
    NamespaceIndex::NAMES,
    OpenFlags::NAMES,
    ReadFormat::NAMES,
    RecordType::NAMES,
    RegsAbi::NAMES,
    SampleType::NAMES,
    SimpleperfChainType::NAMES,
    SimpleperfDsoType::NAMES,
    SimpleperfUnwindError::NAMES,
    StatConfigTerm::NAMES,
    StatRoundType::NAMES,
    SwId::NAMES,
    SynthId::NAMES,
    Txn::NAMES,
    VpaDtlWord::NAMES,
];

/// The constants that no type lists: bounds, masks, aliases, bits whose meaning depends on a record's type.
fn unlisted() -> Vec<(&'static str, u64)> {
    fn misc(bits: Misc) -> u64 {
        bits.0.into()
    }
    let mut all = vec![
        ("BPF_METADATA_KEY_LEN", record::BPF_METADATA_KEY_LEN as u64),
        ("BPF_METADATA_VALUE_LEN", record::BPF_METADATA_VALUE_LEN as u64),
        ("BPF_PROG_NAME_LEN", record::BPF_PROG_NAME_LEN as u64),
        ("DOMAIN_NAME_LEN", record::DOMAIN_NAME_LEN as u64),
        ("KSYM_NAME_LEN", ksymbol::NAME_LEN as u64),
        ("MAX_AUXTRACE_ERROR_MSG", record::MAX_AUXTRACE_ERROR_MSG as u64),
        ("MAX_EVENT_NAME", record::MAX_EVENT_NAME as u64),
        ("MAX_ID_HDR_ENTRIES", record::MAX_ID_HDR_ENTRIES as u64),
        ("ARM_SPE_AUXTRACE_PRIV_MAX", ArmSpeHeaderWord::COUNT as u64),
        ("ARM_SPE_AUXTRACE_V1_PRIV_MAX", ArmSpeWord::COUNT as u64),
        ("ARM_SPE_CPU_PRIV_MAX", ArmSpeCpuWord::COUNT as u64),
        ("CS_ETE_PRIV_MAX", CsEteWord::COUNT as u64),
        ("CS_ETMV4_EXC_END", CsEtmv4Exception::END.into()),
        ("CS_ETMV4_PRIV_MAX", CsEtmv4Word::COUNT as u64),
        ("CS_ETM_COMMON_BLK_MAX_V1", CsBlockWord::COUNT as u64),
        ("CS_ETM_PRIV_MAX", CsEtmv3Word::COUNT as u64),
        ("CS_HEADER_VERSION_MAX", CsWord::COUNT as u64),
        ("FEAT_SIMPLEPERF_START", Feature::SIMPLEPERF_START.into()),
        ("HEADER_FEAT_BITS", Feature::FEAT_BITS.into()),
        ("HEADER_FIRST_FEATURE", Feature::FIRST.into()),
        ("HEADER_LAST_FEATURE", Feature::LAST.into()),
        ("HW_BREAKPOINT_EMPTY", BreakpointType::EMPTY.0.into()),
        ("HW_BREAKPOINT_INVALID", BreakpointType::INVALID.0.into()),
        ("HW_BREAKPOINT_RW", BreakpointType::RW.0.into()),
        ("INTEL_BTS_AUXTRACE_PRIV_MAX", IntelBtsWord::COUNT as u64),
        ("INTEL_PT_AUXTRACE_PRIV_MAX", IntelPtWord::COUNT as u64),
        ("NR_NAMESPACES", NamespaceIndex::COUNT.into()),
        ("PERF_AUXTRACE_ERROR_MAX", AuxtraceErrorType::MAX.into()),
        ("PERF_AUXTRACE_INDEX_ENTRY_COUNT", auxtrace::INDEX_ENTRY_COUNT as u64),
        ("PERF_AUXTRACE_RECORD_ALIGNMENT", auxtrace::RECORD_ALIGNMENT as u64),
        // In C a field of the flag word; in Rust the type of that field.
        ("PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT", format(AuxFormat::CORESIGHT)),
        ("PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW", format(AuxFormat::RAW)),
        ("PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK", AuxFlags::PMU_FORMAT_TYPE_MASK.0),
        ("PERF_BPF_EVENT_MAX", BpfEventType::MAX.into()),
        ("PERF_BRANCH_ENTRY_INFO_BITS_MAX", BranchFlags::INFO_BITS_MAX.into()),
        ("PERF_BR_ARM64_DEBUG_DATA", BranchNewType::ARM64_DEBUG_DATA.0.into()),
        ("PERF_BR_ARM64_DEBUG_EXIT", BranchNewType::ARM64_DEBUG_EXIT.0.into()),
        ("PERF_BR_ARM64_DEBUG_HALT", BranchNewType::ARM64_DEBUG_HALT.0.into()),
        ("PERF_BR_ARM64_DEBUG_INST", BranchNewType::ARM64_DEBUG_INST.0.into()),
        ("PERF_BR_ARM64_FIQ", BranchNewType::ARM64_FIQ.0.into()),
        ("PERF_BR_MAX", BranchType::MAX.into()),
        ("PERF_BR_NEW_MAX", BranchNewType::MAX.into()),
        ("PERF_BR_SPEC_MAX", BranchSpec::MAX.into()),
        ("PERF_COMP_MAX", CompressType::MAX.into()),
        ("PERF_CONTEXT_MAX", CallchainContext::MAX),
        ("PERF_COUNT_HW_CACHE_MAX", HwCacheId::MAX.into()),
        ("PERF_COUNT_HW_CACHE_OP_MAX", HwCacheOpId::MAX.into()),
        ("PERF_COUNT_HW_CACHE_RESULT_MAX", HwCacheOpResultId::MAX.into()),
        ("PERF_COUNT_HW_MAX", HwId::MAX.into()),
        ("PERF_COUNT_SW_MAX", SwId::MAX),
        ("PERF_FORMAT_MAX", ReadFormat::MAX),
        ("PERF_HW_EVENT_MASK", event::HW_EVENT_MASK),
        ("PERF_MAGIC_PERFILE2_LE_U64", file::MAGIC),
        ("PERF_MAGIC_PERFILE2_SWAPPED_U64", file::MAGIC_SWAPPED),
        ("PERF_MAX_CONTEXTS_PER_STACK", callchain::MAX_CONTEXTS_PER_STACK.into()),
        ("PERF_MAX_STACK_DEPTH", callchain::MAX_STACK_DEPTH.into()),
        ("PERF_MEM_BLK_SHIFT", DataSrc::BLK_SHIFT.into()),
        ("PERF_MEM_DATA_SRC_NONE", DataSrc::NA.0),
        ("PERF_MEM_HOPS_SHIFT", DataSrc::HOPS_SHIFT.into()),
        ("PERF_MEM_LOCK_SHIFT", DataSrc::LOCK_SHIFT.into()),
        ("PERF_MEM_LVLNUM_SHIFT", DataSrc::LVLNUM_SHIFT.into()),
        ("PERF_MEM_LVL_SHIFT", DataSrc::LVL_SHIFT.into()),
        ("PERF_MEM_NA", DataSrc::NA.0),
        ("PERF_MEM_OP_SHIFT", DataSrc::OP_SHIFT.into()),
        ("PERF_MEM_REGION_SHIFT", DataSrc::REGION_SHIFT.into()),
        ("PERF_MEM_REMOTE_SHIFT", DataSrc::REMOTE_SHIFT.into()),
        ("PERF_MEM_SNOOPX_SHIFT", DataSrc::SNOOPX_SHIFT.into()),
        ("PERF_MEM_SNOOP_SHIFT", DataSrc::SNOOP_SHIFT.into()),
        ("PERF_MEM_TLB_SHIFT", DataSrc::TLB_SHIFT.into()),
        ("PERF_PMU_TYPE_SHIFT", event::PMU_TYPE_SHIFT.into()),
        ("PERF_RECORD_HEADER_MAX", RecordType::HEADER_MAX.into()),
        ("PERF_RECORD_KSYMBOL_TYPE_MAX", KsymbolType::MAX.into()),
        ("PERF_RECORD_MAX", RecordType::MAX.into()),
        ("PERF_RECORD_MISC_BUILD_ID_SIZE", misc(Misc::BUILD_ID_SIZE)),
        ("PERF_RECORD_MISC_COMM_EXEC", misc(Misc::COMM_EXEC)),
        ("PERF_RECORD_MISC_CPUMODE_MASK", misc(Misc::CPUMODE_MASK)),
        ("PERF_RECORD_MISC_EXACT_IP", misc(Misc::EXACT_IP)),
        ("PERF_RECORD_MISC_EXT_RESERVED", misc(Misc::EXT_RESERVED)),
        ("PERF_RECORD_MISC_FORK_EXEC", misc(Misc::FORK_EXEC)),
        ("PERF_RECORD_MISC_LOST_SAMPLES_BPF", misc(Misc::LOST_SAMPLES_BPF)),
        ("PERF_RECORD_MISC_MMAP_BUILD_ID", misc(Misc::MMAP_BUILD_ID)),
        ("PERF_RECORD_MISC_MMAP_DATA", misc(Misc::MMAP_DATA)),
        ("PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT", misc(Misc::PROC_MAP_PARSE_TIMEOUT)),
        ("PERF_RECORD_MISC_SWITCH_OUT", misc(Misc::SWITCH_OUT)),
        ("PERF_RECORD_MISC_SWITCH_OUT_PREEMPT", misc(Misc::SWITCH_OUT_PREEMPT)),
        ("PERF_RECORD_USER_TYPE_START", RecordType::USER_TYPE_START.into()),
        ("PERF_SAMPLE_BRANCH_MAX", BranchSampleType::MAX),
        ("PERF_SAMPLE_BRANCH_MAX_SHIFT", BranchSampleType::MAX_SHIFT.into()),
        ("PERF_SAMPLE_BRANCH_PLM_ALL", BranchSampleType::PLM_ALL.0),
        ("PERF_SAMPLE_MAX", SampleType::MAX),
        ("PERF_SAMPLE_WEIGHT_TYPE", SampleType::WEIGHT_TYPE.0),
        ("PERF_STAT_CONFIG_TERM__MAX", StatConfigTerm::MAX),
        ("PERF_TXN_ABORT_MASK", Txn::ABORT_MASK.0),
        ("PERF_TXN_ABORT_SHIFT", Txn::ABORT_SHIFT.into()),
        ("PERF_TXN_MAX", Txn::MAX),
        ("PERF_TYPE_MAX", EventType::MAX.into()),
        ("SIMPLE_PERF_RECORD_TYPE_START", RecordType::SIMPLEPERF_TYPE_START.into()),
        ("VPADTL_AUXTRACE_PRIV_MAX", VpaDtlWord::COUNT as u64),
    ];
    // The constants are x86-64's; the ioctl tables hold the other machines'.
    let number = |request: Request| request.number(Encoding::Generic, PointerWidth::Bits64).into();
    all.extend(Request::ALL.map(|request| (request.c_name, number(request))));
    all
}

fn format(format: AuxFormat) -> u64 {
    AuxFlags::NONE.with_pmu_format_type(format).0
}

/// Every Rust constant by its C name.
fn rust_constants() -> BTreeMap<&'static str, u64> {
    let listed = LISTED.iter().copied().flatten().map(|name| (name.c_name, name.value));
    let mut all = BTreeMap::new();
    for (name, value) in listed.chain(unlisted()) {
        assert_eq!(all.insert(name, value), None, "{name} is there twice");
    }
    all
}

#[test]
fn every_c_constant_has_a_rust_constant_of_the_same_value() {
    let facts = Facts::load();
    let constants = facts.numbers("constants");
    assert_eq!(constants.len(), 644);
    let rust = rust_constants();
    let mut faults = Vec::new();
    for (name, value) in constants {
        match rust.get(name) {
            None => faults.push(format!("{name} is missing")),
            Some(&ours) if ours != value => faults.push(format!("{name} is {value:#x}, not {ours:#x}")),
            Some(_) => {}
        }
    }
    none(&faults);
}

#[test]
fn every_rust_constant_is_in_c() {
    let facts = Facts::load();
    let constants = facts.numbers("constants");
    let bit_fields: BTreeSet<&str> = facts
        .table("structs")
        .values()
        .flat_map(|entry| entry["fields"].as_array().unwrap())
        .filter(|field| field.get("bits").is_some())
        .map(|field| field["name"].as_str().unwrap())
        .collect();
    let magics: BTreeSet<&str> = CsMagic::NAMES.iter().map(|name| name.c_name).collect();
    let known =
        |name: &str| constants.contains_key(name) || bit_fields.contains(name) || magics.contains(name);
    let faults: Vec<String> =
        rust_constants().into_keys().filter(|name| !known(name)).map(String::from).collect();
    none(&faults);
    assert_eq!(magics.len(), 3, "CoreSight's magics alone are not in abi.json");
}

#[test]
fn names_are_parts_of_the_c_names() {
    for name in LISTED.iter().copied().flatten() {
        assert!(!name.name.is_empty() && !name.c_name.is_empty());
        let ours = name.name.to_lowercase();
        let c = name.c_name.to_lowercase();
        // NONE is the empty set of every flag word here.
        let renamed = name.c_name == "PERF_MEM_SNOOP_NONE";
        assert!(renamed || c.contains(&ours), "{} is called {} here", name.c_name, name.name);
    }
}

#[test]
fn shifts_number_the_branch_bits() {
    for (shift, flag) in BranchSampleShift::NAMES.iter().zip(BranchSampleType::NAMES) {
        assert_eq!(1 << shift.value, flag.value, "{}", shift.c_name);
        assert_eq!(shift.name, flag.name);
    }
}

#[test]
fn data_source_shifts_are_where_the_fields_are() {
    let shifts = [
        DataSrc::OP_SHIFT,
        DataSrc::LVL_SHIFT,
        DataSrc::SNOOP_SHIFT,
        DataSrc::LOCK_SHIFT,
        DataSrc::TLB_SHIFT,
        DataSrc::LVLNUM_SHIFT,
        DataSrc::REMOTE_SHIFT,
        DataSrc::SNOOPX_SHIFT,
        DataSrc::BLK_SHIFT,
        DataSrc::HOPS_SHIFT,
        DataSrc::REGION_SHIFT,
    ];
    let fields = DataSrc::FIELDS.iter().map(|&(lsb, _)| lsb).take(shifts.len());
    assert!(fields.eq(shifts));
}
