//! Recordings with the running kernel. Each test names what it needs of the machine. If the machine lacks it, the test
//! is reported as ignored, with the reason.

#[cfg(target_os = "linux")]
mod counts;
#[cfg(target_os = "linux")]
mod sessions;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    needs::run(&[counts::TESTS, sessions::TESTS])
}

#[cfg(not(target_os = "linux"))]
fn main() {}
