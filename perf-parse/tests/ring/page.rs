//! The control page: its fields in both byte orders, both forms of its capability word, and its arithmetic.

use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::mmap_page::Capabilities;
use perf_parse::ring::{Clock, CounterTimes, Page, Pmc, ShortClock};
use proptest::prelude::*;

use super::{invalid, truncated};
use testdata::Bytes;

/// Makes a page whose fields all differ, except the given ones.
fn page(big: bool, compat_version: u32, lock: u32, capabilities: u64) -> Vec<u8> {
    let start = Bytes::new(big).u32(1).u32(compat_version).u32(lock).u32(4);
    let count = start.u64(5_u64.wrapping_neg()).u64(6).u64(7).u64(capabilities);
    let time = count.u16(48).u16(10).u32(11).u64(12).u64(13).u32(96).u32(0).u64(14).u64(15);
    time.raw(&[0; 928]).u64s(&[16, 17, 18, 19, 20, 21, 22, 23]).out
}

const ALL: u64 = 0b11_1110;

fn fields<O: Endian>(big: bool) {
    // A big-endian compiler allocates bit-fields from the highest bit.
    let word = if big { ALL.reverse_bits() } else { ALL };
    let read = Page::read::<O>(&page(big, 0, 2, word)).unwrap();
    let expected = Page {
        version: 1,
        compat_version: 0,
        lock: 2,
        index: 4,
        offset: -5,
        time_enabled: 6,
        time_running: 7,
        capabilities: Capabilities(ALL),
        pmc_width: 48,
        time_shift: 10,
        time_mult: 11,
        time_offset: 12,
        time_zero: 13,
        size: 96,
        time_cycles: 14,
        time_mask: 15,
        data_head: 16,
        data_tail: 17,
        data_offset: 18,
        data_size: 19,
        aux_head: 20,
        aux_tail: 21,
        aux_offset: 22,
        aux_size: 23,
    };
    assert_eq!(read, expected);
    assert_eq!(read.pmc(), Some(Pmc { index: 4, offset: -5, pmc_width: 48 }));
    assert_eq!(read.times(), CounterTimes { enabled: 6, running: 7 });
    let short = Some(ShortClock { cycles: 14, mask: 15 });
    assert_eq!(read.clock(), Some(Clock { mult: 11, shift: 10, offset: Some(12), zero: Some(13), short }));
}

#[test]
fn fields_in_both_orders() {
    fields::<LittleEndian>(false);
    fields::<BigEndian>(true);
}

#[test]
fn errors() {
    let whole = page(false, 0, 0, ALL);
    assert_eq!(whole.len(), 1088);
    let error = Page::read::<LittleEndian>(&whole[..1087]).unwrap_err();
    assert_eq!(error, truncated("perf_event_mmap_page", 1088, 1087, 0));
    let error = Page::read::<LittleEndian>(&page(false, 1, 0, ALL)).unwrap_err();
    assert_eq!(error, invalid("compat_version", 1, "0", 4));
}

fn of(capabilities: Capabilities, lock: u32) -> Page {
    Page { capabilities, lock, pmc_width: 48, ..Page::default() }
}

#[test]
fn capabilities() {
    let era = Capabilities::BIT0_IS_DEPRECATED;
    let some = Page { time_offset: 3, time_zero: 4, ..of(era, 0) };
    assert_eq!((some.pmc(), some.clock()), (None, None));
    // Each number is present only with its bit.
    let with = |bits| Page { capabilities: era | bits, ..some };
    assert_eq!(with(Capabilities::USER_RDPMC).clock(), None);
    assert!(with(Capabilities::USER_RDPMC).pmc().is_some());
    let clock = with(Capabilities::USER_TIME).clock().unwrap();
    assert_eq!((clock.offset, clock.zero, clock.short), (Some(3), None, None));
    assert_eq!((clock.elapsed(0), clock.time(0), clock.cycles(0)), (Some(3), None, None));
    let clock = with(Capabilities::USER_TIME_ZERO).clock().unwrap();
    assert_eq!((clock.offset, clock.zero), (None, Some(4)));
    assert_eq!((clock.elapsed(0), clock.time(0)), (None, Some(4)));
    assert_eq!(with(Capabilities::USER_TIME_SHORT).clock(), None);

    // Before Linux 3.12 bit 0 may have either meaning, and the other bits have none.
    let all = Capabilities(ALL);
    for old in [Capabilities::BIT0, all.without(era), Capabilities::NONE] {
        assert_eq!((of(old, 0).pmc(), of(old, 0).clock()), (None, None));
    }
    // The kernel was writing.
    assert!(of(all, 2).is_settled() && of(all, 2).pmc().is_some() && of(all, 2).clock().is_some());
    assert_eq!((of(all, 3).is_settled(), of(all, 3).pmc(), of(all, 3).clock()), (false, None, None));
}

