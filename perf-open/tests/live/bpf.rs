//! The BPF programs that are loaded.

use perf_open::bpf;

pub(crate) const TESTS: &[needs::Test] = needs::tests![programs_in_order_or_a_reason, ids_that_nothing_has];

fn programs_in_order_or_a_reason() {
    let listed: Result<Vec<u32>, _> = bpf::programs().collect();
    match listed {
        Ok(ids) => assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}"),
        Err(error) => {
            assert_eq!(error.call(), "bpf");
            assert!(matches!(error.errno_name(), Some("EPERM" | "EINVAL" | "ENOSYS")), "{error}");
        }
    }
}

fn ids_that_nothing_has() {
    let errors = [bpf::LoadedProgram::read(u32::MAX).unwrap_err(), bpf::types(u32::MAX).unwrap_err()];
    for error in errors {
        assert!(matches!(error.errno_name(), Some("ENOENT" | "EPERM" | "EINVAL" | "ENOSYS")), "{error}");
    }
}
