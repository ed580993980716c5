//! The records of the perf tool itself: byte by byte in both byte orders, and from captures.

extern crate alloc;

use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::record::RecordType;
use perf_parse::record::user::{CpuMapData, EventUpdateData};
use perf_parse::record::{RawRecord, Record, UserRecord};
use perf_parse::{Error, ErrorKind};

/// A field.
enum Field<'a> {
    B8(u8),
    B16(u16),
    B32(u32),
    B64(u64),
    Bytes(&'a [u8]),
    /// This number of zeros.
    Pad(usize),
}
use Field::{B8, B16, B32, B64, Bytes, Pad};

/// Makes a record with these fields after its header.
fn record<O: Endian>(kind: RecordType, misc: u16, fields: &[Field<'_>]) -> Vec<u8> {
    let push = |bytes: testdata::Bytes, field: &Field<'_>| match *field {
        B8(value) => bytes.u8(value),
        B16(value) => bytes.u16(value),
        B32(value) => bytes.u32(value),
        B64(value) => bytes.u64(value),
        Bytes(raw) => bytes.raw(raw),
        Pad(len) => bytes.zeros(len),
    };
    fields.iter().fold(testdata::Bytes::of::<O>(), push).record(kind.0, misc)
}

/// Returns the first `len` bytes as a record with this length in its header.
fn resized<O: Endian>(bytes: &[u8], len: usize) -> Vec<u8> {
    let mut out = bytes[..len].to_vec();
    out[6..8].copy_from_slice(&testdata::Bytes::of::<O>().u16(len as u16).out);
    out
}

/// Decodes a record, which must have the same fields and errors if the byte order is known only at run time.
fn decode<O: Endian>(bytes: &[u8]) -> Result<UserRecord<'_>, Error> {
    let (raw, behind) = RawRecord::<O>::parse(bytes)?;
    assert!(behind.is_empty());
    let (at_run_time, _) = RawRecord::<Endianness>::parse_in(O::ENDIANNESS, bytes)?;
    let decoded = format!("{:?}", raw.decode_user());
    assert_eq!(format!("{:?}", at_run_time.decode_user()), decoded);
    assert_eq!(format!("{:?}", raw.untyped().decode_user()), decoded);
    match raw.decode_user()? {
        Record::User(record, kind) => {
            assert_eq!(kind, raw.kind());
            Ok(record)
        }
        other => panic!("{other:?} is no user record"),
    }
}

/// Reads everything in a record, which must not panic; returns the number of items of its iterators.
fn touch(record: &UserRecord<'_>) -> usize {
    let cpus = |data: &CpuMapData<'_>| {
        let bits_at_most = match data {
            CpuMapData::Cpus(list) => list.len(),
            CpuMapData::Mask32(words) => words.len() * 32,
            CpuMapData::Mask64(words) => words.len() * 64,
            CpuMapData::Range { .. } => 65537,
            _ => 0,
        };
        let count = data.cpus().inspect(|&cpu| assert!((-1..65528 * 8).contains(&cpu))).count();
        assert!(count <= bits_at_most);
        count
    };
    let given = match record {
        UserRecord::HeaderAttr(it) => {
            assert_eq!(it.attr().attr.size.max(64) as usize, it.bytes.len());
            it.ids.len()
        }
        UserRecord::HeaderFeature(it) => usize::from(it.feature().is_some()),
        UserRecord::CpuMap(it) => cpus(&it.data),
        UserRecord::EventUpdate(it) => match &it.data {
            EventUpdateData::Cpus(data) => cpus(data),
            _ => 0,
        },
        UserRecord::TimeConv(it) => it.tsc_to_perf_time(u64::MAX) as usize & 1,
        UserRecord::SchedstatCpu(it) => it.counts().count(),
        UserRecord::SchedstatDomain(it) => it.counts().count(),
        _ => 0,
    };
    given + record.rest().len() + format!("{record:?}").len().min(1)
}

