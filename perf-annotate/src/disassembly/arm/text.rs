//! The text of an instruction, as objdump has it.

use yaxpeax_arm::armv7::Instruction as Decoded;

use super::super::branch::Branch;
use super::super::mnemonic;

/// Returns the text of an instruction.
pub(super) fn of(decoded: &Decoded, branch: Branch) -> String {
    let decoded = decoded.to_string();
    let (name, operands) = decoded.split_once(' ').unwrap_or((&decoded, ""));
    // All of them are wide.
    let name = match name {
        "bl.w" => "bl",
        "blx.w" => "blx",
        name => name,
    };
    if operands.is_empty() {
        return name.to_owned();
    }
    let mut text = mnemonic(name);
    let words = operands.split_inclusive([' ', ',', ']', '}', '!']);
    for word in words {
        match branch.target {
            Some(target) if word.starts_with('$') => text += &format!("{target:x}"),
            _ => write_word(word, &mut text),
        }
    }
    if let Some(data) = branch.data {
        text += &format!("        @ {data:x}");
    }
    text
}

/// Writes a register or a number with the punctuation after it: numbers in decimal.
fn write_word(word: &str, text: &mut String) {
    let start = word.find(|it: char| it.is_ascii_alphanumeric()).unwrap_or(word.len());
    let (before, rest) = word.split_at_checked(start).unwrap_or(("", word));
    let end = rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (token, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let number = match token.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => token.parse().ok(),
    };
    match (number, token) {
        (Some(number), _) => *text += &format!("#{before}{number}"),
        (None, "sb") => *text += &format!("{before}r9"),
        (None, "r10") => *text += &format!("{before}sl"),
        (None, _) => *text += &format!("{before}{token}"),
    }
    *text += after;
}
