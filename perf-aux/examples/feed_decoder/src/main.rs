//! Prints how many branches and time stamps the Intel PT traces of a capture have: `feed-decoder perf.data`.

use perf_parse::Reader;

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: feed-decoder FILE")?;
    let bytes = std::fs::read(path)?;
    for (owner, counts) in feed_decoder::feed(&Reader::new(&bytes)?)? {
        println!("{owner}: {counts:?}");
    }
    Ok(())
}
