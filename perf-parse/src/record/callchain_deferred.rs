//! User call chains that are recorded after their samples.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::List;

/// The user part of the call chains of all earlier samples that end with this cookie.
///
/// Kernel: `PERF_RECORD_CALLCHAIN_DEFERRED`; since Linux 6.19.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CallchainDeferred<'a> {
    /// The word after `PERF_CONTEXT_USER_DEFERRED` in the samples' call chains.
    pub cookie: u64,
    /// User addresses, innermost first.
    pub ips: List<'a, u64>,
}

impl<'a> CallchainDeferred<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::RawCallchainDeferred { cookie, nr } =
            at.fixed::<wire::RawCallchainDeferred<O>>("cookie")?;
        Ok(Self { cookie: cookie.get(), ips: at.list(O::ENDIANNESS, nr.get(), "ips")? })
    }
}
