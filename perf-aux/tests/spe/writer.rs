//! A capture with SPE data, copied by the writer and read again: its metadata, its data, its times.

use std::io::Cursor;

use perf_aux::spe::{Decoder, Midr, SampleOptions, SpeInfo, Synthesis};
use perf_parse::Reader;
use perf_parse::abi::endian::Endianness;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::user::TimeConv;
use perf_parse::record::{Record, UserRecord};
use testdata::arm_spe::{Capture, RandomPackets};

/// The number of samples of a capture, the sum of their times in nanoseconds, and the number of records.
fn read(file: &[u8]) -> (usize, u64, u64) {
    let reader = Reader::new(file).unwrap();
    let (mut cpu, mut conv) = (None, None);
    let mut decoder = Decoder::new();
    let mut synthesis = Synthesis::new(SampleOptions::default());
    let mut sums = (0, 0_u64);
    for record in reader.records() {
        let record = record.unwrap();
        match record.decode().unwrap() {
            Record::User(UserRecord::TimeConv(it), _) => {
                // Without the bytes of the record.
                let TimeConv { time_shift, time_mult, time_zero, short, .. } = it;
                conv = Some(TimeConv { time_shift, time_mult, time_zero, short, rest: &[] });
            }
            Record::User(UserRecord::AuxtraceInfo(info), _) => {
                let info = SpeInfo::new(&info).unwrap();
                assert_eq!(info.version(), 2);
                cpu = Some(info.cpu(0, None));
            }
            Record::User(UserRecord::Auxtrace(area), _) => {
                let data = reader.aux_data(&record).unwrap();
                let (cpu, conv) = (cpu.as_ref().unwrap(), conv.as_ref().unwrap());
                assert_eq!(cpu.midr, Some(Midr(0x410f_d4f0)));
                for record in decoder.records(area.offset, &data) {
                    for sample in synthesis.samples(&record, cpu) {
                        sums.0 += 1;
                        sums.1 = sums.1.wrapping_add(conv.tsc_to_perf_time(sample.timestamp));
                    }
                }
            }
            _ => {}
        }
    }
    (sums.0, sums.1, decoder.account().records)
}

#[test]
fn a_copy_has_the_same_samples() {
    let data = RandomPackets::new(5).records(50).out;
    let cpu = Some((0x410f_d4f0, 0));
    let original =
        Capture { cpu, time_conv: Some([3, 1000, 7]), data: data.clone(), ..Capture::default() }.build();
    let reader = Reader::new(&original).unwrap();
    let events: Vec<_> = reader.events().iter().map(|event| EventFields::from(&**event)).collect();
    let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &events, &options).unwrap();
    for record in reader.records() {
        let record = record.unwrap();
        writer.record_with_data(record.raw().as_bytes(), &reader.trailing(&record).unwrap()).unwrap();
    }
    let copy = writer.finish().unwrap().into_inner();
    let (samples, times, records) = read(&copy);
    assert_eq!((samples, times, records), read(&original));
    assert!(samples > 100 && times > 0);
    assert_eq!(records, Decoder::new().records(0, &data).count() as u64);
}
