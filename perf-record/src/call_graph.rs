//! Methods of recording call chains.

use perf_abi::attr::AttrFlags;
use perf_abi::branch::BranchSampleType;
use perf_abi::sample_type::SampleType;
use perf_open::event::{self, SamplingTerms};
use perf_open::{Builder, EventSpec};

use crate::{CallGraphMode, Error, RecordOptions};

/// The registers for unwinding a stack: all but the segment registers on x86-64, all on other architectures.
///
/// perf: `PERF_REGS_MASK`, `tools/perf/arch/*/include/perf_regs.h`.
const USER_REGS: Option<u64> = if cfg!(target_arch = "x86_64") {
    Some(0xff_0fff)
} else if cfg!(target_arch = "aarch64") {
    Some((1 << 33) - 1)
} else if cfg!(target_arch = "riscv64") {
    Some((1 << 32) - 1)
} else {
    None
};

/// Returns the mask of all general registers that the kernel can record, for
/// [`regs_user`](RecordOptions::regs_user) and [`regs_intr`](RecordOptions::regs_intr): on x86-64 without the segment
/// registers. 0 on an architecture that this crate does not know.
///
/// perf: `PERF_REGS_MASK`.
#[must_use]
pub const fn all_registers() -> u64 {
    match USER_REGS {
        Some(all) => all,
        None => 0,
    }
}

/// Returns the method that records the call chains of an event; `None` for no call chains.
pub(crate) fn call_graph(options: &RecordOptions, terms: &SamplingTerms) -> Option<CallGraphMode> {
    match terms.call_graph {
        // perf: `evsel__apply_config_terms`.
        None => match (options.call_graph, terms.stack_size) {
            (Some(CallGraphMode::Dwarf(_)), Some(bytes)) => Some(CallGraphMode::Dwarf(bytes)),
            (None, _) => terms.max_stack.map(|_| CallGraphMode::Fp),
            (of_all, _) => of_all,
        },
        Some(event::CallGraphTerm::Fp) => Some(CallGraphMode::Fp),
        Some(event::CallGraphTerm::Dwarf) => {
            Some(CallGraphMode::Dwarf(terms.stack_size.unwrap_or(CallGraphMode::STACK_BYTES)))
        }
        Some(event::CallGraphTerm::Lbr) => Some(CallGraphMode::Lbr),
        Some(_) => None,
    }
}

/// Returns whether an event copies stacks.
pub(crate) fn copies_stacks(options: &RecordOptions, event: &EventSpec) -> bool {
    matches!(call_graph(options, &event.terms), Some(CallGraphMode::Dwarf(_)))
}

/// Adds the call chains of an event, and the registers of user space that the options ask for.
pub(crate) fn record(
    options: &RecordOptions,
    terms: &SamplingTerms,
    builder: Builder,
) -> Result<Builder, Error> {
    let sample_type = builder.attr().sample_type;
    let asked = options.regs_user;
    let with_regs = |builder: Builder, regs: u64| match regs {
        0 => builder,
        regs => {
            let sample_type = builder.attr().sample_type | SampleType::REGS_USER;
            builder.sample_type(sample_type).sample_regs_user(regs)
        }
    };
    match (call_graph(options, terms), USER_REGS) {
        (None, _) => Ok(with_regs(builder, asked)),
        (Some(CallGraphMode::Fp), _) => {
            Ok(with_regs(builder.sample_type(sample_type | SampleType::CALLCHAIN), asked))
        }
        (Some(CallGraphMode::FpDeferred), _) => {
            let builder = builder.sample_type(sample_type | SampleType::CALLCHAIN).defer_callchain(true);
            Ok(with_regs(builder.or_drop(AttrFlags::DEFER_CALLCHAIN), asked))
        }
        (Some(CallGraphMode::Lbr), _) => {
            // perf: `__evsel__config_callchain`.
            let branches = BranchSampleType::USER
                | BranchSampleType::CALL_STACK
                | BranchSampleType::NO_CYCLES
                | BranchSampleType::NO_FLAGS
                | BranchSampleType::HW_INDEX;
            let builder = builder
                .sample_type(sample_type | SampleType::CALLCHAIN | SampleType::BRANCH_STACK)
                .branch_sample_type(branches)
                .exclude_callchain_user(true);
            Ok(with_regs(builder, asked))
        }
        (Some(CallGraphMode::Dwarf(bytes)), Some(regs)) => {
            let builder = builder
                .sample_type(sample_type | SampleType::CALLCHAIN | SampleType::STACK_USER)
                .sample_stack_user(bytes)
                .exclude_callchain_user(true);
            Ok(with_regs(builder, regs | asked))
        }
        (Some(CallGraphMode::Dwarf(_)), None) => {
            Err(Error::Request("--call-graph dwarf: is not supported on this architecture".to_owned()))
        }
    }
}
