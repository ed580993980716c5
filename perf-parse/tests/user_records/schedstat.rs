//! Scheduler statistics.

use perf_parse::abi::record::{
    SchedstatCpuCounts, SchedstatDomainV15, SchedstatDomainV16, SchedstatDomainV17,
};
use zerocopy::FromBytes;

use super::*;

both! { schedstat_cpu schedstat_domain_15 schedstat_domain_16 schedstat_domain_17 }

fn schedstat_cpu<O: Endian>() {
    let of_version = |version: u16| {
        record::<O>(
            RecordType::SCHEDSTAT_CPU,
            0,
            &[
                B64(4_300_000_000), // timestamp
                B32(3),             // cpu
                B16(version),       // version
                B16(0),             // __pad
                B32(1),             // yld_count
                B32(2),             // array_exp
                B32(3),             // sched_count
                B32(4),             // sched_goidle
                B32(5),             // ttwu_count
                B32(6),             // ttwu_local
                B64(7 << 32),       // rq_cpu_time
                B64(8 << 32),       // run_delay
                B64(9 << 32),       // pcount
                B64(1),             // of a newer perf
            ],
        )
    };
    for version in 15..=17 {
        let bytes = of_version(version);
        let it = expect!(&bytes, O, SchedstatCpu);
        assert_eq!((it.timestamp, it.cpu), (4_300_000_000, 3));
        assert_eq!(it.version, version);
        let expected = [
            ("yld_count", 1),
            ("array_exp", 2),
            ("sched_count", 3),
            ("sched_goidle", 4),
            ("ttwu_count", 5),
            ("ttwu_local", 6),
            ("rq_cpu_time", 7 << 32),
            ("run_delay", 8 << 32),
            ("pcount", 9 << 32),
        ];
        assert_eq!(it.counts().collect::<Vec<_>>(), expected);
        assert_eq!(
            (names(&SchedstatCpuCounts::<O>::read_from_bytes(&bytes[24..72]).unwrap()), it.rest),
            (expected.map(|(name, _)| name.to_owned()).into(), &bytes[72..])
        );
        assert_cut::<O>(&bytes, &[(8, "Truncated timestamp@8"), (24, "Truncated yld_count@24"), (72, "ok")]);
    }
    for version in [14, 18] {
        let bytes = of_version(version);
        let it = expect!(&bytes, O, SchedstatCpu);
        assert_eq!((it.counts().count(), it.rest), (0, &bytes[24..]));
    }
}

/// Returns the names of the fields of a struct from its debug output: `Name { a: U32(1), b: U32(2) }`.
fn names(fields: &dyn core::fmt::Debug) -> Vec<String> {
    let text = format!("{fields:?}");
    let (_, fields) = text.trim_end_matches(" }").split_once(" { ").unwrap();
    fields.split(", ").map(|field| field.split_once(':').unwrap().0.to_owned()).collect()
}

/// Makes the record of a domain with `counts` numbers, which ascend from 100.
fn schedstat_domain<O: Endian>(version: u16, counts: u32) -> Vec<u8> {
    let mut fields = vec![
        B64(4_300_000_000), // timestamp
        B32(3),             // cpu
        B16(version),       // version
        B16(1),             // domain
    ];
    fields.extend((100..100 + counts).map(B32));
    fields.push(B32(7)); // of a newer perf
    record::<O>(RecordType::SCHEDSTAT_DOMAIN, 0, &fields)
}

/// Checks that the numbers have the names of the fields of the version's struct, in the same order.
fn check_domain<O: Endian>(bytes: &[u8], counts: usize, named: Vec<String>) {
    let it = expect!(bytes, O, SchedstatDomain);
    assert_eq!((it.timestamp, it.cpu), (4_300_000_000, 3));
    assert_eq!((it.domain, it.rest), (1, &bytes[bytes.len() - 4..]));
    let expected: Vec<_> = named.iter().map(String::as_str).zip(100_u64..).collect();
    assert_eq!(expected.len(), counts);
    assert_eq!(it.counts().collect::<Vec<_>>(), expected);
}

fn schedstat_domain_15<O: Endian>() {
    let bytes = schedstat_domain::<O>(15, 36);
    let counts = SchedstatDomainV15::<O>::read_from_bytes(&bytes[24..168]).unwrap();
    assert_eq!(expect!(&bytes, O, SchedstatDomain).version, 15);
    check_domain::<O>(&bytes, 36, names(&counts));
    let ends = (counts.idle_lb_count.get(), counts.busy_lb_count.get(), counts.ttwu_move_balance.get());
    assert_eq!(ends, (100, 108, 135));
    let expected = [(8, "Truncated timestamp@8"), (24, "Truncated idle_lb_count@24"), (168, "ok")];
    assert_cut::<O>(&bytes, &expected);
}

fn schedstat_domain_16<O: Endian>() {
    let bytes = schedstat_domain::<O>(16, 36);
    let counts = SchedstatDomainV16::<O>::read_from_bytes(&bytes[24..168]).unwrap();
    assert_eq!(expect!(&bytes, O, SchedstatDomain).version, 16);
    check_domain::<O>(&bytes, 36, names(&counts));
    let ends = (counts.busy_lb_count.get(), counts.idle_lb_count.get(), counts.ttwu_move_balance.get());
    assert_eq!(ends, (100, 108, 135));
    let expected = [(8, "Truncated timestamp@8"), (24, "Truncated busy_lb_count@24"), (168, "ok")];
    assert_cut::<O>(&bytes, &expected);
}

fn schedstat_domain_17<O: Endian>() {
    let bytes = schedstat_domain::<O>(17, 45);
    let counts = SchedstatDomainV17::<O>::read_from_bytes(&bytes[24..204]).unwrap();
    assert_eq!(expect!(&bytes, O, SchedstatDomain).version, 17);
    check_domain::<O>(&bytes, 45, names(&counts));
    let ends = (counts.busy_lb_imbalance_load.get(), counts.idle_lb_count.get(), counts.alb_count.get());
    assert_eq!(ends, (103, 111, 133));
    let expected = [(8, "Truncated timestamp@8"), (24, "Truncated busy_lb_count@24"), (204, "ok")];
    assert_cut::<O>(&bytes, &expected);
    let newer = schedstat_domain::<O>(18, 45);
    let it = expect!(&newer, O, SchedstatDomain);
    assert_eq!((it.counts().count(), it.rest), (0, &newer[24..]));
}
