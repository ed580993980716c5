//! The system's files of perf_event limits.
#![cfg(target_os = "linux")]

use perf_open::limits;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![each_is_its_files_number, a_file_that_is_not_there_is_told_by_its_name,];

fn file(name: &str) -> String {
    std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap().trim().to_owned()
}

fn each_is_its_files_number() {
    if !limits::is_supported() {
        needs::skip("perf-events", "there is no /proc/sys/kernel/perf_event_paranoid");
    }
    assert_eq!(limits::paranoid().unwrap().to_string(), file("perf_event_paranoid"));
    assert_eq!(limits::mlock_kb().unwrap().to_string(), file("perf_event_mlock_kb"));
    assert_eq!(limits::max_stack().unwrap().to_string(), file("perf_event_max_stack"));
    assert_eq!(
        limits::max_contexts_per_stack().unwrap().to_string(),
        file("perf_event_max_contexts_per_stack")
    );
    assert_eq!(limits::cpu_time_max_percent().unwrap().to_string(), file("perf_cpu_time_max_percent"));
    // The kernel may lower the rate at any moment.
    assert!(limits::max_sample_rate().unwrap() > 0);
}

fn a_file_that_is_not_there_is_told_by_its_name() {
    let path = "/sys/bus/event_source/devices/cpu/rdpmc";
    match limits::rdpmc() {
        Ok(value) => assert!(value <= 2),
        Err(error) => {
            assert!(!std::path::Path::new(path).exists());
            assert_eq!((error.call(), error.errno_name()), (path, Some("ENOENT")));
        }
    }
}
