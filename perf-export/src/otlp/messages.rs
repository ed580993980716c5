//! The messages of OTLP profiles, as far as they are written.
//!
//! Source: `profiles/v1development/profiles.proto`, `common/v1/common.proto` and `resource/v1/resource.proto` of
//! opentelemetry-proto 1.10.0. As JSON, names are in camel case and numbers of 64 bits are strings: the JSON mapping of
//! protobuf 3.

use serde::ser::{SerializeSeq, Serializer};

/// The whole message.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ProfilesData {
    #[prost(message, repeated, tag = "1")]
    pub(super) resource_profiles: Vec<ResourceProfiles>,
    #[prost(message, optional, tag = "2")]
    pub(super) dictionary: Option<ProfilesDictionary>,
}

/// The tables that all profiles refer to by index. The first entry of each is empty, and means none.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProfilesDictionary {
    #[prost(message, repeated, tag = "1")]
    pub(super) mapping_table: Vec<OtlpMapping>,
    #[prost(message, repeated, tag = "2")]
    pub(super) location_table: Vec<OtlpLocation>,
    #[prost(message, repeated, tag = "3")]
    pub(super) function_table: Vec<OtlpFunction>,
    #[prost(message, repeated, tag = "4")]
    pub(super) link_table: Vec<OtlpLink>,
    #[prost(string, repeated, tag = "5")]
    pub(super) string_table: Vec<String>,
    #[prost(message, repeated, tag = "6")]
    pub(super) attribute_table: Vec<KeyValueAndUnit>,
    #[prost(message, repeated, tag = "7")]
    pub(super) stack_table: Vec<OtlpStack>,
}

/// The profiles of a machine.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceProfiles {
    #[prost(message, optional, tag = "1")]
    pub(super) resource: Option<OtlpResource>,
    #[prost(message, repeated, tag = "2")]
    pub(super) scope_profiles: Vec<ScopeProfiles>,
}

/// A machine.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
pub(super) struct OtlpResource {
    #[prost(message, repeated, tag = "1")]
    pub(super) attributes: Vec<KeyValue>,
}

/// The profiles that a program made.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
pub(super) struct ScopeProfiles {
    #[prost(message, optional, tag = "1")]
    pub(super) scope: Option<InstrumentationScope>,
    #[prost(message, repeated, tag = "2")]
    pub(super) profiles: Vec<OtlpProfile>,
}

/// The program that made the profiles.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
pub(super) struct InstrumentationScope {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) version: String,
}

/// The samples of an event, with one value of each.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpProfile {
    #[prost(message, optional, tag = "1")]
    pub(super) sample_type: Option<OtlpValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<OtlpSample>,
    #[prost(fixed64, tag = "3")]
    #[serde(serialize_with = "number")]
    pub(super) time_unix_nano: u64,
    #[prost(uint64, tag = "4")]
    #[serde(serialize_with = "number")]
    pub(super) duration_nano: u64,
    #[prost(message, optional, tag = "5")]
    pub(super) period_type: Option<OtlpValueType>,
    #[prost(int64, tag = "6")]
    #[serde(serialize_with = "number")]
    pub(super) period: i64,
}

/// Type and unit of values, as strings.
#[derive(Clone, Copy, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpValueType {
    #[prost(int32, tag = "1")]
    pub(super) type_strindex: i32,
    #[prost(int32, tag = "2")]
    pub(super) unit_strindex: i32,
}

/// Samples with the same stack and attributes.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpSample {
    #[prost(int32, tag = "1")]
    pub(super) stack_index: i32,
    #[prost(int32, repeated, tag = "2")]
    pub(super) attribute_indices: Vec<i32>,
    /// One for each time; their sum if there are no times.
    #[prost(int64, repeated, tag = "4")]
    #[serde(serialize_with = "numbers")]
    pub(super) values: Vec<i64>,
    #[prost(fixed64, repeated, tag = "5")]
    #[serde(serialize_with = "numbers")]
    pub(super) timestamps_unix_nano: Vec<u64>,
}

/// A mapped file or region.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpMapping {
    #[prost(uint64, tag = "1")]
    #[serde(serialize_with = "number")]
    pub(super) memory_start: u64,
    #[prost(uint64, tag = "2")]
    #[serde(serialize_with = "number")]
    pub(super) memory_limit: u64,
    #[prost(uint64, tag = "3")]
    #[serde(serialize_with = "number")]
    pub(super) file_offset: u64,
    #[prost(int32, tag = "4")]
    pub(super) filename_strindex: i32,
    #[prost(int32, repeated, tag = "5")]
    pub(super) attribute_indices: Vec<i32>,
}

/// A stack: its locations, the innermost one first.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpStack {
    #[prost(int32, repeated, tag = "1")]
    pub(super) location_indices: Vec<i32>,
}

/// An address, with its functions.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpLocation {
    #[prost(int32, tag = "1")]
    pub(super) mapping_index: i32,
    #[prost(uint64, tag = "2")]
    #[serde(serialize_with = "number")]
    pub(super) address: u64,
    /// The innermost inlined function first.
    #[prost(message, repeated, tag = "3")]
    pub(super) lines: Vec<OtlpLine>,
    #[prost(int32, repeated, tag = "4")]
    pub(super) attribute_indices: Vec<i32>,
}

/// A function at an address.
#[derive(Clone, Copy, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpLine {
    #[prost(int32, tag = "1")]
    pub(super) function_index: i32,
    #[prost(int64, tag = "2")]
    #[serde(serialize_with = "number")]
    pub(super) line: i64,
}

/// A function. Its names and its file are strings.
#[derive(Clone, Copy, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpFunction {
    #[prost(int32, tag = "1")]
    pub(super) name_strindex: i32,
    #[prost(int32, tag = "2")]
    pub(super) system_name_strindex: i32,
    #[prost(int32, tag = "3")]
    pub(super) filename_strindex: i32,
}

/// The span of a trace. Captures have none.
#[derive(Clone, Copy, PartialEq, prost::Message, serde::Serialize)]
pub(super) struct OtlpLink {}

/// An attribute of the dictionary.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeyValueAndUnit {
    #[prost(int32, tag = "1")]
    pub(super) key_strindex: i32,
    #[prost(message, optional, tag = "2")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<AnyValue>,
}

/// An attribute of a resource.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<AnyValue>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, prost::Message, serde::Serialize)]
pub(super) struct AnyValue {
    #[prost(oneof = "OtlpValue", tags = "1, 2, 3")]
    #[serde(flatten)]
    pub(super) value: Option<OtlpValue>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash, prost::Oneof, serde::Serialize)]
pub(super) enum OtlpValue {
    #[prost(string, tag = "1")]
    #[serde(rename = "stringValue")]
    Text(String),
    #[prost(bool, tag = "2")]
    #[serde(rename = "boolValue")]
    Flag(bool),
    #[prost(int64, tag = "3")]
    #[serde(rename = "intValue")]
    Number(#[serde(serialize_with = "number")] i64),
}

fn number<N: core::fmt::Display, S: Serializer>(number: &N, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}

fn numbers<N: core::fmt::Display, S: Serializer>(numbers: &[N], to: S) -> Result<S::Ok, S::Error> {
    let mut to = to.serialize_seq(Some(numbers.len()))?;
    numbers.iter().try_for_each(|number| to.serialize_element(&format_args!("{number}")))?;
    to.end()
}
