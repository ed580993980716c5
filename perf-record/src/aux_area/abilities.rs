//! The permissions of the user and the abilities of the kernel, as far as a trace depends on them.

use std::fs;
use std::path::Path;

use perf_abi::event::SwId;
use perf_open::{Builder, EventSpec, Target, limits};

/// `CAP_SYS_ADMIN` and `CAP_PERFMON`, as bits.
const CAPABILITIES: u64 = 1 << 21 | 1 << 38;

/// The permissions of the user and the abilities of the kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Abilities {
    /// Whether large areas may be locked in memory.
    pub(crate) privileged: bool,
    /// Whether events of all tasks on a cpu may be opened.
    pub(crate) cpu_wide: bool,
    /// Whether changes of the kernel's code can be recorded. Since Linux 5.9.
    pub(crate) text_poke: bool,
    /// Whether KVM lets guests trace themselves, so that the trace of the host must leave them out.
    pub(crate) guests_trace: bool,
}

impl Abilities {
    /// Finds out what holds on this machine.
    pub(crate) fn of_machine(root: &Path, cpu: u32) -> Self {
        let clock = || Builder::new(EventSpec::software(SwId::CPU_CLOCK)).exclude_kernel(true);
        let dummy = Builder::new(EventSpec::software(SwId::DUMMY)).exclude_kernel(true);
        let opens = |builder: &Builder, target: &Target<'_>| builder.open(target).is_ok();
        Self {
            privileged: has_capability(root) || limits::paranoid().is_ok_and(|level| level <= -1),
            cpu_wide: opens(&clock(), &Target::cpu(cpu)),
            text_poke: opens(&dummy.text_poke(true), &Target::this_thread()),
            guests_trace: guests_trace(root),
        }
    }
}

/// Returns whether this process may do what `CAP_PERFMON` allows.
///
/// perf: `perf_event_paranoid_check`.
fn has_capability(root: &Path) -> bool {
    let status = fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .is_some_and(|it| it & CAPABILITIES != 0)
}

/// perf: `intel_pt_exclude_guest`.
fn guests_trace(root: &Path) -> bool {
    let mode = fs::read_to_string(root.join("sys/module/kvm_intel/parameters/pt_mode"));
    mode.is_ok_and(|mode| mode.trim() == "1")
}
