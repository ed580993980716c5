//! The fields of samples, and which samples are taken.

use perf_open::abi::branch::BranchSampleType;

use super::values::{self, RegisterOption};

#[derive(Debug, clap::Args)]
pub(crate) struct SampleArgs {
    /// Record the branches before each sample
    #[arg(short = 'b', long)]
    pub(crate) branch_any: bool,

    /// Record these branches before each sample: any, any_call, any_ret, ind_call, ind_jmp, call, cond, abort_tx, in_tx,
    /// no_tx, save_type, stack, priv; only those of u, k, hv
    #[arg(short = 'j', long, value_name = "FILTER", value_parser = values::branches, conflicts_with = "branch_any")]
    pub(crate) branch_filter: Option<BranchSampleType>,

    /// Record the weight of each sample
    #[arg(short = 'W', long)]
    pub(crate) weight: bool,

    /// Record the registers at the interrupt: all, or those given, for example -Iax,bx; -I? lists the names
    #[arg(short = 'I', long, value_name = "REGS", num_args = 0..=1, require_equals = true,
          default_missing_value = "all", value_parser = values::registers)]
    pub(crate) intr_regs: Option<RegisterOption>,

    /// Record the registers of user space: all, or those given; ? lists the names
    #[arg(long, value_name = "REGS", num_args = 0..=1, require_equals = true, default_missing_value = "all",
          value_parser = values::registers)]
    pub(crate) user_regs: Option<RegisterOption>,

    /// Record the physical addresses of data
    #[arg(long)]
    pub(crate) phys_data: bool,

    /// Record where data was found: the level of memory, snoops, locks, the TLB
    #[arg(long)]
    pub(crate) sample_mem_info: bool,

    /// Record the mappings of data, without the addresses of -d
    #[arg(long)]
    pub(crate) data_mmap: bool,

    /// Record the page sizes of data addresses
    #[arg(long)]
    pub(crate) data_page_size: bool,

    /// Record the page sizes of instruction addresses
    #[arg(long)]
    pub(crate) code_page_size: bool,

    /// Record the state of transactions
    #[arg(long)]
    pub(crate) transaction: bool,

    /// Record the raw data of each event
    #[arg(short = 'R', long)]
    pub(crate) raw_samples: bool,

    /// Record the period of each sample, even if it is constant
    #[arg(short = 'P', long)]
    pub(crate) period: bool,

    /// Record the ID of its event in each sample, even if there is only one event
    #[arg(long)]
    pub(crate) sample_identifier: bool,

    /// Record the counts of each thread
    #[arg(short = 's', long)]
    pub(crate) stat: bool,

    /// Record no samples
    #[arg(short = 'n', long)]
    pub(crate) no_samples: bool,

    /// Record how long the events of a group read by its leader were enabled and running
    #[arg(long)]
    pub(crate) running_time: bool,

    /// Put all events into one group
    #[arg(long)]
    pub(crate) group: bool,

    /// Wake the recorder for each sample
    #[arg(long)]
    pub(crate) no_buffering: bool,

    /// Record user space only, for events without modifiers
    #[arg(long, conflicts_with = "all_kernel")]
    pub(crate) all_user: bool,

    /// Record the kernel only, for events without modifiers
    #[arg(long)]
    pub(crate) all_kernel: bool,

    /// Leave frames of user space out of call chains
    #[arg(long, conflicts_with = "user_callchains")]
    pub(crate) kernel_callchains: bool,

    /// Leave frames of the kernel out of call chains
    #[arg(long)]
    pub(crate) user_callchains: bool,

    /// Record cgroups, and the cgroup of each sample
    #[arg(long)]
    pub(crate) all_cgroups: bool,

    /// Record the build IDs of files when they are mapped
    #[arg(long)]
    pub(crate) buildid_mmap: bool,

    /// Do not record BPF programs: those that are loaded, and their loading
    #[arg(long)]
    pub(crate) no_bpf_event: bool,
}
