//! A capture with events, features, samples and every other record of the kernel, made from the input. It is written
//! in either byte order as a file or a stream, and read back unchanged.

use std::io::Cursor;

use arbitrary::{Arbitrary, Result, Unstructured};
use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::aux_area::AuxFlags;
use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_abi::feature::Feature;
use perf_abi::ksymbol::{BpfEventType, KsymbolFlags, KsymbolType};
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::feature::{Entries, FeatureData, NrCpus};
use perf_parse::file::Mode;
use perf_parse::file::write::{EventFields, FeaturePayloads, FileWriter, PipeWriter, WriteFileError};
use perf_parse::list::{List, ListItem};
use perf_parse::record::{self as view, FileId};
use perf_parse::sample::Reading;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{ByteStr, RawRecord, Reader, Record, SampleLayout};
use testdata::oracle::{Body, Mmap2Id};

use compare::eager;
use compare::rewrite::options;

use super::made;

/// `data` contains the choices, in the format of the crate `arbitrary`.
pub fn run(data: &[u8]) -> bool {
    let mut u = Unstructured::new(data);
    let Ok(big) = bool::arbitrary(&mut u) else { return false };
    // After the end of the bytes, zeros follow.
    let checked = if big { check::<BigEndian>(&mut u) } else { check::<LittleEndian>(&mut u) };
    checked.is_ok()
}

/// A record: its event, its `misc` and its contents.
struct Made {
    event: usize,
    misc: u16,
    content: Content,
}

enum Content {
    Sample(SampleFields),
    Read(i32, i32, SampleFields),
    Other(Body),
}

fn check<O: Endian>(u: &mut Unstructured<'_>) -> Result<()> {
    let is_pipe = u.arbitrary()?;
    let events = events(u)?;
    let features = features::<O>(u, is_pipe)?;
    let mut records = Vec::new();
    while !u.is_empty() && records.len() < 16 {
        records.push(make(u, &events)?);
    }
    let layouts: Vec<_> =
        events.iter().map(|event| SampleLayout::new(&event.attr).expect("attr is made so")).collect();
    let bytes: Vec<_> =
        records.iter().map(|made| bytes_of::<O>(made, &layouts[made.event], id_of(made.event))).collect();
    let written =
        if is_pipe { pipe::<O>(&events, &features, &bytes) } else { file::<O>(&events, &features, &bytes) };
    let capture = match written {
        Ok(capture) => capture,
        // A reader of the file could not determine the width of the bitmap's words.
        Err(WriteFileError::Feature { feature: Feature::HOSTNAME, .. })
            if !is_pipe && is_ambiguous::<O>(&features) =>
        {
            return Ok(());
        }
        Err(error) => panic!("{error}"),
    };
    let reader = Reader::new(&capture).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(matches!(reader.mode(), Mode::Pipe), is_pipe);

    let mut at = 0;
    let mut walk = reader.records();
    for record in &mut walk {
        let record = record.unwrap_or_else(|error| panic!("{error}"));
        // The records that the writer adds have types of perf itself.
        if record.kind().is_user() {
            continue;
        }
        let made = &records[at];
        assert_eq!(record.event_index(), Some(made.event));
        assert_eq!(record.raw().as_bytes(), bytes[at]);
        let (raw, _) = RawRecord::<O>::parse(record.raw().as_bytes()).expect("it was read");
        same(made, &events[made.event].attr, &layouts[made.event], &raw);
        at += 1;
    }
    assert_eq!(at, records.len());
    assert!(walk.account().is_clean(), "{:?}", walk.account());
    assert_eq!(reader.endianness(), O::ENDIANNESS);
    same_events(&events, &reader);
    for (feature, payload) in features.iter() {
        let read = reader.feature(feature).unwrap_or_else(|| panic!("{feature} is missing"));
        // A feature in a stream may be padded; this writer does not pad.
        assert_eq!(read.bytes, payload);
    }
    Ok(())
}

/// Returns the id in the records of an event.
fn id_of(event: usize) -> u64 {
    100 + event as u64
}

