//! Imports a capture: the machine, the files that samples hit, and all records by time.
//!
//! Works for files, pipes and folders, compressed or not, of either byte order: `importer perf.data`, `importer -`.

use perf_parse::{FileError, Reader, Record};

fn main() -> Result<(), FileError> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    let reader = Reader::open(path)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let features = reader.features();
    if let (Some(hostname), Some(arch)) = (features.hostname()?, features.arch()?) {
        println!("recorded on {hostname} ({arch})");
    }
    for file in features.build_ids()?.unwrap_or_default() {
        println!("build id {:02x?} of {}", file.build_id, file.filename);
    }
    let mut records = reader.records().in_time_order();
    for record in &mut records {
        let record = record?;
        let (time, (pid, tid)) = (record.time().unwrap_or(0), record.pid_tid().unwrap_or((-1, -1)));
        match record.decode()? {
            Record::Comm(comm) => println!("{time} {pid}/{tid} is {}", text(comm.comm)),
            Record::Mmap2(map) => {
                println!("{time} {pid}/{tid} maps {} at {:#x}", text(map.filename), map.addr)
            }
            Record::Sample(sample) => println!("{time} {pid}/{tid} is at {:#x}", sample.ip().unwrap_or(0)),
            other => println!("{time} {pid}/{tid} {}", other.kind()),
        }
    }
    println!("{} records, {} lost", records.account().records, records.account().lost);
    Ok(())
}
