//! The arguments of `perfdata ring`.

use std::path::PathBuf;

use perf_abi::endian::Endianness;

use super::{ReadingArgs, ShowArgs};

pub(super) const EXAMPLES: &str = "A dump is a copy of the mapping: the control page, then the ring. For a dump without \
the control page, give --head and --tail. --attr names the file that gives the layout of the records: the perf.data of \
the same recorder, the attr.data next to dumps that perfdata record wrote, or the bytes of the struct perf_event_attr.

Without such a file, --attr takes the fields of struct perf_event_attr in words: FIELD=VALUE, and flags by their names. \
A value is a number, or names joined by |, as in sample_type=IP|TID|TIME. A list may begin with a preset: bpf-output \
(the ring of BPF programs, as libbpf opens it) or tracepoint (as perf record -a opens it). A file whose name looks like \
a word is given as ./NAME.

Examples:
  perfdata ring ring.0 ring.1 --attr attr.data | less
  perfdata ring ring.0 --attr attr.bin --backward --format jsonl
  perfdata ring data.bin --attr perf.data --head 73424 --tail 69632
  perfdata ring data.0 data.1 --attr perf.data --head 73424,8192 --tail 69632,0
  perfdata ring ring.0 --attr 'sample_type=IP|TID|TIME,sample_id_all'
  perfdata ring ring.0 --attr bpf-output
  perfdata ring ring.* --attr attr.data -o rings.data && perf script -i rings.data
  perfdata ring ring.0 --attr perf.data --aux aux.0 --aux-output trace.bin";

#[derive(Debug, clap::Args)]
pub(crate) struct RingArgs {
    /// Dumps to read, one per ring; several are merged by time
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Layout of the records: a perf.data of the same recorder, the bytes of one attr, or an attr in words
    #[arg(long, value_name = "ATTR")]
    pub(crate) attr: PathBuf,

    /// Read the rings as written backward, regardless of the attr (write_backward)
    #[arg(long, conflicts_with = "forward")]
    pub(crate) backward: bool,

    /// Read the rings as written forward, regardless of the attr
    #[arg(long)]
    pub(crate) forward: bool,

    /// The dumps have no control page; use this data_head, one for each dump in their order
    #[arg(long, value_name = "N", value_parser = number, value_delimiter = ',')]
    pub(crate) head: Vec<u64>,

    /// The data_tail for each --head; not needed for rings written backward
    #[arg(long, value_name = "N", value_parser = number, value_delimiter = ',')]
    pub(crate) tail: Vec<u64>,

    /// Page size of the recorder in bytes, for dumps from kernels before 4.1 [default: derived from the length of the
    /// dump]
    #[arg(long, value_name = "N", value_parser = number, conflicts_with = "head")]
    pub(crate) page_size: Option<u64>,

    /// Byte order of the recorder, for an attr whose size does not show it
    #[arg(long, value_enum)]
    pub(crate) endian: Option<ByteOrder>,

    /// AUX areas that were dumped separately, in the order of the rings
    #[arg(long, value_name = "AUX", requires = "aux_output")]
    pub(crate) aux: Vec<PathBuf>,

    /// Write the data that AUX records describe to this file, end to end
    #[arg(long, value_name = "OUT")]
    pub(crate) aux_output: Option<PathBuf>,

    /// Write the records to this file as a perf.data instead of printing them
    #[arg(short, long, value_name = "OUT.data")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,

    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ByteOrder {
    /// Least significant byte first
    Little,
    /// Most significant byte first
    Big,
}

impl From<ByteOrder> for Endianness {
    fn from(order: ByteOrder) -> Self {
        match order {
            ByteOrder::Little => Self::Little,
            ByteOrder::Big => Self::Big,
        }
    }
}

/// Parses a decimal number, or a hexadecimal one after `0x`.
fn number(text: &str) -> Result<u64, core::num::ParseIntError> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
}
