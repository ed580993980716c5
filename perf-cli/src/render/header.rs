//! The description of a capture as JSON.

use alloc::sync::Arc;

use perf_parse::event::Event;
use perf_parse::file::{EventRecords, Reader};

use super::attr::{attr, unknown_bytes};
use super::feature::{UnprintedFeature, feature, objects};
use super::json::Json;
use super::name::name;
use super::{Scalars, Sink, given, print};
use crate::outcome::Failure;
use crate::output::Output;

/// Prints the member `header` of an object, which describes the capture as far as `records` know it. Writes it piece by piece.
pub(crate) fn header(
    reader: &Reader<'_>,
    records: &EventRecords<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let (mode, endian) = (reader.mode().name(), reader.endianness());
    let out = &mut output.buffer;
    print(out, format_args!("\"header\":{{\"mode\":\"{mode}\",\"endian\":\"{endian}\",\"attrs\":"));
    objects(output, records.events().iter(), |json, event: &Arc<Event>| {
        attr(&event.attr, json);
        if unknown_bytes(&event.attr_tail).next().is_some() {
            json.objects(name!("unknown_bytes"), unknown_bytes(&event.attr_tail), |json, (offset, group)| {
                json.number(name!("offset"), offset);
                json.blob(name!("value"), group);
            });
        }
        json.addresses(name!("ids"), event.ids.iter().copied());
        given(event.name.as_deref(), |name| json.string(name!("name"), name));
    })?;
    output.buffer.extend_from_slice(b",\"features\":{");
    for (index, section) in records.features().iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        print(&mut output.buffer, format_args!("{comma}\"{}\":", section.feature));
        match feature(&section, output) {
            Ok(()) => {}
            Err(UnprintedFeature::Undecodable(error)) => {
                Json::object(&mut output.buffer, |json| json.text(name!("error"), &error));
            }
            Err(UnprintedFeature::Output(failure)) => return Err(failure),
        }
        output.flush_full()?;
    }
    output.buffer.extend_from_slice(b"}}");
    Ok(())
}
