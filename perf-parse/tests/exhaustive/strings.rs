//! Strings of every length, with every number of bytes after their NUL, and without one.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::{ErrorKind, Record};
use testdata::Bytes;

use crate::{decoded, error};

/// Most bytes of a string with its NUL and padding.
const MOST: usize = 40;

/// An MMAP2 with a build id, whose layout is not ambiguous.
const BUILD_ID: u16 = 1 << 14;

/// The type and the `misc` of each record that ends with a string, the bytes of its fields before it, and its name.
const STRINGS: [(u32, u16, usize, &str); 5] = [
    (1, 0, 32, "filename"),
    (3, 0, 8, "comm"),
    (10, BUILD_ID, 64, "filename"),
    (17, 0, 16, "name"),
    (19, 0, 8, "path"),
];

fn string(record: Record<'_>) -> Vec<u8> {
    match record {
        Record::Mmap(mmap) => mmap.filename.to_vec(),
        Record::Comm(comm) => comm.comm.to_vec(),
        Record::Mmap2(mmap) => mmap.filename.to_vec(),
        Record::Ksymbol(ksymbol) => ksymbol.name.to_vec(),
        Record::Cgroup(cgroup) => cgroup.path.to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_length_with_every_padding() {
    for (kind, misc, fields, name) in STRINGS {
        for flags in [AttrFlags::NONE, AttrFlags::SAMPLE_ID_ALL] {
            let attr = Attr { sample_type: SampleType::TIME, flags, ..Attr::default() };
            let trailer = if flags == AttrFlags::NONE { 0 } else { 8 };
            for room in (0..=MOST).step_by(if cfg!(miri) { 20 } else { 1 }) {
                // The last one has no NUL. After the others are zeros, or no zeros.
                for (nul, is_zero) in (0..=room).flat_map(|nul| [(nul, false), (nul, true)]) {
                    let mut text: Vec<u8> = (0..room).map(|at| 0x80 + at as u8).collect();
                    let end = if is_zero { room } else { room.min(nul + 1) };
                    text[nul..end].fill(0);
                    let bytes = |big| {
                        let bytes = Bytes::new(big).raw(&vec![1; fields]).raw(&text);
                        bytes.raw(&[0xff; 8][..trailer]).record(kind, misc)
                    };
                    let wanted = if nul < room {
                        Ok(text[..nul].to_vec())
                    } else {
                        Err(error(ErrorKind::Unterminated { field: name }, 8 + fields))
                    };
                    assert_eq!(decoded(&attr, bytes, string), wanted, "{kind}: {nul} of {room} bytes");
                }
            }
        }
    }
}
