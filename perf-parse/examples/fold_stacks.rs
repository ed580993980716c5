//! Folds call chains: a line for each stack, outermost address first, and the number of samples that have it.

use std::collections::BTreeMap;

use perf_parse::sample::ChainFrame;
use perf_parse::{FileError, Reader};

fn main() -> Result<(), FileError> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    let reader = Reader::open(path)?;
    let mut stacks: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for record in reader.records() {
        let Some(chain) = record.as_ref().map_err(|error| *error)?.callchain()? else { continue };
        let ips = chain.frames().filter_map(|frame| match frame {
            ChainFrame::Ip { ip, .. } => Some(ip),
            _ => None,
        });
        let mut stack: Vec<u64> = ips.collect();
        stack.reverse();
        *stacks.entry(stack).or_default() += 1;
    }
    for (stack, samples) in stacks {
        let frames: Vec<_> = stack.iter().map(|ip| format!("{ip:#x}")).collect();
        println!("{} {samples}", frames.join(";"));
    }
    Ok(())
}
