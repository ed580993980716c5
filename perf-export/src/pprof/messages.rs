//! The messages of pprof's `profile.proto`, as far as they are written.
//!
//! Source: `proto/profile.proto` of the pprof project, package `perftools.profiles`.

/// The whole profile. Its parts may be written one after the other: protobuf joins them.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PprofProfile {
    #[prost(message, repeated, tag = "1")]
    pub(super) sample_type: Vec<PprofValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) sample: Vec<PprofSample>,
    #[prost(message, repeated, tag = "3")]
    pub(super) mapping: Vec<PprofMapping>,
    #[prost(message, repeated, tag = "4")]
    pub(super) location: Vec<PprofLocation>,
    #[prost(message, repeated, tag = "5")]
    pub(super) function: Vec<PprofFunction>,
    #[prost(string, repeated, tag = "6")]
    pub(super) string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    pub(super) time_nanos: i64,
    #[prost(int64, tag = "10")]
    pub(super) duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    pub(super) period_type: Option<PprofValueType>,
    #[prost(int64, tag = "12")]
    pub(super) period: i64,
    /// A string.
    #[prost(int64, tag = "14")]
    pub(super) default_sample_type: i64,
}

/// Type and unit of values, as strings.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PprofValueType {
    #[prost(int64, tag = "1")]
    pub(super) r#type: i64,
    #[prost(int64, tag = "2")]
    pub(super) unit: i64,
}

/// Samples with the same stack and labels.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PprofSample {
    /// The locations, the innermost one first.
    #[prost(uint64, repeated, tag = "1")]
    pub(super) location_id: Vec<u64>,
    /// A value for each of the sample types.
    #[prost(int64, repeated, tag = "2")]
    pub(super) value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    pub(super) label: Vec<PprofLabel>,
}

/// A label: a string or a number.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PprofLabel {
    #[prost(int64, tag = "1")]
    pub(super) key: i64,
    #[prost(int64, tag = "2")]
    pub(super) str: i64,
    #[prost(int64, tag = "3")]
    pub(super) num: i64,
    #[prost(int64, tag = "4")]
    pub(super) num_unit: i64,
}

/// A mapped file or region.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PprofMapping {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) memory_start: u64,
    #[prost(uint64, tag = "3")]
    pub(super) memory_limit: u64,
    #[prost(uint64, tag = "4")]
    pub(super) file_offset: u64,
    #[prost(int64, tag = "5")]
    pub(super) filename: i64,
    #[prost(int64, tag = "6")]
    pub(super) build_id: i64,
    #[prost(bool, tag = "7")]
    pub(super) has_functions: bool,
    #[prost(bool, tag = "8")]
    pub(super) has_filenames: bool,
    #[prost(bool, tag = "9")]
    pub(super) has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    pub(super) has_inline_frames: bool,
}

/// An address, with its functions.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PprofLocation {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) mapping_id: u64,
    #[prost(uint64, tag = "3")]
    pub(super) address: u64,
    /// The innermost inlined function first.
    #[prost(message, repeated, tag = "4")]
    pub(super) line: Vec<PprofLine>,
}

/// A function at an address.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PprofLine {
    #[prost(uint64, tag = "1")]
    pub(super) function_id: u64,
    #[prost(int64, tag = "2")]
    pub(super) line: i64,
}

/// A function. Its names and its file are strings.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct PprofFunction {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
    #[prost(int64, tag = "3")]
    pub(super) system_name: i64,
    #[prost(int64, tag = "4")]
    pub(super) filename: i64,
}
