//! The comparison of the view with the oracle, and of a session with a plain model.

pub mod batch;
pub mod eager;
pub mod feature;
pub mod format;
pub mod rewrite;
pub mod session;
pub mod user;

use perf_abi::attr::Attr;
use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::{Error, ErrorKind, SampleLayout};
use testdata::fields;
use testdata::oracle::{self, Value};

/// Compares the view of `bytes`, one record of a kernel type, with the oracle: both accept the same records and
/// return the same values. Returns the record, or `None` if it cannot be decoded.
pub fn check(attr: &Attr, big: bool, bytes: &[u8]) -> Option<oracle::Record> {
    match SampleLayout::new(attr) {
        Ok(layout) => check_with(attr, &layout, big, bytes),
        Err(error) => {
            let unknown = attr.sample_type.unknown();
            let kind = match unknown {
                0 => ErrorKind::BothWeights,
                bits => ErrorKind::UnknownBits { field: "sample_type", bits },
            };
            assert_eq!(error, Error { kind, offset: 24 });
            let is_sample = bytes.get(if big { 3 } else { 0 }) == Some(&9);
            assert!(!is_sample || oracle::record(attr, big, bytes).is_err());
            None
        }
    }
}

/// Does the same as [`check`], with a given layout.
pub fn check_with(attr: &Attr, layout: &SampleLayout, big: bool, bytes: &[u8]) -> Option<oracle::Record> {
    let expected = if layout.has_provisional_abi() {
        oracle::record_of_next_abi(attr, big, bytes)
    } else {
        oracle::record(attr, big, bytes)
    };
    let (view, order) = if big {
        (eager::record::<BigEndian>((), attr, layout, bytes), Endianness::Big)
    } else {
        (eager::record::<LittleEndian>((), attr, layout, bytes), Endianness::Little)
    };
    // The byte order as a value gives the same as the byte order as a type.
    assert_eq!(eager::record::<Endianness>(order, attr, layout, bytes), view);
    match (view, expected) {
        (Ok(view), Ok(expected)) => {
            if view != expected {
                check_refused_readings(&view, &expected);
            }
            Some(view)
        }
        (Err(error), Err(_)) => {
            assert!(error.offset as usize <= bytes.len(), "{error}");
            None
        }
        (Err(error), Ok(expected)) => {
            check_refused(&error, &expected);
            None
        }
        (Ok(view), Err(message)) => panic!("the oracle says {message}, the view {view:?}"),
    }
}

/// Checks a record that the view rejects and the oracle accepts: it has a size field that is larger than its data.
fn check_refused(error: &Error, expected: &oracle::Record) {
    let (field, value, max) = match &expected.body {
        oracle::Body::Mmap2 { file: oracle::Mmap2Id::BuildId { build_id_size, .. }, .. } => {
            assert_eq!(error.offset, 40);
            ("build_id_size", u64::from(*build_id_size), 20)
        }
        oracle::Body::Sample(sample) => {
            let (size, dyn_size) = stack_sizes(sample).unwrap_or_else(|| panic!("{error:?}: {expected:?}"));
            ("stack_user.dyn_size", dyn_size, size)
        }
        _ => panic!("{error:?}: {expected:?}"),
    };
    assert!(value > max, "{error:?}: {expected:?}");
    // The error is that of the usual reading, which may fail elsewhere if the oracle used another one.
    if is_usual(expected) {
        assert_eq!(error.kind, ErrorKind::OutOfRange { field, value, max });
    }
}

/// Returns whether the oracle read every ambiguous field in the usual layout.
fn is_usual(record: &oracle::Record) -> bool {
    let oracle::Body::Sample(sample) = &record.body else { return true };
    let readings = &sample.readings;
    readings.fits == 1
        && readings.hw_idx != Some(false)
        && readings.counters.is_none()
        && readings.regs_user != Some(true)
        && readings.stack_stray != Some(true)
        && readings.regs_intr != Some(true)
}

/// Returns `size` and `dyn_size` of the stack copy, if there is one that is not empty.
fn stack_sizes(sample: &oracle::Sample) -> Option<(u64, u64)> {
    let stack = sample.stack_user.as_ref()?;
    Some((stack.size, stack.dyn_size?))
}

/// Checks two different readings of a sample: the view rejects some readings that the oracle counts, and may
/// therefore use a later one.
fn check_refused_readings(view: &oracle::Record, expected: &oracle::Record) {
    let (oracle::Body::Sample(it), oracle::Body::Sample(wanted)) = (&view.body, &expected.body) else {
        panic!("{view:#?} is not {expected:#?}");
    };
    let fewer = it.readings.fits < wanted.readings.fits && wanted.stack_user.is_some();
    assert!(fewer, "{view:#?} is not {expected:#?}");
    assert!(stack_sizes(it).is_none_or(|(size, dyn_size)| dyn_size <= size));
    if stack_sizes(wanted).is_none_or(|(size, dyn_size)| dyn_size <= size) {
        let mut wanted = wanted.clone();
        wanted.readings.fits = it.readings.fits;
        assert_eq!(it, &wanted);
    }
}

/// Returns whether the byte order `O` is big-endian.
#[must_use]
pub fn is_big<O: Endian>() -> bool {
    O::ENDIANNESS == Endianness::Big
}

/// Returns an attr.
fn attr(it: &Attr) -> Value {
    fields! {
        kind: it.kind.0, size: it.size, config: it.config, sample_period: it.sample_period,
        sample_type: it.sample_type.0, read_format: it.read_format.0, flags: it.flags.0,
        wakeup_events: it.wakeup_events, bp_type: it.bp_type.0, config1: it.config1, config2: it.config2,
        branch_sample_type: it.branch_sample_type.0, sample_regs_user: it.sample_regs_user,
        sample_stack_user: it.sample_stack_user, clockid: it.clockid, sample_regs_intr: it.sample_regs_intr,
        aux_watermark: it.aux_watermark, sample_max_stack: it.sample_max_stack, reserved_2: it.reserved_2,
        aux_sample_size: it.aux_sample_size, aux_action: it.aux_action.0, sig_data: it.sig_data,
        config3: it.config3, config4: it.config4,
    }
}
