//! Attrs of every size, byte order and version: what reading and writing accept, keep and refuse.

use perf_abi::attr::{Attr, AttrReadError, AttrVersion};
use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_abi::event::EventType;

const NEWEST: usize = 144;

/// Marsaglia's xorshift: the same bytes in every run.
struct Bytes(u64);

impl Bytes {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Arbitrary bytes that say they are an attr of `size` bytes.
    fn attr<O: Endian>(&mut self, len: usize, size: u32) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..len).map(|_| self.next().to_le_bytes()[3]).collect();
        bytes[4..8].copy_from_slice(&word::<O>(size));
        bytes
    }
}

fn word<O: Endian>(value: u32) -> [u8; 4] {
    match O::ENDIANNESS {
        Endianness::Little => value.to_le_bytes(),
        Endianness::Big => value.to_be_bytes(),
    }
}

/// What the attr at the start of `bytes` is if one reads field by field up to `size`, and zeros from there on.
fn expected<O: Endian>(bytes: &[u8], size: usize) -> Attr {
    let mut whole = [0; NEWEST];
    let known = size.min(NEWEST);
    whole[..known].copy_from_slice(&bytes[..known]);
    let number = |offset: usize, size: usize| -> u64 {
        let field = whole[offset..offset + size].iter();
        let push = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        match O::ENDIANNESS {
            Endianness::Little => field.rev().fold(0, push),
            Endianness::Big => field.fold(0, push),
        }
    };
    let u32_at = |offset| u32::try_from(number(offset, 4)).unwrap();
    let bit = |offset: usize, bits: u32, at: u32, width: u32| -> u64 {
        let value = number(offset, bits as usize / 8);
        let at = if O::ENDIANNESS == Endianness::Big { bits - at - width } else { at };
        value >> at & ((1 << width) - 1)
    };
    let mut flags = 0;
    for at in (0..64).filter(|at| !(15..17).contains(at)) {
        flags |= bit(40, 64, at, 1) << at;
    }
    flags |= bit(40, 64, 15, 2) << 15;
    let mut aux_action = 0;
    for at in 0..32 {
        aux_action |= bit(116, 32, at, 1) << at;
    }
    Attr {
        kind: EventType(u32_at(0)),
        size: u32_at(4),
        config: number(8, 8),
        sample_period: number(16, 8),
        sample_type: number(24, 8).into(),
        read_format: number(32, 8).into(),
        flags: flags.into(),
        wakeup_events: u32_at(48),
        bp_type: u32_at(52).into(),
        config1: number(56, 8),
        config2: number(64, 8),
        branch_sample_type: number(72, 8).into(),
        sample_regs_user: number(80, 8),
        sample_stack_user: u32_at(88),
        clockid: i32::from_ne_bytes(u32_at(92).to_ne_bytes()),
        sample_regs_intr: number(96, 8),
        aux_watermark: u32_at(104),
        sample_max_stack: u16::try_from(number(108, 2)).unwrap(),
        reserved_2: u16::try_from(number(110, 2)).unwrap(),
        aux_sample_size: u32_at(112),
        aux_action: u32::try_from(aux_action).unwrap().into(),
        sig_data: number(120, 8),
        config3: number(128, 8),
        config4: number(136, 8),
        ..Attr::default()
    }
}

fn every_size_at_every_length<O: Endian>() {
    let mut source = Bytes(0x9e37_79b9_7f4a_7c15);
    for size in (0..=256).chain([4096]) {
        let bytes = source.attr::<O>(usize::max(4100, size as usize), size);
        let needed = if size == 0 { 64 } else { size };
        for len in (0..=264).chain([4095, 4096, 4097, 4100]) {
            let input = &bytes[..len];
            let read = Attr::read::<O>(input).map(|read| (read.attr, read.tail));
            let wanted = if len < 8 {
                Err(AttrReadError::Truncated { needed: 8, available: len })
            } else if (1..64).contains(&size) {
                Err(AttrReadError::Size(size))
            } else if len < needed as usize {
                Err(AttrReadError::Truncated { needed, available: len })
            } else {
                let tail = input.get(NEWEST..needed as usize).unwrap_or_default();
                Ok((expected::<O>(input, needed as usize), tail))
            };
            assert_eq!(read, wanted, "size {size}, {len} bytes");
        }
    }
}

