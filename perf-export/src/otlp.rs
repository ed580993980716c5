//! Profiles of OpenTelemetry: the message `ProfilesData` of OTLP, as protobuf or as JSON.
//!
//! Each capture is a resource. It has two profiles of each event: what the event counted, and the number of samples, whose
//! period type is the event. If the capture has a moment on both clocks (`perf record -k CLOCK`), each sample has its time;
//! without it, samples with the same stack and attributes are counted together.
//!
//! Attributes have the names of OpenTelemetry's semantic conventions:
//!
//! - resources: `host.name`, `host.arch`, `os.type`;
//! - samples: `process.pid`, `thread.id`, `thread.name`, `cpu.logical_number`;
//! - mappings: `process.executable.build_id.gnu`, `pprof.mapping.has_functions` and the like;
//! - locations: `profile.frame.type`, which is `kernel`, `native`, or `jit` for generated code.
//!
//! Of a caller, the address of a location is that of the last byte of the call instruction.
//!
//! Source: [`PROTO_VERSION`] of opentelemetry-proto, package `opentelemetry.proto.profiles.v1development`. Profiles are not yet
//! stable in OTLP: later versions may differ.

mod messages;

use std::io::{self, Write};
use std::num::NonZero;

use hashbrown::HashMap;
use perf_abi::attr::AttrFlags;
use perf_abi::sample_type::SampleType;
use perf_profile::{
    CaptureOrigin, EMPTY, NONE, Profile, ProfileEvent, ProfileThread, SampleTotal, event_name,
    table::interner::Interner, text::OneLine, unit::is_clock, work::both::both,
};
use prost::Message;

use self::messages::{
    AnyValue, InstrumentationScope, KeyValue, KeyValueAndUnit, OtlpFunction, OtlpLine, OtlpLink,
    OtlpLocation, OtlpMapping, OtlpProfile, OtlpResource, OtlpSample, OtlpStack, OtlpValue, OtlpValueType,
    ProfilesData, ProfilesDictionary, ResourceProfiles, ScopeProfiles,
};
use crate::proto_tables::{CodeKind, MappedFile, ProtoTables};

/// The version of opentelemetry-proto that is written.
pub const PROTO_VERSION: &str = "1.10.0";

/// The encoding of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtlpEncoding {
    /// Protobuf.
    #[default]
    Protobuf,
    /// The JSON mapping of protobuf 3, on one line.
    Json,
}

/// Options of profiles of OpenTelemetry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Protobuf or JSON.
    pub encoding: OtlpEncoding,
    /// Number of threads that encode; more than two are not used. The output is the same for any number.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    /// Protobuf, on one thread.
    fn default() -> Self {
        Self { encoding: OtlpEncoding::default(), threads: NonZero::<usize>::MIN }
    }
}

/// Writes the profiles of some captures as one message.
///
/// Costs memory for each sample, for each frame of each distinct stack, and for the encoded message.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[Profile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = OtlpWriter::default();
    let resource_profiles: Vec<_> = profiles.iter().map(|profile| writer.resource(profile)).collect();
    let dictionary = writer.dictionary();
    match options.encoding {
        OtlpEncoding::Protobuf => {
            // Protobuf joins the parts of a message that follow each other.
            let samples = ProfilesData { resource_profiles, dictionary: None };
            let tables = ProfilesData { resource_profiles: Vec::new(), dictionary: Some(dictionary) };
            let (samples, tables) =
                both(options.threads, || samples.encode_to_vec(), || tables.encode_to_vec());
            out.write_all(&samples)?;
            out.write_all(&tables)
        }
        OtlpEncoding::Json => {
            let (samples, tables) = both(
                options.threads,
                || serde_json::to_vec(&resource_profiles),
                || serde_json::to_vec(&dictionary),
            );
            out.write_all(b"{\"resourceProfiles\":")?;
            out.write_all(&samples?)?;
            out.write_all(b",\"dictionary\":")?;
            out.write_all(&tables?)?;
            out.write_all(b"}\n")
        }
    }
}

/// Returns the index of what has a number in a table whose first entry is empty; 0 for [`NONE`].
fn index(number: u32) -> i32 {
    number.wrapping_add(1).cast_signed()
}

/// The key by which samples are grouped: the event, the stack, the thread, and the CPU or [`NONE`].
type SampleKey = (u32, u32, u32, u32);

#[derive(Default)]
struct OtlpWriter {
    tables: ProtoTables,
    /// The numbers of the keys, and the values.
    attributes: Interner<(i32, OtlpValue)>,
    /// The stacks of samples, by their numbers in the tables.
    stacks: Interner<u32>,
}

impl OtlpWriter {
    fn string(&mut self, text: &[u8]) -> i32 {
        self.tables.strings.number(text).cast_signed()
    }

    fn attribute(&mut self, key: &str, value: OtlpValue) -> i32 {
        let key = self.string(key.as_bytes());
        index(self.attributes.number((key, value)))
    }

