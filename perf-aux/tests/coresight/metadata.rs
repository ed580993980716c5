//! Metadata of each version, and what is wrong with it.

use perf_abi::auxtrace::{CsEteWord, CsEtmv3Word, CsEtmv4Word, CsMagic};
use perf_abi::endian::Endianness;
use perf_aux::coresight::{
    CsError, CsErrorKind, CsEte, CsEtmv3, CsEtmv4, CsHwId, CsMetadata, CsTraceId, CsUnit,
};
use perf_aux::perf_text::PerfText;
use perf_parse::list::List;
use proptest::prelude::*;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![blocks_of_each_version, units_of_each_kind, trace_ids, errors, any_words, hardware_ids,];

pub(crate) const V3: u64 = CsMagic::ETMV3.0;
pub(crate) const V4: u64 = CsMagic::ETMV4.0;
pub(crate) const ETE: u64 = CsMagic::ETE.0;

pub(crate) fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn with<T>(words: &[u64], check: impl FnOnce(Result<CsMetadata<'_>, CsError>) -> T) -> T {
    check(CsMetadata::new(List::new_in(Endianness::Little, &bytes(words))))
}

/// A block's kind, CPU and number of registers.
type Block = (u64, u64, usize);

/// Returns the blocks, and the word after the last.
fn blocks(words: &[u64]) -> (Vec<Result<Block, CsError>>, usize) {
    with(words, |metadata| {
        let mut cpus = metadata.unwrap().cpus();
        let blocks = cpus.by_ref().map(|cpu| cpu.map(|cpu| (cpu.magic.0, cpu.cpu, cpu.register_count())));
        (blocks.collect(), cpus.position())
    })
}

fn blocks_of_each_version() {
    let header = |version, count: u64| [version, 12 << 32 | count, 1];
    let v0 = [&header(0, 2)[..], &[V4, 3], &[1, 2, 3, 4, 5, 6, 7], &[V3, 4], &[1, 2, 3, 4]].concat();
    assert_eq!(blocks(&v0), (vec![Ok((V4, 3, 7)), Ok((V3, 4, 4))], v0.len()));
    for version in [1, 2] {
        // Blocks may have more registers than are known, and be of an unknown kind.
        let words =
            [&header(version, 3)[..], &[V4, 3, 9], &[0; 9], &[7, 4, 0], &[ETE, 5, 1, 8], &[9]].concat();
        assert_eq!(blocks(&words), (vec![Ok((V4, 3, 9)), Ok((7, 4, 0)), Ok((ETE, 5, 1))], words.len() - 1));
    }
    with(&v0, |metadata| {
        let metadata = metadata.unwrap();
        assert_eq!((metadata.version(), metadata.pmu_type(), metadata.cpu_count()), (0, 12, 2));
        assert!(metadata.is_snapshot() && metadata.words().len() == v0.len());
    });
    let big: Vec<u8> = v0.iter().flat_map(|word| word.to_be_bytes()).collect();
    let big = CsMetadata::new(List::new_in(Endianness::Big, &big)).unwrap();
    with(&v0, |metadata| {
        let text = |it: CsMetadata<'_>| it.text(PerfText::V7_2).to_string();
        assert_eq!(text(metadata.unwrap()), text(big));
    });
}

fn units_of_each_kind() {
    let registers: Vec<u64> = (10..19).collect();
    let unit = |version: u64, magic: u64, count: usize| {
        let params = if version == 0 { vec![magic, 0] } else { vec![magic, 0, count as u64] };
        let words = [&[version, 1, 0][..], &params, &registers[..count]].concat();
        with(&words, |metadata| metadata.unwrap().cpus().next().unwrap().unwrap().unit())
    };
    let v3 = CsEtmv3 { cr: 10, traceidr: 11, ccer: 12, idr: 13 };
    let (configr, traceidr, idr0, idr1, idr2, idr8, authstatus) = (10, 11, 12, 13, 14, 15, 16);
    let v4 = |ts_source| {
        Ok(CsUnit::Etmv4(CsEtmv4 { configr, traceidr, idr0, idr1, idr2, idr8, authstatus, ts_source }))
    };
    let ete = |ts_source| {
        let devarch = 17;
        Ok(CsUnit::Ete(CsEte { configr, traceidr, idr0, idr1, idr2, idr8, authstatus, devarch, ts_source }))
    };
    assert_eq!(
        (unit(0, V3, 4), unit(1, V3, 4), unit(2, V3, 9)),
        (Ok(CsUnit::Etmv3(v3)), Ok(CsUnit::Etmv3(v3)), Ok(CsUnit::Etmv3(v3)))
    );
    assert_eq!((unit(0, V4, 7), unit(1, V4, 7), unit(2, V4, 8)), (v4(None), v4(None), v4(Some(17))));
    assert_eq!((unit(1, ETE, 8), unit(2, ETE, 9)), (ete(None), ete(Some(18))));
    assert_eq!(unit(1, 7, 0), Ok(CsUnit::Other(CsMagic(7))));
    for (magic, count, names) in [
        (V3, 4, &["ETMCR", "ETMTRACEIDR", "ETMCCER", "ETMIDR"][..]),
        (V4, 7, &["TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS"]),
        (
            ETE,
            8,
            &[
                "TRCCONFIGR",
                "TRCTRACEIDR",
                "TRCIDR0",
                "TRCIDR1",
                "TRCIDR2",
                "TRCIDR8",
                "TRCAUTHSTATUS",
                "TRCDEVARCH",
            ],
        ),
    ] {
        assert_eq!(names.len(), count);
        for (missing, name) in names.iter().enumerate() {
            let error = unit(1, magic, missing).unwrap_err();
            assert_eq!((error.kind, error.word), (CsErrorKind::Register(name), 3));
            assert_eq!(error.to_string(), format!("the block at word 3 has no {name}"));
        }
    }
    with(&[1, 1, 0, V4, 0, 2, 5, 6, 7], |metadata| {
        let cpu = metadata.unwrap().cpus().next().unwrap().unwrap();
        let found = [CsEtmv4Word::TRCCONFIGR.0, CsEtmv3Word::ETMTRACEIDR.0, CsEteWord::TRCIDR0.0]
            .map(|it| cpu.register(it));
        assert_eq!(found, [Some(5), Some(6), None]);
        assert!((0..3).all(|index| cpu.register(index).is_none()) && cpu.register(usize::MAX).is_none());
    });
}

fn trace_ids() {
    let v4 = |traceidr| CsUnit::Etmv4(CsEtmv4 { traceidr, ..CsEtmv4::default() });
    let v3 = |traceidr| CsUnit::Etmv3(CsEtmv3 { traceidr, ..CsEtmv3::default() });
    let ete = |traceidr| CsUnit::Ete(CsEte { traceidr, ..CsEte::default() });
    for unit in [v3(0x8000_0010), v4(0x8000_0010), ete(0x8000_0010)] {
        assert_eq!((unit.trace_id(), unit.is_trace_id_unused()), (Some(CsTraceId(0x10)), true));
    }
    assert_eq!((v4(0x1ff).trace_id(), v4(0x7fff_ffff).is_trace_id_unused()), (Some(CsTraceId(0x7f)), false));
    let other = CsUnit::Other(CsMagic(1));
    assert_eq!((other.trace_id(), other.is_trace_id_unused()), (None, false));
    assert_eq!(format!("{} {:?}", CsTraceId(1), CsTraceId::TRIGGER), "0x01 CsTraceId(0x7d)");
}

fn errors() {
    let error = |words: &[u64]| with(words, |metadata| metadata.err());
    let truncated = |needed, available| CsErrorKind::Truncated { needed, available };
    for len in 0..3 {
        assert_eq!(error(&[0; 3][..len]), Some(CsError { kind: truncated(3, len), word: 0 }));
    }
    assert_eq!(error(&[0; 3]), None);
    let version = error(&[3, 0, 0]).unwrap();
    assert_eq!(version, CsError { kind: CsErrorKind::Version(3), word: 0 });
    assert_eq!(version.to_string(), "CoreSight metadata of version 3; versions 0 to 2 are supported");

    let last = |words: &[u64]| blocks(words).0.into_iter().last().unwrap().unwrap_err();
    let v0 = [0, 9, 0, V3, 4, 1, 2, 3, 4, V4, 5, 1, 2, 3, 4, 5, 6, 7];
    for (len, kind, word) in [
        (3, truncated(2, 0), 3),
        (4, truncated(6, 1), 3),
        (8, truncated(6, 5), 3),
        (9, truncated(2, 0), 9),
        (10, truncated(9, 1), 9),
        (17, truncated(9, 8), 9),
        (18, truncated(2, 0), 18),
    ] {
        assert_eq!(last(&v0[..len]), CsError { kind, word }, "{len}");
    }
    let ete = last(&[0, 2, 0, ETE, 0, 0, 0, 0]);
    assert_eq!(ete, CsError { kind: CsErrorKind::Magic(CsMagic::ETE), word: 3 });
    assert_eq!(
        ete.to_string(),
        "the block at word 3 is of an unknown trace unit: its magic number is 0x5050505050505050"
    );
    let v1 = [1, 2, 0, V4, 0, 1, 7];
    for (len, needed) in [(3, 3), (4, 3), (5, 3), (6, 4)] {
        let expected = CsError { kind: truncated(needed, len - 3), word: 3 };
        assert_eq!(last(&v1[..len.min(v1.len())]), expected, "{len}");
    }
    let large = last(&[1, 1, 0, V4, 0, u64::MAX, 7]);
    assert_eq!(large.to_string(), "the metadata at word 3 needs 18446744073709551615 words; 4 are left");
    // An error ends the blocks, whatever number of them the header states.
    assert_eq!(blocks(&[1, 0xffff_ffff, 0]).0.len(), 1);
}

/// No words panic; blocks are in order and within the words; text and blocks agree.
fn any_words() {
    let word = prop_oneof![any::<u64>(), 0..12_u64, Just(V3), Just(V4), Just(ETE)];
    proptest!(|(mut words in prop::collection::vec(word, 0..60), version in 0..4_u64)| {
        if let Some(first) = words.first_mut() {
            *first = version;
        }
        with(&words, |metadata| {
            let Ok(metadata) = metadata else { return };
            let (mut cpus, mut position) = (metadata.cpus(), 3);
            while let Some(Ok(cpu)) = cpus.next() {
                let header = if version == 0 { 2 } else { 3 };
                assert_eq!(cpus.position(), position + header + cpu.register_count());
                assert_eq!((words[position], words[position + 1]), (cpu.magic.0, cpu.cpu));
                position = cpus.position();
                let _ = cpu.unit();
            }
            assert!(position <= words.len() && cpus.next().is_none());
            for release in [PerfText::V6_1, PerfText::V7_2] {
                let lines = metadata.text(release).to_string().lines().count();
                assert!((3..=words.len()).contains(&lines), "{lines} of {}", words.len());
            }
        });
    });
}

fn hardware_ids() {
    let id = |word| {
        let id = CsHwId(word);
        (id.major(), id.minor(), id.trace_id().map(|id| id.0), id.sink_id())
    };
    assert_eq!(id(0x12), (0, 0, Some(0x12), None));
    assert_eq!(id(0x0100_00ab_cdef_0112), (0, 1, Some(0x12), Some(0xabcd_ef01)));
    assert_eq!(id(0x0f00_0000_0000_00ff), (0, 15, Some(0xff), Some(0)));
    assert_eq!(id(0x1100_0000_0000_0112), (1, 1, None, None));
}