#[test]
fn little_endian_attrs_of_every_size_at_every_length() {
    every_size_at_every_length::<LittleEndian>();
}

#[test]
fn big_endian_attrs_of_every_size_at_every_length() {
    every_size_at_every_length::<BigEndian>();
}

#[test]
fn a_size_beyond_memory_is_truncation() {
    let bytes = Bytes(1).attr::<LittleEndian>(4096, u32::MAX);
    let error = AttrReadError::Truncated { needed: u32::MAX, available: 4096 };
    assert_eq!(Attr::read::<LittleEndian>(&bytes), Err(error));
}

#[test]
fn a_tail_is_unknown_fields_only_if_a_byte_is_set() {
    let mut bytes = [0; 152];
    bytes[4] = 152;
    let read = Attr::read::<LittleEndian>(&bytes).unwrap();
    assert_eq!((read.tail, read.has_unknown_fields()), (&[0; 8][..], false));
    for at in 144..152 {
        let mut bytes = bytes;
        bytes[at] = 0x80;
        let read = Attr::read::<LittleEndian>(&bytes).unwrap();
        assert_eq!(read.attr.config4, 0);
        assert!(read.has_unknown_fields(), "byte {at}");
    }
}

#[test]
fn the_errors_say_what_was_needed_and_what_there_was() {
    let truncated = AttrReadError::Truncated { needed: 72, available: 71 };
    assert_eq!(truncated.to_string(), "attr.size: the attr has 72 bytes, but only 71 are available");
    assert_eq!(AttrReadError::Size(63).to_string(), "attr.size: is 63, but must be 0 or at least 64");
}

fn round_trips<O: Endian>() {
    let mut source = Bytes(0x0123_4567_89ab_cdef);
    for &version in AttrVersion::ALL {
        let size = version.size() as usize;
        for _ in 0..200 {
            let bytes = source.attr::<O>(size, version.size());
            let attr = Attr::read::<O>(&bytes).unwrap().attr;
            let written = attr.write::<O>(version).unwrap();
            assert_eq!((&*written, written.version()), (&bytes[..], version));
            let newest = attr.write::<O>(AttrVersion::NEWEST).unwrap();
            let again = Attr::read::<O>(&newest).unwrap();
            assert_eq!(again.attr, Attr { size: 144, ..attr });
            assert_eq!(again.tail, []);
        }
    }
}

#[test]
fn what_is_read_is_what_is_written() {
    round_trips::<LittleEndian>();
    round_trips::<BigEndian>();
}

#[test]
fn byte_orders_agree() {
    let mut source = Bytes(7);
    for _ in 0..1000 {
        let attr = Attr::read::<LittleEndian>(&source.attr::<LittleEndian>(144, 144)).unwrap().attr;
        let big = attr.write::<BigEndian>(AttrVersion::NEWEST).unwrap();
        assert_eq!(Attr::read::<BigEndian>(&big).unwrap().attr, attr);
    }
}

/// Sets one field that not every version has.
type Set = fn(&mut Attr);