/// Makes one to three events, each with an id of its own at the same place.
fn events(u: &mut Unstructured<'_>) -> Result<Vec<EventFields>> {
    let count = u.int_in_range(1..=3)?;
    let has_names = u.arbitrary()?;
    let event = |index| {
        let mut attr = made::attr(u)?;
        if count > 1 {
            attr.sample_type |= SampleType::IDENTIFIER;
            attr.flags |= AttrFlags::SAMPLE_ID_ALL;
        }
        Ok(EventFields {
            attr,
            ids: [id_of(index)]
                .into_iter()
                .chain(u.arbitrary::<bool>()?.then_some(1000 + index as u64))
                .collect(),
            name: if has_names { Some(made::text(u)?) } else { None },
            unit: if u.ratio(1, 8)? { Some(made::text(u)?) } else { None },
            scale: if u.ratio(1, 8)? { Some(u32::arbitrary(u)?.into()) } else { None },
            ..EventFields::default()
        })
    };
    (0..count).map(event).collect()
}

fn features<O: Endian>(u: &mut Unstructured<'_>, is_pipe: bool) -> Result<FeaturePayloads> {
    let mut features = FeaturePayloads::new_in(O::ENDIANNESS);
    let chosen: u8 = u.arbitrary()?;
    let written = "a text without NULs";
    if chosen & 1 != 0 {
        features.set(&FeatureData::Hostname(ByteStr::new(&made::text(u)?))).expect(written);
    }
    if chosen & 2 != 0 {
        let words = [made::text(u)?, made::text(u)?];
        let words = words.each_ref().map(|word| ByteStr::new(word));
        features.set(&FeatureData::CmdLine(Entries::from(&words))).expect(written);
    }
    if chosen & 4 != 0 {
        let data = NrCpus { available: u.arbitrary()?, online: u.arbitrary()? };
        features.set(&FeatureData::NrCpus(data)).expect("any numbers");
    }
    if chosen & 8 != 0 {
        // Any payload; in a file also for features of a newer perf.
        let number = u.int_in_range(Feature::CLN_SIZE.0..=if is_pipe { Feature::CLN_SIZE.0 } else { 255 })?;
        features.raw(Feature(number), &made::text(u)?.repeat(2)).expect("the number of a feature");
    }
    Ok(features)
}

fn make(u: &mut Unstructured<'_>, events: &[EventFields]) -> Result<Made> {
    let event = u.int_in_range(0..=events.len() - 1)?;
    let (attr, mut misc) = (&events[event].attr, u16::arbitrary(u)?);
    let content = match u.int_in_range(0..=7)? {
        0..=2 => Content::Sample(made::sample(u, attr, id_of(event))?),
        3 => {
            let attr = Attr { sample_type: SampleType::READ, ..*attr };
            Content::Read(u.arbitrary()?, u.arbitrary()?, made::sample(u, &attr, 0)?)
        }
        _ => Content::Other(made::body(u)?),
    };
    if let Content::Other(Body::Mmap2 { file, .. }) = &content {
        misc &= !Misc::MMAP_BUILD_ID.0;
        if matches!(file, Mmap2Id::BuildId { .. }) {
            misc |= Misc::MMAP_BUILD_ID.0;
        }
    }
    Ok(Made { event, misc, content })
}

fn pipe<O: Endian>(
    events: &[EventFields],
    features: &FeaturePayloads,
    records: &[Vec<u8>],
) -> core::result::Result<Vec<u8>, WriteFileError> {
    let mut writer = PipeWriter::new(Vec::new(), events, features, &options::<O>())?;
    records.iter().try_for_each(|record| writer.record(record))?;
    writer.finish()
}

fn file<O: Endian>(
    events: &[EventFields],
    features: &FeaturePayloads,
    records: &[Vec<u8>],
) -> core::result::Result<Vec<u8>, WriteFileError> {
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), events, &options::<O>())?;
    for (feature, payload) in features.iter() {
        writer.features().raw(feature, payload)?;
    }
    records.iter().try_for_each(|record| writer.record(record))?;
    writer.finish().map(Cursor::into_inner)
}

/// Returns whether a big-endian file with these features has no HOSTNAME.
fn is_ambiguous<O: Endian>(features: &FeaturePayloads) -> bool {
    O::ENDIANNESS == perf_abi::endian::Endianness::Big && features.get(Feature::HOSTNAME).is_none()
}

