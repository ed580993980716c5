//! Writes a program, and a capture of memory accesses that are chosen at random, into a folder.
//!
//!     random_c2c SEED COUNT FOLDER [arm] [physical] [chains] [kernel] [wild] [every] [program=PATH]

use std::path::Path;

use testdata::c2c::{self, Recording};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [seed, count, folder, options @ ..] = args.as_slice() else {
        return Err(
            "usage: random_c2c SEED COUNT FOLDER [arm] [physical] [chains] [kernel] [wild] [every] [program=PATH]"
                .into(),
        );
    };
    let has = |name: &str| options.iter().any(|option| option == name);
    let recording = Recording {
        program: "",
        seed: seed.parse()?,
        count: count.parse()?,
        arch: if has("arm") { "aarch64" } else { "x86_64" },
        has_physical: has("physical"),
        has_chains: has("chains"),
        has_kernel: has("kernel"),
        is_wild: has("wild"),
        is_every: has("every"),
    };
    let folder = Path::new(folder);
    match options.iter().find_map(|option| option.strip_prefix("program=")) {
        None => c2c::write(folder, recording),
        Some(program) => {
            std::fs::write(folder.join("prog"), c2c::program())?;
            std::fs::write(folder.join("perf.data"), c2c::capture(Recording { program, ..recording }))?;
        }
    }
    Ok(())
}
