//! Rings that keep the newest records: each pause gives whole records, from the newest one on without a gap.

use alloc::sync::Arc;

use loom::thread;
use perf_abi::attr::Attr;

use super::{Reached, bytes, every_interleaving, number, numbered};
use crate::ring::OverwriteSnapshot;
use crate::ring::loopback::overwrite_of_bytes;

/// Records that are written: more than the ring has room for.
const RECORDS: u64 = 4;

/// Returns the numbers of the records, newest first.
fn numbers(mut records: OverwriteSnapshot<'_>) -> Vec<u64> {
    let mut numbers = Vec::new();
    while let Some(raw) = records.next_record() {
        numbers.push(number(&raw.unwrap()));
    }
    numbers
}

#[test]
fn each_pause_gives_the_newest_records_whole() {
    let (refused, news_of_two) = (Arc::new(Reached::default()), Arc::new(Reached::default()));
    let (is_refused, has_news) = (refused.clone(), news_of_two.clone());
    every_interleaving(move || {
        let (mut ring, mut writer) = overwrite_of_bytes(&Attr::default(), 32).unwrap();
        let writing = thread::spawn(move || {
            let mut written = 0;
            for _ in 0..RECORDS {
                written += u64::from(writer.write(&bytes(&numbered(written))));
            }
            written
        });
        let mut seen = Vec::new();
        let mut read = || {
            let mut paused = ring.pause().unwrap();
            let news = numbers(paused.news().unwrap());
            let all = numbers(paused.records().unwrap());
            assert!(all.starts_with(&news), "{news:?} {all:?}");
            assert!(all.windows(2).all(|pair| pair[0] == pair[1] + 1), "{all:?}");
            // One record of 24 bytes, or one of 16 bytes, is whole in a ring of 32.
            assert!(all.last().is_none_or(|&oldest| oldest == 0 || all.len() == 1), "{all:?}");
            assert!(seen.last().is_none_or(|newest| news.iter().all(|number| number > newest)));
            seen.extend(news.iter().rev());
            all.first().map_or(0, |newest| newest + 1)
        };
        let (first, second) = (read(), read());
        let written = writing.join().unwrap();
        assert!(first <= second && second <= written);
        assert_eq!(read(), written, "the newest record is there");
        is_refused.note(written < RECORDS);
        has_news.note(0 < first && first < second);
    });
    assert!(refused.times() > 0 && news_of_two.times() > 0, "{refused:?} {news_of_two:?}");
}