/// Returns the bytes of a record whose event has the layout and the id.
fn bytes_of<O: Endian>(made: &Made, layout: &SampleLayout, id: u64) -> Vec<u8> {
    let (mut out, misc) = (Vec::new(), Misc(made.misc));
    let sample_id = sample_id(id);
    let written = match &made.content {
        Content::Sample(fields) => write::sample::<O>(&mut out, layout, misc, fields),
        Content::Other(body) => {
            let array = Array::new(body);
            write::record::<O>(&mut out, layout, misc, &array.record(body), &sample_id)
        }
        Content::Read(pid, tid, values) => {
            // The values as in a sample without other fields.
            let attr =
                Attr { sample_type: SampleType::READ, read_format: layout.read_format(), ..Attr::default() };
            let alone = SampleLayout::new(&attr).expect("counter values alone");
            let mut sample = Vec::new();
            write::sample::<O>(&mut sample, &alone, misc, values).expect("values are made so");
            let (raw, _) = RawRecord::<O>::parse(&sample).expect("it was just written");
            let Ok(Record::Sample(sample)) = raw.untyped().decode(&alone) else { panic!("{raw:?}") };
            let read = sample.tail().expect("it was just written").read.expect("the attr asks for it");
            let record = Record::Read(view::ReadRecord { pid: *pid, tid: *tid, read });
            write::record::<O>(&mut out, layout, misc, &record, &sample_id)
        }
    };
    assert_eq!(written, Ok(()));
    out
}

fn sample_id(id: u64) -> SampleIdFields {
    SampleIdFields { pid: 1, tid: -2, time: 3 << 32, id, stream_id: 5, cpu: 6 }
}

