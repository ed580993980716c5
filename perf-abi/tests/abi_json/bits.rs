//! Bit-fields: where each stands in a little-endian and in a big-endian word.

use std::collections::BTreeSet;

use perf_abi::Name;
use perf_abi::attr::{AttrFlags, AuxAction};
use perf_abi::branch::*;
use perf_abi::data_src::*;
use perf_abi::endian::{BigEndian, LittleEndian, U32, U64};
use perf_abi::mmap_page::Capabilities;
use perf_abi::weight::WeightStruct;
use serde_json::Value;

use crate::{Facts, none};

/// From one word to another.
type Turn = fn(u64) -> u64;

/// A word of bit-fields.
struct Word {
    c_struct: &'static str,
    flags: &'static [Name],
    /// Sets a field that is not a flag to a value.
    set: fn(field: &str, value: u64) -> Option<u64>,
    /// Gets it back.
    get: fn(field: &str, word: u64) -> Option<u64>,
    /// The field that C calls reserved, and its bits of a word.
    reserved: Option<(&'static str, Turn)>,
    /// To the number that a big-endian machine has for the word, and back; `None` where the C header orders the fields
    /// for each byte order so that it is the same number.
    big: Option<(Turn, Turn)>,
}

fn words() -> Vec<Word> {
    vec![
        Word {
            c_struct: "perf_event_attr",
            flags: AttrFlags::NAMES,
            set: |field, value| {
                let value = u8::try_from(value).ok()?;
                (field == "precise_ip").then(|| AttrFlags::NONE.with_precise_ip(value).0)
            },
            get: |field, word| (field == "precise_ip").then(|| AttrFlags(word).precise_ip().into()),
            reserved: Some(("__reserved_1", |word| AttrFlags(word).unknown())),
            big: Some((
                |word| AttrFlags(word).to_word::<BigEndian>().get(),
                |word| AttrFlags::from_word(U64::<BigEndian>::new(word)).0,
            )),
        },
        Word {
            c_struct: "perf_event_mmap_page",
            flags: Capabilities::NAMES,
            set: |_, _| None,
            get: |_, _| None,
            reserved: Some(("cap_____res", |word| Capabilities(word).unknown())),
            big: Some((
                |word| Capabilities(word).to_word::<BigEndian>().get(),
                |word| Capabilities::from_word(U64::<BigEndian>::new(word)).0,
            )),
        },
        branch("perf_branch_entry", "reserved"),
        Word {
            c_struct: "perf_mem_data_src",
            flags: &[],
            set: |field, value| {
                let none = DataSrc::NONE;
                let code = u8::try_from(value).unwrap_or(u8::MAX);
                Some(
                    match field {
                        "mem_op" => none.with_op(MemOp(code)),
                        "mem_lvl" => none.with_lvl(MemLvl(u16::try_from(value).ok()?)),
                        "mem_snoop" => none.with_snoop(MemSnoop(code)),
                        "mem_lock" => none.with_lock(MemLock(code)),
                        "mem_dtlb" => none.with_dtlb(MemTlb(code)),
                        "mem_lvl_num" => none.with_lvl_num(MemLvlNum(code)),
                        "mem_remote" => none.with_remote(MemRemote(code)),
                        "mem_snoopx" => none.with_snoopx(MemSnoopx(code)),
                        "mem_blk" => none.with_blk(MemBlk(code)),
                        "mem_hops" => none.with_hops(MemHops(code)),
                        "mem_region" => none.with_region(MemRegion(code)),
                        _ => return None,
                    }
                    .0,
                )
            },
            get: |field, word| {
                let word = DataSrc(word);
                Some(match field {
                    "mem_op" => word.op().0.into(),
                    "mem_lvl" => word.lvl().0.into(),
                    "mem_snoop" => word.snoop().0.into(),
                    "mem_lock" => word.lock().0.into(),
                    "mem_dtlb" => word.dtlb().0.into(),
                    "mem_lvl_num" => word.lvl_num().0.into(),
                    "mem_remote" => word.remote().0.into(),
                    "mem_snoopx" => word.snoopx().0.into(),
                    "mem_blk" => word.blk().0.into(),
                    "mem_hops" => word.hops().0.into(),
                    "mem_region" => word.region().0.into(),
                    _ => return None,
                })
            },
            reserved: Some(("mem_rsvd", |word| DataSrc(word).unknown())),
            big: None,
        },
    ]
}

fn branch(c_struct: &'static str, reserved: &'static str) -> Word {
    Word {
        c_struct,
        flags: BranchFlags::NAMES,
        set: |field, value| {
            let none = BranchFlags::NONE;
            let code = u8::try_from(value).unwrap_or(u8::MAX);
            Some(
                match field {
                    "cycles" => none.with_cycles(u16::try_from(value).ok()?),
                    "type" => none.with_kind(BranchType(code)),
                    "spec" => none.with_spec(BranchSpec(code)),
                    "new_type" => none.with_new_type(BranchNewType(code)),
                    "priv" => none.with_privilege(BranchPriv(code)),
                    _ => return None,
                }
                .0,
            )
        },
        get: |field, word| {
            let word = BranchFlags(word);
            Some(match field {
                "cycles" => word.cycles().into(),
                "type" => word.kind().0.into(),
                "spec" => word.spec().0.into(),
                "new_type" => word.new_type().0.into(),
                "priv" => word.privilege().0.into(),
                _ => return None,
            })
        },
        reserved: Some((reserved, |word| BranchFlags(word).unknown())),
        big: Some((
            |word| BranchFlags(word).to_word::<BigEndian>().get(),
            |word| BranchFlags::from_word(U64::<BigEndian>::new(word)).0,
        )),
    }
}

/// Name, lowest bit, width and lowest big-endian bit of the bit-fields of a struct, of words of `size` bytes.
fn bit_fields<'a>(facts: &'a Facts, c_struct: &str, size: u64) -> Vec<(&'a str, u32, u32, u32)> {
    let number = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
    facts.table("structs")[c_struct]["fields"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|field| field["size"].as_u64() == Some(size))
        .filter_map(|field| {
            let bits = field.get("bits")?;
            let name = field["name"].as_str().unwrap();
            Some((name, number(&bits["lsb"]), number(&bits["width"]), number(&bits["lsb_be"])))
        })
        .collect()
}