    fn resource(&mut self, profile: &Profile) -> ResourceProfiles {
        let stacks = self.tables.add(profile);
        let name = String::from("perfdata");
        let scope = InstrumentationScope { name, version: String::from(env!("CARGO_PKG_VERSION")) };
        let profiles = self.profiles(profile, &stacks);
        ResourceProfiles {
            resource: Some(OtlpResource { attributes: of_machine(profile.origin()) }),
            scope_profiles: vec![ScopeProfiles { scope: Some(scope), profiles }],
        }
    }

    /// Returns the profiles of a capture, two for each event.
    fn profiles(&mut self, profile: &Profile, stacks: &[u32]) -> Vec<OtlpProfile> {
        let threads: Vec<Vec<i32>> = profile.threads().iter().map(|it| self.of_thread(it)).collect();
        let mut keys = Interner::<SampleKey>::default();
        let mut counts = Vec::with_capacity(profile.samples().len());
        for sample in profile.samples() {
            let stack = stacks.get(sample.stack as usize).copied().unwrap_or(EMPTY);
            let key = (sample.event, stack, sample.thread, sample.cpu.unwrap_or(NONE));
            let number = keys.number(key);
            counts.push((number, sample.time, sample.total));
        }
        counts.sort_by_key(|&(number, ..)| number);
        let mut of_events: Vec<(Vec<OtlpSample>, Vec<OtlpSample>)> =
            vec![Default::default(); profile.events().len()];
        for of_key in counts.chunk_by(|(one, ..), (other, ..)| one == other) {
            let Some(&(number, ..)) = of_key.first() else { continue };
            let Some(&key) = keys.list().get(number as usize) else { continue };
            let (event, _, thread, _) = key;
            let (Some(of), Some((counted, taken)), Some(thread)) = (
                profile.events().get(event as usize),
                of_events.get_mut(event as usize),
                threads.get(thread as usize),
            ) else {
                continue;
            };
            let (by_period, by_number) = self.samples(key, thread, of_key, of, profile.origin());
            counted.push(by_period);
            taken.push(by_number);
        }
        let both = profile.events().iter().zip(of_events);
        both.flat_map(|(of, (counted, taken))| self.of_event(profile, of, counted, taken)).collect()
    }

    /// Returns a sample with what the event counted, and one with the number of samples.
    fn samples(
        &mut self,
        (_, stack, _, cpu): SampleKey,
        thread: &[i32],
        counts: &[(u32, u64, SampleTotal)],
        of: &ProfileEvent,
        origin: &CaptureOrigin,
    ) -> (OtlpSample, OtlpSample) {
        let mut attribute_indices = thread.to_vec();
        if cpu != NONE {
            attribute_indices.push(self.attribute("cpu.logical_number", OtlpValue::Number(cpu.into())));
        }
        let has_time = of.event.attr.sample_type.contains(SampleType::TIME);
        let times = counts.iter().map(|&(_, time, _)| origin.wall_clock(time).filter(|_| has_time));
        let times: Option<Vec<u64>> = times.collect();
        // Above the largest i64 they wrap around, as sums of impossible periods do.
        let values = |value: fn(&SampleTotal) -> u64| {
            let each = counts.iter().map(|(_, _, total)| value(total).cast_signed());
            if times.is_some() { each.collect() } else { vec![each.fold(0, i64::wrapping_add)] }
        };
        let (by_period, by_number) = (values(|total| total.period), values(|total| total.samples));
        let stack_index = if stack == EMPTY { 0 } else { index(self.stacks.number(stack)) };
        let timestamps_unix_nano = times.unwrap_or_default();
        let sample = OtlpSample { stack_index, attribute_indices, values: by_period, timestamps_unix_nano };
        let other = OtlpSample { values: by_number, ..sample.clone() };
        (sample, other)
    }

    fn of_event(
        &mut self,
        profile: &Profile,
        of: &ProfileEvent,
        counted: Vec<OtlpSample>,
        taken: Vec<OtlpSample>,
    ) -> [OtlpProfile; 2] {
        let attr = &of.event.attr;
        let period = if attr.flags.contains(AttrFlags::FREQ) { 0 } else { attr.sample_period };
        let event = OtlpValueType {
            type_strindex: self.string(&event_name(&of.event)),
            unit_strindex: self.string(if is_clock(&of.event.attr) { b"nanoseconds" } else { b"count" }),
        };
        let number =
            OtlpValueType { type_strindex: self.string(b"samples"), unit_strindex: self.string(b"count") };
        let span = profile.span();
        // Times are less than the sum of both.
        let duration_nano = span.map_or(0, |(first, last)| (last - first).saturating_add(1));
        let time_unix_nano = span.and_then(|(first, _)| profile.origin().wall_clock(first)).unwrap_or(0);
        [(event, counted), (number, taken)].map(|(sample_type, samples)| OtlpProfile {
            sample_type: Some(sample_type),
            samples,
            time_unix_nano,
            duration_nano,
            period_type: Some(event),
            period: period.cast_signed(),
        })
    }

