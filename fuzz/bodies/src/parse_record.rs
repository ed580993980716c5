//! A record of any type except SAMPLE, with any attr: the decoder accepts the records that the oracle accepts and
//! returns the same values, and written records are read back unchanged. Records of the perf tool, which the oracle
//! does not decode, decode or return an error within the record.

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{BigEndian, Endian, LittleEndian, U64};
use perf_abi::file::{MAGIC, PipeHeader};
use perf_abi::record::{Header, Misc, RecordType};
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{RawRecord, Reader, Record, SampleLayout};
use testdata::oracle::{self, Body};
use zerocopy::IntoBytes;

use super::input::Input;
use compare::eager;

use super::walk;

/// `data` is an [`Input`].
pub fn run(data: &[u8]) -> bool {
    let Some(input) = Input::new(data) else { return false };
    if input.big { check::<BigEndian>(&input) } else { check::<LittleEndian>(&input) }
}

fn check<O: Endian>(input: &Input<'_>) -> bool {
    // The last numbers are those of simpleperf.
    let kind = match input.kind {
        kind @ 240.. => RecordType(RecordType::SIMPLEPERF_TYPE_START + u32::from(kind - 240)),
        kind => RecordType(kind.into()),
    };
    // Samples have a separate target.
    if kind == RecordType::SAMPLE {
        return false;
    }
    let (attr, Some(bytes)) = (input.attr(), input.record::<O>(kind)) else { return false };
    if kind.is_user() {
        user::<O>(&bytes);
        return true;
    }
    let (layout, decoded) = match SampleLayout::new(&attr) {
        Ok(layout) => (layout, compare::check(&attr, input.big, &bytes)),
        // The samples of such an event cannot be decoded, but its other records can.
        Err(_) => {
            let layout = layout_in_capture::<O>(&attr);
            (layout, compare::check_with(&attr, &layout, input.big, &bytes))
        }
    };
    if let Some(decoded) = decoded {
        write_back::<O>(input, &layout, &bytes, &decoded);
    }
    true
}

/// Returns the layout that a capture uses for the records of an event whose samples it rejects.
fn layout_in_capture<O: Endian>(attr: &Attr) -> SampleLayout {
    let magic = PipeHeader::<O> { magic: U64::new(MAGIC), size: U64::new(16) };
    let attr =
        attr.write::<O>(AttrVersion::VER8).expect("the version has room for all that an Input chooses");
    let size = u16::try_from(8 + attr.len()).expect("an attr is short");
    let header = Header::<O>::new(RecordType::HEADER_ATTR, Misc(0), size);
    let capture = [magic.as_bytes(), header.as_bytes(), &attr].concat();
    let reader = Reader::new(&capture).expect("a stream of one event");
    assert!(reader.events()[0].fault().is_some());
    reader.events()[0].layout
}

/// Compares a record of the perf tool with the oracle.
fn user<O: Endian>(bytes: &[u8]) {
    let (raw, _) = RawRecord::<O>::parse(bytes).expect("the header was made for the payload");
    if compare::user::check(&raw) {
        let Ok(Record::User(record, _)) = raw.decode_user() else { panic!("{raw:?} was decoded") };
        assert!(record.rest().len() <= raw.payload().len());
        walk::show(&record);
    }
}

/// Checks that a written record is read back unchanged.
fn write_back<O: Endian>(input: &Input<'_>, layout: &SampleLayout, bytes: &[u8], decoded: &oracle::Record) {
    let (raw, _) = RawRecord::<O>::parse(bytes).expect("it was decoded");
    let record = raw.decode(layout).expect("it was decoded");
    let mut written = Vec::new();
    let id = SampleIdFields { pid: -1, tid: 2, time: 3, id: 4, stream_id: 5, cpu: 6 };
    if write::record(&mut written, layout, input.misc(), &record, &id).is_err() {
        assert!(written.is_empty());
        return;
    }
    let again = eager::record::<O>((), &input.attr(), layout, &written).expect("it was just written");
    let mut expected = decoded.body.clone();
    if let (Body::Mmap2 { fits_both: expected, .. }, Body::Mmap2 { fits_both, .. }) =
        (&mut expected, &again.body)
    {
        // Whether a record fits both layouts depends on the bytes after its path, too.
        *expected = *fits_both;
    }
    assert_eq!(again.body, expected);
    // A record of unknown type is copied with its trailer.
    if let (false, Some(sample_id)) = (matches!(record, Record::Other(_)), again.sample_id) {
        assert!(sample_id.pid.is_none_or(|pid| pid == id.pid));
        assert!(sample_id.tid.is_none_or(|tid| tid == id.tid));
        assert!(sample_id.time.is_none_or(|time| time == id.time));
        assert!(sample_id.id.is_none_or(|same| same == id.id));
        assert!(sample_id.stream_id.is_none_or(|stream_id| stream_id == id.stream_id));
        assert!(sample_id.cpu.is_none_or(|cpu| cpu == id.cpu));
        assert!(sample_id.identifier.is_none_or(|identifier| identifier == id.id));
    }
}
