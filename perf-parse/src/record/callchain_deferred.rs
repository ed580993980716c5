//! User call chains that come after their samples.

use perf_abi::endian::{Endian, U64};
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The user part of earlier samples' call chains: those that end with this cookie.
///
/// Kernel: `PERF_RECORD_CALLCHAIN_DEFERRED`; since Linux 6.19.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallchainDeferred<'a, O: Endian> {
    /// What the samples have after their `PERF_CONTEXT_USER_DEFERRED`.
    pub cookie: u64,
    /// User addresses, innermost first.
    pub ips: &'a [U64<O>],
}

impl<'a, O: Endian> CallchainDeferred<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::CallchainDeferred { cookie, nr } = at.fixed::<wire::CallchainDeferred<O>>("cookie")?;
        Ok(Self { cookie: cookie.get(), ips: at.array(nr.get(), "ips")? })
    }
}
