//! Raw data of samples.

use core::fmt;

use super::{FetchCtl, FetchCtlExtd, IbsCaps, OpCtl, OpData, OpData2, OpData3};

/// Raw data that ends within a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IbsError {
    /// Name of the register, such as `IBS_OP_DATA3`, or `caps`.
    pub register: &'static str,
    /// Offset of the register in the raw data.
    pub offset: usize,
    /// Bytes of the register.
    pub needed: usize,
    /// Bytes from the offset on.
    pub available: usize,
}

impl fmt::Display for IbsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { register, offset, needed, available } = self;
        write!(f, "{register} at byte {offset} of the raw data needs {needed} bytes; {available} are left")
    }
}

impl core::error::Error for IbsError {}

/// Raw data of which the first bytes are read.
struct Words<'a> {
    offset: usize,
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    /// Starts with the capabilities.
    fn new(raw: &'a [u8]) -> Result<(IbsCaps, Self), IbsError> {
        let mut words = Self { offset: 0, rest: raw };
        let caps = IbsCaps(u32::from_le_bytes(words.take("caps")?));
        Ok((caps, words))
    }

    fn take<const N: usize>(&mut self, register: &'static str) -> Result<[u8; N], IbsError> {
        let (offset, available) = (self.offset, self.rest.len());
        let error = IbsError { register, offset, needed: N, available };
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(error)?;
        (self.offset, self.rest) = (offset + N, rest);
        Ok(*bytes)
    }

    fn word(&mut self, register: &'static str) -> Result<u64, IbsError> {
        self.take(register).map(u64::from_le_bytes)
    }

    fn word_if(&mut self, present: bool, register: &'static str) -> Result<Option<u64>, IbsError> {
        if present { self.word(register).map(Some) } else { Ok(None) }
    }
}

/// The raw data of a sample of `ibs_fetch`: an instruction fetch.
///
/// Kernel: `struct perf_ibs_data` and `perf_ibs_handle_irq`, `arch/x86/events/amd/ibs.c`; since Linux 3.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FetchSample<'a> {
    /// Capabilities of the CPU.
    pub caps: IbsCaps,
    /// Control and result.
    pub ctl: FetchCtl,
    /// Linear address of the fetch.
    #[doc(alias = "IBS_FETCH_LINAD")]
    pub lin_addr: u64,
    /// Physical address of the fetch, if [`FetchCtl::phy_addr_valid`]. 0 if the user may not read it. Since Linux 7.1.
    #[doc(alias = "IBS_FETCH_PHYSAD")]
    pub phys_addr: u64,
    /// Extended control. `None` without [`IbsCaps::FETCHCTLEXTD`].
    pub ctl_extd: Option<FetchCtlExtd>,
    /// The bytes after these registers. No kernel up to 7.1 writes any.
    pub rest: &'a [u8],
}

impl<'a> FetchSample<'a> {
    /// Decodes the raw data of a sample, which is little-endian, as the kernel of x86 writes it. Takes constant time.
    ///
    /// # Errors
    ///
    /// If the data ends within a register that the capabilities state.
    pub fn parse(raw: &'a [u8]) -> Result<Self, IbsError> {
        let (caps, mut words) = Words::new(raw)?;
        let ctl = FetchCtl(words.word("IBS_FETCH_CTL")?);
        let lin_addr = words.word("IBS_FETCH_LINAD")?;
        let phys_addr = words.word("IBS_FETCH_PHYSAD")?;
        let extd = words.word_if(caps.contains(IbsCaps::FETCHCTLEXTD), "IC_IBS_EXTD_CTL")?;
        Ok(Self { caps, ctl, lin_addr, phys_addr, ctl_extd: extd.map(FetchCtlExtd), rest: words.rest })
    }

    /// Returns whether the registers belong to a sampled fetch. perf prints no others.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.ctl.fetch_en() && self.ctl.fetch_val()
    }
}

/// The raw data of a sample of `ibs_op`: an operation.
///
/// Kernel: `struct perf_ibs_data` and `perf_ibs_handle_irq`, `arch/x86/events/amd/ibs.c`; since Linux 3.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpSample<'a> {
    /// Capabilities of the CPU.
    pub caps: IbsCaps,
    /// Control.
    pub ctl: OpCtl,
    /// Address of the instruction, unless [`OpData::op_rip_invalid`].
    #[doc(alias = "IBS_OP_RIP")]
    pub rip: u64,
    /// Times and branch.
    pub data: OpData,
    /// Origin of the data.
    pub data2: OpData2,
    /// Access to the cache and its TLB.
    pub data3: OpData3,
    /// Linear address of the data, if [`OpData3::dc_lin_addr_valid`].
    #[doc(alias = "IBS_DC_LINAD")]
    pub dc_lin_addr: u64,
    /// Physical address of the data, if [`OpData3::dc_phy_addr_valid`]. 0 if the user may not read it. Since Linux 7.1.
    #[doc(alias = "IBS_DC_PHYSAD")]
    pub dc_phys_addr: u64,
    /// Target of the branch, 0 if it was not recorded. `None` without [`IbsCaps::BRNTRGT`].
    #[doc(alias = "IBS_BR_TARGET")]
    pub branch_target: Option<u64>,
    /// Fourth word of data. `None` without [`IbsCaps::OPDATA4`].
    #[doc(alias = "IBS_OP_DATA4")]
    pub data4: Option<u64>,
    /// The bytes after these registers. No kernel up to 7.1 writes any.
    pub rest: &'a [u8],
}

impl<'a> OpSample<'a> {
    /// Decodes the raw data of a sample, which is little-endian, as the kernel of x86 writes it. Takes constant time.
    ///
    /// # Errors
    ///
    /// If the data ends within a register that the capabilities state.
    pub fn parse(raw: &'a [u8]) -> Result<Self, IbsError> {
        let (caps, mut words) = Words::new(raw)?;
        Ok(Self {
            caps,
            ctl: OpCtl(words.word("IBS_OP_CTL")?),
            rip: words.word("IBS_OP_RIP")?,
            data: OpData(words.word("IBS_OP_DATA")?),
            data2: OpData2(words.word("IBS_OP_DATA2")?),
            data3: OpData3(words.word("IBS_OP_DATA3")?),
            dc_lin_addr: words.word("IBS_DC_LINAD")?,
            dc_phys_addr: words.word("IBS_DC_PHYSAD")?,
            branch_target: words.word_if(caps.contains(IbsCaps::BRNTRGT), "IBS_BR_TARGET")?,
            data4: words.word_if(caps.contains(IbsCaps::OPDATA4), "IBS_OP_DATA4")?,
            rest: words.rest,
        })
    }

    /// Returns whether the registers belong to a sampled operation. perf prints no others.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.ctl.op_en() && self.ctl.op_val()
    }
}
