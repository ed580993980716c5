//! Parts of an attr that the kernel is too old for: an error names them, or they are left out.
#![cfg(target_os = "linux")]

use crate::support::software;
use perf_open::abi::attr::{AttrFlags, AttrVersion};
use perf_open::abi::event::SwId;
use perf_open::abi::read_format::ReadFormat;
use perf_open::abi::sample_type::SampleType;
use perf_open::{Builder, Target};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    the_attr_is_given_at_the_oldest_version_that_holds_it,
    a_field_beyond_the_kernels_attr,
    a_switch_of_a_newer_kernel,
    bits_that_no_kernel_has,
    all_that_a_kernel_does_not_know_is_named_at_once,
    a_refusal_for_another_reason_blames_no_bit,
    what_the_kernel_would_take_and_do_wrongly_is_refused,
];

fn event() -> Builder {
    software(SwId::DUMMY)
}

fn the_attr_is_given_at_the_oldest_version_that_holds_it() {
    let here = Target::this_thread();
    let size = |builder: Builder| builder.open(&here).unwrap().attr().size;
    assert_eq!(size(event()), AttrVersion::VER0.size());
    assert_eq!(size(event().config2(0).sample_max_stack(3)), AttrVersion::VER5.size());
    assert_eq!(size(event().sig_data(3)), AttrVersion::VER7.size());
}

fn a_field_beyond_the_kernels_attr() {
    let opened = event().config4(1).open(&Target::this_thread());
    let Err(error) = opened else {
        needs::skip(
            "kernel-before-6.19",
            "this kernel, 6.19 or later, has every field that this crate knows",
        );
    };
    assert_eq!(error.errno_name(), Some("E2BIG"), "{error}");
    assert_eq!(error.fields(), ["config4"]);
    assert!(error.advice().contains("config4 (since Linux 6.19)"), "{error}");
}

fn a_switch_of_a_newer_kernel() {
    let newer = || event().sample_type(SampleType::CALLCHAIN).defer_callchain(true);
    let here = Target::this_thread();
    let Err(error) = newer().open(&here) else {
        needs::skip(
            "kernel-before-6.19",
            "this kernel, 6.19 or later, has every switch that this crate knows",
        );
    };
    assert_eq!(error.errno_name(), Some("EINVAL"), "{error}");
    assert_eq!(error.fields(), ["defer_callchain"]);
    assert!(error.advice().contains("since Linux 6.19"), "{error}");

    let counter = newer().or_drop(AttrFlags::DEFER_CALLCHAIN).open(&here).unwrap();
    assert_eq!(counter.dropped(), ["defer_callchain"]);
    assert_eq!(counter.attr().flags, AttrFlags::EXCLUDE_KERNEL);
}

fn bits_that_no_kernel_has() {
    let with = |change: fn(&mut Builder)| {
        let mut builder = event().sample_id_all(true).mmap2(true).read_format(ReadFormat::LOST);
        change(&mut builder);
        builder.open(&Target::this_thread()).unwrap_err()
    };
    let flags = with(|builder| builder.attr_mut().flags |= AttrFlags(1 << 63));
    assert_eq!((flags.errno_name(), flags.fields()), (Some("EINVAL"), ["flags"].as_slice()), "{flags}");
    let sample = with(|builder| builder.attr_mut().sample_type |= SampleType(1 << 62));
    assert_eq!(sample.fields(), ["sample_type"], "{sample}");
    let read = with(|builder| builder.attr_mut().read_format |= ReadFormat(1 << 62));
    assert_eq!(read.fields(), ["read_format"], "{read}");
}

fn all_that_a_kernel_does_not_know_is_named_at_once() {
    let mut builder = event().read_format(ReadFormat::ID | ReadFormat(1 << 50));
    builder.attr_mut().sample_type = SampleType::IP | SampleType(1 << 50);
    let error = builder.open(&Target::this_thread()).unwrap_err();
    assert_eq!(error.fields(), ["sample_type", "read_format"], "{error}");
    let some = builder.clone().or_drop(SampleType(1 << 50)).open(&Target::this_thread()).unwrap_err();
    assert_eq!(some.fields(), ["read_format"], "{some}");
    let counter = builder
        .or_drop(SampleType(1 << 50))
        .or_drop(ReadFormat(1 << 50))
        .open(&Target::this_thread())
        .unwrap();
    assert_eq!(counter.dropped(), ["sample_type", "read_format"]);
    assert_eq!(counter.attr().sample_type, SampleType::IP);
}

fn a_refusal_for_another_reason_blames_no_bit() {
    // The kernel knows every flag. Only the clock is wrong.
    let error = event().sample_id_all(true).clockid(99).open(&Target::this_thread()).unwrap_err();
    assert_eq!(error.errno_name(), Some("EINVAL"));
    assert!(error.fields().is_empty(), "{error}");
    assert!(error.advice().contains("clockid 99"), "{error}");
}

fn what_the_kernel_would_take_and_do_wrongly_is_refused() {
    let error = event()
        .sample_type(SampleType::STACK_USER)
        .sample_period(1)
        .open(&Target::this_thread())
        .unwrap_err();
    assert_eq!((error.errno(), error.fields()), (None, ["sample_stack_user"].as_slice()), "{error}");
}
