//! What a capture is.

use perf_abi::feature::Feature;
use perf_parse::event::Event;
use perf_parse::file::{Account, Mode, RecordCheck};
use perf_parse::{ByteStr, FileError, Reader};
use perf_profile::event_name;
use wasm_bindgen::JsValue;

use crate::object::{Members, list, text};

/// Reads all records of a capture of `size` bytes, and returns what it has.
pub(crate) fn of(reader: &Reader<'_>, size: u64) -> JsValue {
    let mut records = reader.records();
    records.check_features();
    let tracing_data = records.feature(Feature::TRACING_DATA).map(|it| it.bytes.to_vec());
    let check = RecordCheck::new(tracing_data.as_deref().unwrap_or_default());
    let mut span: Option<(u64, u64)> = None;
    while let Some(record) = records.next() {
        // The walk notes the error of a record that it cannot return.
        let Ok(record) = record else { continue };
        match check.record(&record) {
            // 0 is the time of records that perf synthesized.
            Ok(()) => {
                if let Some(time) = record.time().filter(|time| *time != 0) {
                    let (first, last) = span.unwrap_or((time, time));
                    span = Some((first.min(time), last.max(time)));
                }
            }
            Err(error) => records.account_mut().note(error),
        }
    }
    // A stream may have features among its records.
    records.check_features();

    let info = Members::default();
    let mode = match reader.mode() {
        Mode::File(_) => "file",
        mode => mode.name(),
    };
    info.set("mode", mode);
    info.set("endianness", reader.endianness().to_string());
    info.count("size", size);
    let features = records.features();
    let known = |value: Result<Option<ByteStr<'_>>, FileError>| value.ok().flatten().map(|it| text(&it));
    let texts = [
        ("hostname", known(features.hostname())),
        ("os_release", known(features.os_release())),
        ("arch", known(features.arch())),
        ("perf_version", known(features.version())),
        ("cpu", known(features.cpu_desc())),
    ];
    for (name, value) in texts {
        info.set(name, value.unwrap_or(JsValue::NULL));
    }
    info.set("features", list(features.iter().map(|section| JsValue::from(section.feature.to_string()))));
    info.set("events", list(records.events().iter().map(|it| event(it))));
    let counts = records.account().by_type().map(|(kind, count)| {
        let members = Members::default();
        members.set("type", kind.to_string());
        members.count("count", count);
        members
    });
    info.set("records", list(counts));
    info.set("time", span.map_or(JsValue::NULL, |(first, last)| list([first, last]).into()));
    info.set("account", account(records.account()));
    info.into()
}

fn event(event: &Event) -> Members {
    let members = Members::default();
    members.text("name", Some(&event_name(event)));
    members.set("type", event.attr.kind.to_string());
    members.set("config", event.attr.config);
    members.set("ids", list(event.ids.iter().copied()));
    members
}

/// Returns the counts of records and bytes that were read, lost and skipped, and the errors.
pub(crate) fn account(account: &Account) -> JsValue {
    let members = Members::default();
    members.set("is_clean", account.is_clean());
    members.count("records", account.records);
    members.count("bytes", account.bytes);
    members.count("bytes_skipped", account.bytes_skipped);
    members.count("lost", account.lost);
    members.count("lost_samples", account.lost_samples);
    members.count("faults", account.faults());
    members.set("unfinished", account.unfinished);
    members.set("diagnostics", list(account.diagnostics.iter().map(diagnostic)));
    members.count("diagnostics_omitted", account.diagnostics_omitted);
    members.into()
}

fn diagnostic(error: &FileError) -> Members {
    let members = Members::default();
    members.count("offset", error.offset);
    members.set("type", error.record_type().map_or(JsValue::NULL, |kind| kind.to_string().into()));
    members.set("field", error.field());
    members.set("message", error.kind.to_string());
    members
}
