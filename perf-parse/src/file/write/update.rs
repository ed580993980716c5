//! EVENT_UPDATE records: properties of an event that its attr does not have.

use alloc::vec::Vec;

use perf_abi::endian::{Endian, F64, U16, U64};
use perf_abi::record::{CpuMapCpus, CpuMapType, EventUpdateType, Misc, RecordType};
use zerocopy::IntoBytes;

use super::error::WriteFileError;
use super::{EventFields, framed, pad};

/// Returns the records for the event's unit, scale and CPUs, and for its name if `named`.
///
/// perf: `perf_event__synthesize_event_update_unit` and similar functions, `tools/perf/util/synthetic-events.c`.
pub(super) fn records<O: Endian>(
    index: usize,
    event: &EventFields,
    named: bool,
) -> Result<Vec<Vec<u8>>, WriteFileError> {
    let invalid = |field, must| WriteFileError::Event { event: index, field, must };
    let text = |field, text: &[u8]| {
        if text.contains(&0) {
            return Err(invalid(field, "free of NULs"));
        }
        let mut payload = text.to_vec();
        payload.push(0);
        Ok((field, payload))
    };
    let mut updates = Vec::new();
    if let Some(unit) = &event.unit {
        updates.push((EventUpdateType::UNIT, text("unit", unit)?));
    }
    if let Some(scale) = event.scale {
        updates.push((EventUpdateType::SCALE, ("scale", F64::<O>::new(scale).as_bytes().to_vec())));
    }
    if let Some(cpus) = &event.cpus {
        let list = cpu_list::<O>(cpus).ok_or(invalid("cpus", "at most 65535, and as many"))?;
        updates.push((EventUpdateType::CPUS, ("cpus", list)));
    }
    if let Some(name) = event.name.as_ref().filter(|_| named) {
        updates.push((EventUpdateType::NAME, text("name", name)?));
    }
    let record = |(kind, (field, mut payload)): (EventUpdateType, (_, Vec<u8>))| {
        // perf attributes id 0 to the first event.
        let id = match event.ids.first() {
            Some(&id) => id,
            None if index == 0 => 0,
            None => {
                return Err(invalid(
                    "ids",
                    "one at least, by which its name, unit, scale or cpus refer to it",
                ));
            }
        };
        pad(&mut payload, 8);
        let head = [U64::<O>::new(kind.0), U64::new(id)];
        framed::<O>(RecordType::EVENT_UPDATE, Misc(0), &[head.as_bytes(), &payload])
            .ok_or(invalid(field, "shorter than a record, whose 65535 bytes it has to fit into"))
    };
    updates.into_iter().map(record).collect()
}

/// Returns a set of CPUs as a list.
fn cpu_list<O: Endian>(cpus: &[u32]) -> Option<Vec<u8>> {
    let mut list = Vec::new();
    list.extend_from_slice(U16::<O>::new(CpuMapType::CPUS.0).as_bytes());
    list.extend_from_slice(CpuMapCpus::<O> { nr: U16::new(u16::try_from(cpus.len()).ok()?) }.as_bytes());
    for &cpu in cpus {
        list.extend_from_slice(U16::<O>::new(u16::try_from(cpu).ok()?).as_bytes());
    }
    Some(list)
}
