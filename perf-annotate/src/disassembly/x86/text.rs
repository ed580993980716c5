//! The text of an instruction, as objdump has it.

use iced_x86::{
    Formatter, FormatterOptions, FormatterOutput, FormatterTextKind, GasFormatter, Instruction as Decoded,
    IntelFormatter, MemorySizeOptions, Mnemonic, Register,
};

use super::super::{Syntax, pad};
use super::prefixes;

/// A format of texts.
pub(super) struct TextFormat {
    formatter: Box<dyn Formatter>,
    syntax: Syntax,
}

impl TextFormat {
    pub(super) fn new(syntax: Syntax) -> Self {
        let mut formatter: Box<dyn Formatter> = match syntax {
            Syntax::Att => Box::new(GasFormatter::new()),
            Syntax::Intel => Box::new(IntelFormatter::new()),
        };
        set_options(formatter.options_mut(), syntax);
        Self { formatter, syntax }
    }

    /// Returns the text of the first instruction of the code.
    pub(super) fn of(&mut self, decoded: &Decoded, code: &[u8]) -> String {
        let mut decoded = *decoded;
        let mut text = Text(String::with_capacity(40));
        prefixes::write(&mut decoded, code, &mut text.0);
        self.choose(&decoded);
        self.formatter.format_mnemonic(&decoded, &mut text);
        if has_needless_suffix(&text.0) {
            text.0.pop();
        }
        if self.formatter.operand_count(&decoded) > 0 {
            pad(&mut text.0);
            self.formatter.format_all_operands(&decoded, &mut text);
        }
        if decoded.is_ip_rel_memory_operand() {
            text.0 += &format!("        # {:x}", decoded.ip_rel_memory_address());
        }
        text.0
    }

    /// Sets the options that depend on the instruction.
    fn choose(&mut self, decoded: &Decoded) {
        let options = self.formatter.options_mut();
        options.set_show_zero_displacements(decoded.memory_displ_size() != 0);
        options.set_always_show_segment_register(decoded.is_string_instruction());
        let has_all_operands = decoded.mnemonic() == Mnemonic::Imul
            || (0..decoded.op_count()).any(|it| decoded.op_register(it).is_st());
        options.set_use_pseudo_ops(!has_all_operands);
        options.set_always_show_scale(decoded.memory_index() != Register::None);
        if self.syntax == Syntax::Intel {
            options.set_signed_memory_displacements(!decoded.is_ip_rel_memory_operand());
            let is_lea = decoded.mnemonic() == Mnemonic::Lea;
            options.set_memory_size_options(if is_lea {
                MemorySizeOptions::Never
            } else {
                MemorySizeOptions::Always
            });
        }
    }
}

fn set_options(options: &mut FormatterOptions, syntax: Syntax) {
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(false);
    options.set_add_leading_zero_to_hex_numbers(false);
    options.set_branch_leading_zeros(false);
    options.set_rip_relative_addresses(true);
    if syntax == Syntax::Intel {
        options.set_hex_suffix("");
        options.set_hex_prefix("0x");
        options.set_uppercase_keywords(true);
        options.set_show_branch_size(false);
    }
}

/// Whether the mnemonic has a suffix that objdump does not show: the size of an address, or of a far return.
fn has_needless_suffix(text: &str) -> bool {
    const SUFFIXED: [&str; 10] =
        ["callq", "calll", "jmpq", "jmpl", "pushq", "pushl", "popq", "popl", "lretl", "iretl"];
    SUFFIXED.iter().any(|it| text.ends_with(it))
}

/// The text of an instruction.
struct Text(String);

impl FormatterOutput for Text {
    fn write(&mut self, text: &str, kind: FormatterTextKind) {
        let is_target = matches!(kind, FormatterTextKind::LabelAddress | FormatterTextKind::FunctionAddress);
        self.0 += if is_target { text.trim_start_matches("0x") } else { text };
    }
}
