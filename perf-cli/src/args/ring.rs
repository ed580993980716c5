//! The arguments of `perfdata ring`.

use std::path::PathBuf;

use perf_abi::endian::Endianness;

use super::{ReadingArgs, ShowArgs};

pub(super) const EXAMPLES: &str = "A dump is the mapping as it stands: the control page, then the ring. Of one without \
the control page, give --head and --tail. What --attr names tells how records are laid out: the perf.data of the same \
recorder, the attr.data beside dumps that perfdata record made, or the bytes of the struct perf_event_attr.

Examples:
  perfdata ring ring.0 ring.1 --attr attr.data | less
  perfdata ring ring.0 --attr attr.bin --backward --format jsonl
  perfdata ring data.bin --attr perf.data --head 73424 --tail 69632
  perfdata ring ring.* --attr attr.data -o rings.data && perf script -i rings.data
  perfdata ring ring.0 --attr perf.data --aux aux.0 --aux-output trace.bin";

#[derive(Debug, clap::Args)]
pub(crate) struct RingArgs {
    /// The dumps, one a ring; several are merged by time
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Whose records they are: a perf.data, or the bytes of one attr
    #[arg(long, value_name = "ATTR")]
    pub(crate) attr: PathBuf,

    /// The rings are written backward, whatever the attr says (write_backward)
    #[arg(long, conflicts_with = "forward")]
    pub(crate) backward: bool,

    /// The rings are written forward, whatever the attr says
    #[arg(long)]
    pub(crate) forward: bool,

    /// The dump has no control page: this is its data_head
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) head: Option<u64>,

    /// Its data_tail; a ring written backward needs none
    #[arg(long, value_name = "N", value_parser = number, requires = "head")]
    pub(crate) tail: Option<u64>,

    /// Bytes of a page of the recorder, for dumps of kernels before 4.1 [default: by the length of the dump]
    #[arg(long, value_name = "N", value_parser = number, conflicts_with = "head")]
    pub(crate) page_size: Option<u64>,

    /// The byte order of the recorder, where an attr without a size does not tell it
    #[arg(long, value_enum)]
    pub(crate) endian: Option<ByteOrder>,

    /// The AUX areas that were dumped apart, in the order of the rings
    #[arg(long, value_name = "AUX", requires = "aux_output")]
    pub(crate) aux: Vec<PathBuf>,

    /// Writes the data that AUX records tell of to this file, end to end
    #[arg(long, value_name = "OUT")]
    pub(crate) aux_output: Option<PathBuf>,

    /// Writes the records to this file, as a perf.data, and shows none
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

/// A number, decimal or behind `0x` hexadecimal.
fn number(text: &str) -> Result<u64, core::num::ParseIntError> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
}
