//! Copies of stacks that an edit unwinds on several threads, held against what the recorded program noted itself.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use perf_parse::abi::callchain::CallchainContext;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::write::RecordEncoder;
use perf_parse::{Reader, SampleLayout};
use perf_profile::Symbols;
use perf_profile::edit::CaptureEdit;
use perf_symbol::SymbolOptions;

/// More samples than the threads take at a time: their copies have some 12 MB.
const SAMPLES: u64 = 6000;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/unwind"))
}

/// Returns a capture with the only sample of another one many times, with a call chain of the kernel, and the mapping before every
/// hundredth, which is at the same place again.
fn repeated(capture: &Reader<'_>) -> Vec<u8> {
    let mut event = EventFields::from(&*capture.events()[0]);
    event.attr.sample_type |= SampleType::CALLCHAIN;
    let layout = SampleLayout::new(&event.attr).unwrap();
    let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &options).unwrap();
    for section in capture.features().iter() {
        writer.features().raw(section.feature, section.bytes).unwrap();
    }
    for number in 0..SAMPLES {
        for record in capture.records() {
            let record = record.unwrap();
            let Some(sample) = record.sample() else {
                if number % 100 == 0 {
                    writer.records(record.raw().as_bytes()).unwrap();
                }
                continue;
            };
            let mut fields = sample.to_fields().unwrap();
            fields.callchain = Some(vec![CallchainContext::KERNEL.0, 0xffff_ffff_8000_0000 + number]);
            fields.time = Some(number + 1);
            let mut bytes = Vec::new();
            let encoder = RecordEncoder::new_in(Endianness::Little, &layout);
            encoder.sample(&mut bytes, record.raw().misc(), &fields).unwrap();
            writer.records(&bytes).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn unwound(capture: &[u8], threads: usize) -> Vec<u8> {
    let reader = Reader::new(capture).unwrap();
    let mut options = SymbolOptions::default();
    options.symfs = Some(folder().into());
    let symbols = Symbols::new(reader.features(), options);
    let edit = CaptureEdit::new().unwind().threads(threads);
    edit.write_file(&reader, &symbols, Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner()
}

#[test]
fn any_number_of_threads_writes_the_chains_that_the_program_noted() {
    let noted = fs::read_to_string(folder().join("aarch64.expected")).unwrap();
    let noted: Vec<_> = noted.lines().map(|line| u64::from_str_radix(line, 16).unwrap()).collect();
    let one = fs::read(folder().join("aarch64.data")).unwrap();
    let capture = repeated(&Reader::new(&one).unwrap());
    let written = unwound(&capture, 1);
    assert!(written.len() * 5 < capture.len());
    let reader = Reader::new(&written).unwrap();
    let mut samples = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let Some(sample) = record.sample() else { continue };
        let tail = sample.tail().unwrap();
        assert!(tail.stack_user.is_none() && tail.regs_user.is_none());
        let chain: Vec<_> = tail.callchain.unwrap().words().iter().collect();
        let kernel = [CallchainContext::KERNEL.0, 0xffff_ffff_8000_0000 + samples, CallchainContext::USER.0];
        assert_eq!(chain[..3], kernel);
        assert_eq!(Some(chain[3]), sample.ip());
        // The function that printed the notes is between.
        assert_eq!(chain[5..], noted);
        samples += 1;
    }
    assert_eq!(samples, SAMPLES);
    for threads in [0, 2, 3, 64] {
        assert!(unwound(&capture, threads) == written, "{threads} threads");
    }
}