#[test]
fn a_version_refuses_each_field_it_has_no_room_for_by_name() {
    let fields: [(&str, AttrVersion, Set); 14] = [
        ("config2", AttrVersion::VER1, |attr| attr.config2 = 1),
        ("branch_sample_type", AttrVersion::VER2, |attr| attr.branch_sample_type.0 = 1),
        ("sample_regs_user", AttrVersion::VER3, |attr| attr.sample_regs_user = 1),
        ("sample_stack_user", AttrVersion::VER3, |attr| attr.sample_stack_user = 1),
        ("clockid", AttrVersion::VER3, |attr| attr.clockid = 1),
        ("sample_regs_intr", AttrVersion::VER4, |attr| attr.sample_regs_intr = 1),
        ("aux_watermark", AttrVersion::VER5, |attr| attr.aux_watermark = 1),
        ("sample_max_stack", AttrVersion::VER5, |attr| attr.sample_max_stack = 1),
        ("__reserved_2", AttrVersion::VER5, |attr| attr.reserved_2 = 1),
        ("aux_sample_size", AttrVersion::VER6, |attr| attr.aux_sample_size = 1),
        ("aux_action", AttrVersion::VER6, |attr| attr.aux_action.0 = 1),
        ("sig_data", AttrVersion::VER7, |attr| attr.sig_data = 1),
        ("config3", AttrVersion::VER8, |attr| attr.config3 = 1),
        ("config4", AttrVersion::VER9, |attr| attr.config4 = 1),
    ];
    for (name, needs, set) in fields {
        let mut attr = Attr::default();
        set(&mut attr);
        assert_eq!(attr.oldest_version(), needs, "{name}");
        for &version in AttrVersion::ALL {
            match attr.write::<LittleEndian>(version) {
                Ok(_) => assert!(version >= needs, "{name} has no room in {version}"),
                Err(error) => {
                    assert!(version < needs, "{name} has room in {version}");
                    assert_eq!((error.field, error.version, error.needs), (name, version, needs));
                    let text = error.to_string();
                    assert!(text.starts_with(&format!("attr.{name}:")), "{text}");
                    let sizes = format!("at least {} bytes, not {}", needs.size(), version.size());
                    assert!(text.ends_with(&sizes), "{text}");
                }
            }
        }
    }
    // The first field in the struct's order is the one that is named.
    let mut all = Attr::default();
    for (_, _, set) in fields {
        set(&mut all);
    }
    for pair in AttrVersion::ALL.windows(2) {
        let first = fields.iter().find(|(_, needs, _)| *needs == pair[1]).unwrap().0;
        assert_eq!(all.write::<BigEndian>(pair[0]).unwrap_err().field, first);
    }
    assert_eq!(Attr::default().oldest_version(), AttrVersion::VER0);
}

#[test]
fn a_version_of_unknown_size_is_refused() {
    let attr = Attr::default();
    for (size, needs) in [(0, AttrVersion::VER0), (63, AttrVersion::VER0), (145, AttrVersion::NEWEST)] {
        let error = attr.write::<LittleEndian>(AttrVersion(size)).unwrap_err();
        assert_eq!((error.field, error.version, error.needs), ("size", AttrVersion(size), needs));
        assert_eq!(error.to_string(), format!("attr.size: is {size}, but must be 64 to 144 bytes"));
    }
    for size in [64, 65, 144] {
        assert_eq!(attr.write::<LittleEndian>(AttrVersion(size)).unwrap().len(), size as usize);
    }
}

#[test]
fn written_bytes_are_compared_and_printed_without_padding() {
    let attr = Attr::default();
    let [short, long] =
        [AttrVersion::VER0, AttrVersion::VER1].map(|version| attr.write::<LittleEndian>(version).unwrap());
    assert_ne!(short, long);
    assert_eq!(short, { short });
    assert_eq!(format!("{short:?}"), format!("AttrBytes({:?})", short.as_ref()));
}

#[test]
fn unions_are_read_by_what_they_are() {
    let mut attr =
        Attr { sample_period: 4000, wakeup_events: 16, config1: 0x1000, config2: 8, ..Attr::default() };
    assert_eq!((attr.sample_freq(), attr.wakeup_watermark(), attr.breakpoint()), (None, None, None));
    attr.flags |= perf_abi::attr::AttrFlags::FREQ | perf_abi::attr::AttrFlags::WATERMARK;
    attr.kind = EventType::BREAKPOINT;
    assert_eq!(attr.sample_freq(), Some(4000));
    assert_eq!(attr.wakeup_watermark(), Some(16));
    assert_eq!(attr.breakpoint(), Some((0x1000, 8)));
}
