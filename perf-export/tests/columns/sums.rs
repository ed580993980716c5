//! The sums of the tables are those of the reader's account.

use perf_abi::record::RecordType;
use perf_export::columns::{Options, Table};
use perf_parse::error::FileErrorKind;
use perf_parse::file::Account;
use perf_parse::{FileError, Reader};
use perf_session::Session;

use crate::{Tables, corpus};

/// What a walk without this crate has: the account, the rows of samples that there must be, and the sum of their periods.
fn walked(reader: &Reader<'_>) -> (Account, u64, u64) {
    let mut records = reader.records().in_time_order();
    records.check_features();
    let mut session = Session::new();
    session.add_features(records.features());
    let (mut samples, mut periods) = (0_u64, 0_u64);
    while let Some(record) = records.next() {
        let Ok(record) = record else { continue };
        let mut pass = || -> Result<(), FileError> {
            let Some((at, event)) = session.update_at(&record)?.zip(record.event()) else { return Ok(()) };
            at.sample().tail().map_err(|error| record.error(error))?;
            at.stack(None)?.for_each(drop);
            samples += 1;
            periods = periods.wrapping_add(at.sample().period().unwrap_or(event.attr.sample_period));
            Ok(())
        };
        if let Err(error) = pass() {
            records.account_mut().note(error);
        }
    }
    (records.account().clone(), samples, periods)
}

#[test]
fn the_sums_are_those_of_the_account_for_all_captures() {
    let (mut faulty, mut lossy, mut all) = (0, 0, 0_u64);
    for path in corpus() {
        let name = path.display();
        let Ok(reader) = Reader::open(&path) else { continue };
        let (account, samples, periods) = walked(&reader);
        let tables = Tables::of(&reader, Options::default());
        assert_eq!(tables.numbers(Table::Samples, "time").len() as u64, samples, "{name}");
        assert_eq!(tables.sum(Table::Samples, "period"), periods, "{name}");
        for table in [Table::Events, Table::Threads, Table::Processes, Table::Captures] {
            assert_eq!(tables.sum(table, "samples"), samples, "{name}: {table}");
        }
        assert_eq!(tables.sum(Table::Events, "period"), periods, "{name}");
        assert_eq!(tables.lost("what", "lost"), account.lost, "{name}");
        assert_eq!(tables.lost("what", "lost_samples"), account.lost_samples, "{name}");
        assert_eq!(tables.lost("what", "late"), account.late, "{name}");
        let faults = tables.lost("what", "fault") + tables.lost("what", "skipped");
        assert_eq!(faults, account.faults(), "{name}");
        assert_eq!(tables.sum(Table::Losses, "bytes"), account.bytes_skipped, "{name}");
        let sums = [
            ("records", account.records),
            ("bytes", account.bytes),
            ("bytes_skipped", account.bytes_skipped),
            ("faults", account.faults()),
            ("lost", account.lost),
            ("lost_samples", account.lost_samples),
        ];
        for (column, expected) in sums {
            assert_eq!(tables.numbers(Table::Captures, column), [Some(expected as i64)], "{name}: {column}");
        }
        let of_type = account.by_type().find(|(kind, _)| *kind == RecordType::SAMPLE).map_or(0, |it| it.1);
        // Every sample that is in no row is in a loss. Those beyond the limit of diagnostics have no type there.
        if account.diagnostics_omitted == 0 {
            assert_eq!(samples + tables.lost("record", "SAMPLE"), of_type, "{name}");
        }
        faulty += u64::from(account.faults() > 0);
        lossy += u64::from(account.lost > 0);
        all += samples;
        let layouts = account.diagnostics.iter().any(|it| matches!(it.kind, FileErrorKind::Layout(_)));
        assert!(!layouts || tables.lost("kind", "layout") > 0, "{name}");
    }
    println!("captures with faults: {faulty}, that lost records: {lossy}, samples: {all}");
    // Otherwise this proves little.
    assert!(faulty > 5 && lossy > 0 && all > 10_000, "{faulty} {lossy} {all}");
}
