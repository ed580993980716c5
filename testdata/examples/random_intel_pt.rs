//! Writes a capture with an Intel PT trace that is chosen at random.
//!
//!     random_intel_pt packets|events SEED COUNT OUT

use testdata::intel_pt::{self, WITHOUT_BRANCHES};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, seed, count, out] = args.as_slice() else {
        return Err("usage: random_intel_pt packets|events SEED COUNT OUT".into());
    };
    let trace = match kind.as_str() {
        "packets" => intel_pt::packets(seed.parse()?, count.parse()?),
        "events" => intel_pt::events(seed.parse()?, count.parse()?),
        _ => return Err(format!("{kind}: neither packets nor events").into()),
    };
    std::fs::write(out, intel_pt::capture(WITHOUT_BRANCHES, &[trace]))?;
    Ok(())
}
