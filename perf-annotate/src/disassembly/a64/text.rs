//! The text of an instruction, as objdump has it.

use std::borrow::Cow;

use yaxpeax_arm::armv8::a64::Instruction as Decoded;

use super::super::mnemonic;
use super::system;

/// Returns the text of an instruction. If it refers to an address, it is this one.
pub(super) fn of(word: u32, decoded: &Decoded, address: Option<u64>) -> String {
    let decoded = decoded.to_string();
    let (name, operands) = decoded.split_once(' ').unwrap_or((&decoded, ""));
    let (name, operands) = match (name, operands) {
        ("b.hs", _) => ("b.cs", operands),
        ("b.lo", _) => ("b.cc", operands),
        ("hint", _) => system::alias(&decoded).unwrap_or((name, operands)),
        _ => (name, operands),
    };
    if operands.is_empty() {
        return name.to_owned();
    }
    let mut text = mnemonic(name);
    let mut is_decimal = has_decimals(name);
    let extension = extension(word);
    let is_system_write = word & 0xfff0_0000 == 0xd510_0000;
    for (index, operand) in operands.split(", ").enumerate() {
        if extension.is_some() && ["lsl", "uxt", "sxt"].iter().any(|it| operand.starts_with(it)) {
            break;
        }
        if index > 0 {
            text += ", ";
        }
        is_decimal |= operand.starts_with('[');
        match (operand, address) {
            // The decoder loses the highest bit of the register.
            _ if is_system_write && operand.starts_with('x') => text += &register(word),
            ("hs", _) => text += "cs",
            ("lo", _) => text += "cc",
            (_, Some(address)) if operand.starts_with('$') => text += &format!("{address:x}"),
            _ if operand.starts_with('#') && is_decimal => text += &decimal(operand),
            // Without the bit that shifts the index, the amount is not there.
            _ if is_decimal && word & 0x1000 == 0 && operand.ends_with("xtw #0]") => {
                text += operand.trim_end_matches(" #0]");
                text.push(']');
            }
            _ => text += system::register(operand).unwrap_or(operand),
        }
    }
    text + &extension.unwrap_or_default()
}

/// Returns the register that an instruction has in its lowest bits.
fn register(word: u32) -> String {
    match word & 0x1f {
        31 => "xzr".to_owned(),
        number => format!("x{number}"),
    }
}

/// Returns a number in decimal.
fn decimal(operand: &str) -> Cow<'_, str> {
    let Some((sign, hex)) = operand.split_once("0x") else { return operand.into() };
    let end = hex.find(|it: char| !it.is_ascii_hexdigit()).unwrap_or(hex.len());
    let (digits, rest) = hex.split_at_checked(end).unwrap_or((hex, ""));
    match u64::from_str_radix(digits, 16) {
        Ok(value) => format!("{sign}{value}{rest}").into(),
        Err(_) => operand.into(),
    }
}

/// Returns the extension of the last register of additions and subtractions that extend it, which the decoder takes for a shift;
/// `None` for all other instructions.
fn extension(word: u32) -> Option<String> {
    if word & 0x1fe0_0000 != 0x0b20_0000 {
        return None;
    }
    let amount = word >> 10 & 7;
    let option = word >> 13 & 7;
    let is_wide = word >> 31 == 1;
    // Comparisons have no destination.
    let sets_flags = word >> 29 & 1 == 1;
    let has_stack_pointer = word >> 5 & 0x1f == 31 || !sets_flags && word & 0x1f == 31;
    let is_whole = option == if is_wide { 3 } else { 2 };
    let name = match option {
        _ if is_whole && has_stack_pointer && amount == 0 => return Some(String::new()),
        _ if is_whole && has_stack_pointer => "lsl",
        0 => "uxtb",
        1 => "uxth",
        2 => "uxtw",
        3 => "uxtx",
        4 => "sxtb",
        5 => "sxth",
        6 => "sxtw",
        _ => "sxtx",
    };
    Some(if amount == 0 { format!(", {name}") } else { format!(", {name} #{amount}") })
}

/// Whether objdump has the numbers of an instruction in decimal: shifts and positions of bits. Offsets of memory are, too.
fn has_decimals(name: &str) -> bool {
    matches!(
        name,
        "udf"
            | "cmeq"
            | "cmge"
            | "cmgt"
            | "cmle"
            | "cmlt"
            | "lsl"
            | "lsr"
            | "asr"
            | "ror"
            | "extr"
            | "ubfx"
            | "ubfiz"
            | "sbfx"
            | "sbfiz"
            | "bfi"
            | "bfxil"
            | "bfc"
            | "tbz"
            | "tbnz"
            | "ext"
            | "shl"
            | "sli"
            | "sri"
            | "sshr"
            | "ushr"
            | "srshr"
            | "urshr"
            | "ssra"
            | "usra"
            | "srsra"
            | "ursra"
            | "sshll"
            | "sshll2"
            | "ushll"
            | "ushll2"
            | "shll"
            | "shll2"
            | "shrn"
            | "shrn2"
            | "rshrn"
            | "rshrn2"
            | "sqshl"
            | "uqshl"
            | "sqshlu"
            | "sqshrn"
            | "sqshrn2"
            | "uqshrn"
            | "uqshrn2"
            | "sqrshrn"
            | "sqrshrn2"
            | "uqrshrn"
            | "uqrshrn2"
            | "sqshrun"
            | "sqshrun2"
            | "sqrshrun"
            | "sqrshrun2"
            | "scvtf"
            | "ucvtf"
            | "fcvtzs"
            | "fcvtzu"
    )
}
