//! One request to a debuginfod server.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use super::limits::DownloadBounds;
use super::options::DebuginfodOptions;

/// Number of bytes that have to come in the time of a timeout, as in elfutils.
const LEAST: u64 = 100 << 10;

/// Gets `URL/buildid/PATH` and writes it to a file. `started` gets the announced size when the server has the file.
///
/// # Errors
///
/// [`NotFound`](io::ErrorKind::NotFound) if the server has no such file, [`FileTooLarge`](io::ErrorKind::FileTooLarge) if
/// it is larger than the limit, [`Interrupted`](io::ErrorKind::Interrupted) if it is cancelled before all of it is there,
/// [`TimedOut`](io::ErrorKind::TimedOut) if it comes too slowly,
/// [`Unsupported`](io::ErrorKind::Unsupported) for a URL of another protocol, and errors of the network.
pub(super) fn get(
    url: &str,
    path: &str,
    options: &DebuginfodOptions,
    bounds: &DownloadBounds<'_>,
    started: &dyn Fn(Option<u64>),
    to: &mut File,
) -> io::Result<()> {
    if !DebuginfodOptions::can_ask(url) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let start = Instant::now();
    let time_left = bounds.time_left();
    if time_left.is_some_and(|time| time.is_zero()) {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let max_time = options.max_time.into_iter().chain(time_left).min();
    let config = ureq::Agent::config_builder();
    #[cfg(feature = "https")]
    let config = config.tls_config(tls());
    let agent = config
        // A redirect may not leave it.
        .https_only(url.starts_with("https://"))
        .http_status_as_error(false)
        .max_redirects(5)
        .user_agent(concat!("perf-symbol/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(options.timeout))
        .timeout_recv_response(Some(options.timeout))
        .timeout_per_read(Some(options.timeout))
        .timeout_global(max_time)
        .build()
        .new_agent();
    let url = format!("{}/buildid/{path}", url.trim_end_matches('/'));
    let mut answer = agent.get(url).call().map_err(io_error)?;
    match answer.status().as_u16() {
        200 => {}
        404 => return Err(io::ErrorKind::NotFound.into()),
        _ => return Err(io::ErrorKind::ConnectionRefused.into()),
    }
    let body = answer.body_mut();
    let size = body.content_length();
    if size.is_some_and(|size| size > bounds.limit) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    started(size);
    let mut reader = body.as_reader();
    let mut buffer = vec![0; 1 << 16];
    let mut received = 0_u64;
    loop {
        let count = match reader.read(&mut buffer).map_err(|error| io_error(error.into()))? {
            0 => return to.flush(),
            count => count,
        };
        bounds.receive(count as u64);
        if bounds.cancellation.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        received = received.saturating_add(count as u64);
        if received > bounds.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if start.elapsed() > allowed(options.timeout, received) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        to.write_all(buffer.get(..count).unwrap_or_default())?;
    }
}

/// Returns how connections are made secure: with the certificates that the system trusts.
#[cfg(feature = "https")]
fn tls() -> ureq::tls::TlsConfig {
    use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(std::sync::Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

/// Returns an error with the kind that tells a user most.
fn io_error(error: ureq::Error) -> io::Error {
    match error {
        ureq::Error::Io(error) => error,
        ureq::Error::Timeout(_) => io::ErrorKind::TimedOut.into(),
        ureq::Error::HostNotFound => io::ErrorKind::HostUnreachable.into(),
        ureq::Error::ConnectionFailed => io::ErrorKind::ConnectionRefused.into(),
        ureq::Error::BadUri(_) => io::ErrorKind::InvalidInput.into(),
        other => io::Error::other(other),
    }
}

/// Returns the time that a number of bytes may take: that of the answer, and as long for each further 100 KiB.
fn allowed(timeout: Duration, received: u64) -> Duration {
    let parts = received.checked_div(LEAST).unwrap_or(0).saturating_add(2);
    timeout.saturating_mul(u32::try_from(parts).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_answers() {
        let second = Duration::from_secs(1);
        assert_eq!(allowed(second, 0), 2 * second);
        assert_eq!(allowed(second, LEAST), 3 * second);
        assert_eq!(allowed(second, u64::MAX), u32::MAX * second);
    }
}
