//! Rings that cannot be read, or not completely.

use serde_json::Value;

use crate::{DATA_HEAD, Jsonl, clean, fails, jsonl, number, offsets, recorded, scratch, word};

const WRAPPED: &str = "forward-wrapped.ring";
const WRAPPED_ATTR: &str = "forward-wrapped.attr";
const OVERWRITTEN: &str = "forward-overwritten.ring";
/// The message for [`OVERWRITTEN`].
const WHY: &str = "0x408: data_tail: is 0, but ";

#[test]
fn a_ring_whose_oldest_record_is_lost_is_refused() {
    let args = [OVERWRITTEN, "--attr", "forward-overwritten.attr"];
    fails(&args, &format!("{OVERWRITTEN}: {WHY}"));
    fails(&args, "perfdata: no ring can be read; ");
}

#[test]
fn what_is_no_ring_is_refused() {
    let short = scratch("short", &recorded(WRAPPED)[..1087]);
    fails(
        &[&short, "--attr", WRAPPED_ATTR],
        "/short: 0x0: perf_event_mmap_page: needs 1088 bytes, 1087 are left",
    );
    let cut = scratch("cut", &recorded(WRAPPED)[..8000]);
    fails(&[&cut, "--attr", WRAPPED_ATTR], "/cut: 0x418: data_size: needs 8192 bytes, 8000 are left");
    let empty = scratch("empty", b"");
    fails(&[&empty, "--attr", WRAPPED_ATTR], "/empty: ");
    fails(&["no-such.ring", "--attr", WRAPPED_ATTR], "no-such.ring: No such file");
}

#[test]
fn one_ring_of_two_is_read_and_the_other_told() {
    let shown = jsonl(&[OVERWRITTEN, WRAPPED, "--attr", WRAPPED_ATTR]);
    assert_eq!(shown.status, 3);
    assert_eq!(shown.records, clean(&[WRAPPED, "--attr", WRAPPED_ATTR]));
    assert_eq!(shown.err.matches(WHY).count(), 1, "said once: {}", shown.err);
    assert!(shown.err.starts_with(OVERWRITTEN), "{}", shown.err);
    assert_eq!(shown.account["bytes_skipped"], recorded(OVERWRITTEN).len());
    assert_eq!(shown.account["diagnostics"][0]["field"], "data_tail");
}

#[test]
fn a_torn_record_is_a_remark() {
    let shown = jsonl(&["backward-full.ring", "--attr", "backward-full.attr"]);
    assert_eq!(shown.status, 0);
    // The torn record starts directly after the oldest complete record.
    let oldest = &shown.records[0];
    let torn = 4096 + (number(oldest, "offset") + number(oldest, "size") - 4096) % 4096;
    let left = 4096 - shown.records.iter().map(|record| number(record, "size")).sum::<u64>();
    assert!(left > 0 && left < 56, "{left} bytes are none of a sample");
    let said = "newer records overwrote the end of the oldest record";
    assert_eq!(
        shown.err,
        format!("backward-full.ring: {torn:#x}: {said}; {left} bytes of it are left out\n")
    );
    assert_eq!(shown.account["bytes_skipped"], 0);
    assert_eq!(shown.account["diagnostics"], Value::Array(Vec::new()));
}

/// Returns the ring with the size of the record at `offset` set.
fn with_size(ring: &str, offset: u64, size: u16) -> String {
    let mut dump = recorded(ring);
    let at = offset as usize + 6;
    dump[at..at + 2].copy_from_slice(&size.to_le_bytes());
    scratch(&format!("size-{offset}-{size}-{ring}"), &dump)
}

#[test]
fn a_damaged_record_of_a_forward_ring_costs_no_other() {
    let whole = clean(&[WRAPPED, "--attr", WRAPPED_ATTR]);
    let start = offsets(&whole).windows(2).position(|pair| pair[0] > pair[1]).unwrap() + 1;
    // In the middle of the records at the end of the dump, and of those at its start.
    for index in [start / 2, start + 3] {
        let [offset, size] = ["offset", "size"].map(|field| number(&whole[index], field));
        let mut left = whole.clone();
        left.remove(index);
        for damaged in [0, 7] {
            let shown = jsonl(&[&with_size(WRAPPED, offset, damaged), "--attr", WRAPPED_ATTR]);
            assert_eq!(shown.status, 3);
            assert_eq!(shown.records, left);
            assert_eq!(shown.account["bytes_skipped"], size);
            let at = offset + 6;
            assert!(shown.err.starts_with(&format!("{at:#x}: header.size: ")), "{}", shown.err);
            let said = format!("\n{offset:#x}: {size} bytes skipped");
            assert!(shown.err.contains(&said), "{said:?}: {}", shown.err);
            let diagnostics = shown.account["diagnostics"].as_array().unwrap();
            assert_eq!(diagnostics.iter().map(|it| number(it, "offset")).collect::<Vec<_>>(), [at, offset]);
        }
    }
}

/// Only the newer record gives the start of the next older one, so the older records cannot be found.
#[test]
fn a_damaged_record_of_a_backward_ring_costs_the_older() {
    let (name, attr) = ("backward-part.ring", "backward-part.attr");
    let whole = clean(&[name, "--attr", attr]);
    let index = whole.len() / 2;
    let offset = number(&whole[index], "offset");
    let head = 4096 + word(&recorded(name), DATA_HEAD) % 4096;
    let Jsonl { status, err, records, account, .. } = jsonl(&[&with_size(name, offset, 12), "--attr", attr]);
    assert_eq!((status, &records[..]), (3, &whole[index + 1..]));
    assert_eq!(records.iter().map(|record| number(record, "size")).sum::<u64>(), offset - head);
    let unread = 4096 * 2 - offset;
    assert_eq!(account["bytes_skipped"], unread);
    let why =
        format!("is 12, but must be a multiple of 8 and not 0; the remaining {unread} bytes are not read");
    assert_eq!(err.matches(&why).count(), 1, "said once: {err}");
    assert!(err.contains(&format!("{name}: {offset:#x}: header.size: {why}\n")), "{err}");
    assert_eq!(account["diagnostics"][0]["offset"], offset);
}

/// According to the attr, call chains follow the fields of these samples.
#[test]
fn what_is_missing_in_a_record_across_the_end_is_missing_at_the_start() {
    for (name, attr, way) in
        [(WRAPPED, WRAPPED_ATTR, "--forward"), ("backward-full.ring", "backward-full.attr", "--backward")]
    {
        let samples = jsonl(&[name, "--attr", attr]).records;
        let samples = samples.iter().filter(|record| record["type"] == "SAMPLE");
        let ends = samples.map(|it| number(it, "offset") + number(it, "size"));
        let mut expected: Vec<_> = ends.map(|end| if end >= 8192 { end - 4096 } else { end }).collect();
        let mut told: Vec<_> = jsonl(&[name, "--attr", "pair.attr.data", way]).account["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| {
                assert_eq!(it["field"], "callchain");
                number(it, "offset")
            })
            .collect();
        expected.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, expected, "{name}");
    }
}
