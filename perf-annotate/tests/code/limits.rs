//! Each limit, below, at and above.

use perf_annotate::{AnnotateLimits, AnnotateOptions};

use crate::mapped::program;
use crate::recording::{Memory, Recording, USER};
use crate::{annotated, lines};

const MAP: u64 = 0x7f00_0000_0000;

fn options(change: impl FnOnce(&mut AnnotateLimits)) -> AnnotateOptions {
    let mut options = AnnotateOptions::default();
    change(&mut options.limits);
    options
}

fn files() -> Memory {
    Memory::default().with("/bin/prog", program(62).build())
}

fn recording() -> Recording {
    let recording = Recording::new().map(MAP, 0x10_0000, false, "/bin/prog");
    [0x4000, 0x4001, 0x4001, 0x4004]
        .into_iter()
        .fold(recording, |it, offset| it.sample(USER, MAP + offset, offset))
}

#[test]
fn addresses() {
    for (limit, beyond) in [(2, 1), (3, 0), (4, 0)] {
        let annotator = recording().annotator_with(files(), options(|it| it.addresses = limit));
        assert_eq!((annotator.beyond()[0].samples, annotator.totals()[0].samples), (beyond, 4));
    }
}

#[test]
fn bytes_of_code() {
    for (limit, count) in [(10, 4), (11, 5), (12, 5)] {
        let mut annotator = recording().annotator_with(files(), options(|it| it.code = limit));
        assert_eq!(lines(&annotated(&mut annotator, "first").unwrap()).len(), count);
    }
}
