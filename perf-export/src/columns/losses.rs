//! `losses`: what is not in the other tables, and why.

use perf_abi::record::RecordType;
use perf_parse::error::FileErrorKind;
use perf_parse::file::Account;
use perf_parse::{EventRecord, Record};

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    what: Word, "", "`lost` (a LOST record: records that found no room in the ring), `lost_samples` (a LOST_SAMPLES record), `fault` (what cannot be decoded), `skipped` (bytes without a record) or `late` (records that came too late to be put in order of time; they are in the other tables).";
    count: Int64, "", "How many: records, samples, faults, or 1 for a range of bytes.";
    bytes ? Int64, "bytes", "Number of bytes. Null unless it is `skipped`.";
    time ? Int64, "ns", "Time of the record. Null if it is not recorded.";
    cpu ? Int32, "", "CPU of the record. Null if it is not recorded.";
    offset ? Int64, "bytes", "Where it is in the capture. Null for a fault if only its kind is known.";
    record ? Word, "", "Type of the record. Null where there is none.";
    kind ? Word, "", "The kind of a fault.";
    reason: Text, "", "What happened.";
};

/// Writes a LOST or LOST_SAMPLES record with what it decodes to; does nothing for others.
pub(super) fn push(rows: &mut TableRows, context: &Context, record: &EventRecord<'_>, decoded: &Record<'_>) {
    let (what, count, reason) = match decoded {
        Record::Lost(it) => ("lost", it.lost, "the ring was full"),
        Record::LostSamples(it) => ("lost_samples", it.lost, "the samples did not reach a ring"),
        _ => return,
    };
    rows.text(context.capture.as_str());
    rows.text(what);
    rows.int64(count);
    rows.int64(None);
    rows.int64(record.time());
    rows.int32(record.cpu().map(u32::cast_signed));
    rows.int64(record.offset());
    rows.text(type_name(record.kind()).as_str());
    rows.text(None);
    rows.text(reason);
    rows.end();
}

fn type_name(kind: RecordType) -> String {
    kind.name().map_or_else(|| format!("UNKNOWN_{}", kind.0), str::to_owned)
}

/// Writes the faults of an account.
pub(super) fn push_account(rows: &mut TableRows, context: &Context, account: &Account) {
    let mut left: Vec<(&str, u64)> = account.faults_by_kind().iter().collect();
    let mut bytes_left = account.bytes_skipped;
    for error in &account.diagnostics {
        let (what, bytes) = match error.kind {
            FileErrorKind::Skipped { bytes } => ("skipped", Some(bytes)),
            _ => ("fault", None),
        };
        bytes_left = bytes_left.saturating_sub(bytes.unwrap_or(0));
        let record = match error.kind {
            FileErrorKind::Record { kind, .. }
            | FileErrorKind::UnknownId { kind, .. }
            | FileErrorKind::UnknownEvent { kind, .. } => Some(kind),
            FileErrorKind::Layout(_) => Some(RecordType::SAMPLE),
            _ => None,
        };
        if let Some((_, count)) = left.iter_mut().find(|(kind, _)| *kind == error.kind.name()) {
            *count = count.saturating_sub(1);
        }
        let bytes_and_offset = (bytes, Some(error.offset));
        push_fault(rows, context, what, 1, bytes_and_offset, record, error.kind.name(), &error.to_string());
    }
    // Of those that are beyond the limit of diagnostics, the account has the kinds.
    for (kind, count) in left.into_iter().filter(|&(_, count)| count > 0) {
        let (what, bytes) = if kind == "skipped" { ("skipped", Some(bytes_left)) } else { ("fault", None) };
        push_fault(rows, context, what, count, (bytes, None), None, kind, "not listed one by one");
    }
    if account.late > 0 {
        let reason = "read after a record that is later";
        push_fault(rows, context, "late", account.late, (None, None), None, "late", reason);
    }
}

#[allow(clippy::too_many_arguments, reason = "the columns of a row")]
fn push_fault(
    rows: &mut TableRows,
    context: &Context,
    what: &str,
    count: u64,
    (bytes, offset): (Option<u64>, Option<u64>),
    record: Option<RecordType>,
    kind: &str,
    reason: &str,
) {
    rows.text(context.capture.as_str());
    rows.text(what);
    rows.int64(count);
    rows.int64(bytes);
    rows.int64(None);
    rows.int32(None);
    rows.int64(offset);
    rows.text(record.map(type_name).as_deref());
    rows.text(kind);
    rows.text(reason);
    rows.end();
}
