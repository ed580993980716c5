//! Attrs and features before the first record of a stream.

use perf_abi::endian::{Endian, U16};
use perf_abi::record::RecordType;
use zerocopy::FromBytes;

use super::knowledge::Knowledge;
use super::source::Source;
use super::walk::{HEADER, tracing_data_size};
use crate::account::Account;
use crate::error::FileError;
use crate::limits::Limits;
use crate::record::RawRecord;

/// Applies the attrs and features before the first record of a stream, and takes no record.
pub(super) fn look_ahead<'r, O: Endian, S: Source<'r>>(
    source: &mut S,
    knowledge: &mut Knowledge<'_>,
    limits: &Limits,
    account: &mut Account,
) -> Result<(), FileError> {
    let start = source.offset();
    let mut at = 0_usize;
    while at < limits.look_ahead {
        fill(source, at.saturating_add(HEADER))?;
        let size = source.front().get(at.saturating_add(6)..).unwrap_or_default();
        let size = U16::<O>::read_from_prefix(size).map_or(0, |(size, _)| usize::from(size.get()));
        fill(source, at.saturating_add(size))?;
        let bytes = source.front().get(at..).unwrap_or_default();
        let Ok((raw, _)) = RawRecord::<O>::parse(bytes) else { break };
        let kind = raw.kind();
        if !kind.is_user()
            || matches!(kind, RecordType::AUXTRACE | RecordType::COMPRESSED | RecordType::COMPRESSED2)
        {
            break;
        }
        let trailing = match kind {
            RecordType::HEADER_TRACING_DATA => tracing_data_size::<O>(raw.payload()).unwrap_or(0),
            _ => 0,
        };
        let trailing = usize::try_from(trailing).unwrap_or(usize::MAX);
        let end = at.saturating_add(size).saturating_add(trailing);
        // Tracing data alone may be large.
        if trailing > limits.look_ahead || fill(source, end)? < end {
            break;
        }
        if let Ok((raw, trailing)) =
            RawRecord::<O>::parse(source.front().get(at..end).unwrap_or_default())
        {
            knowledge.apply(&raw, trailing, start.saturating_add(at as u64), account);
        }
        at = end;
    }
    knowledge.set_applied(start.saturating_add(at as u64));
    knowledge.name_events::<O>(account);
    Ok(())
}

fn fill<'r, S: Source<'r>>(source: &mut S, need: usize) -> Result<usize, FileError> {
    source.fill(need).map_err(|kind| FileError::new(kind, source.offset()))
}
