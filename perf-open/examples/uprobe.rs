//! A uprobe: counts the calls of a function of this program. Needs privilege.
//!
//! `cargo run -p perf-open --example uprobe`

use perf_open::{Builder, EventSpec, Target};

#[inline(never)]
extern "C" fn probed(number: u64) -> u64 {
    core::hint::black_box(number.wrapping_mul(3))
}

/// Returns the file offset of the code at `address`.
fn file_offset(address: u64) -> Option<u64> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    // The columns: start-end perms offset dev inode path
    maps.lines().find_map(|line| {
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let mut columns = line.split_whitespace();
        let (start, end) = columns.next()?.split_once('-')?;
        let (start, end, offset) = (hex(start)?, hex(end)?, hex(columns.nth(1)?)?);
        (start..end).contains(&address).then(|| address - start + offset)
    })
}

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let address = probed as extern "C" fn(u64) -> u64 as usize as u64;
    let offset = file_offset(address).ok_or("the function is in no mapping")?;
    let event = EventSpec::uprobe(std::env::current_exe()?, offset)?;
    let counter = Builder::new(event).open(&Target::this_thread())?;
    for number in 0..10 {
        probed(number);
    }
    println!("the function at {offset:#x} of the program was called {} times", counter.read()?.value);
    Ok(())
}