#[test]
fn every_bit_field_is_where_the_compiler_puts_it() {
    let facts = Facts::load();
    let mut faults = Vec::new();
    for word in words() {
        let fields = bit_fields(&facts, word.c_struct, 8);
        assert!(!fields.is_empty(), "{}", word.c_struct);
        let mut all = 0;
        let mut flags: BTreeSet<&str> = word.flags.iter().map(|name| name.c_name).collect();
        for (name, lsb, width, lsb_be) in fields {
            let path = format!("{}.{name}", word.c_struct);
            let ones = u64::MAX >> (64 - width);
            all |= ones << lsb;
            if let Some((reserved, unknown)) = word.reserved.filter(|(reserved, _)| *reserved == name) {
                if unknown(u64::MAX) != ones << lsb {
                    faults.push(format!("{path}: {reserved} is {:#x}", unknown(u64::MAX)));
                }
            } else if let Some(flag) = word.flags.iter().find(|flag| flag.c_name == name) {
                flags.remove(name);
                if (flag.value, width) != (1 << lsb, 1) {
                    faults.push(format!("{path} is {:#x}", flag.value));
                }
            } else {
                for value in [1, ones, ones & 0x5555] {
                    match (word.set)(name, value) {
                        Some(set) if set == value << lsb => {}
                        set => faults.push(format!("{path} = {value:#x} makes {set:x?}")),
                    }
                    match (word.get)(name, value << lsb | !(ones << lsb)) {
                        Some(got) if got == value => {}
                        got => faults.push(format!("{path} = {value:#x} reads as {got:x?}")),
                    }
                }
            }
            if let Some((to_big, from_big)) = word.big {
                // A reserved field is many switches or one number; as a whole it is in one place either way.
                if to_big(ones << lsb) != ones << lsb_be || from_big(ones << lsb_be) != ones << lsb {
                    faults.push(format!("{path} is at {:#x} in big-endian", to_big(ones << lsb)));
                }
                let reserved = word.reserved.is_some_and(|(reserved, _)| reserved == name);
                if !reserved && to_big(1 << lsb) != 1 << lsb_be {
                    faults.push(format!("{path} = 1 is {:#x} in big-endian", to_big(1 << lsb)));
                }
            }
        }
        assert_eq!(all, u64::MAX, "{}: the fields cover the word", word.c_struct);
        faults.extend(flags.iter().map(|flag| format!("{}.{flag} does not exist", word.c_struct)));
    }
    none(&faults);
}

