//! Any bytes as a file: opened, walked to the end, everything decoded and every byte accounted for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_abi::endian::Endian;
use perf_parse::Record;
use perf_parse::file::{AnyFile, File};

fuzz_target!(|bytes: &[u8]| {
    match AnyFile::open(bytes) {
        Ok(AnyFile::Little(file)) => check(&file),
        Ok(AnyFile::Big(file)) => check(&file),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

fn check<O: Endian>(file: &File<'_, O>) {
    features(file);
    let mut records = file.records();
    let start = records.offset();
    let (mut walked, mut ended) = (0, false);
    while let Some(record) = records.next() {
        assert!(!ended, "nothing comes after an error");
        let Ok(record) = record else {
            ended = true;
            continue;
        };
        walked += 1;
        assert_eq!(
            record.offset + u64::from(record.raw.size()) + record.behind.len() as u64,
            records.offset()
        );
        let end = record.offset + u64::from(record.raw.size());
        if let Err(error) = record.sample_id() {
            assert!((record.offset..=end).contains(&error.offset), "{error}");
        }
        match record.decode() {
            Ok(Record::Sample(sample)) => {
                let _ = sample.callchain().map(|chain| chain.map(|chain| chain.frames().count()));
                match sample.tail() {
                    Ok(tail) => assert!(format!("{sample:?} {tail:?}").len() > 1),
                    Err(error) => {
                        let error = record.error(error);
                        assert!((record.offset..=end).contains(&error.offset), "{error}");
                    }
                }
            }
            Ok(decoded) => assert!(!format!("{decoded:?}").is_empty()),
            Err(error) => assert!((record.offset..=end).contains(&error.offset), "{error}"),
        }
    }
    let account = records.account();
    assert_eq!(account.records, walked);
    assert_eq!(start + account.bytes + account.bytes_skipped, records.offset());
    assert_eq!(account.bytes_skipped != 0, ended);
    assert!(account.by_type().map(|(_, count)| count).sum::<u64>() <= walked);
    assert!(records.offset() <= file.bytes().len() as u64);
}

/// Decodes every feature section in every way there is: a section may hold anything.
fn features<O: Endian>(file: &File<'_, O>) {
    for section in file.features() {
        let _ = section.string::<O>();
        let _ = section.strings::<O>();
        let _ = section.nr_cpus::<O>();
        let _ = section.total_mem::<O>();
        // Each event takes some of the section, so there are fewer than it has bytes.
        assert!(section.event_desc::<O>().count() <= section.bytes.len() + 1);
    }
}