#[test]
fn counts() {
    let count = |pmc_width, offset, pmc| Pmc { index: 1, offset, pmc_width }.count(pmc);
    // Positive, negative, and bits of the register beyond its width.
    assert_eq!(count(48, 100, 0x7fff_ffff_ffff), Some(100 + 0x7fff_ffff_ffff));
    assert_eq!(count(48, 100, 0xffff_ffff_ffff), Some(99));
    assert_eq!(count(48, 100, 0x1234_0000_0000_0001), Some(101));
    // As the kernel programs the register: to overflow after 1000, when 0x1_0000 events had been counted.
    assert_eq!(count(48, 0x1_0000 + 1000, (1 << 48) - 1000), Some(0x1_0000));
    // The largest and the smallest width.
    assert_eq!(count(64, 1, u64::MAX), Some(0));
    assert_eq!(count(64, 1, 5), Some(6));
    assert_eq!(count(1, 10, 1), Some(9));
    assert_eq!(count(1, 10, 0), Some(10));
    assert_eq!(count(32, 0, 0x8000_0000), Some(0xffff_ffff_8000_0000));
    // Sums wrap as in C.
    assert_eq!(count(64, i64::MAX, 1), Some(1 << 63));
    // No register has these widths.
    for width in [0, 65, 255, u16::MAX] {
        assert_eq!(count(width, 1, 1), None);
    }

    let counter = |index| Pmc { index, offset: 77, pmc_width: 48 };
    assert_eq!((counter(0).register(), counter(0).idle_count()), (None, 77));
    assert_eq!(counter(1).register(), Some(0));
    assert_eq!(counter(1 << 30 | 1).register(), Some(1 << 30)); // a fixed counter of x86
}

#[test]
fn estimates() {
    let estimate = |enabled, running, count| CounterTimes { enabled, running }.estimate(count);
    assert_eq!(estimate(10, 10, 7), Some(7));
    assert_eq!(estimate(10, 3, 7), Some(23)); // 23.3
    assert_eq!(estimate(10, 0, 7), None);
    assert_eq!(estimate(0, 0, 0), None);
    assert_eq!(estimate(1 << 40, 1 << 39, 1 << 62), Some(1 << 63)); // the product does not fit in 64 bits
    assert_eq!(estimate(1 << 40, 1 << 39, 1 << 63), None);

    let times = CounterTimes { enabled: 100, running: 50 };
    assert_eq!(times.add_elapsed(7, true), CounterTimes { enabled: 107, running: 57 });
    assert_eq!(times.add_elapsed(7, false), CounterTimes { enabled: 107, running: 50 });
    // `time_offset` is negative if the clock is ahead, so the sum wraps.
    assert_eq!(times.add_elapsed(10_u64.wrapping_neg(), true), CounterTimes { enabled: 90, running: 40 });
}

#[test]
fn clocks() {
    let clock = |mult, shift, zero| Clock { mult, shift, offset: Some(0), zero: Some(zero), short: None };
    // 1 GHz, and 2.4 GHz with the numbers that Linux uses for it.
    assert_eq!(clock(1 << 10, 10, 5).time(1000), Some(1005));
    let tsc = clock(0x1aaa_aaab, 30, 0);
    assert_eq!(tsc.time(2_400_000_000), Some(1_000_000_000));
    assert_eq!(tsc.time(12_000_000_000_000_000_000), Some(5_000_000_003_725_290_298));
    assert_eq!(tsc.cycles(1_000_000_000), Some(2_399_999_998));
    // A `time_zero` below 0, as after a suspend.
    assert_eq!(clock(1 << 10, 10, 100_u64.wrapping_neg()).time(1000), Some(900));
    assert_eq!(clock(1 << 10, 10, 100_u64.wrapping_neg()).cycles(900), Some(1000));
    // All 64 bits, whose product does not fit in 64 bits.
    assert_eq!(clock(u32::MAX, 32, 0).time(u64::MAX), Some(0xffff_fffe_ffff_ffff));
    // Values that no kernel writes.
    assert_eq!(clock(7, 0, 0).time(6), Some(42));
    assert_eq!(clock(7, 64, 0).time(u64::MAX), Some(6));
    assert_eq!(clock(7, 128, 1).time(u64::MAX), Some(1));
    assert_eq!(clock(7, u16::MAX, 1).time(u64::MAX), Some(1));
    assert_eq!(clock(0, 10, 1).time(5), Some(1));
    assert_eq!(clock(0, 10, 1).cycles(5), None);
    assert_eq!(clock(7, 64, 1).cycles(5), None);
    assert_eq!(clock(1, 63, 0).cycles(1), Some(1 << 63));
    let offset = Clock { offset: Some(50_u64.wrapping_neg()), ..clock(1 << 10, 10, 0) };
    assert_eq!(offset.elapsed(80), Some(30));
}

