//! Counter values in samples and READ records.

use super::reader::Reader;

const PERF_FORMAT_TOTAL_TIME_ENABLED: u64 = 1 << 0;
const PERF_FORMAT_TOTAL_TIME_RUNNING: u64 = 1 << 1;
const PERF_FORMAT_ID: u64 = 1 << 2;
const PERF_FORMAT_GROUP: u64 = 1 << 3;
const PERF_FORMAT_LOST: u64 = 1 << 4;
const PERF_FORMAT_MAX: u64 = 1 << 5;

/// The counter values of one event or of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Whether the layout is that of `PERF_FORMAT_GROUP`. If not, there is one value.
    pub group: bool,
    /// `PERF_FORMAT_TOTAL_TIME_ENABLED`.
    pub time_enabled: Option<u64>,
    /// `PERF_FORMAT_TOTAL_TIME_RUNNING`.
    pub time_running: Option<u64>,
    /// The values; that of the group leader is first.
    pub values: Vec<ReadValue>,
}

/// The value of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadValue {
    /// The count.
    pub value: u64,
    /// `PERF_FORMAT_ID`.
    pub id: Option<u64>,
    /// `PERF_FORMAT_LOST`.
    pub lost: Option<u64>,
}

/// Reads counter values in the layout of `read_format`.
pub(super) fn read(read_format: u64, r: &mut Reader<'_>) -> Result<Read, String> {
    if read_format >= PERF_FORMAT_MAX {
        return Err(format!("attr.read_format: {read_format:#x} has unknown bits"));
    }
    let group = read_format & PERF_FORMAT_GROUP != 0;
    let mut read = Read { group, time_enabled: None, time_running: None, values: Vec::new() };
    if group {
        let nr = r.u64("read.nr")?;
        times(read_format, r, &mut read)?;
        for _ in 0..nr {
            let value = r.u64("read.value")?;
            read.values.push(id_and_lost(read_format, r, value)?);
        }
    } else {
        let value = r.u64("read.value")?;
        times(read_format, r, &mut read)?;
        read.values.push(id_and_lost(read_format, r, value)?);
    }
    Ok(read)
}

fn times(read_format: u64, r: &mut Reader<'_>, read: &mut Read) -> Result<(), String> {
    if read_format & PERF_FORMAT_TOTAL_TIME_ENABLED != 0 {
        read.time_enabled = Some(r.u64("read.time_enabled")?);
    }
    if read_format & PERF_FORMAT_TOTAL_TIME_RUNNING != 0 {
        read.time_running = Some(r.u64("read.time_running")?);
    }
    Ok(())
}

fn id_and_lost(read_format: u64, r: &mut Reader<'_>, value: u64) -> Result<ReadValue, String> {
    let id = if read_format & PERF_FORMAT_ID != 0 { Some(r.u64("read.id")?) } else { None };
    let lost = if read_format & PERF_FORMAT_LOST != 0 { Some(r.u64("read.lost")?) } else { None };
    Ok(ReadValue { value, id, lost })
}
