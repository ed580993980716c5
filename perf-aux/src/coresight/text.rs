//! Metadata as text, as perf prints it.

use core::fmt::{self, Display, Formatter};

use perf_abi::auxtrace::{CsBlockWord, CsEteWord, CsEtmv4Word, CsMagic};

use super::metadata::{CsCpu, CsErrorKind, CsMetadata};
use crate::perf_text::PerfText;

/// The lines of metadata, separated by newlines. [`CsMetadata::text`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct CsText<'a> {
    metadata: CsMetadata<'a>,
    release: PerfText,
}

impl<'a> CsMetadata<'a> {
    /// Returns the lines that `perf script -D` of this release prints of the metadata. They end before a block that cannot be
    /// decoded. perf 6.1 refuses version 2; its lines are then those that it would print of version 1.
    ///
    /// perf: `cs_etm__print_auxtrace_info`, `tools/perf/util/cs-etm-base.c`.
    #[must_use]
    pub const fn text(&self, release: PerfText) -> CsText<'a> {
        CsText { metadata: *self, release }
    }
}

impl Display for CsText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { metadata, release } = self;
        let header = ["Header version\t\t       ", "PMU type/num cpus\t       ", "Snapshot\t\t       "];
        let mut separator = "";
        for (name, word) in header.iter().zip(metadata.words()) {
            write!(f, "{separator}\t{name}{word:x}")?;
            separator = "\n";
        }
        for cpu in metadata.cpus() {
            match cpu {
                Ok(cpu) if is_known(cpu.magic) => block(f, metadata, &cpu, *release)?,
                Ok(CsCpu { magic: CsMagic(magic), .. }) => return unknown(f, magic),
                Err(error) => {
                    return match error.kind {
                        CsErrorKind::Magic(CsMagic(magic)) => unknown(f, magic),
                        _ => Ok(()),
                    };
                }
            }
        }
        Ok(())
    }
}

fn is_known(magic: CsMagic) -> bool {
    matches!(magic, CsMagic::ETMV3 | CsMagic::ETMV4 | CsMagic::ETE)
}

fn unknown(f: &mut Formatter<'_>, magic: u64) -> fmt::Result {
    write!(f, "\n\tMagic number Unknown\t       {magic:x}")
}

fn block(
    f: &mut Formatter<'_>,
    metadata: &CsMetadata<'_>,
    cpu: &CsCpu<'_>,
    release: PerfText,
) -> fmt::Result {
    write!(f, "\n\tMagic number\t\t       {:x}", cpu.magic.0)?;
    write!(f, "\n\tCPU\t\t\t       {}", cpu.cpu.cast_signed())?;
    if metadata.version() > 0 {
        write!(f, "\n\tNR_TRC_PARAMS\t\t       {:x}", cpu.register_count())?;
    }
    for index in CsBlockWord::COUNT.. {
        let Some(word) = cpu.register(index) else { break };
        match name(cpu.magic, index, release) {
            Some(Name::Hexadecimal(name)) => write!(f, "\n\t{name}{word:x}")?,
            Some(Name::Decimal(name)) => write!(f, "\n\t{name}{}", word.cast_signed())?,
            None => write!(f, "\n\tUnknown parameter [{index}]\t       {word:x}")?,
        }
    }
    Ok(())
}

/// The name of a register with the blanks after it, and how its value is printed.
enum Name {
    Hexadecimal(&'static str),
    Decimal(&'static str),
}

fn name(magic: CsMagic, index: usize, release: PerfText) -> Option<Name> {
    const ETMV3: [&str; 4] =
        ["ETMCR\t\t\t       ", "ETMTRACEIDR\t\t       ", "ETMCCER\t\t\t       ", "ETMIDR\t\t\t       "];
    // ETE has the same, and one more.
    const ETMV4: [&str; 7] = [
        "TRCCONFIGR\t\t       ",
        "TRCTRACEIDR\t\t       ",
        "TRCIDR0\t\t\t       ",
        "TRCIDR1\t\t\t       ",
        "TRCIDR2\t\t\t       ",
        "TRCIDR8\t\t\t       ",
        "TRCAUTHSTATUS\t\t       ",
    ];
    let register = index.checked_sub(CsBlockWord::COUNT)?;
    let is_old = release == PerfText::V6_1;
    let devarch = Name::Hexadecimal("TRCDEVARCH                     ");
    match magic {
        CsMagic::ETMV3 => ETMV3.get(register).copied().map(Name::Hexadecimal),
        // perf 6.1 knows no source of time stamps, and names the registers of ETMv4 as those of ETE.
        CsMagic::ETE | CsMagic::ETMV4 if is_old && index == CsEteWord::TRCDEVARCH.0 => Some(devarch),
        _ if is_old => ETMV4.get(register).copied().map(Name::Hexadecimal),
        CsMagic::ETE if index == CsEteWord::TRCDEVARCH.0 => Some(devarch),
        CsMagic::ETE if index == CsEteWord::TS_SOURCE.0 => {
            Some(Name::Decimal("TS_SOURCE                      "))
        }
        CsMagic::ETMV4 if index == CsEtmv4Word::TS_SOURCE.0 => Some(Name::Decimal("TS_SOURCE\t\t       ")),
        _ => ETMV4.get(register).copied().map(Name::Hexadecimal),
    }
}
