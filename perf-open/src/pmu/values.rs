//! The short texts of sysfs: lists of cpus, and scales.

use nom::Parser;
use nom::character::complete::{char, u64 as decimal};
use nom::combinator::{map_opt, opt};
use nom::multi::separated_list1;
use nom::sequence::preceded;

use super::lex::{LexFault, LexResult, expect, whole};
use crate::lookup::TextError;

/// One more than the highest cpu that a list may contain, far above the maximum of any kernel.
const CPUS: u32 = 1 << 16;

/// Parses the text of `cpumask` and `cpus`: `0,18`, `0-7,16-23`. Empty text is an empty list.
///
/// Kernel: `cpumap_print_to_pagebuf`, `lib/bitmap-str.c`. It writes cpus in ascending order.
///
/// # Errors
///
/// If a number or a comma is missing, a cpu is 65536 or more, or the numbers are not in ascending order.
pub fn parse_cpus(text: &str) -> Result<Vec<u32>, TextError> {
    let text = text.trim_end();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut cpus: Vec<u32> = Vec::new();
    whole(
        text,
        "`,` or the end",
        separated_list1(char(','), |at| {
            let (after, first) = cpu(at)?;
            let (rest, last) = opt(preceded(char('-'), cpu)).parse(after)?;
            let last = last.unwrap_or(first);
            if last < first || cpus.last().is_some_and(|&before| first <= before) {
                return Err(nom::Err::Failure(LexFault { at, expected: "cpus that ascend" }));
            }
            cpus.extend(first..=last);
            Ok((rest, ()))
        }),
    )?;
    Ok(cpus)
}

/// Parses the number of a cpu.
fn cpu(text: &str) -> LexResult<'_, u32> {
    let small = |number| u32::try_from(number).ok().filter(|&cpu| cpu < CPUS);
    expect("a cpu below 65536", map_opt(decimal, small))(text)
}

/// Parses the text of `events/NAME.scale`: `6.103515625e-5`.
///
/// Kernel: `Documentation/ABI/testing/sysfs-bus-event_source-devices-events`.
///
/// # Errors
///
/// If the text is not a finite decimal number; the offset is 0.
pub fn parse_scale(text: &str) -> Result<f64, TextError> {
    let scale = text.trim().parse().ok().filter(|scale: &f64| scale.is_finite());
    scale.ok_or(TextError { offset: 0, expected: "a finite number" })
}
