//! Each setter changes its own field, and nothing else.

use perf_abi::attr::{Attr, AttrFlags, AuxAction};
use perf_abi::branch::BranchSampleType;
use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::EventType;
use perf_abi::open::OpenFlags;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;

use crate::builder::Builder;

fn of(builder: Builder) -> Attr {
    *builder.attr()
}

/// Each switch sets its own bit, and clears it again.
#[test]
fn switches() {
    type Setter = fn(Builder, bool) -> Builder;
    let switches: [(Setter, &str); 35] = [
        (Builder::disabled, "disabled"),
        (Builder::inherit, "inherit"),
        (Builder::pinned, "pinned"),
        (Builder::exclusive, "exclusive"),
        (Builder::exclude_user, "exclude_user"),
        (Builder::exclude_kernel, "exclude_kernel"),
        (Builder::exclude_hv, "exclude_hv"),
        (Builder::exclude_idle, "exclude_idle"),
        (Builder::mmap, "mmap"),
        (Builder::comm, "comm"),
        (Builder::inherit_stat, "inherit_stat"),
        (Builder::enable_on_exec, "enable_on_exec"),
        (Builder::task, "task"),
        (Builder::mmap_data, "mmap_data"),
        (Builder::sample_id_all, "sample_id_all"),
        (Builder::exclude_host, "exclude_host"),
        (Builder::exclude_guest, "exclude_guest"),
        (Builder::exclude_callchain_kernel, "exclude_callchain_kernel"),
        (Builder::exclude_callchain_user, "exclude_callchain_user"),
        (Builder::mmap2, "mmap2"),
        (Builder::comm_exec, "comm_exec"),
        (Builder::context_switch, "context_switch"),
        (Builder::write_backward, "write_backward"),
        (Builder::namespaces, "namespaces"),
        (Builder::ksymbol, "ksymbol"),
        (Builder::bpf_event, "bpf_event"),
        (Builder::aux_output, "aux_output"),
        (Builder::cgroup, "cgroup"),
        (Builder::text_poke, "text_poke"),
        (Builder::build_id, "build_id"),
        (Builder::inherit_thread, "inherit_thread"),
        (Builder::remove_on_exec, "remove_on_exec"),
        (Builder::sigtrap, "sigtrap"),
        (Builder::defer_callchain, "defer_callchain"),
        (Builder::defer_output, "defer_output"),
    ];
    for (set, name) in switches {
        let flag = AttrFlags::NAMES.iter().find(|flag| flag.c_name == name).unwrap();
        let on = set(Builder::from(Attr::default()), true);
        assert_eq!(of(on.clone()), Attr { flags: AttrFlags(flag.value), ..Attr::default() }, "{name}");
        assert_eq!(of(set(on, false)), Attr::default(), "{name}");
    }
    // The other three flags are set by `sample_freq`, `wakeup_watermark` and `clockid`.
    assert_eq!(AttrFlags::NAMES.len(), switches.len() + 3);
}

#[test]
fn numbers() {
    let new = || Builder::from(Attr::default());
    let zero = Attr::default();
    assert_eq!(of(new().kind(EventType(9))), Attr { kind: EventType(9), ..zero });
    assert_eq!(of(new().config(1)), Attr { config: 1, ..zero });
    assert_eq!(of(new().config1(1)), Attr { config1: 1, ..zero });
    assert_eq!(of(new().config2(1)), Attr { config2: 1, ..zero });
    assert_eq!(of(new().config3(1)), Attr { config3: 1, ..zero });
    assert_eq!(of(new().config4(1)), Attr { config4: 1, ..zero });
    assert_eq!(of(new().bp_type(BreakpointType::X)), Attr { bp_type: BreakpointType::X, ..zero });
    assert_eq!(of(new().bp_addr(1).bp_len(2)), Attr { config1: 1, config2: 2, ..zero });
    assert_eq!(of(new().kprobe_addr(1)), Attr { config2: 1, ..zero });
    assert_eq!(of(new().probe_offset(1)), Attr { config2: 1, ..zero });
    assert_eq!(of(new().sample_type(SampleType::IP)), Attr { sample_type: SampleType::IP, ..zero });
    assert_eq!(of(new().read_format(ReadFormat::ID)), Attr { read_format: ReadFormat::ID, ..zero });
    let branches = BranchSampleType::ANY;
    assert_eq!(of(new().branch_sample_type(branches)), Attr { branch_sample_type: branches, ..zero });
    assert_eq!(of(new().sample_regs_user(1)), Attr { sample_regs_user: 1, ..zero });
    assert_eq!(of(new().sample_regs_intr(1)), Attr { sample_regs_intr: 1, ..zero });
    assert_eq!(of(new().sample_stack_user(8)), Attr { sample_stack_user: 8, ..zero });
    assert_eq!(of(new().aux_watermark(1)), Attr { aux_watermark: 1, ..zero });
    assert_eq!(of(new().sample_max_stack(1)), Attr { sample_max_stack: 1, ..zero });
    assert_eq!(of(new().aux_sample_size(1)), Attr { aux_sample_size: 1, ..zero });
    assert_eq!(of(new().sig_data(1)), Attr { sig_data: 1, ..zero });
    let actions = AuxAction::START_PAUSED | AuxAction::PAUSE | AuxAction::RESUME;
    let all = new().aux_start_paused(true).aux_pause(true).aux_resume(true);
    assert_eq!(of(all.clone()), Attr { aux_action: actions, ..zero });
    assert_eq!(of(all.aux_start_paused(false).aux_pause(false).aux_resume(false)), zero);
    let skid = of(new().precise_ip(2)).flags;
    assert_eq!((skid.precise_ip(), skid.with_precise_ip(0)), (2, AttrFlags::NONE));
    let clock = Attr { clockid: 1, flags: AttrFlags::USE_CLOCKID, ..zero };
    assert_eq!(of(new().clockid(1)), clock);
}

#[test]
fn the_later_of_two_exclusive_setters_wins() {
    let new = || Builder::from(Attr::default());
    let zero = Attr::default();
    let freq = Attr { sample_period: 99, flags: AttrFlags::FREQ, ..zero };
    assert_eq!(of(new().sample_period(7).sample_freq(99)), freq);
    assert_eq!(of(new().sample_freq(99).sample_period(7)), Attr { sample_period: 7, ..zero });
    let bytes = Attr { wakeup_events: 4096, flags: AttrFlags::WATERMARK, ..zero };
    assert_eq!(of(new().wakeup_events(3).wakeup_watermark(4096)), bytes);
    assert_eq!(of(new().wakeup_watermark(4096).wakeup_events(3)), Attr { wakeup_events: 3, ..zero });
}

#[test]
fn how_it_is_opened() {
    let new = Builder::from(Attr::default());
    assert_eq!(new.flags, OpenFlags::FD_CLOEXEC);
    assert_eq!(new.clone().cloexec(false).flags, OpenFlags::NONE);
    let apart = OpenFlags::FD_NO_GROUP;
    assert_eq!(new.open_flags(apart).flags, OpenFlags::FD_CLOEXEC | apart);
}
