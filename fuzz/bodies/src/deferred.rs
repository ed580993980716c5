//! Samples whose user call chains are in later records, in one file or several: each sample gets the chain that a
//! plain map has for its cookie and thread. For any capture, the search for chains ends.

use std::collections::HashMap;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{BigEndian, Endian, LittleEndian, U32, U64};
use perf_abi::record::{Header, Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::{Reader, Record};
use zerocopy::IntoBytes;

use super::walk::walk;

/// Bits of the first byte: big-endian; records have their threads; the rest is a capture.
const BIG: u8 = 1;
const THREADS: u8 = 2;
const CAPTURE: u8 = 4;

/// The first byte of `data` has the bits. The other bytes are a capture, or two bytes for each record.
pub fn run(data: &[u8]) -> bool {
    let Some((&bits, rest)) = data.split_first() else { return false };
    match bits {
        _ if bits & CAPTURE != 0 => match Reader::new(rest) {
            Ok(reader) => any(&reader, rest.len()),
            Err(_) => return false,
        },
        _ if bits & BIG != 0 => made::<BigEndian>(bits, rest),
        _ => made::<LittleEndian>(bits, rest),
    }
    true
}

/// Searches any capture for chains.
fn any(reader: &Reader<'_>, size: usize) {
    let chains = reader.deferred_chains();
    let mut deferred = 0;
    walk(&mut reader.records(), size, |record| match record.decode() {
        Ok(Record::Sample(sample)) => {
            assert_eq!(chains.of(&sample).is_err(), sample.callchain().is_err());
        }
        Ok(Record::CallchainDeferred(_)) => deferred += 1,
        _ => {}
    });
    // Each chain was in a separate record.
    assert!(chains.len() <= deferred);
}

/// A record of the model: a chain, or a sample whose chain is deferred.
enum Step {
    Chain { cookie: u64, tid: i32, ips: Vec<u64> },
    Sample { cookie: Option<u64>, tid: i32 },
}

impl Step {
    fn new(choice: u8, value: u8) -> Self {
        let (cookie, tid) = (u64::from(value % 8), i32::from(choice >> 1 & 3) - 1);
        if choice & 1 == 0 {
            let ips = (0..choice >> 4).map(|index| u64::from(value) << 8 | u64::from(index));
            return Self::Chain { cookie, tid, ips: ips.collect() };
        }
        // Includes a chain that ends before its cookie, and a whole chain.
        let cookie = (value < 240).then_some(cookie);
        Self::Sample { cookie, tid }
    }

    /// Appends the record.
    fn write<O: Endian>(&self, out: &mut Vec<u8>, has_threads: bool) {
        let word = |value: u64| U64::<O>::new(value).as_bytes().to_vec();
        let thread = |tid: i32| match has_threads {
            true => [U32::<O>::new(1), U32::new(tid as u32)].as_bytes().to_vec(),
            false => Vec::new(),
        };
        let (kind, payload) = match self {
            Self::Chain { cookie, tid, ips } => {
                let ips = ips.iter().flat_map(|ip| word(*ip)).collect::<Vec<_>>();
                let nr = word(ips.len() as u64 / 8);
                (RecordType::CALLCHAIN_DEFERRED, [word(*cookie), nr, ips, thread(*tid)].concat())
            }
            Self::Sample { cookie, tid } => {
                let chain = [Some(0x1000), Some(CallchainContext::USER_DEFERRED.0), *cookie];
                let chain = chain.into_iter().flatten().flat_map(word).collect::<Vec<_>>();
                (RecordType::SAMPLE, [thread(*tid), word(chain.len() as u64 / 8), chain].concat())
            }
        };
        let size = u16::try_from(payload.len() + 8).expect("a record is short");
        out.extend_from_slice(Header::<O>::new(kind, Misc(2), size).as_bytes());
        out.extend_from_slice(&payload);
    }
}

/// Reads the records that `choices` describe. The second half of them is in a separate file.
fn made<O: Endian>(bits: u8, choices: &[u8]) {
    let has_threads = bits & THREADS != 0;
    let steps: Vec<_> = choices.chunks_exact(2).map(|pair| Step::new(pair[0], pair[1])).collect();
    let mut chains = HashMap::new();
    for step in &steps {
        if let Step::Chain { cookie, tid, ips } = step {
            chains.insert((*cookie, if has_threads { *tid } else { -1 }), ips.as_slice());
        }
    }
    let expected = steps.iter().filter_map(|step| match step {
        Step::Sample { cookie, tid } => {
            let key = cookie.map(|cookie| (cookie, if has_threads { *tid } else { -1 }));
            Some(key.and_then(|key| chains.get(&key).copied()))
        }
        Step::Chain { .. } => None,
    });
    let expected: Vec<_> = expected.collect();

    let mut files = [Vec::new(), Vec::new()];
    for (index, step) in steps.iter().enumerate() {
        step.write::<O>(&mut files[index * 2 / steps.len()], has_threads);
    }
    let mut sample_type = SampleType::CALLCHAIN;
    if has_threads {
        sample_type |= SampleType::TID;
    }
    let attr = Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    let events = [(attr, Vec::new())].into_iter().collect();
    let mut reader = Reader::from_records(events, O::ENDIANNESS, &files[0]);
    reader.add_data(&files[1]);
    let found = reader.deferred_chains();
    assert_eq!(found.len(), chains.len());
    let mut given = Vec::new();
    let mut records = reader.records();
    walk(&mut records, files[0].len() + files[1].len(), |record| {
        if let Record::Sample(sample) = record.decode().expect("it was just made") {
            given.push(found.of(&sample).expect("it was just made").map(<[u64]>::to_vec));
        }
    });
    assert!(given.iter().map(Option::as_deref).eq(expected));
    assert!(records.account().is_clean());
}
