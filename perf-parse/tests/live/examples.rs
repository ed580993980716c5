//! The programs in `examples` run, on captures of every kind.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use perf_parse::Reader;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![importer, fold_stacks, copy_span, features, parallel, ring];

/// Returns the number of records of a capture, and of samples.
fn counts(path: &Path) -> (usize, usize) {
    let reader = Reader::open(path).unwrap();
    let samples = reader.records().filter(|record| record.as_ref().unwrap().sample().is_some());
    (reader.records().count(), samples.count())
}

fn importer() {
    for name in ["everything.data", "touch.zstd.data", "tracing.pipe.data", "threads.dir"] {
        let capture = testdata::path(name);
        let printed = needs::example("importer", &[&capture]);
        let (records, samples) = counts(&capture);
        assert_eq!(printed.lines().filter(|line| line.contains(" is at 0x")).count(), samples, "{name}");
        assert!(printed.contains("recorded on "), "{printed}");
        let last = printed.lines().last().unwrap();
        assert!(last.ends_with(" lost") && samples > 0 && records > samples, "{name}: {last}");
    }
}

fn fold_stacks() {
    let printed = needs::example("fold_stacks", &[&testdata::path("callchain.data")]);
    let samples = printed.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap());
    assert_eq!(samples.sum::<usize>(), counts(&testdata::path("callchain.data")).1);
    assert!(printed.lines().any(|line| line.matches(";0x").count() > 2), "{printed}");
}

fn copy_span() {
    let capture = testdata::path("ids.data");
    let folder = needs::folder();
    let copy = folder.join("copy.data");
    let reader = Reader::open(&capture).unwrap();
    let times = reader.records().filter_map(|record| record.unwrap().sample()?.time());
    let mut times: Vec<u64> = times.collect();
    times.sort_unstable();
    let (first, last) = (times[times.len() / 4], times[times.len() / 2]);
    let inside = times.iter().filter(|time| (first..=last).contains(time)).count();
    let [first, last] = [first, last].map(|time| time.to_string());
    let args: [&OsStr; 4] = [capture.as_ref(), copy.as_ref(), first.as_ref(), last.as_ref()];
    let printed = needs::example("copy_span", &args);
    assert_eq!(printed, format!("{inside} samples\n"));
    let (records, samples) = counts(&capture);
    assert_eq!(counts(&copy), (records - samples + inside, inside));
    fs::remove_file(copy).unwrap();
}

fn features() {
    let printed = needs::example("features", &[&testdata::path("everything.data")]);
    for name in ["HOSTNAME: ", "NRCPUS: ", "TOTAL_MEM: ", "CMDLINE: ", "BUILD_ID: "] {
        assert!(printed.lines().any(|line| line.starts_with(name) && line.len() > name.len()), "{printed}");
    }
}

fn parallel() {
    let capture = testdata::path("system_wide.data");
    let printed = needs::example("parallel", &[&capture]);
    let samples = printed.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<usize>().unwrap());
    assert_eq!(samples.sum::<usize>(), counts(&capture).1);
}

fn ring() {
    let folder = testdata::path("").parent().unwrap().join("rings");
    let [ring, attr] = ["ring", "attr"].map(|kind| folder.join("forward-lost").with_extension(kind));
    let printed = needs::example("ring", &[&ring, &attr]);
    assert!(printed.starts_with("Counts { samples: ") && printed.ends_with("faults: 0 }\n"), "{printed}");
    assert!(!printed.contains("samples: 0"), "{printed}");
}
