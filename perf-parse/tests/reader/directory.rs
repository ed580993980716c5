//! Captures with several data files.

use perf_parse::Reader;
use perf_parse::file::FileErrorKind;

use crate::{Walk, capture, in_order, round, sample, timed, walk};
use testdata::file::Builder;

fn read(data: &[u8], more: &[Vec<u8>], by_time: bool) -> Walk {
    let mut reader = Reader::new(data).unwrap();
    more.iter().for_each(|bytes| reader.add_data(bytes));
    if by_time { in_order(&reader) } else { walk(reader.records()) }
}

#[test]
fn one_file_after_the_other() {
    let data = Builder::new(false).event(timed(), &[7]).data(sample(1)).data(round()).build();
    let more = [[sample(2), sample(5)].concat(), Vec::new(), [sample(3), round(), sample(4)].concat()];
    let all = read(&data.bytes, &more, false);
    let places: Vec<_> = all.seen.iter().map(|it| (it.data_file, it.offset, it.time)).collect();
    let base = data.data as u64;
    assert_eq!(
        places,
        [
            (0, base, Some(1)),
            (0, base + 24, None),
            (1, 0, Some(2)),
            (1, 24, Some(5)),
            (3, 0, Some(3)),
            (3, 24, None),
            (3, 32, Some(4)),
        ]
    );
    assert!(all.account.is_clean());
    assert_eq!(all.account.bytes, 5 * 24 + 2 * 8);
}

#[test]
fn by_time_over_all_files() {
    // Each file has rounds of its own: the end of a round does not apply to the next file.
    let file = |times: &[u64]| {
        times.iter().map(|&time| [sample(time), round(), round()].concat()).collect::<Vec<_>>().concat()
    };
    let data = Builder::new(false).event(timed(), &[7]).data(file(&[1, 20, 300])).build();
    let more = [file(&[2, 19, 301]), file(&[3, 18, 299])];
    let all = read(&data.bytes, &more, true);
    let times: Vec<_> = all.seen.iter().filter_map(|it| it.time).collect();
    assert_eq!(times, [1, 2, 3, 18, 19, 20, 299, 300, 301]);
    assert_eq!(all.account.late, 0);
    assert_eq!(all.seen.len(), 27);
}

#[test]
fn damage_in_one_file_stays_there() {
    let data = Builder::new(false).event(timed(), &[7]).data(sample(1)).data([0; 5]).build();
    let all = read(&data.bytes, &[[sample(2), vec![0; 16]].concat(), sample(3)], false);
    assert_eq!(all.times(), [Some(1), Some(2), Some(3)]);
    assert_eq!(all.account.bytes_skipped, 21);
    let skipped: Vec<_> =
        all.errors.iter().filter(|it| matches!(it.kind, FileErrorKind::Skipped { .. })).collect();
    assert_eq!(skipped.len(), 2);
}

#[test]
fn a_capture_of_threads() {
    let data = capture("threads.dir/data");
    let more = [capture("threads.dir/data.0"), capture("threads.dir/data.1")];
    let all = read(&data, &more, false);
    assert!(all.account.is_clean(), "{:?}", all.account);
    assert!(all.seen.iter().all(|it| it.decodes));
    for file in 0..3 {
        assert!(all.seen.iter().any(|it| it.data_file == file), "{file}");
    }
    let by_time = read(&data, &more, true);
    let times: Vec<_> = by_time.seen.iter().filter_map(|it| it.time).filter(|&time| time != 0).collect();
    assert!(times.is_sorted());
    assert_eq!(by_time.account.late, 0);
    let [mut one, mut other] = [&all, &by_time].map(|it| it.seen.clone());
    let place = |it: &crate::Seen| (it.data_file, it.offset);
    one.sort_by_key(place);
    other.sort_by_key(place);
    assert_eq!(one, other);
}
