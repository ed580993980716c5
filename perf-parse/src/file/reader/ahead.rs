//! Attrs and features before the first record of a stream.

use perf_abi::endian::{Endian, U16};
use perf_abi::record::RecordType;
use zerocopy::FromBytes;

use super::super::source::Source;
use super::Reader;
use super::absorb::{Absorb, name_events};
use super::advance::{HEADER, tracing_data_size};
use crate::error::FileError;
use crate::record::RawRecord;

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Applies the attrs and features before the first record of a stream, and takes no record.
    pub(super) fn look_ahead(&mut self) -> Result<(), FileError> {
        let start = self.source.offset();
        let mut at = 0_usize;
        while at < self.limits.look_ahead {
            self.fill(at.saturating_add(HEADER))?;
            let size = self.source.front().get(at.saturating_add(6)..).unwrap_or_default();
            let size = U16::<O>::read_from_prefix(size).map_or(0, |(size, _)| usize::from(size.get()));
            self.fill(at.saturating_add(size))?;
            let bytes = self.source.front().get(at..).unwrap_or_default();
            let Ok((raw, _)) = RawRecord::<O>::parse(bytes) else { break };
            let kind = raw.kind();
            if !kind.is_user()
                || matches!(kind, RecordType::AUXTRACE | RecordType::COMPRESSED | RecordType::COMPRESSED2)
            {
                break;
            }
            let behind = match kind {
                RecordType::HEADER_TRACING_DATA => tracing_data_size::<O>(raw.payload()).unwrap_or(0),
                _ => 0,
            };
            let behind = usize::try_from(behind).unwrap_or(usize::MAX);
            let end = at.saturating_add(size).saturating_add(behind);
            // Tracing data alone may be large.
            if behind > self.limits.look_ahead || self.fill(end)? < end {
                break;
            }
            let record = self.source.front().get(at..end).unwrap_or_default();
            if let Ok((raw, behind)) = RawRecord::<O>::parse(record) {
                let mut absorb = Absorb {
                    is_pipe: true,
                    events: &mut self.events,
                    features: &mut self.features,
                    account: &mut self.account,
                };
                absorb.record(&raw, behind, start.saturating_add(at as u64));
            }
            at = end;
        }
        self.absorbed = start.saturating_add(at as u64);
        // perf of Linux 4.14 writes the features before the attrs, so the events to be named are only known now.
        name_events(&mut self.events, &self.features, &mut self.account);
        Ok(())
    }
}
