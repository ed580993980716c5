//! The functions in which CPUs without work are.

/// The functions of the kernel in which a CPU without work is, sorted. perf has all but that of paravirtual machines.
///
/// perf: `symbol__is_idle`, `tools/perf/util/symbol.c`.
const IDLE: [&[u8]; 21] = [
    b"acpi_idle_do_entry",
    b"acpi_processor_ffh_cstate_enter",
    b"arch_cpu_idle",
    b"cpu_idle",
    b"cpu_startup_entry",
    b"default_idle",
    b"enter_idle",
    b"exit_idle",
    b"idle_cpu",
    b"intel_idle",
    b"intel_idle_ibrs",
    b"mwait_idle",
    b"mwait_idle_with_hints",
    b"mwait_idle_with_hints.constprop.0",
    b"native_safe_halt",
    b"poll_idle",
    b"ppc64_runlatch_off",
    b"pseries_dedicated_idle_sleep",
    b"psw_idle",
    b"psw_idle_exit",
    b"pv_native_safe_halt",
];

/// Returns whether a function of the kernel has this name. Those of ppc64 may begin with a dot.
pub(super) fn is_idle_name(name: &[u8]) -> bool {
    IDLE.binary_search(&name.strip_prefix(b".").unwrap_or(name)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        assert!(IDLE.is_sorted());
        assert!(IDLE.into_iter().all(is_idle_name) && is_idle_name(b".ppc64_runlatch_off"));
        for name in ["", ".", "idle", "default_idle_call", "do_idle", "pv_native_safe_halt2"] {
            assert!(!is_idle_name(name.as_bytes()), "{name}");
        }
    }
}
