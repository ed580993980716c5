//! Checks before the call: for what the kernel refuses with a bare `EINVAL`, and for what it accepts but handles
//! wrongly.

use perf_abi::attr::{Attr, AttrFlags, AuxAction};
use perf_abi::branch::BranchSampleType;
use perf_abi::event::EventType;
use perf_abi::regs::Arch;
use perf_abi::sample_type::SampleType;

use crate::error::Error;

/// The largest `sample_stack_user`: the kernel stores it in 16 bits, and it is a multiple of 8.
const MAX_STACK_USER: u32 = 65_528;

/// Returns an error for an attr that contradicts itself.
pub(crate) fn check(attr: &Attr, in_group: bool) -> Result<(), Error> {
    let fault = flags(attr, in_group).or_else(|| sampling(attr)).or_else(|| registers(attr));
    fault.map_or(Ok(()), |(field, why)| Err(Error::refused("perf_event_open", field, why)))
}

type CheckFailure = Option<(&'static str, String)>;

fn fault(field: &'static str, why: &str) -> CheckFailure {
    Some((field, format!("{field}: {why}")))
}

fn flags(attr: &Attr, in_group: bool) -> CheckFailure {
    let has = |flag| attr.flags.contains(flag);
    if has(AttrFlags::SIGTRAP) && !has(AttrFlags::REMOVE_ON_EXEC) {
        return fault("sigtrap", "needs remove_on_exec, because a new program does not expect the signal");
    }
    if has(AttrFlags::REMOVE_ON_EXEC) && has(AttrFlags::ENABLE_ON_EXEC) {
        return fault("remove_on_exec", "cannot be combined with enable_on_exec");
    }
    if has(AttrFlags::INHERIT_THREAD) && !has(AttrFlags::INHERIT) {
        return fault("inherit_thread", "needs inherit");
    }
    if in_group && has(AttrFlags::PINNED) {
        return fault("pinned", "can be set only for the leader of a group, not for a member");
    }
    if in_group && has(AttrFlags::EXCLUSIVE) {
        return fault("exclusive", "can be set only for the leader of a group, not for a member");
    }
    if has(AttrFlags::FREQ) && attr.sample_period == 0 {
        return fault("sample_freq", "is 0, although freq is set");
    }
    if attr.sample_period >> 63 != 0 {
        return fault("sample_period", "has bit 63 set; the kernel counts periods in 63 bits");
    }
    if attr.aux_action.contains(AuxAction::PAUSE | AuxAction::RESUME) {
        return fault("aux_pause", "cannot be combined with aux_resume");
    }
    let access = attr.bp_type;
    if attr.kind == EventType::BREAKPOINT
        && access.contains(perf_abi::breakpoint::BreakpointType::X)
        && access.intersects(perf_abi::breakpoint::BreakpointType::RW)
    {
        return fault("bp_type", "must be execution or data accesses, not both");
    }
    None
}

fn sampling(attr: &Attr) -> CheckFailure {
    let has = |field| attr.sample_type.contains(field);
    if has(SampleType::WEIGHT_TYPE) {
        return fault(
            "sample_type",
            "has both PERF_SAMPLE_WEIGHT and PERF_SAMPLE_WEIGHT_STRUCT, which are the same field of a sample",
        );
    }
    if has(SampleType::STACK_USER) {
        let size = attr.sample_stack_user;
        if size == 0 {
            return fault(
                "sample_stack_user",
                "is 0, although PERF_SAMPLE_STACK_USER is set: the kernel would write samples that look damaged",
            );
        }
        if !size.is_multiple_of(8) {
            return fault("sample_stack_user", &format!("{size} is not a multiple of 8"));
        }
        if size > MAX_STACK_USER {
            return fault("sample_stack_user", &format!("{size} is more than the maximum, {MAX_STACK_USER}"));
        }
    }
    let privileges = BranchSampleType::USER | BranchSampleType::KERNEL | BranchSampleType::HV;
    if has(SampleType::BRANCH_STACK) && attr.branch_sample_type.without(privileges) == BranchSampleType::NONE
    {
        return fault("branch_sample_type", "selects no kind of branch");
    }
    None
}

fn registers(attr: &Attr) -> CheckFailure {
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
            return fault(field, "selects no register, although sample_type has registers");
        }
        let mut set = (0..64).filter(|register| mask >> register & 1 != 0);
        if let Some(register) = set.clone().find(|&register| arch.name(register).is_none()) {
            let why = format!("bit {register} is not a register of {}", std::env::consts::ARCH);
            return fault(field, &why);
        }
        let segment = |&register: &u32| matches!(arch.name(register), Some("DS" | "ES" | "FS" | "GS"));
        if let (true, Some(register)) = (cfg!(target_arch = "x86_64"), set.find(segment)) {
            let name = arch.name(register).unwrap_or_default();
            return fault(field, &format!("bit {register}: a 64-bit kernel does not record {name}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(attr: Attr) -> Option<&'static str> {
        check(&attr, false).err().and_then(|error| error.fields().first().copied())
    }

    #[test]
    fn switches_that_need_or_exclude_others() {
        let with = |flags| field(Attr { flags, ..Attr::default() });
        assert_eq!(with(AttrFlags::SIGTRAP), Some("sigtrap"));
        assert_eq!(with(AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC), None);
        assert_eq!(with(AttrFlags::REMOVE_ON_EXEC | AttrFlags::ENABLE_ON_EXEC), Some("remove_on_exec"));
        assert_eq!(with(AttrFlags::INHERIT_THREAD), Some("inherit_thread"));
        assert_eq!(with(AttrFlags::INHERIT_THREAD | AttrFlags::INHERIT), None);
        assert_eq!(with(AttrFlags::FREQ), Some("sample_freq"));
        let both = AuxAction::PAUSE | AuxAction::RESUME;
        assert_eq!(field(Attr { aux_action: both, ..Attr::default() }), Some("aux_pause"));
        assert_eq!(field(Attr { sample_period: 1 << 63, ..Attr::default() }), Some("sample_period"));
    }

    #[test]
    fn leaders_alone_are_pinned_or_exclusive() {
        for flags in [AttrFlags::PINNED, AttrFlags::EXCLUSIVE] {
            let attr = Attr { flags, ..Attr::default() };
            assert!(check(&attr, false).is_ok());
            assert!(check(&attr, true).is_err());
        }
    }

    #[test]
    fn user_stacks() {
        let with = |sample_stack_user| {
            field(Attr { sample_type: SampleType::STACK_USER, sample_stack_user, ..Attr::default() })
        };
        for wrong in [0, 4, 12, 65_529, 65_532, 65_536] {
            assert_eq!(with(wrong), Some("sample_stack_user"), "{wrong}");
        }
        assert_eq!((with(8), with(65_528)), (None, None));
        // The size has no meaning if no stack is sampled.
        assert_eq!(field(Attr { sample_stack_user: 4, ..Attr::default() }), None);
    }

    #[test]
    fn both_weights_and_no_branches() {
        let sample_type = SampleType::WEIGHT_TYPE;
        assert_eq!(field(Attr { sample_type, ..Attr::default() }), Some("sample_type"));
        let sample_type = SampleType::BRANCH_STACK;
        let branch_sample_type = BranchSampleType::USER;
        assert_eq!(
            field(Attr { sample_type, branch_sample_type, ..Attr::default() }),
            Some("branch_sample_type")
        );
    }

    #[test]
    fn breakpoints_watch_code_or_data() {
        use perf_abi::breakpoint::BreakpointType;
        let with = |bp_type| field(Attr { kind: EventType::BREAKPOINT, bp_type, ..Attr::default() });
        assert_eq!(with(BreakpointType::X | BreakpointType::W), Some("bp_type"));
        assert_eq!((with(BreakpointType::RW), with(BreakpointType::X)), (None, None));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn registers_that_are_there() {
        let user = |sample_regs_user| {
            field(Attr { sample_type: SampleType::REGS_USER, sample_regs_user, ..Attr::default() })
        };
        assert_eq!(user(0xff_0fff), None); // all but the segment registers
        assert_eq!(user(0), Some("sample_regs_user"));
        assert_eq!(user(1 << 12), Some("sample_regs_user")); // DS
        assert_eq!(user(1 << 25), Some("sample_regs_user")); // between R15 and XMM0
        let sample_type = SampleType::REGS_INTR;
        assert_eq!(
            field(Attr { sample_type, sample_regs_intr: 1 << 25, ..Attr::default() }),
            Some("sample_regs_intr")
        );
        assert_eq!(field(Attr { sample_type, sample_regs_intr: 1 << 32, ..Attr::default() }), None); // XMM0
    }
}
