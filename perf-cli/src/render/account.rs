//! The account as JSON.

use alloc::collections::BTreeMap;

use perf_parse::file::{Account, FileError, Mmap2Guesses};
use serde_json::{Value, json};

use super::TypeName;

/// Returns the counts of records and bytes read, lost and skipped, and the errors.
pub(crate) fn value(account: &Account) -> Value {
    let mut value = json!({
        "records": account.records,
        "bytes": account.bytes,
        "bytes_skipped": account.bytes_skipped,
        "lost": account.lost,
        "lost_samples": account.lost_samples,
        "diagnostics": account.diagnostics.iter().map(diagnostic).collect::<Value>(),
        "diagnostics_by_kind": account.faults_by_kind().iter().collect::<BTreeMap<_, _>>(),
    });
    if account.late > 0 {
        value["late"] = account.late.into();
    }
    if account.announced > 0 {
        value["announced"] = account.announced.into();
    }
    let guesses = account.mmap2_guesses;
    if guesses != Mmap2Guesses::default() {
        value["mmap2_guesses"] = json!({"current": guesses.current, "old": guesses.old});
    }
    if account.unfinished {
        value["unfinished"] = true.into();
    }
    if account.diagnostics_omitted > 0 {
        value["diagnostics_omitted"] = account.diagnostics_omitted.into();
    }
    value
}

fn diagnostic(error: &FileError) -> Value {
    let kind = error.record_type().map(|kind| TypeName(kind).to_string());
    json!({"offset": error.offset, "type": kind, "field": error.field(), "message": error.kind.to_string()})
}
