//! Prints functions and lines of addresses in a file, as `addr2line -a -i -f -e FILE` does: `addresses FILE < ADDRESSES`.

use std::io::{self, BufRead, BufWriter, Write};

use perf_symbol::{SymbolOptions, Symbolizer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::path::absolute(std::env::args_os().nth(1).ok_or("addresses FILE < ADDRESSES")?)?;
    let mut options = SymbolOptions::default();
    options.demangle = perf_symbol::Demangle::Never;
    let mut symbolizer = Symbolizer::new(options);
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let address = u64::from_str_radix(line?.trim().trim_start_matches("0x"), 16)?;
        writeln!(out, "{address:#018x}")?;
        let functions = symbolizer.functions_in(path.as_os_str().as_encoded_bytes(), address);
        for function in &functions {
            let name = function.name.as_deref().unwrap_or(b"??").escape_ascii();
            let file = function.file.as_deref().unwrap_or(b"??").escape_ascii();
            let line = function.line.map_or("?".into(), |line| line.to_string());
            writeln!(out, "{name}\n{file}:{line}")?;
        }
        if functions.is_empty() {
            writeln!(out, "??\n??:0")?;
        }
    }
    Ok(())
}
