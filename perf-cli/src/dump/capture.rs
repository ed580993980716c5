//! The lines of a JSON dump before and after the records: the header and the account.

use alloc::sync::Arc;

use perf_parse::event::Event;
use perf_parse::file::{Account, EventRecords, Reader};

use crate::outcome::Failure;
use crate::output::Output;
use crate::render::attr::unknown_bytes;
use crate::render::feature::{self, UnprintedFeature};
use crate::render::json::Json;
use crate::render::name::name;
use crate::render::{self, Scalars, Sink};

/// Prints the header line, which describes the capture as far as `records` know it. Writes it piece by piece.
pub(super) fn header(
    reader: &Reader<'_>,
    records: &EventRecords<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let (mode, endian) = (reader.mode().name(), reader.endianness());
    let out = &mut output.buffer;
    render::print(out, format_args!("{{\"header\":{{\"mode\":\"{mode}\",\"endian\":\"{endian}\",\"attrs\":"));
    feature::objects(output, records.events().iter(), |json, event: &Arc<Event>| {
        render::attr::attr(&event.attr, json);
        if unknown_bytes(&event.attr_tail).next().is_some() {
            json.objects(name!("unknown_bytes"), unknown_bytes(&event.attr_tail), |json, (offset, group)| {
                json.number(name!("offset"), offset);
                json.blob(name!("value"), group);
            });
        }
        json.addresses(name!("ids"), event.ids.iter().copied());
        render::given(event.name.as_deref(), |name| json.string(name!("name"), name));
    })?;
    output.buffer.extend_from_slice(b",\"features\":{");
    for (index, section) in records.features().iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        render::print(&mut output.buffer, format_args!("{comma}\"{}\":", section.feature));
        match feature::feature(&section, output) {
            Ok(()) => {}
            Err(UnprintedFeature::Undecodable(error)) => {
                Json::object(&mut output.buffer, |json| json.text(name!("error"), &error));
            }
            Err(UnprintedFeature::Output(failure)) => return Err(failure),
        }
        output.flush_full()?;
    }
    output.buffer.extend_from_slice(b"}}}\n");
    Ok(())
}

/// Appends the account, which follows the records.
pub(super) fn account(account: &Account, out: &mut Vec<u8>) {
    let value = render::account::value(account);
    Json::object(out, |json| json.serialized(name!("account"), &value));
    out.push(b'\n');
}
