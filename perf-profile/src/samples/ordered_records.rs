//! The records of a walk, in time order.

use core::fmt::{Debug, Formatter, Result as FmtResult};
use std::sync::Arc;
use std::thread::Scope;

use perf_parse::event::Events;
use perf_parse::feature::Features;
use perf_parse::file::{Account, EventRecords};
use perf_parse::{EventRecord, FileError};

use super::stream_info::{BoxedRecords, StreamInfo};

/// The records of a walk, in time order, and what is known of their capture up to the last one.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one in a walk over millions of records")]
pub(crate) enum OrderedRecords<'r> {
    Capture(EventRecords<'r>),
    Stream(RecordStream<'r>),
}

/// Records that a program has from elsewhere.
pub(crate) struct RecordStream<'r> {
    info: Arc<StreamInfo>,
    records: BoxedRecords<'r>,
    account: Account,
}

impl<'r> RecordStream<'r> {
    pub(super) fn new(info: Arc<StreamInfo>, records: BoxedRecords<'r>) -> Self {
        Self { info, records, account: Account::default() }
    }

    /// Returns the next record, which it counts. Notes its fault.
    fn next(&mut self) -> Option<Result<EventRecord<'r>, FileError>> {
        let next = self.records.next()?;
        match &next {
            Ok(record) => record.count_in(&mut self.account),
            Err(fault) => self.account.note(*fault),
        }
        Some(next)
    }
}

impl Debug for RecordStream<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.debug_struct("RecordStream").field("account", &self.account).finish_non_exhaustive()
    }
}

impl<'r> OrderedRecords<'r> {
    /// Returns the next record. A fault is in the account already.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Result<EventRecord<'r>, FileError>> {
        match self {
            Self::Capture(records) => records.next(),
            Self::Stream(records) => records.next(),
        }
    }

    /// Has compressed records decompressed, and their order found, by other threads, the latter in a scope.
    pub(super) fn ahead<'scope>(self, scope: Option<&'scope Scope<'scope, '_>>) -> Self
    where
        'r: 'scope,
    {
        let Self::Capture(records) = self else { return self };
        let records = records.decompress_ahead();
        Self::Capture(match scope {
            Some(scope) => records.order_ahead(scope),
            None => records,
        })
    }

    /// Decodes each feature, and notes the faults.
    pub(super) fn check_features(&mut self) {
        match self {
            Self::Capture(records) => {
                records.check_features();
            }
            Self::Stream(RecordStream { info, account, .. }) => {
                for section in info.features.iter() {
                    section.check(|fault| {
                        account.note_once(fault);
                    });
                }
            }
        }
    }

    pub(super) fn account(&self) -> &Account {
        match self {
            Self::Capture(records) => records.account(),
            Self::Stream(records) => &records.account,
        }
    }

    pub(super) fn account_mut(&mut self) -> &mut Account {
        match self {
            Self::Capture(records) => records.account_mut(),
            Self::Stream(records) => &mut records.account,
        }
    }

    /// Returns the events that are known so far.
    pub(super) fn events(&self) -> &Events {
        match self {
            Self::Capture(records) => records.events(),
            Self::Stream(records) => &records.info.events,
        }
    }

    /// Returns the features that are known so far.
    pub(super) fn features(&self) -> &Features<'r> {
        match self {
            Self::Capture(records) => records.features(),
            Self::Stream(records) => &records.info.features,
        }
    }

    /// Returns the number of bytes of the capture before the next record; of a stream, of its records.
    pub(super) fn reached(&self) -> u64 {
        match self {
            Self::Capture(records) => records.reached().offset,
            Self::Stream(records) => records.account.bytes,
        }
    }
}