/// Truncates the record at every length. Returns each length at which the result changes, with the result: `ok`, or
/// the kind, field and offset of the error.
fn cut<O: Endian>(bytes: &[u8]) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for len in 8..=bytes.len() {
        let short = resized::<O>(bytes, len);
        let what = match decode::<O>(&short) {
            Ok(record) => {
                touch(&record);
                "ok".to_owned()
            }
            Err(Error { kind, offset }) => {
                if let ErrorKind::Truncated { available, .. } = kind {
                    assert_eq!(available, (len - offset as usize) as u64);
                }
                if let ErrorKind::Residue { bytes } = kind {
                    assert_eq!(bytes, len as u32 - offset);
                }
                let name = format!("{kind:?}");
                let name = name.split(' ').next().unwrap();
                format!("{name} {}@{offset}", kind.field())
            }
        };
        if all.last().is_none_or(|(_, last)| *last != what) {
            all.push((len, what));
        }
    }
    all
}

#[track_caller]
fn assert_cut<O: Endian>(bytes: &[u8], expected: &[(usize, &str)]) {
    let cut = cut::<O>(bytes);
    let cut: Vec<_> = cut.iter().map(|(len, what)| (*len, what.as_str())).collect();
    assert_eq!(cut, expected);
}

/// Makes a test for each byte order from a function.
macro_rules! both {
    ($($name:ident)*) => {
        $(
            mod $name {
                #[test]
                fn little() {
                    super::$name::<super::LittleEndian>();
                }
                #[test]
                fn big() {
                    super::$name::<super::BigEndian>();
                }
            }
        )*
    };
}

macro_rules! expect {
    ($bytes:expr, $O:ident, $Variant:ident) => {
        match decode::<$O>($bytes) {
            Ok(UserRecord::$Variant(it)) => it,
            other => panic!("{other:?}"),
        }
    };
}

mod auxtrace;
mod captures;
mod header;
mod maps;
mod schedstat;
mod simpleperf;
mod stat;

/// The writer of the other tests is correct: two records as in a hex dump.
#[test]
fn the_bytes_themselves() {
    let little = [
        0x4d, 0, 0, 0, // type: STAT_ROUND
        0, 0, // misc
        24, 0, // size
        1, 0, 0, 0, 0, 0, 0, 0, // type: FINAL
        2, 1, 0, 0, 0, 0, 0, 0, // time
    ];
    let big = [
        0, 0, 0, 0x4d, // type: STAT_ROUND
        0, 0, // misc
        0, 24, // size
        0, 0, 0, 0, 0, 0, 0, 1, // type: FINAL
        0, 0, 0, 0, 0, 0, 1, 2, // time
    ];
    let fields = [B64(1), B64(0x102)];
    assert_eq!(record::<LittleEndian>(RecordType::STAT_ROUND, 0, &fields), little);
    assert_eq!(record::<BigEndian>(RecordType::STAT_ROUND, 0, &fields), big);
}

both! { hostile }

/// Random records of any type and size: each decodes or fails, and has no more items than its bytes allow.
fn hostile<O: Endian>() {
    // Xorshift, so that a failure is reproducible.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut decoded = 0;
    for _ in 0..20_000 {
        let kind = match random() % 36 {
            kind @ 0..25 => RecordType(64 + kind as u32),
            kind => RecordType(RecordType::SIMPLEPERF_TYPE_START + (kind - 24) as u32),
        };
        // The place of misc is the high half of simpleperf's sizes.
        let misc = if kind.is_simpleperf() { 0 } else { random() as u16 };
        let mut fields = Vec::new();
        for _ in 0..random() % 40 {
            // Small numbers are plausible counts, sizes and versions. A word of them has two or four fields.
            fields.push(match random() % 5 {
                0 => B64(random()),
                1 => B64(random() % 20),
                2 => B16((random() % 20) as u16),
                3 => B32((random() % 200) as u32),
                _ => Pad((random() % 40) as usize),
            });
        }
        let bytes = record::<O>(kind, misc, &fields);
        if let Ok(record) = decode::<O>(&bytes) {
            decoded += 1;
            assert!(touch(&record) <= 65538 + bytes.len() * 8);
        }
    }
    assert!(decoded > 5_000, "only {decoded} decoded: these bytes test the first check alone");
}
