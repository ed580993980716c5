//! Attrs, with the kernel's names.

use core::fmt::Display;

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::provisional::simd_regs::SimdRegsAttr;

use super::Scalars;
use super::name::{Name, name};

/// Passes the fields of an attr to `sink` in the order of the struct, each bit of the flag word separately.
pub(crate) fn attr(attr: &Attr, sink: &mut dyn Scalars) {
    sink.named(name!("type"), u64::from(attr.kind.0), &attr.kind);
    sink.number(name!("size"), u64::from(attr.size));
    sink.hex(name!("config"), attr.config);
    let freq = attr.flags.contains(AttrFlags::FREQ);
    sink.number(if freq { name!("sample_freq") } else { name!("sample_period") }, attr.sample_period);
    sink.named(name!("sample_type"), attr.sample_type.0, &attr.sample_type);
    sink.named(name!("read_format"), attr.read_format.0, &attr.read_format);
    for flag in AttrFlags::NAMES {
        if flag.c_name == "mmap_data" {
            sink.number(name!("precise_ip"), u64::from(attr.flags.precise_ip()));
        }
        sink.number(&Name::of(flag.c_name), u64::from(attr.flags.0 & flag.value != 0));
    }
    if attr.flags.unknown() != 0 {
        sink.hex(name!("__reserved_1"), attr.flags.unknown());
    }
    let watermark = attr.flags.contains(AttrFlags::WATERMARK);
    sink.number(
        if watermark { name!("wakeup_watermark") } else { name!("wakeup_events") },
        u64::from(attr.wakeup_events),
    );
    sink.named(name!("bp_type"), u64::from(attr.bp_type.0), &attr.bp_type);
    sink.hex(name!("config1"), attr.config1);
    sink.hex(name!("config2"), attr.config2);
    sink.named(name!("branch_sample_type"), attr.branch_sample_type.0, &attr.branch_sample_type);
    sink.hex(name!("sample_regs_user"), attr.sample_regs_user);
    sink.number(name!("sample_stack_user"), u64::from(attr.sample_stack_user));
    sink.task(name!("clockid"), i64::from(attr.clockid));
    sink.hex(name!("sample_regs_intr"), attr.sample_regs_intr);
    sink.number(name!("aux_watermark"), u64::from(attr.aux_watermark));
    sink.number(name!("sample_max_stack"), u64::from(attr.sample_max_stack));
    if attr.reserved_2 != 0 {
        sink.hex(name!("__reserved_2"), u64::from(attr.reserved_2));
    }
    sink.number(name!("aux_sample_size"), u64::from(attr.aux_sample_size));
    sink.named(name!("aux_action"), u64::from(attr.aux_action.0), &attr.aux_action);
    sink.hex(name!("sig_data"), attr.sig_data);
    sink.hex(name!("config3"), attr.config3);
    sink.hex(name!("config4"), attr.config4);
}

/// Returns the fields of an attr that are set, as `name=value`, and the names of the flags that are set.
pub(crate) fn summary(attr: &Attr) -> Vec<String> {
    let mut out = Vec::new();
    let mut show = |name: &str, value: &dyn Display, is_set: bool| {
        if is_set {
            out.push(format!("{name}={value}"));
        }
    };
    let hex = |value: u64| format!("{value:#x}");
    show("type", &attr.kind, true);
    show("size", &attr.size, true);
    show("config", &hex(attr.config), true);
    let period = if attr.flags.contains(AttrFlags::FREQ) { "sample_freq" } else { "sample_period" };
    show(period, &attr.sample_period, attr.sample_period != 0);
    show("sample_type", &attr.sample_type, attr.sample_type.0 != 0);
    show("read_format", &attr.read_format, attr.read_format.0 != 0);
    show("flags", &attr.flags, attr.flags.0 != 0);
    let wakeup = if attr.flags.contains(AttrFlags::WATERMARK) { "wakeup_watermark" } else { "wakeup_events" };
    show(wakeup, &attr.wakeup_events, attr.wakeup_events != 0);
    show("bp_type", &attr.bp_type, attr.bp_type.0 != 0);
    show("config1", &hex(attr.config1), attr.config1 != 0);
    show("config2", &hex(attr.config2), attr.config2 != 0);
    show("branch_sample_type", &attr.branch_sample_type, attr.branch_sample_type.0 != 0);
    show("sample_regs_user", &hex(attr.sample_regs_user), attr.sample_regs_user != 0);
    show("sample_stack_user", &attr.sample_stack_user, attr.sample_stack_user != 0);
    show("clockid", &attr.clockid, attr.flags.contains(AttrFlags::USE_CLOCKID));
    show("sample_regs_intr", &hex(attr.sample_regs_intr), attr.sample_regs_intr != 0);
    show("aux_watermark", &attr.aux_watermark, attr.aux_watermark != 0);
    show("sample_max_stack", &attr.sample_max_stack, attr.sample_max_stack != 0);
    show("aux_sample_size", &attr.aux_sample_size, attr.aux_sample_size != 0);
    show("aux_action", &attr.aux_action, attr.aux_action.0 != 0);
    show("sig_data", &hex(attr.sig_data), attr.sig_data != 0);
    show("config3", &hex(attr.config3), attr.config3 != 0);
    show("config4", &hex(attr.config4), attr.config4 != 0);
    out
}

/// Returns the bytes of a newer kernel's attr that are set, in groups of 8: the offset of each group in the attr, and the
/// group. `tail` is what follows the fields that are known.
pub(crate) fn unknown_bytes(tail: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let offsets = (u64::from(AttrVersion::NEWEST.size())..).step_by(8);
    offsets.zip(tail.chunks(8)).filter(|(_, group)| group.iter().any(|&byte| byte != 0))
}

/// Returns the fields of an attr that ask for vector and predicate registers, as `name=value`. They are provisional.
pub(crate) fn simd_regs_summary(attr: &SimdRegsAttr) -> String {
    format!(
        "sample_simd_pred_reg_qwords={} sample_simd_pred_reg_intr={:#x} sample_simd_pred_reg_user={:#x} \
         sample_simd_vec_reg_qwords={} sample_simd_vec_reg_intr={:#x} sample_simd_vec_reg_user={:#x}",
        attr.regs_enabled,
        attr.pred_reg_intr,
        attr.pred_reg_user,
        attr.vec_reg_qwords,
        attr.vec_reg_intr,
        attr.vec_reg_user
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_bytes_have_their_offsets() {
        let all = |tail| unknown_bytes(tail).collect::<Vec<_>>();
        assert_eq!(all(&[]), []);
        assert_eq!(all(&[0; 20]), []);
        let mut tail = [0; 19];
        (tail[7], tail[18]) = (1, 2);
        assert_eq!(all(&tail), [(144, &[0, 0, 0, 0, 0, 0, 0, 1][..]), (160, &[0, 0, 2])]);
    }
}
