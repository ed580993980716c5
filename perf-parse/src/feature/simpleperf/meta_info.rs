//! `META_INFO`: facts about a recording of simpleperf.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::file::put_c_string;
use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::{Error, FileError};
use crate::feature::codec::{Fault, SectionField};
use crate::feature::{Entries, FeatureSection, FieldValue, Fields};

/// Facts about a recording of simpleperf: its version, the device, the settings. Borrows the bytes of the section.
///
/// [`get`](Self::get) returns the value of a key. Some keys:
///
/// | key | value |
/// |---|---|
/// | `simpleperf_version` | version of simpleperf |
/// | `event_type_info` | the [events](Self::event_types) |
/// | `clockid` | name of the [clock](Self::clock_id) |
/// | `trace_offcpu` | `true` if the samples of sched_switch are where threads leave their CPU |
/// | `system_wide_collection`, `kernel_symbols_available` | `true` or `false` |
/// | `timestamp` | time of the recording, in seconds since 1970 |
/// | `recording_process` | process id of simpleperf |
/// | `app_package_name`, `app_type` | the recorded app |
/// | `product_props` | manufacturer, model and name of the device, with colons between them |
/// | `android_version`, `android_sdk_version`, `android_build_type`, `android_build_fingerprint`, `kernel_version` | the system |
/// | `arm64_pac_mask` | the bits of addresses that authenticate pointers, in hexadecimal |
///
/// simpleperf: `RecordCommand::DumpMetaInfoFeature`, `system/extras/simpleperf/cmd_record.cpp`.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::endian::Endianness;
/// use perf_parse::abi::feature::Feature;
/// use perf_parse::feature::Features;
///
/// let mut features = Features::new(Endianness::Little);
/// let section = b"clockid\0monotonic\0event_type_info\0cpu-cycles,0,0\ninstructions,0,1\0";
/// features.set(Feature::META_INFO, 0, &section[..]);
/// let info = features.meta_info()?.unwrap();
/// assert_eq!(info.clock_id(), Some(1));
/// assert_eq!(info.event_types().nth(1).unwrap().name, "instructions");
/// assert_eq!(info.get("simpleperf_version"), None);
/// # Ok::<(), perf_parse::file::FileError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaInfo<'a> {
    /// The keys and values, in the order of the section.
    pub entries: Entries<'a, MetaInfoEntry<'a>>,
}

/// A key of [`MetaInfo`] and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaInfoEntry<'a> {
    /// Name of the fact.
    pub key: ByteStr<'a>,
    /// The fact, as text.
    pub value: ByteStr<'a>,
}

/// An event in `event_type_info` of [`MetaInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTypeInfo<'a> {
    /// Name of the event, as simpleperf prints it.
    pub name: ByteStr<'a>,
    /// `type` of the attrs that have this name.
    pub kind: u32,
    /// `config` of the attrs that have this name.
    pub config: u64,
}

impl<'a> MetaInfo<'a> {
    /// Returns the value of a key; `None` if the key is absent. Of a key with several values, the last one counts. Takes
    /// time linear in the size of the section.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<ByteStr<'a>> {
        self.entries.iter().filter(|entry| entry.key == key).last().map(|entry| entry.value)
    }

    /// Returns the events of `event_type_info`, in the order of simpleperf. There are none if the key is absent. Lines that
    /// are not `NAME,TYPE,CONFIG` are left out.
    pub fn event_types(&self) -> impl Iterator<Item = EventTypeInfo<'a>> + use<'a> {
        let lines = self.get("event_type_info").unwrap_or_default().as_bytes().split(|&byte| byte == b'\n');
        lines.filter_map(|line| {
            let mut fields = line.rsplitn(3, |&byte| byte == b',');
            let mut number = || core::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok();
            let (config, kind) = (number()?, u32::try_from(number()?).ok()?);
            Some(EventTypeInfo { name: ByteStr::new(fields.next()?), kind, config })
        })
    }

    /// Returns the number of the clock of all times, as in [`Attr::clockid`](perf_abi::attr::Attr::clockid). `None` for
    /// the clock that perf_event uses by itself, which is also the clock if the key is absent, and for an unknown name.
    #[must_use]
    pub fn clock_id(&self) -> Option<i32> {
        Some(match self.get("clockid")?.as_bytes() {
            b"realtime" => 0,
            b"monotonic" => 1,
            b"monotonic_raw" => 4,
            b"boottime" => 7,
            _ => return None,
        })
    }

    pub(in crate::feature) fn value(&self) -> FieldValue<'_> {
        FieldValue::List(&self.entries)
    }
}

pub(in crate::feature) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<MetaInfo<'a>, FileError> {
    Ok(MetaInfo { entries: section.until_end::<O, _>("key", 0)? })
}

pub(in crate::feature) fn encode<O: Endian>(info: &MetaInfo<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    info.entries.put_all::<O>(out, "")
}

impl<'a> SectionField<'a> for MetaInfoEntry<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, _: u32) -> Result<Self, Error> {
        let key = ByteStr::new(at.c_string("key")?);
        Ok(Self { key, value: ByteStr::new(at.c_string("value")?) })
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        put_c_string(out, self.key, "key")?;
        put_c_string(out, self.value, "value")
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for MetaInfoEntry<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("key", FieldValue::Text(self.key));
        to("value", FieldValue::Text(self.value));
    }
}