#[test]
fn aux_action_is_where_the_compiler_puts_it() {
    let facts = Facts::load();
    let fields = bit_fields(&facts, "perf_event_attr", 4);
    assert_eq!(fields.len(), 4);
    for (name, lsb, width, lsb_be) in fields {
        let ones = u32::MAX >> (32 - width);
        let action = AuxAction(ones << lsb);
        if name == "__reserved_3" {
            assert_eq!(AuxAction(u32::MAX).unknown(), action.0);
        } else {
            let flag = AuxAction::NAMES.iter().find(|flag| flag.c_name == name).expect(name);
            assert_eq!(flag.value, u64::from(action.0), "{name}");
        }
        assert_eq!(action.to_word::<BigEndian>().get(), ones << lsb_be, "{name}");
        assert_eq!(action.to_word::<LittleEndian>().get(), ones << lsb, "{name}");
        assert_eq!(AuxAction::from_word(U32::<BigEndian>::new(ones << lsb_be)), action, "{name}");
        assert_eq!(AuxAction::from_word(U32::<LittleEndian>::new(ones << lsb)), action, "{name}");
    }
}

#[test]
fn the_perf_tools_own_branch_bit_is_where_its_compiler_puts_it() {
    let facts = Facts::load();
    let tool = bit_fields(&facts, "branch_flags", 8);
    let kernel = bit_fields(&facts, "perf_branch_entry", 8);
    let (&(name, lsb, width, lsb_be), rest) = tool.split_at(kernel.len() - 1).1.split_first().unwrap();
    assert_eq!(tool[..kernel.len() - 1], kernel[..kernel.len() - 1]);
    assert_eq!((name, width, rest.len()), ("not_taken", 1, 1));
    for bit in 0..64 {
        let mut little = BranchEntry::<LittleEndian>::new(0, 0, BranchFlags::NONE);
        little.raw_flags.set(1 << bit);
        assert_eq!(little.not_taken(), bit == lsb, "bit {bit}");
        let mut big = BranchEntry::<BigEndian>::new(0, 0, BranchFlags::NONE);
        big.raw_flags.set(1 << bit);
        assert_eq!(big.not_taken(), bit == lsb_be, "bit {bit}");
    }
}

#[test]
fn the_weight_is_parted_as_the_union_is() {
    let weight = WeightStruct(u64::from_le_bytes([1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(weight.var1_dw(), u32::from_le_bytes([1, 2, 3, 4]));
    assert_eq!(weight.var2_w(), u16::from_le_bytes([5, 6]));
    assert_eq!(weight.var3_w(), u16::from_le_bytes([7, 8]));
    let parts = WeightStruct::NONE
        .with_var1_dw(weight.var1_dw())
        .with_var2_w(weight.var2_w())
        .with_var3_w(weight.var3_w());
    assert_eq!(parts, weight);
}

#[test]
fn big_endian_words_byte_for_byte() {
    let facts = Facts::load();
    let vectors = facts.table("big_endian_bit_vectors");
    assert_eq!(vectors.len(), 16);
    for (name, bytes) in vectors {
        let bytes: Vec<u8> =
            bytes.as_str().unwrap().split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let bytes: [u8; 8] = bytes.try_into().unwrap();
        let (path, value) = name.split_once('=').unwrap();
        let (of, field) = path.split_once('.').unwrap();
        let value = match value.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => value.parse(),
        }
        .unwrap();
        match of {
            "attr" => {
                let flag = AttrFlags::NAMES.iter().find(|flag| flag.c_name == field);
                let flags = match flag {
                    Some(flag) => AttrFlags(flag.value * value),
                    None => {
                        assert_eq!(field, "precise_ip");
                        AttrFlags::NONE.with_precise_ip(u8::try_from(value).unwrap())
                    }
                };
                assert_eq!(flags.to_word::<BigEndian>(), U64::from_bytes(bytes), "{name}");
                assert_eq!(AttrFlags::from_word(U64::<BigEndian>::from_bytes(bytes)), flags, "{name}");
                assert_eq!(flags.to_word::<LittleEndian>().to_bytes(), flags.0.to_le_bytes());
            }
            "branch" => {
                let flag = BranchFlags::NAMES.iter().find(|flag| flag.c_name == field);
                let flags = BranchFlags(match flag {
                    Some(flag) => flag.value * value,
                    None if field == "reserved" => value << BranchFlags::INFO_BITS_MAX,
                    None => (branch("", "").set)(field, value).expect(name),
                });
                let entry = BranchEntry::<BigEndian>::new(1, 2, flags);
                assert_eq!(entry.raw_flags, U64::from_bytes(bytes), "{name}");
                assert_eq!(entry.flags(), flags, "{name}");
                assert_eq!(BranchEntry::<LittleEndian>::new(1, 2, flags).raw_flags.get(), flags.0);
            }
            _ => panic!("{name} is of no known word"),
        }
    }
}
