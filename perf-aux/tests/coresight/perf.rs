//! perf prints the same metadata, and OpenCSD in it finds the same bytes of each source.

use std::process::Command;

use needs::Need;
use perf_abi::endian::Endianness;
use perf_aux::coresight::{CsFrames, CsMetadata, CsPart};
use perf_aux::perf_text::PerfText;
use perf_parse::list::List;
use testdata::coresight::{capture, etmv4};

use crate::formatter;
use crate::metadata::{ETE, V3, V4, bytes};

pub(crate) const TESTS: &[needs::Test] = needs::tests![metadata, frames];

/// Returns what `perf script -D` prints of a capture.
fn dump(capture: &[u8]) -> String {
    let path = needs::folder().join("coresight.data");
    std::fs::write(&path, capture).unwrap();
    let output = Command::new("perf").args(["script", "-D", "-i"]).arg(&path).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn release() -> PerfText {
    needs::all(&[Need::PERF]);
    let version = Command::new("perf").arg("--version").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    match version.trim_start_matches("perf version ") {
        it if it.starts_with("6.1.") => PerfText::V6_1,
        it if it.starts_with("7.2.") => PerfText::V7_2,
        other => needs::skip("perf", &format!("its texts of 6.1 and 7.2 are known, not those of {other}")),
    }
}

fn metadata() {
    let release = release();
    let header = |version, count| [version, u64::from(testdata::coresight::PMU_TYPE) << 32 | count, 0];
    let registers =
        [0xc001, 0x8000_0010, 0x2800_0ea1, 0x4100_f403, 0x488, 9, 0xcc, u64::MAX, 5, 0xffff_ffff_0000_0001];
    let block = |magic, cpu, count| [&[magic, cpu, count as u64], &registers[..count]].concat();
    let mut all = vec![
        [&header(0, 2)[..], &[V4, 0], &registers[..7], &[V3, 1], &registers[..4]].concat(),
        [&header(0, 1)[..], &[ETE, 0], &registers[..8]].concat(),
        [&header(0, 1)[..], &[0x1234, 0], &registers[..8]].concat(),
        [&header(1, 2)[..], &block(V4, 0, 7), &[7, 1, 1, 1]].concat(),
        header(1, 0).to_vec(),
        [&header(1, 2)[..], &block(V4, u64::MAX, 7), &block(ETE, 1 << 40, 10)].concat(),
    ];
    // perf 6.1 refuses version 2.
    let versions = if release == PerfText::V6_1 { &[1][..] } else { &[1, 2] };
    for &version in versions {
        for magic in [V3, V4, ETE] {
            for count in 4..=registers.len() {
                all.push([&header(version, 2)[..], &block(magic, 2, count), &block(V4, 3, 8)].concat());
            }
        }
    }
    for words in all {
        let encoded = bytes(&words);
        let metadata = CsMetadata::new(List::new_in(Endianness::Little, &encoded)).unwrap();
        let ours = metadata.text(release).to_string();
        let perf = dump(&capture(&words, &[]));
        let start = perf.find("\tHeader version").unwrap_or_else(|| panic!("{perf}"));
        let theirs: Vec<_> = perf[start..].lines().take_while(|line| line.starts_with('\t')).collect();
        assert_eq!(ours.lines().collect::<Vec<_>>(), theirs, "{words:x?}");
    }
}

/// The atoms of an ETMv4 packet of one byte: as OpenCSD prints them, the oldest first.
fn atoms(byte: u8) -> Option<String> {
    let count = match byte {
        0xf6 | 0xf7 => 1,
        0xd8..=0xdb => 2,
        0xf8..=0xff => 3,
        _ => return None,
    };
    Some((0..count).map(|bit| if byte >> bit & 1 == 1 { 'E' } else { 'N' }).collect())
}

const IDS: [u8; 4] = [0x10, 0x12, 0x33, 0x6f];

/// Packets of one byte of four sources at random, as frames: each source starts with synchronisation.
fn trace(state: &mut u64, switches: u64) -> Vec<u8> {
    let mut random = |below: u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    };
    let mut all = Vec::new();
    for id in IDS {
        all.extend([0; 11].iter().chain(&[0x80]).map(|byte| (id, *byte)));
    }
    let packets: Vec<u8> = (0..=u8::MAX).filter(|byte| atoms(*byte).is_some()).collect();
    let mut id = IDS[0];
    for _ in 0..3000 {
        if random(switches) == 0 {
            id = IDS[random(4) as usize];
        }
        all.push((id, packets[random(packets.len() as u64) as usize]));
    }
    formatter::frames(&all, || random(2) == 0)
}

fn frames() {
    release();
    let header = [1, u64::from(testdata::coresight::PMU_TYPE) << 32 | 4, 0];
    let blocks = (0..).zip(IDS).flat_map(|(cpu, id)| etmv4(cpu, id.into()));
    let words: Vec<u64> = header.into_iter().chain(blocks).collect();
    let mut state = 1;
    for switches in [1, 2, 5, 100] {
        let mut trace = trace(&mut state, switches);
        // The kernel stopped the sink: the sources synchronise again.
        trace.extend([0xff, 0xff, 0xff, 0x7f].repeat(4));
        trace.extend(self::trace(&mut state, switches));
        let perf = dump(&capture(&words, &trace));
        if !perf.contains("Trace data: size") {
            needs::skip("perf", "it has no OpenCSD");
        }
        // Idx:23; ID:10;  I_ATOM_F1 : Atom format 1.; E
        let theirs = perf.lines().filter(|line| line.contains("I_ATOM_F")).map(|line| {
            let (_, id) = line.split_once("ID:").unwrap();
            (
                u8::from_str_radix(id.split(';').next().unwrap(), 16).unwrap(),
                id.rsplit("; ").next().unwrap().to_owned(),
            )
        });
        let mut ours = Vec::new();
        for part in CsFrames::new(&trace) {
            let CsPart::Slice(slice) = part else { continue };
            let id = slice.id.unwrap().0;
            ours.extend(slice.bytes().iter().filter_map(|byte| Some((id, atoms(*byte)?))));
        }
        let theirs: Vec<_> = theirs.collect();
        assert_eq!(theirs.len(), 6000);
        for id in IDS {
            let of = |all: &[(u8, String)]| all.iter().filter(|it| it.0 == id).cloned().collect::<Vec<_>>();
            assert_eq!(of(&ours), of(&theirs), "{id:x}");
        }
    }
}
