//! Sources of records that live: a file that grows while it is read.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use perf_parse::Reader;
use perf_parse::abi::record::RecordType;
use perf_profile::{Samples, Symbols};

/// A file that grows until it is complete: it waits for bytes that are not there yet.
struct GrowingFile {
    file: File,
    is_complete: Arc<AtomicBool>,
}

impl Read for GrowingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let is_complete = self.is_complete.load(Ordering::Acquire);
            match self.file.read(buffer)? {
                0 if !is_complete => thread::sleep(Duration::from_millis(1)),
                count => return Ok(count),
            }
        }
    }
}

/// Returns the times of all samples, and the offset after the round in the middle.
fn times_and_round(bytes: &[u8]) -> (Vec<Option<u64>>, usize) {
    let reader = Reader::new(bytes).unwrap();
    let symbols = Symbols::of(&reader).without_names();
    let times = Samples::of(&reader).named(&symbols).map(|sample| sample.unwrap().time()).collect();
    let rounds = reader.records().only(&[RecordType::FINISHED_ROUND]).map(Result::unwrap);
    let ends: Vec<_> = rounds.map(|it| it.offset() as usize + it.raw().as_bytes().len()).collect();
    (times, ends[ends.len() / 2])
}

#[test]
fn samples_come_while_the_file_grows() {
    let captures = testdata::captures();
    let path = captures.iter().find(|path| path.ends_with("fibo.compressed2.pipe.data")).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let (expected, round) = times_and_round(&bytes);
    let growing = tempfile::NamedTempFile::new().unwrap();
    let mut out = growing.as_file();
    let is_complete = Arc::new(AtomicBool::new(false));
    let file =
        GrowingFile { file: File::open(growing.path()).unwrap(), is_complete: Arc::clone(&is_complete) };
    let (sender, found) = mpsc::channel();
    let walk = thread::spawn(move || {
        let reader = Arc::new(Reader::stream(file).unwrap());
        let symbols = Symbols::of(&*reader).without_names();
        for sample in Samples::shared(reader).named(&symbols) {
            sender.send(sample.unwrap().time()).unwrap();
        }
    });
    out.write_all(&bytes[..round]).unwrap();
    // The samples of the rounds that are complete are there before the file is.
    let mut times = vec![found.recv_timeout(Duration::from_secs(60)).unwrap()];
    while let Ok(time) = found.recv_timeout(Duration::from_millis(200)) {
        times.push(time);
    }
    assert!(times.len() < expected.len());
    out.write_all(&bytes[round..]).unwrap();
    is_complete.store(true, Ordering::Release);
    loop {
        match found.recv_timeout(Duration::from_secs(60)) {
            Ok(time) => times.push(time),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("the walk does not end"),
        }
    }
    walk.join().unwrap();
    assert_eq!(times, expected);
}
