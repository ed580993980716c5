//! `events`: the events of a capture.

use perf_abi::attr::AttrFlags;
use perf_parse::event::Event;

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::utf8::utf8;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    event_id: Int32, "", "Number of the event in the capture.";
    name: Text, "", "Name, as the user gave it or as perf makes it.";
    type: Int32, "", "`type` of `struct perf_event_attr`.";
    config: Int64, "bits", "`config`.";
    config1: Int64, "bits", "`config1`.";
    config2: Int64, "bits", "`config2`.";
    sample_type: Int64, "bits", "`sample_type`: which fields samples have.";
    read_format: Int64, "bits", "`read_format`: which fields counts have.";
    sample_period ? Int64, "as unit", "Period. Null if the event samples by frequency.";
    sample_frequency ? Int64, "Hz", "Frequency. Null if the event samples by period.";
    flags: Int64, "bits", "The flags of `struct perf_event_attr` as one word.";
    clock ? Int32, "", "The clock of times: `CLOCK_*`. Null for perf's own clock.";
    branch_sample_type: Int64, "bits", "`branch_sample_type`.";
    sample_regs_user: Int64, "bits", "`sample_regs_user`: the registers in `samples.user_registers`.";
    sample_regs_intr: Int64, "bits", "`sample_regs_intr`: the registers in `samples.interrupt_registers`.";
    unit ? Text, "", "Unit of the counts, from an EVENT_UPDATE record.";
    scale ? Float64, "", "Factor for the counts, from an EVENT_UPDATE record.";
    ids: Integers, "", "Ids that the records of the event have.";
    samples: Int64, "", "Number of its rows in `samples`.";
    period: Int64, "as unit", "Sum of `samples.period`, modulo 2^64.";
};

/// Writes an event with the number and the periods of its samples.
pub(super) fn push(
    rows: &mut TableRows,
    context: &Context,
    event: &Event,
    name: &str,
    samples: u64,
    period: u64,
) {
    let attr = &event.attr;
    let is_frequency = attr.flags.contains(AttrFlags::FREQ);
    rows.text(context.capture.as_str());
    rows.int32(event.index as i32);
    rows.text(name);
    rows.int32(attr.kind.0.cast_signed());
    rows.int64(attr.config);
    rows.int64(attr.config1);
    rows.int64(attr.config2);
    rows.int64(attr.sample_type.0);
    rows.int64(attr.read_format.0);
    rows.int64((!is_frequency).then_some(attr.sample_period));
    rows.int64(is_frequency.then_some(attr.sample_period));
    rows.int64(attr.flags.0);
    rows.int32(attr.flags.contains(AttrFlags::USE_CLOCKID).then_some(attr.clockid));
    rows.int64(attr.branch_sample_type.0);
    rows.int64(attr.sample_regs_user);
    rows.int64(attr.sample_regs_intr);
    let update = event.update.as_deref();
    rows.text(update.and_then(|it| it.unit.as_deref()).map(utf8).as_deref());
    rows.float64(update.and_then(|it| it.scale));
    rows.integers(Some(event.ids.iter().copied()));
    rows.int64(samples);
    rows.int64(period);
    rows.end();
}
