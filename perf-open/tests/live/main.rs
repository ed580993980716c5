//! Tests on the running kernel. Each test names what it needs of the machine. If the machine lacks it, the test is
//! reported as ignored, with the reason.

extern crate alloc;

mod bpf;
mod counter;
mod events;
mod group;
mod ioctl;
mod limits;
mod negotiation;
mod open;
mod perf;
mod pmus;
mod ring;
mod signal;
mod support;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    if std::env::var_os(open::TAKES_ALL_DESCRIPTORS).is_some() {
        open::takes_all_descriptors();
        return std::process::ExitCode::SUCCESS;
    }
    needs::run(&[
        bpf::TESTS,
        counter::TESTS,
        events::TESTS,
        group::TESTS,
        ioctl::TESTS,
        limits::TESTS,
        negotiation::TESTS,
        open::TESTS,
        perf::TESTS,
        pmus::TESTS,
        ring::TESTS,
        signal::TESTS,
    ])
}

#[cfg(not(target_os = "linux"))]
fn main() {}
