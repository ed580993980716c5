//! The attr of an event.
//!
//! UAPI: `struct perf_event_attr`.

use super::reader::Reader;
use super::value::Value;
use crate::bytes::precise_ip_reversed;
use crate::fields;

/// Number of bytes of the fields that Linux 7.3 knows.
pub(super) const KNOWN: usize = 144;

/// Reads an attr at the start of `bytes`. The attr states its size.
pub(super) fn sized(bytes: &[u8], big: bool) -> Result<Value, String> {
    let mut head = Reader::new(bytes, big);
    head.u32("attr.type")?;
    // The first version of perf wrote no size.
    let size = match head.u32("attr.size")? {
        0 => 64,
        1..64 => return Err("attr.size: is below 64".to_string()),
        size => size,
    };
    attr(Reader::new(bytes, big).bytes("attr", size.into())?, big)
}

/// Reads an attr that is the whole of `bytes`, which are at least 64. Fields that an older version lacks are 0. Fields
/// that only a newer version has are left out.
fn attr(bytes: &[u8], big: bool) -> Result<Value, String> {
    let mut whole = bytes.to_vec();
    whole.resize(bytes.len().max(KNOWN), 0);
    let mut r = Reader::new(&whole, big);
    Ok(fields! {
        kind: r.u32("type")?,
        size: r.u32("size")?,
        config: r.u64("config")?,
        sample_period: r.u64("sample_period")?,
        sample_type: r.u64("sample_type")?,
        read_format: r.u64("read_format")?,
        flags: match r.u64("flags")? {
            flags if big => precise_ip_reversed(flags.reverse_bits()),
            flags => flags,
        },
        wakeup_events: r.u32("wakeup_events")?,
        bp_type: r.u32("bp_type")?,
        config1: r.u64("config1")?,
        config2: r.u64("config2")?,
        branch_sample_type: r.u64("branch_sample_type")?,
        sample_regs_user: r.u64("sample_regs_user")?,
        sample_stack_user: r.u32("sample_stack_user")?,
        clockid: r.i32("clockid")?,
        sample_regs_intr: r.u64("sample_regs_intr")?,
        aux_watermark: r.u32("aux_watermark")?,
        sample_max_stack: r.u16("sample_max_stack")?,
        reserved_2: r.u16("__reserved_2")?,
        aux_sample_size: r.u32("aux_sample_size")?,
        aux_action: match r.u32("aux_action")? {
            action if big => action.reverse_bits(),
            action => action,
        },
        sig_data: r.u64("sig_data")?,
        config3: r.u64("config3")?,
        config4: r.u64("config4")?,
    })
}
