//! Profiles that are sent to a server.

#[cfg(feature = "send")]
mod http;

#[cfg(feature = "send")]
pub(super) use http::Destination;

#[cfg(not(feature = "send"))]
use crate::args::export::ExportArgs;
use crate::args::export::To;
use crate::outcome::Failure;

/// Returns the path that a server has for a format.
///
/// # Errors
///
/// If the format cannot be sent.
fn path_of(to: To) -> Result<&'static str, Failure> {
    match to {
        To::Otlp | To::OtlpJson => Ok("/v1development/profiles"),
        To::Pprof => Ok("/v1/pprof"),
        _ => Err("--send needs --to otlp, otlp-json or pprof".into()),
    }
}

/// The server that a profile is sent to: none.
#[cfg(not(feature = "send"))]
pub(super) enum Destination {}

#[cfg(not(feature = "send"))]
impl Destination {
    /// Returns nothing, as profiles cannot be sent.
    ///
    /// # Errors
    ///
    /// If `--send` is given.
    pub(super) fn of(args: &ExportArgs) -> Result<Option<Self>, Failure> {
        if args.sending.send.is_none() {
            return Ok(None);
        }
        path_of(args.to)?;
        Err("--send: this perfdata was built without sending; build one that has it: cargo install perf-cli --features send".into())
    }

    pub(super) fn send(&self, _: &[u8]) -> Result<(), Failure> {
        match *self {}
    }
}
