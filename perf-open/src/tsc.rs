//! The processor's clock, which the times of hardware traces refer to.

use crate::sys::rdpmc;

/// Returns the time of the clock to which the fields `time_*` of a [`Page`](perf_parse::ring::Page) apply: the time stamp
/// counter on x86, `cntvct_el0` on arm64. `None` on other architectures.
///
/// # Examples
///
/// ```
/// use perf_open::tsc;
///
/// if let (Some(first), Some(second)) = (tsc::now(), tsc::now()) {
///     assert!(first <= second);
/// }
/// ```
#[must_use]
#[doc(alias = "rdtsc")]
pub fn now() -> Option<u64> {
    rdpmc::cycles()
}

/// Returns numerator and denominator of the ratio of time stamp counter to core crystal clock. They are 0 if the processor
/// does not report them. `None` if it is not an x86 processor, or too old.
///
/// Intel SDM: `CPUID` leaf 15h, EBX and EAX. perf: `intel_pt_tsc_ctc_ratio`.
#[must_use]
pub fn crystal_ratio() -> Option<(u32, u32)> {
    rdpmc::crystal().map(|[denominator, numerator, _]| (numerator, denominator))
}

/// Returns the number by which the time stamp counter increases in a second. `None` if the processor does not report it, as
/// those of AMD and in many virtual machines, or if it is not an x86 processor.
///
/// Intel SDM: `CPUID` leaf 15h, ECX times EBX divided by EAX. perf: `arch_get_tsc_freq`.
#[must_use]
pub fn frequency() -> Option<u64> {
    let [denominator, numerator, hertz] = rdpmc::crystal()?.map(u64::from);
    // The product of two numbers of 32 bits fits.
    numerator.checked_mul(hertz)?.checked_div(denominator).filter(|&hertz| hertz > 0)
}