    fn of_thread(&mut self, thread: &ProfileThread) -> Vec<i32> {
        vec![
            self.attribute("process.pid", OtlpValue::Number(thread.pid.into())),
            self.attribute("thread.id", OtlpValue::Number(thread.tid.into())),
            self.attribute("thread.name", OtlpValue::Text(OneLine(&thread.comm).to_string())),
        ]
    }

    fn of_mapping(&mut self, it: &MappedFile) -> Vec<i32> {
        let mut attributes = Vec::new();
        let build_id = self.tables.build_ids.get(it.key.build_id).to_owned();
        if !build_id.is_empty() {
            let value = OtlpValue::Text(build_id);
            attributes.push(self.attribute("process.executable.build_id.gnu", value));
        }
        let known = [
            ("pprof.mapping.has_functions", it.has_functions),
            ("pprof.mapping.has_filenames", it.has_files),
            ("pprof.mapping.has_line_numbers", it.has_lines),
            ("pprof.mapping.has_inline_frames", it.has_inlines),
        ];
        for (key, _) in known.into_iter().filter(|(_, is_known)| *is_known) {
            attributes.push(self.attribute(key, OtlpValue::Flag(true)));
        }
        attributes
    }

    fn of_location(&mut self, code: CodeKind) -> Vec<i32> {
        let kind = match code {
            CodeKind::Kernel => "kernel",
            CodeKind::Native => "native",
            CodeKind::Generated => "jit",
            CodeKind::Unknown => return Vec::new(),
        };
        vec![self.attribute("profile.frame.type", OtlpValue::Text(kind.to_owned()))]
    }

    /// Returns the tables, in which all samples must be already.
    fn dictionary(mut self) -> ProfilesDictionary {
        let mut mapping_table = vec![OtlpMapping::default()];
        for it in self.tables.mappings().to_vec() {
            mapping_table.push(OtlpMapping {
                memory_start: it.key.start,
                memory_limit: it.limit,
                file_offset: it.key.pgoff,
                filename_strindex: it.key.file.cast_signed(),
                attribute_indices: self.of_mapping(&it),
            });
        }
        let of_codes = [CodeKind::Kernel, CodeKind::Native, CodeKind::Generated, CodeKind::Unknown]
            .into_iter()
            .filter(|code| self.tables.locations().iter().any(|it| it.code == *code))
            .collect::<Vec<_>>();
        let of_codes: HashMap<_, _> =
            of_codes.into_iter().map(|code| (code, self.of_location(code))).collect();
        let locations = self.tables.locations().iter().map(|it| OtlpLocation {
            mapping_index: index(it.mapping),
            address: it.address,
            lines: (it.lines.iter())
                .map(|&(function, line)| OtlpLine { function_index: index(function), line: line.into() })
                .collect(),
            attribute_indices: of_codes.get(&it.code).cloned().unwrap_or_default(),
        });
        let functions = self.tables.functions().iter().map(|it| OtlpFunction {
            name_strindex: it.name.cast_signed(),
            system_name_strindex: it.system_name.cast_signed(),
            filename_strindex: it.file.cast_signed(),
        });
        let stacks = self.stacks.list().iter().map(|&stack| OtlpStack {
            location_indices: self.tables.stacks.frames(stack).map(index).collect(),
        });
        let attributes = self.attributes.list().iter().map(|(key_strindex, value)| KeyValueAndUnit {
            key_strindex: *key_strindex,
            value: Some(AnyValue { value: Some(value.clone()) }),
        });
        ProfilesDictionary {
            mapping_table,
            location_table: core::iter::once(OtlpLocation::default()).chain(locations).collect(),
            function_table: core::iter::once(OtlpFunction::default()).chain(functions).collect(),
            link_table: vec![OtlpLink::default()],
            string_table: self.tables.strings.list().iter().map(|text| String::from(&**text)).collect(),
            attribute_table: core::iter::once(KeyValueAndUnit::default()).chain(attributes).collect(),
            stack_table: core::iter::once(OtlpStack::default()).chain(stacks).collect(),
        }
    }
}

/// Returns the attributes of a machine.
fn of_machine(origin: &CaptureOrigin) -> Vec<KeyValue> {
    let name = |name: &Vec<u8>| OneLine(name).to_string();
    let arch = origin.arch.as_ref().map(|arch| match &**arch {
        b"x86_64" => "amd64".to_owned(),
        b"aarch64" => "arm64".to_owned(),
        b"i386" | b"i486" | b"i586" | b"i686" => "x86".to_owned(),
        b"ppc64le" => "ppc64".to_owned(),
        b"ppc" => "ppc32".to_owned(),
        arm if arm.starts_with(b"armv") => "arm32".to_owned(),
        _ => name(arch),
    });
    let all = [
        ("host.name", origin.hostname.as_ref().map(name)),
        ("host.arch", arch),
        ("os.type", Some("linux".to_owned())),
    ];
    let all = all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    all.map(|(key, value)| KeyValue { key, value: Some(AnyValue { value: Some(OtlpValue::Text(value)) }) })
        .collect()
}
