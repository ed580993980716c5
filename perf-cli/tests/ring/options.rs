//! The options that describe a single ring, and those that select what to print.

use std::fs;

use perf_abi::endian::{BigEndian, LittleEndian};

use crate::{
    DATA_HEAD, DATA_OFFSET, DATA_SIZE, DATA_TAIL, Jsonl, PAGE, clean, fails, folder, jsonl, made, number,
    offsets, recorded, ring, scratch, time, unplaced, word,
};

const FORWARD: [&str; 3] = ["forward-wrapped.ring", "--attr", "forward-wrapped.attr"];
const BACKWARD: [&str; 3] = ["backward-part.ring", "--attr", "backward-part.attr"];

/// Returns a dump with the words at these offsets overwritten.
fn edited(name: &str, edits: &[(usize, u64)]) -> Vec<u8> {
    let mut dump = recorded(name);
    for (at, value) in edits {
        dump[*at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    dump
}

#[test]
fn the_attr_tells_the_direction_unless_the_command_line_does() {
    let (forward, backward) = (clean(&FORWARD), clean(&BACKWARD));
    assert!(
        offsets(&backward).windows(2).all(|pair| pair[0] > pair[1]),
        "newer records stand before older ones"
    );
    let attr_of_forward = [BACKWARD[0], "--attr", FORWARD[2]];
    let attr_of_backward = [FORWARD[0], "--attr", BACKWARD[2]];
    assert_eq!(clean(&[&attr_of_forward[..], &["--backward"]].concat()), backward);
    assert_eq!(clean(&[&attr_of_backward[..], &["--forward"]].concat()), forward);
    fails(&attr_of_forward, "data_tail: is 0, but ");
    fails(&[&FORWARD[..], &["--forward", "--backward"]].concat(), "cannot be used with");
}

#[test]
fn positions_stand_in_for_a_control_page() {
    let area = fs::read_to_string(folder().join("area.args")).unwrap();
    let args: Vec<_> =
        ["area.ring", "--attr", "area.attr"].into_iter().chain(area.split_whitespace()).collect();
    assert!(clean(&args).len() > 10);

    for whole in [FORWARD, BACKWARD] {
        let dump = recorded(whole[0]);
        let [head, tail] = [DATA_HEAD, DATA_TAIL].map(|at| word(&dump, at));
        let alone = scratch(&format!("alone-{}", whole[0]), &dump[PAGE..]);
        let (decimal, hex) = (head.to_string(), format!("{head:#x}"));
        let tail = tail.to_string();
        let expected = clean(&whole);
        for head in [&decimal, &hex] {
            let records = clean(&[&alone, whole[1], whole[2], "--head", head, "--tail", &tail]);
            let moved: Vec<_> = offsets(&records).iter().map(|offset| offset + PAGE as u64).collect();
            assert_eq!(moved, offsets(&expected), "{whole:?}");
            assert_eq!(unplaced(records), unplaced(expected.clone()), "{whole:?}");
        }
        if whole == BACKWARD {
            let records = clean(&[&alone, whole[1], whole[2], "--head", &decimal]);
            assert_eq!(
                unplaced(records),
                unplaced(expected),
                "a ring that is written backward needs no tail"
            );
        }
    }
}

/// Each of several dumps without a control page has positions of its own.
#[test]
fn a_head_belongs_to_one_dump() {
    let names = ["pair-0.ring", "pair-1.ring"];
    let expected = clean(&[names[0], names[1], "--attr", "pair.attr.data"]);
    let dumps = names.map(recorded);
    let [first, second] =
        [0, 1].map(|index| scratch(&format!("alone-{}", names[index]), &dumps[index][PAGE..]));
    let positions = |at| dumps.each_ref().map(|dump| word(dump, at).to_string()).join(",");
    let (heads, tails) = (positions(DATA_HEAD), positions(DATA_TAIL));
    let args = [&*first, &second, "--attr", "pair.attr.data", "--head", &heads, "--tail", &tails];
    assert_eq!(unplaced(clean(&args)), unplaced(expected));

    let one = ["--head", "64", "--tail", "0"];
    let refused =
        |args: &[&str], why| fails(&[&[&*first, &second, "--attr", "pair.attr.data"], args].concat(), why);
    refused(&one, "--head: 1 for 2 dumps; give one for each dump, in their order: --head N,N");
    refused(&["--head", "64,64", "--tail", "0"], "--tail: 1 for 2 dumps");
    refused(&["--head", "64,64,64"], "--head: 3 for 2 dumps");
}

#[test]
fn positions_beside_a_control_page_are_pointed_out() {
    let dump = recorded(FORWARD[0]);
    let run = ring(&[&FORWARD[..], &["--head", "64"]].concat());
    assert!(run.status != 0 && run.err.contains("begins with a control page"), "{run:?}");
    let alone = scratch("no-page.ring", &dump[PAGE..]);
    let head = word(&dump, DATA_HEAD).to_string();
    let tail = word(&dump, DATA_TAIL).to_string();
    let run = ring(&[&alone, FORWARD[1], FORWARD[2], "--head", &head, "--tail", &tail]);
    assert_eq!((run.status, &*run.err), (0, ""));
    fails(&[&alone, FORWARD[1], FORWARD[2], "--tail", "0"], "a dump with a control page has both");
}

#[test]
fn positions_that_cannot_be_are_refused() {
    let area = scratch("area", &recorded("area.ring"));
    let with = |args: &[&'static str], why| {
        fails(&[&[&*area, "--attr", "area.attr"], args].concat(), why);
    };
    with(&["--tail", "0"], "--head");
    with(&["--head", "64", "--page-size", "4096"], "cannot be used with");
    with(&["--head", "some"], "'some'");
    with(&["--head", "64", "--tail", "72"], "0x408: data_tail: is 72");
    with(&["--head", "64", "--tail", "4"], "0x408: data_tail: is 4");
    with(
        &["--head", "5000"],
        "0x408: data_tail: is 0, but 5000 bytes were written since, and the area holds only the last 4096",
    );
}

/// Kernels before 4.1 do not give the position of the data.
#[test]
fn pages_of_old_kernels_are_measured_by_the_dump() {
    for [name, option, attr] in [FORWARD, BACKWARD, ["pair-0.ring", "--attr", "pair.attr.data"]] {
        let expected = clean(&[name, option, attr]);
        let old = edited(name, &[(DATA_OFFSET, 0), (DATA_SIZE, 0)]);
        let old = scratch(&format!("old-{name}"), &old);
        let Jsonl { status, err, records, .. } = jsonl(&[&old, option, attr]);
        assert_eq!((status, &records), (0, &expected), "{name}");
        let remark = "data_offset: is 0, as kernels before 4.1 leave it; the page size is taken to be 4096 bytes, from the length of the dump\n";
        assert!(err.ends_with(&format!("{old}: {remark}")), "{err}");
        assert_eq!(clean(&[&old, option, attr, "--page-size", "4096"]), expected, "{name}");
        assert_eq!(clean(&[&old, option, attr, "--page-size", "0x1000"]), expected, "{name}");
        fails(&[&old, option, attr, "--page-size", "1024"], "0x410: data_offset: is 1024");
        fails(&[&old, option, attr, "--page-size", "16384"], "0x418: data_size: is 0");
    }
}

#[test]
fn both_byte_orders_are_read() {
    let records = |sample: fn(u64) -> Vec<u8>| (0..5).flat_map(sample).collect::<Vec<_>>();
    // After the first record, the ring wraps.
    let tail = 2 * PAGE as u64 - 40;
    let little = made::dump::<LittleEndian>(tail, &records(made::sample::<LittleEndian>), &[]);
    let big = made::dump::<BigEndian>(tail, &records(made::sample::<BigEndian>), &[]);
    let little = scratch("little", &little);
    let big = scratch("big", &big);
    let attrs = [made::attr_bytes::<LittleEndian>(), made::attr_bytes::<BigEndian>()];
    let [little_attr, big_attr] = [("little", &attrs[0]), ("big", &attrs[1])]
        .map(|(name, bytes)| scratch(&format!("{name}.attr"), bytes));

    let little_records = clean(&[&little, "--attr", &little_attr]);
    let shown = jsonl(&[&big, "--attr", &big_attr]);
    assert_eq!((shown.status, &*shown.err), (0, ""));
    assert_eq!(shown.header["endian"], "big");
    assert_eq!(shown.records, little_records);
    let first = 2 * PAGE as u64 - 40;
    assert_eq!(
        offsets(&shown.records),
        [first, first + 32, PAGE as u64 + 24, PAGE as u64 + 56, PAGE as u64 + 88]
    );
    for (index, record) in (0..).zip(&shown.records) {
        assert_eq!(number(&record["fields"], "ip"), 0x40_1000 + index);
        assert_eq!(time(record), 1_000_000_000 + 1000 * index);
    }

    // A size of 0 means 64, in either byte order.
    let sizeless = |bytes: &[u8], name| {
        let mut bytes = bytes.to_vec();
        bytes[4..8].fill(0);
        scratch(name, &bytes)
    };
    let big_sizeless = sizeless(&attrs[1], "big-sizeless.attr");
    let little_sizeless = sizeless(&attrs[0], "little-sizeless.attr");
    assert_eq!(clean(&[&big, "--attr", &big_sizeless, "--endian", "big"]), little_records);
    assert_eq!(clean(&[&little, "--attr", &little_sizeless, "--endian", "little"]), little_records);
    fails(&[&big, "--attr", &big_sizeless], "whose size shows its byte order; give --endian");
    fails(&[&big, "--attr", &big_attr, "--endian", "little"], "attr.size: ");
}

#[test]
fn order_is_that_of_the_ring_or_of_time() {
    // The first record has the later time, as if an interrupt wrote it before the other event reserved its space.
    let records = [made::sample::<LittleEndian>(2), made::sample::<LittleEndian>(1)].concat();
    let dump = scratch("unordered", &made::dump::<LittleEndian>(0, &records, &[]));
    let attr = scratch("unordered.attr", &made::attr_bytes::<LittleEndian>());
    let times = |args: &[&str]| -> Vec<_> {
        clean(&[&[&dump, "--attr", &attr], args].concat())
            .iter()
            .map(|record| time(record) / 1000 % 10)
            .collect()
    };
    assert_eq!(times(&[]), [1, 2]);
    assert_eq!(times(&["--order", "time"]), [1, 2]);
    assert_eq!(times(&["--order", "file"]), [2, 1]);
}

#[test]
fn filters_are_those_of_dump() {
    let all = clean(&FORWARD);
    let with = |args: &[&str]| clean(&[&FORWARD[..], args].concat());
    let of_type = |kind| all.iter().filter(|record| record["type"] == kind).cloned().collect::<Vec<_>>();
    assert_eq!(with(&["--type", "SAMPLE"]), of_type("SAMPLE"));
    assert_eq!(with(&["--type", "MMAP2"]), of_type("MMAP2"));
    assert!(of_type("SAMPLE").len() > 20 && of_type("MMAP2").len() == 1);
    assert_eq!(with(&["--event", "0"]), all);
    assert_eq!(with(&["--limit", "3"]), all[..3]);
    let seconds = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
    let range = format!("{},{}", seconds(time(&all[5])), seconds(time(&all[9])));
    assert_eq!(with(&["--time", &range]), all[5..10]);
    fails(&[&FORWARD[..], &["--event", "1"]].concat(), "--event 1: ");
    fails(&[&FORWARD[..], &["--type", "SAMPEL"]].concat(), "--type SAMPEL: ");

    let run = ring(&[&FORWARD[..], &["--fields", "offset,type,addr"]].concat());
    assert_eq!((run.status, &*run.err), (0, ""));
    let expected: Vec<_> = all
        .iter()
        .map(|it| {
            format!(
                "{:#x}\t{}\t{:#x}",
                number(it, "offset"),
                it["type"].as_str().unwrap(),
                number(&it["fields"], "addr")
            )
        })
        .collect();
    assert_eq!(run.out.lines().collect::<Vec<_>>(), expected);
}
