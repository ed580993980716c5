//! Feature sections as JSON values; [`lines`] prints them as text.
//!
//! Lists are printed item by item, so only one printed item is in memory.

pub(crate) mod lines;

use perf_parse::feature::{FeatureData, FeatureSection, FieldValue};
use perf_parse::file::FileError;
use perf_parse::rewrite::EditAccount;

use super::Scalars;
use super::digits::{push_decimal, push_signed};
use super::json::{Json, push_blob};
use super::name::name;
use crate::escape::push_json;
use crate::outcome::Failure;
use crate::output::Output;

/// The reason why a feature was not printed.
#[derive(Debug)]
pub(crate) enum UnprintedFeature {
    /// The feature cannot be decoded; nothing was printed.
    Undecodable(FileError),
    /// The output failed.
    Output(Failure),
}

impl From<FileError> for UnprintedFeature {
    fn from(error: FileError) -> Self {
        Self::Undecodable(error)
    }
}

impl From<Failure> for UnprintedFeature {
    fn from(failure: Failure) -> Self {
        Self::Output(failure)
    }
}

/// Prints a list of objects, with at most one in the buffer at a time. `members` prints the members of an item.
pub(crate) fn objects<T>(
    output: &mut Output,
    items: impl IntoIterator<Item = T>,
    members: impl Fn(&mut Json<'_>, T),
) -> Result<(), Failure> {
    output.buffer.push(b'[');
    for (index, it) in items.into_iter().enumerate() {
        if index > 0 {
            output.buffer.push(b',');
        }
        Json::object(&mut output.buffer, |json| members(json, it));
        output.flush_full()?;
    }
    output.buffer.push(b']');
    Ok(())
}

/// Prints a feature section, with perf's names. TRACING_DATA and DEBUG_UNWIND_FILE print their positions; an unknown feature
/// also prints its bytes.
pub(crate) fn feature(section: &FeatureSection<'_>, output: &mut Output) -> Result<(), UnprintedFeature> {
    if let Some(account) = EditAccount::of(section) {
        Json::object(&mut output.buffer, |json| {
            json.number(name!("left_out"), account.left_out);
            json.number(name!("one_in"), account.one_in);
            json.number(name!("removed"), account.removed.0);
            json.number(name!("side_band_left_out"), account.side_band_left_out);
            json.number(name!("added"), account.added);
            json.serialized(name!("redacted"), &account.redacted.as_slice().into());
            json.objects(name!("clock_offsets"), account.clock_offsets.iter(), |json, &(capture, offset)| {
                json.number(name!("capture"), capture);
                json.serialized(name!("nanoseconds"), &offset.into());
            });
            json.number(name!("renumbered"), account.renumbered);
            json.number(name!("added_fields"), account.added_fields.0);
            if let Some(release) = &account.release {
                json.string(name!("for"), release.as_bytes());
            }
            json.number(name!("names"), account.names);
            json.number(name!("names_left_out"), account.names_left_out);
        });
        return Ok(());
    }
    let data = section.decode()?;
    if let FeatureData::TracingData(bytes)
    | FeatureData::DebugUnwindFile(bytes)
    | FeatureData::Other { bytes, .. } = data
    {
        Json::object(&mut output.buffer, |json| {
            json.number(name!("offset"), section.offset);
            json.number(name!("size"), bytes.len() as u64);
            if section.feature.name().is_none() {
                json.blob(name!("raw"), bytes);
            }
        });
        return Ok(());
    }
    let mut printer = Printer { output, printed: Ok(()) };
    printer.value(data.value());
    Ok(printer.printed?)
}

/// Prints values to an output, until it fails.
struct Printer<'o> {
    output: &'o mut Output,
    printed: Result<(), Failure>,
}

impl Printer<'_> {
    fn value(&mut self, value: FieldValue<'_>) {
        let out = &mut self.output.buffer;
        match value {
            FieldValue::Number(number) => push_decimal(out, number),
            FieldValue::Signed(number) => push_signed(out, number),
            FieldValue::Text(text) => push_json(out, &text),
            FieldValue::Object(fields) => {
                let mut before = b'{';
                fields.each(&mut |name, value| {
                    self.output.buffer.push(before);
                    push_json(&mut self.output.buffer, name.as_bytes());
                    self.output.buffer.push(b':');
                    self.value(value);
                    before = b',';
                });
                self.close(before, b'{', b'}');
            }
            FieldValue::List(items) => {
                let mut before = b'[';
                items.each(&mut |value| {
                    if self.printed.is_err() {
                        return;
                    }
                    self.output.buffer.push(before);
                    self.value(value);
                    before = b',';
                    self.printed = self.output.flush_full().map(drop);
                });
                self.close(before, b'[', b']');
            }
            FieldValue::Bytes(bytes) => push_blob(out, bytes),
            // A kind of value of a newer perf-parse.
            _ => out.extend_from_slice(b"null"),
        }
    }

    /// Prints the end of a list or an object, and its beginning if it is empty.
    fn close(&mut self, before: u8, opening: u8, closing: u8) {
        let out = &mut self.output.buffer;
        out.extend((before == opening).then_some(opening));
        out.push(closing);
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::endian::Endianness;
    use perf_abi::feature::Feature;

    use super::*;

    fn printed(feature: Feature, bytes: &[u8]) -> String {
        let mut output = Output::new();
        let section = FeatureSection::new(feature, 5, bytes, Endianness::Little);
        self::feature(&section, &mut output).unwrap();
        String::from_utf8(output.buffer).unwrap()
    }

    /// Returns the shortest simple section that decodes as the feature: zeros, a version 1 and zeros, or an empty
    /// string.
    fn zeros(feature: Feature) -> Option<Vec<u8>> {
        let is_decodable =
            |bytes: &Vec<u8>| FeatureSection::new(feature, 5, bytes, Endianness::Little).decode().is_ok();
        let versioned = |len: usize| (0..len).map(|at| u8::from(at == 0)).collect();
        let string = vec![1, 0, 0, 0, 0];
        (0..32).flat_map(|len| [vec![0; len], versioned(len)]).chain([string]).find(is_decodable)
    }

    #[test]
    fn every_feature_is_printed_by_its_content() {
        for &feature in FeatureData::KNOWN {
            let bytes = zeros(feature).unwrap_or_else(|| panic!("{feature}"));
            let is_position = [Feature::TRACING_DATA, Feature::DEBUG_UNWIND_FILE].contains(&feature);
            let json = printed(feature, &bytes);
            assert_eq!(json.contains(r#""offset":5"#), is_position, "{feature}: {json}");
            let section = FeatureSection::new(feature, 5, &bytes, Endianness::Little);
            let text = lines::lines(&section).unwrap().value;
            assert_eq!(text.ends_with(" bytes at 0x5"), is_position, "{feature}: {text}");
        }
    }

    #[test]
    fn lists_and_objects_without_items() {
        assert_eq!(printed(Feature::CMDLINE, &[0; 4]), "[]");
        assert_eq!(printed(Feature::STAT, &[]), "{}");
        assert_eq!(printed(Feature(200), &[0xab]), r#"{"offset":5,"size":1,"raw":"ab"}"#);
    }
}
