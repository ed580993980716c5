//! Several rings at once: merged by time, each record with its offset in its own ring.

use serde_json::Value;

use crate::{clean, number, recorded, time};

/// Returns the index of the ring that contains a record.
fn ring_of(record: &Value) -> usize {
    record.get("data_file").map_or(0, |ring| ring.as_u64().unwrap() as usize)
}

/// Compares the header of each record with the dump at its offset.
fn stand_where_they_are(rings: &[&str], records: &[Value]) {
    let dumps: Vec<_> = rings.iter().map(|ring| recorded(ring)).collect();
    for record in records {
        let header = &dumps[ring_of(record)][number(record, "offset") as usize..][..8];
        let kind = u32::from_le_bytes(header[..4].try_into().unwrap());
        let size = u16::from_le_bytes(header[6..].try_into().unwrap());
        assert_eq!(
            (kind.into(), size.into()),
            (number(record, "type_id"), number(record, "size")),
            "{record}"
        );
    }
}

fn are_by_time(records: &[Value]) -> bool {
    records.windows(2).all(|pair| time(&pair[0]) <= time(&pair[1]))
}

#[test]
fn records_of_two_cpus_are_merged_by_time() {
    let rings = ["pair-0.ring", "pair-1.ring"];
    let attr = ["--attr", "pair.attr.data"];
    let merged = clean(&[&rings[..], &attr].concat());
    stand_where_they_are(&rings, &merged);
    assert!(are_by_time(&merged));
    let turns = merged.windows(2).filter(|pair| ring_of(&pair[0]) != ring_of(&pair[1])).count();
    assert!(turns > 1, "no more than end to end");
    let by_file = clean(&[&rings[..], &attr, &["--order", "file"]].concat());
    assert!(!are_by_time(&by_file));
    for (number, ring) in rings.iter().enumerate() {
        let mut alone = clean(&[&[*ring], &attr[..]].concat());
        if number > 0 {
            alone.iter_mut().for_each(|record| record["data_file"] = number.into());
        }
        let of_ring = |records: &[Value]| {
            records.iter().filter(|it| ring_of(it) == number).cloned().collect::<Vec<_>>()
        };
        assert_eq!(of_ring(&merged), alone);
        assert_eq!(of_ring(&by_file), alone);
        assert!(
            alone.iter().all(|record| record["fields"]["cpu"].is_null()),
            "a task was recorded, not a cpu"
        );
    }
    assert!(by_file.is_sorted_by_key(ring_of), "file by file");
}

#[test]
fn rings_that_have_wrapped_are_told_apart() {
    // The same event wrote both, one after the other; here they are given in reverse order.
    let rings = ["forward-lost.ring", "forward-wrapped.ring"];
    let merged = clean(&[&rings[..], &["--attr", "forward-wrapped.attr"]].concat());
    stand_where_they_are(&rings, &merged);
    assert!(are_by_time(&merged));
    assert_eq!((ring_of(&merged[0]), ring_of(merged.last().unwrap())), (1, 0));
    for ring in 0..2 {
        let places: Vec<_> =
            merged.iter().filter(|it| ring_of(it) == ring).map(|it| number(it, "offset")).collect();
        let turns = places.windows(2).filter(|pair| pair[0] > pair[1]).count();
        assert_eq!(turns, 1, "ring {ring} goes on at its start once");
        let straddles =
            merged.iter().any(|it| ring_of(it) == ring && number(it, "offset") + number(it, "size") > 8192);
        assert!(straddles, "a record of ring {ring} lies across its end");
    }
}