#[test]
fn short_clocks() {
    // 56 bits, like the counter of arm64; read just before and after it wraps.
    let short = ShortClock { cycles: 0x03ff_ffff_ffff_fff0, mask: (1 << 56) - 1 };
    let base = short.cycles & !short.mask;
    assert_eq!(short.widen(short.cycles & short.mask), short.cycles);
    assert_eq!(short.widen((short.cycles & short.mask) + 1), short.cycles + 1);
    // Before the moment at which the page was written: a full period later.
    assert_eq!(short.widen((short.cycles & short.mask) - 1), short.cycles - 1 + (1 << 56));
    assert_eq!(short.widen(3), base + (1 << 56) + 3);
    // A mask of 64 bits changes nothing; a mask of 0 ignores the clock.
    let of = |mask| ShortClock { cycles: 1000, mask };
    assert_eq!((of(u64::MAX).widen(7), of(0).widen(7)), (7, 1000));
    assert_eq!(of(u64::from(u32::MAX)).widen(7), (1 << 32) + 7);
    let clock = Clock { mult: 1, shift: 0, offset: None, zero: Some(10), short: Some(of(0xff)) };
    assert_eq!(clock.time(1), Some(10 + 1000 + (1_u64.wrapping_sub(1000) & 0xff)));
}

proptest! {
    /// The formula of the kernel's header, which is valid for shifts up to 32.
    #[test]
    fn quotient_and_remainder_give_the_same(cycles: u64, mult: u32, shift in 0_u16..=32, zero: u64) {
        let quot = cycles >> shift;
        let rem = cycles & ((1 << shift) - 1);
        let time = zero
            .wrapping_add(quot.wrapping_mul(u64::from(mult)))
            .wrapping_add((rem * u64::from(mult)) >> shift);
        let clock = Clock { mult, shift, offset: Some(zero), zero: Some(zero), short: None };
        prop_assert_eq!(clock.time(cycles), Some(time));
        prop_assert_eq!(clock.elapsed(cycles), Some(time));
    }

    #[test]
    fn and_the_same_back(time: u64, mult in 1_u32.., shift in 0_u16..=32, zero: u64) {
        let since = time.wrapping_sub(zero);
        let (quot, rem) = (since / u64::from(mult), since % u64::from(mult));
        let cycles = (quot << shift).wrapping_add((rem << shift) / u64::from(mult));
        let clock = Clock { mult, shift, offset: None, zero: Some(zero), short: None };
        prop_assert_eq!(clock.cycles(time), Some(cycles));
    }

    /// The formula in C, where the shifts are defined.
    #[test]
    fn sign_extension_by_shifts(pmc: u64, pmc_width in 1_u16..=64, offset: i64) {
        let extended = ((pmc << (64 - pmc_width)) as i64) >> (64 - pmc_width);
        let counter = Pmc { index: 1, offset, pmc_width };
        prop_assert_eq!(counter.count(pmc), Some(offset.wrapping_add(extended) as u64));
    }

    #[test]
    fn estimate_by_quotient_and_remainder(count in 0_u64..1 << 40, enabled in 0_u64..1 << 20, running in 1_u64..1 << 20) {
        let (quot, rem) = (count / running, count % running);
        let expected = quot * enabled + rem * enabled / running;
        prop_assert_eq!(CounterTimes { enabled, running }.estimate(count), Some(expected));
    }

    #[test]
    fn any_page_is_read(bytes in prop::collection::vec(any::<u8>(), 1088)) {
        for page in [Page::read::<LittleEndian>(&bytes), Page::read::<BigEndian>(&bytes)].into_iter().flatten() {
            let clock = page.clock();
            clock.map(|clock| (clock.time(1), clock.elapsed(1), clock.cycles(1)));
            page.pmc().map(|counter| (counter.count(1), counter.register(), counter.idle_count()));
        }
    }
}