/// Compares a record that was read with its source.
fn same<O: Endian>(made: &Made, attr: &Attr, layout: &SampleLayout, raw: &RawRecord<'_, O>) {
    assert_eq!(raw.misc().0, made.misc);
    let record =
        eager::record::<O>((), attr, layout, raw.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    match (&made.content, record.body) {
        (Content::Other(body), read) => assert_eq!(&read, body),
        (Content::Sample(fields), Body::Sample(read)) => {
            if read.readings.fits == 1 {
                let Ok(Record::Sample(sample)) = raw.decode(layout) else { panic!("{raw:?}") };
                assert_eq!(sample.to_fields().as_ref(), Ok(fields));
            }
        }
        (Content::Read(..), Body::Read { pid, tid, values }) => {
            let Content::Read(made_pid, made_tid, SampleFields { read: Some(read), .. }) = &made.content
            else {
                panic!("the attr asks for it");
            };
            assert_eq!((pid, tid), (*made_pid, *made_tid));
            assert_eq!((values.time_enabled, values.time_running), (read.time_enabled, read.time_running));
            let all = values.values.iter().map(|it| (it.value, it.id, it.lost));
            assert!(all.eq(read.values.iter().map(|it| (it.value, it.id, it.lost))));
        }
        (_, body) => panic!("{body:?}"),
    }
    if let Some(trailer) = record.sample_id {
        let given = sample_id(id_of(made.event));
        assert!(trailer.time.is_none_or(|time| time == given.time));
        assert!(trailer.tid.is_none_or(|tid| tid == given.tid));
        assert!(trailer.cpu.is_none_or(|cpu| cpu == given.cpu));
        assert!(trailer.id.or(trailer.identifier).is_none_or(|id| id == given.id));
    }
}

fn same_events(events: &[EventFields], reader: &Reader<'_>) {
    assert_eq!(reader.events().len(), events.len());
    for (event, given) in reader.events().iter().zip(events) {
        assert_eq!(event.attr, Attr { size: event.attr.size, ..given.attr });
        assert!(event.attr.size >= given.attr.oldest_version().size());
        assert_eq!((&event.ids, &event.name), (&given.ids, &given.name));
        let update = event.update.as_deref();
        assert_eq!(update.and_then(|update| update.unit.as_ref()), given.unit.as_ref());
        assert_eq!(update.and_then(|update| update.scale), given.scale);
    }
}

/// The array from which a record borrows: words in the byte order of this machine.
struct Array(Vec<u8>);

impl Array {
    fn new(body: &Body) -> Self {
        let words: Vec<u64> = match body {
            Body::Namespaces { namespaces, .. } => {
                namespaces.iter().flat_map(|link| [link.dev, link.ino]).collect()
            }
            Body::CallchainDeferred { ips, .. } => ips.clone(),
            _ => Vec::new(),
        };
        Self(words.into_iter().flat_map(u64::to_ne_bytes).collect())
    }

    /// Returns the array as values.
    fn list<T: ListItem>(&self) -> List<'_, T> {
        List::new_in(Endianness::NATIVE, &self.0)
    }

    /// Returns the record that `body` describes.
    fn record<'a, O: Endian>(&'a self, body: &'a Body) -> Record<'a, O> {
        match *body {
            Body::Mmap { pid, tid, addr, len, pgoff, ref filename } => {
                Record::Mmap(view::Mmap { pid, tid, addr, len, pgoff, filename })
            }
            Body::Lost { id, lost } => Record::Lost(view::Lost { id, lost }),
            Body::Comm { pid, tid, ref comm } => Record::Comm(view::Comm { pid, tid, comm }),
            Body::Exit { pid, ppid, tid, ptid, time } => {
                Record::Exit(view::Task { pid, ppid, tid, ptid, time })
            }
            Body::Throttle { time, id, stream_id } => {
                Record::Throttle(view::Throttle { time, id, stream_id })
            }
            Body::Unthrottle { time, id, stream_id } => {
                Record::Unthrottle(view::Throttle { time, id, stream_id })
            }
            Body::Fork { pid, ppid, tid, ptid, time } => {
                Record::Fork(view::Task { pid, ppid, tid, ptid, time })
            }
            Body::Mmap2 { pid, tid, addr, len, pgoff, ref file, prot, flags, fits_both, ref filename } => {
                let id = match *file {
                    Mmap2Id::Inode { maj, min, ino, ino_generation } => {
                        FileId::Inode { maj, min, ino, ino_generation }
                    }
                    Mmap2Id::BuildId { build_id_size, build_id } => {
                        FileId::BuildId { size: build_id_size, bytes: build_id }
                    }
                };
                let prot_flags = prot.zip(flags);
                let reading = if fits_both { Reading::Other } else { Reading::Certain };
                Record::Mmap2(view::Mmap2 { pid, tid, addr, len, pgoff, id, prot_flags, reading, filename })
            }
            Body::Aux { aux_offset, aux_size, flags } => {
                Record::Aux(view::Aux { aux_offset, aux_size, flags: AuxFlags(flags) })
            }
            Body::ItraceStart { pid, tid } => Record::ItraceStart(view::ItraceStart { pid, tid }),
            Body::LostSamples { lost } => Record::LostSamples(view::LostSamples { lost }),
            Body::Switch => Record::Switch,
            Body::SwitchCpuWide { next_prev_pid, next_prev_tid } => {
                Record::SwitchCpuWide(view::SwitchCpuWide { next_prev_pid, next_prev_tid })
            }
            Body::Namespaces { pid, tid, .. } => {
                Record::Namespaces(view::Namespaces { pid, tid, link_info: self.list() })
            }
            Body::Ksymbol { addr, len, ksym_type, flags, ref name } => {
                let (ksym_type, flags) = (KsymbolType(ksym_type), KsymbolFlags(flags));
                Record::Ksymbol(view::Ksymbol { addr, len, ksym_type, flags, name })
            }
            Body::BpfEvent { r#type, flags, id, tag } => {
                Record::BpfEvent(view::BpfEvent { kind: BpfEventType(r#type), flags, id, tag })
            }
            Body::Cgroup { id, ref path } => Record::Cgroup(view::Cgroup { id, path }),
            Body::TextPoke { addr, ref old, ref new } => Record::TextPoke(view::TextPoke { addr, old, new }),
            Body::AuxOutputHwId { hw_id } => Record::AuxOutputHwId(view::AuxOutputHwId { hw_id }),
            Body::CallchainDeferred { cookie, .. } => {
                Record::CallchainDeferred(view::CallchainDeferred { cookie, ips: self.list() })
            }
            ref body => panic!("{body:?}"),
        }
    }
}
