//! What the kernel would refuse with a bare `EINVAL`, and what it would take and do wrongly: refused here, in words.

use perf_abi::attr::{Attr, AttrFlags, AuxAction};
use perf_abi::branch::BranchSampleType;
use perf_abi::event::EventType;
use perf_abi::regs::Arch;
use perf_abi::sample_type::SampleType;

use crate::error::Error;

/// The largest `sample_stack_user`: the kernel counts it in 16 bits, in words of 8 bytes.
const MAX_STACK_USER: u32 = 65_528;

/// Refuses an attr that contradicts itself.
pub(crate) fn check(attr: &Attr, in_group: bool) -> Result<(), Error> {
    let fault = flags(attr, in_group).or_else(|| sampling(attr)).or_else(|| registers(attr));
    fault.map_or(Ok(()), |(field, why)| Err(Error::refused("perf_event_open", field, why)))
}

type Fault = Option<(&'static str, String)>;

fn fault(field: &'static str, why: &str) -> Fault {
    Some((field, format!("{field}: {why}")))
}

fn flags(attr: &Attr, in_group: bool) -> Fault {
    let has = |flag| attr.flags.contains(flag);
    if has(AttrFlags::SIGTRAP) && !has(AttrFlags::REMOVE_ON_EXEC) {
        return fault("sigtrap", "needs remove_on_exec: a new program would not expect the signal");
    }
    if has(AttrFlags::REMOVE_ON_EXEC) && has(AttrFlags::ENABLE_ON_EXEC) {
        return fault("remove_on_exec", "excludes enable_on_exec");
    }
    if has(AttrFlags::INHERIT_THREAD) && !has(AttrFlags::INHERIT) {
        return fault("inherit_thread", "narrows inherit, which is not set");
    }
    if in_group && has(AttrFlags::PINNED) {
        return fault("pinned", "is for the leader of a group, not for its members");
    }
    if in_group && has(AttrFlags::EXCLUSIVE) {
        return fault("exclusive", "is for the leader of a group, not for its members");
    }
    if has(AttrFlags::FREQ) && attr.sample_period == 0 {
        return fault("sample_freq", "is 0 and freq is set");
    }
    if attr.sample_period >> 63 != 0 {
        return fault("sample_period", "has bit 63 set; the kernel counts periods in 63 bits");
    }
    if attr.aux_action.contains(AuxAction::PAUSE | AuxAction::RESUME) {
        return fault("aux_pause", "excludes aux_resume");
    }
    let access = attr.bp_type;
    if attr.kind == EventType::BREAKPOINT
        && access.contains(perf_abi::breakpoint::BreakpointType::X)
        && access.intersects(perf_abi::breakpoint::BreakpointType::RW)
    {
        return fault("bp_type", "watches either execution or data, not both");
    }
    None
}

fn sampling(attr: &Attr) -> Fault {
    let has = |field| attr.sample_type.contains(field);
    if has(SampleType::WEIGHT_TYPE) {
        return fault(
            "sample_type",
            "has PERF_SAMPLE_WEIGHT and PERF_SAMPLE_WEIGHT_STRUCT, which share one place",
        );
    }
    if has(SampleType::STACK_USER) {
        let size = attr.sample_stack_user;
        if size == 0 {
            return fault(
                "sample_stack_user",
                "is 0 with PERF_SAMPLE_STACK_USER set: the kernel then writes samples that cannot be told apart from \
                 damaged ones",
            );
        }
        if size % 8 != 0 {
            return fault("sample_stack_user", &format!("{size} is not a multiple of 8"));
        }
        if size > MAX_STACK_USER {
            return fault("sample_stack_user", &format!("{size} is more than {MAX_STACK_USER}, the most"));
        }
    }
    let privileges = BranchSampleType::USER | BranchSampleType::KERNEL | BranchSampleType::HV;
    if has(SampleType::BRANCH_STACK) && attr.branch_sample_type.without(privileges) == BranchSampleType::NONE
    {
        return fault("branch_sample_type", "says of no kind of branch that it is to be recorded");
    }
    None
}

fn registers(attr: &Attr) -> Fault {
    let masks = [
        (SampleType::REGS_USER, "sample_regs_user", attr.sample_regs_user),
        (SampleType::REGS_INTR, "sample_regs_intr", attr.sample_regs_intr),
    ];
    let arch = Arch::from_machine(std::env::consts::ARCH)?;
    for (bit, field, mask) in masks {
        if !attr.sample_type.contains(bit) {
            continue;
        }
        if mask == 0 {
            return fault(field, "names no register, and the sample is to hold registers");
        }
        let mut set = (0..64).filter(|register| mask >> register & 1 != 0);
        if let Some(register) = set.clone().find(|&register| arch.name(register).is_none()) {
            let why = format!("bit {register} is no register of {}", std::env::consts::ARCH);
            return fault(field, &why);
        }
        let segment = |&register: &u32| matches!(arch.name(register), Some("DS" | "ES" | "FS" | "GS"));
        if let (true, Some(register)) = (cfg!(target_arch = "x86_64"), set.find(segment)) {
            let name = arch.name(register).unwrap_or_default();
            return fault(field, &format!("bit {register}, {name}: a 64-bit kernel does not record it"));
        }
    }
    None
}
