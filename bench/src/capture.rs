//! Captures made in memory by the writer of perf-parse.

use perf_abi::attr::Attr;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::LittleEndian;
use perf_abi::record::CpuMode;
use perf_abi::regs::RegsAbi;
use perf_abi::sample_type::SampleType;
use perf_parse::SampleLayout;
use perf_parse::write::{self, RegsFields, SampleFields, StackUserFields};

/// Records, and the layout of their event.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Records that lie end to end, little-endian.
    pub bytes: Vec<u8>,
    /// How many they are.
    pub records: u64,
    /// Where everything is in them.
    pub layout: SampleLayout,
}

/// The fields that every sample here has: five words behind the header, 48 bytes in all.
fn leading() -> SampleType {
    SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::PERIOD
}

/// The user registers that `perf record --call-graph dwarf` asks for on x86-64: all but `ds`, `es`, `fs` and `gs`.
pub const REGS_USER: u64 = 0xff_0fff;

/// Bytes of user stack that `perf record --call-graph dwarf` asks for.
pub const STACK_USER: u32 = 8192;

impl Capture {
    /// Samples of 48 bytes.
    pub fn of_48_bytes(records: u64) -> Self {
        Self::new(records, Attr { sample_type: leading(), ..Attr::default() }, |_| SampleFields::default())
    }

    /// Samples with a call chain of 4 to 67 words, a kernel part and a user part.
    pub fn of_callchains(records: u64) -> Self {
        let attr = Attr { sample_type: leading() | SampleType::CALLCHAIN, ..Attr::default() };
        Self::new(records, attr, |n| {
            let address = |base: u64| move |depth: u64| base + (n * 31 + depth * 0x123) % 0x10_0000;
            let mut chain = vec![CallchainContext::KERNEL.0];
            chain.extend((0..1 + n % 16).map(address(0xffff_ffff_8100_0000)));
            chain.push(CallchainContext::USER.0);
            chain.extend((0..1 + n * 7 % 49).map(address(0x5555_5555_0000)));
            SampleFields { callchain: Some(chain), ..SampleFields::default() }
        })
    }

    /// Samples for unwinding by DWARF: user registers and a copy of the user stack.
    pub fn of_stacks(records: u64) -> Self {
        let attr = Attr {
            sample_type: leading() | SampleType::REGS_USER | SampleType::STACK_USER,
            sample_regs_user: REGS_USER,
            sample_stack_user: STACK_USER,
            ..Attr::default()
        };
        Self::new(records, attr, |n| {
            let values = (0..u64::from(REGS_USER.count_ones())).map(|reg| n * 0x1_0001 + reg).collect();
            let data: Vec<u8> = (0..STACK_USER).map(|at| (n as u8).wrapping_add(at as u8)).collect();
            let dyn_size = Some(1 + n * 97 % u64::from(STACK_USER));
            SampleFields {
                regs_user: Some(RegsFields { abi: RegsAbi::ABI_64, values }),
                stack_user: Some(StackUserFields { data, dyn_size }),
                ..SampleFields::default()
            }
        })
    }

    /// `records` samples: `fields` of each, and the leading fields.
    fn new(records: u64, attr: Attr, fields: impl Fn(u64) -> SampleFields) -> Self {
        let layout = SampleLayout::new(&attr).expect("only known bits are asked for");
        let mut bytes = Vec::new();
        for n in 0..records {
            let fields = SampleFields {
                ip: Some(0x5555_5555_0000 + n * 0x9e37 % 0x10_0000),
                pid_tid: Some((1000 + (n % 7) as i32, 2000 + (n % 61) as i32)),
                time: Some(1_000_000_000_000 + n * 250_000),
                cpu: Some((n % 16) as u32),
                period: Some(1_000_000 + n % 1000),
                ..fields(n)
            };
            write::sample::<LittleEndian>(&mut bytes, &layout, CpuMode::USER.into(), &fields)
                .expect("the fields are those of the event");
        }
        Self { bytes, records, layout }
    }
}
