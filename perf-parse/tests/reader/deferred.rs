//! User call chains in records that come after their samples.

use perf_parse::{Reader, Record};

/// Returns the number of deferred chains, and the chain found for each sample.
fn ends(name: &str) -> (usize, Vec<Option<Vec<u64>>>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/synthetic");
    let bytes = std::fs::read(format!("{path}/{name}")).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let chains = reader.deferred_chains();
    let mut users = Vec::new();
    for record in reader.records() {
        let record = record.unwrap();
        if let Record::Sample(sample) = record.decode().unwrap() {
            users.push(chains.of(&sample).unwrap().map(<[u64]>::to_vec));
        }
    }
    (chains.len(), users)
}

#[test]
fn chains_are_found_by_their_cookie() {
    // The rest of the first sample's chain is present; the second one has no cookie.
    let user = vec![0xffff_ffff_ffff_fe00, 0x40_1000, 0x40_2000, 0x40_3000];
    let expected = (2, vec![Some(user), None]);
    assert_eq!(ends("deferred.le.data"), expected);
    assert_eq!(ends("deferred.be.data"), expected);
}
