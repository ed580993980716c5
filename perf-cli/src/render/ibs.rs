//! Raw data of AMD Instruction-Based Sampling, prepared to print.

use core::fmt::{self, Display, Formatter};

use perf_aux::ibs::{
    FetchCtl, FetchCtlExtd, FetchSample, IbsPmu, IbsText, OpCtl, OpData, OpData2, OpData3, OpSample,
};
use perf_parse::{Error, ErrorKind};

use super::Sink;
use super::name::{Name, name};

/// How the raw data of an event of Instruction-Based Sampling is decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ibs {
    pub(crate) pmu: IbsPmu,
    /// The machine that took the samples.
    pub(crate) text: IbsText,
}

/// The registers of a sample.
#[derive(Clone, Copy, Debug)]
enum Registers<'a> {
    Fetch(FetchSample<'a>),
    Op(OpSample<'a>),
}

/// A decoded sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IbsSample<'a> {
    registers: Registers<'a>,
    text: IbsText,
}

/// A register of a sample, and its bit-fields as (name, lowest bit, width).
type Register = (&'static Name, u64, &'static [(&'static str, u32, u32)]);

impl Ibs {
    /// Decodes raw data.
    ///
    /// # Errors
    ///
    /// If the data ends within a register.
    pub(crate) fn sample<'a>(&self, raw: &'a [u8]) -> Result<IbsSample<'a>, Error> {
        let registers = match self.pmu {
            IbsPmu::Fetch => FetchSample::parse(raw).map(Registers::Fetch),
            IbsPmu::Op => OpSample::parse(raw).map(Registers::Op),
        };
        let registers = registers.map_err(|error| {
            let needed = error.offset.saturating_add(error.needed) as u64;
            let kind = ErrorKind::Truncated { field: "raw", needed, available: raw.len() as u64 };
            Error { kind, offset: 0 }
        })?;
        Ok(IbsSample { registers, text: self.text })
    }
}

impl IbsSample<'_> {
    /// Returns whether the registers belong to a sampled fetch or operation. perf prints no others.
    pub(crate) const fn is_valid(&self) -> bool {
        match &self.registers {
            Registers::Fetch(sample) => sample.is_valid(),
            Registers::Op(sample) => sample.is_valid(),
        }
    }

    /// Passes the registers to `sink`: those without bit-fields as numbers, the others as objects of a `value` and its fields.
    pub(crate) fn registers(&self, sink: &mut impl Sink) {
        match &self.registers {
            Registers::Fetch(it) => {
                sink.number(name!("caps"), it.caps.0.into());
                register(sink, (name!("ibs_fetch_ctl"), it.ctl.0, FetchCtl::FIELDS));
                sink.hex(name!("ibs_fetch_linad"), it.lin_addr);
                sink.hex(name!("ibs_fetch_physad"), it.phys_addr);
                if let Some(extd) = it.ctl_extd {
                    register(sink, (name!("ic_ibs_extd_ctl"), extd.0, FetchCtlExtd::FIELDS));
                }
            }
            Registers::Op(it) => {
                sink.number(name!("caps"), it.caps.0.into());
                register(sink, (name!("ibs_op_ctl"), it.ctl.0, OpCtl::FIELDS));
                sink.hex(name!("ibs_op_rip"), it.rip);
                register(sink, (name!("ibs_op_data"), it.data.0, OpData::FIELDS));
                register(sink, (name!("ibs_op_data2"), it.data2.0, OpData2::FIELDS));
                register(sink, (name!("ibs_op_data3"), it.data3.0, OpData3::FIELDS));
                sink.hex(name!("ibs_dc_linad"), it.dc_lin_addr);
                sink.hex(name!("ibs_dc_physad"), it.dc_phys_addr);
                super::given(it.branch_target, |target| sink.hex(name!("ibs_br_target"), target));
                super::given(it.data4, |word| sink.hex(name!("ibs_op_data4"), word));
                let source = it.data_src(self.text.cpu);
                sink.named(name!("data_src"), source.0, &source);
            }
        }
    }
}

fn register(sink: &mut impl Sink, (name, word, fields): Register) {
    sink.object(name, &|sink| {
        sink.hex(name!("value"), word);
        for &(field, lowest, width) in fields {
            let value = word >> lowest & u64::MAX >> (u64::BITS - width);
            sink.number(&Name::of(field), value);
        }
    });
}

/// The lines of a valid sample as perf prints them.
impl Display for IbsSample<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.registers {
            Registers::Fetch(sample) => sample.text(self.text).fmt(f),
            Registers::Op(sample) => sample.text(self.text).fmt(f),
        }
    }
}
