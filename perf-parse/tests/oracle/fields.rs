//! Every field of a sample in every relevant shape.

use perf_parse::SampleLayout;
use perf_parse::abi::attr::Attr;
use perf_parse::abi::branch::{BranchFlags, BranchSampleType};
use perf_parse::abi::data_src::DataSrc;
use perf_parse::abi::endian::{BigEndian, LittleEndian};
use perf_parse::abi::read_format::ReadFormat;
use perf_parse::abi::record::Misc;
use perf_parse::abi::regs::RegsAbi;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::abi::txn::Txn;
use perf_parse::abi::weight::WeightStruct;
use perf_parse::sample::ReadValue;
use perf_parse::write::{
    self, BranchFields, BranchStackFields, ReadFields, RegsFields, SampleFields, StackUserFields,
};

use crate::Random;

/// A sample to be written, and the attr of its event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) attr: Attr,
    pub(crate) fields: SampleFields,
}

impl Made {
    /// Returns the bytes of the sample.
    pub(crate) fn write(&self, big: bool, misc: u16) -> Vec<u8> {
        let layout = SampleLayout::new(&self.attr).unwrap();
        let mut out = Vec::new();
        let written = if big {
            write::sample::<BigEndian>(&mut out, &layout, Misc(misc), &self.fields)
        } else {
            write::sample::<LittleEndian>(&mut out, &layout, Misc(misc), &self.fields)
        };
        assert_eq!(written, Ok(()), "{self:?}");
        out
    }

    /// Adds the field of `bit` in one of its [`shapes`].
    pub(crate) fn add(&mut self, bit: SampleType, shape: usize, random: &mut Random) {
        let Self { attr, fields } = self;
        attr.sample_type |= bit;
        let word = random.u64();
        match bit {
            SampleType::IDENTIFIER => fields.identifier = Some(word),
            SampleType::IP => fields.ip = Some(word),
            SampleType::TID => fields.pid_tid = Some((word as i32, (word >> 32) as i32)),
            SampleType::TIME => fields.time = Some(word),
            SampleType::ADDR => fields.addr = Some(word),
            SampleType::ID => fields.id = Some(word),
            SampleType::STREAM_ID => fields.stream_id = Some(word),
            SampleType::CPU => fields.cpu = Some(word as u32),
            SampleType::PERIOD => fields.period = Some(word),
            SampleType::READ => {
                let (format, nr) = read_shape(shape);
                attr.read_format = format;
                fields.read = Some(read(format, nr, random));
            }
            SampleType::CALLCHAIN => {
                let mut chain = random.u64s([0, 1, 7][shape]);
                // KERNEL, USER, and USER_DEFERRED with its cookie.
                for (at, marker) in [(0, -128_i64), (3, -512), (5, -640)] {
                    if chain.len() > 1 {
                        chain[at] = marker as u64;
                    }
                }
                fields.callchain = Some(chain);
            }
            SampleType::RAW => fields.raw = Some(random.bytes([4, 12, 252][shape])),
            SampleType::BRANCH_STACK => {
                let (asked, stack) = branch_shapes()[shape];
                attr.branch_sample_type = asked;
                fields.branch_stack = Some(branch_stack(stack, random));
            }
            SampleType::REGS_USER => {
                attr.sample_regs_user = regs_mask(shape);
                fields.regs_user = Some(regs(shape, random));
            }
            SampleType::STACK_USER => {
                let (asked, size, dyn_size) =
                    [(0, 0, None), (64, 0, None), (64, 8, Some(0)), (64, 24, Some(24)), (64, 24, Some(17))]
                        [shape];
                attr.sample_stack_user = asked;
                fields.stack_user = Some(StackUserFields { data: random.bytes(size), dyn_size });
            }
            SampleType::WEIGHT => fields.weight = Some(word),
            SampleType::WEIGHT_STRUCT => fields.weight_struct = Some(WeightStruct(word)),
            SampleType::DATA_SRC => fields.data_src = Some(DataSrc(word)),
            SampleType::TRANSACTION => fields.transaction = Some(Txn(word)),
            SampleType::REGS_INTR => {
                attr.sample_regs_intr = regs_mask(shape);
                fields.regs_intr = Some(regs(shape, random));
            }
            SampleType::PHYS_ADDR => fields.phys_addr = Some(word),
            SampleType::CGROUP => fields.cgroup = Some(word),
            SampleType::DATA_PAGE_SIZE => fields.data_page_size = Some(word),
            SampleType::CODE_PAGE_SIZE => fields.code_page_size = Some(word),
            SampleType::AUX => fields.aux = Some(random.bytes([0, 8, 40][shape])),
            bit => panic!("{bit}"),
        }
    }
}

/// Returns the bits of `sample_type` that this crate knows, from the lowest.
pub(crate) fn bits() -> impl Iterator<Item = SampleType> + Clone {
    (0..25).map(|bit| SampleType(1 << bit))
}

/// Returns the number of shapes of the field of `bit`.
pub(crate) fn shapes(bit: SampleType) -> usize {
    match bit {
        SampleType::READ => 64,
        SampleType::CALLCHAIN | SampleType::RAW | SampleType::AUX => 3,
        SampleType::BRANCH_STACK => branch_shapes().len(),
        SampleType::REGS_USER | SampleType::REGS_INTR => 9,
        SampleType::STACK_USER => 5,
        _ => 1,
    }
}

/// Returns one of the 32 formats; formats of a group have 0, 1 or 3 events.
pub(crate) fn read_shape(shape: usize) -> (ReadFormat, usize) {
    let bits = shape as u64 % 16;
    let format = ReadFormat(bits & 0b111 | (bits & 0b1000) << 1);
    match shape / 16 {
        0 => (format, 1),
        group => (format | ReadFormat::GROUP, [0, 1, 3][group - 1]),
    }
}

fn read(format: ReadFormat, nr: usize, random: &mut Random) -> ReadFields {
    let mut asked = |bit| format.contains(bit).then(|| random.u64());
    ReadFields {
        time_enabled: asked(ReadFormat::TOTAL_TIME_ENABLED),
        time_running: asked(ReadFormat::TOTAL_TIME_RUNNING),
        values: (0..nr as u64)
            .map(|value| ReadValue { value, id: asked(ReadFormat::ID), lost: asked(ReadFormat::LOST) })
            .collect(),
    }
}

/// The number of branches, whether there is a `hw_idx`, whether there are counters.
type BranchShape = (usize, bool, bool);

/// Returns what an event may ask for, with what may then be written.
fn branch_shapes() -> Vec<(BranchSampleType, BranchShape)> {
    let mut shapes = Vec::new();
    for asked in [
        BranchSampleType::NONE,
        BranchSampleType::HW_INDEX,
        BranchSampleType::COUNTERS,
        BranchSampleType::HW_INDEX | BranchSampleType::COUNTERS,
    ] {
        let hw_idx = asked.contains(BranchSampleType::HW_INDEX);
        shapes.push((asked, (0, false, false)));
        if hw_idx {
            shapes.push((asked, (0, true, false)));
        }
        for nr in [1, 3] {
            shapes.extend([false, true].map(|counters| (asked, (nr, hw_idx, counters))));
        }
    }
    shapes
}

fn branch_stack((nr, hw_idx, counters): BranchShape, random: &mut Random) -> BranchStackFields {
    let mut branch =
        || BranchFields { from: random.u64(), to: random.u64(), flags: BranchFlags(random.u64()) };
    let entries = (0..nr).map(|_| branch()).collect();
    BranchStackFields {
        hw_idx: hw_idx.then(|| random.u64()),
        entries,
        counters: counters.then(|| random.u64s(nr)),
    }
}

fn regs_mask(shape: usize) -> u64 {
    [0, 1 << 63 | 0b1001_0001, u64::MAX][shape / 3]
}

fn regs(shape: usize, random: &mut Random) -> RegsFields {
    let abi = RegsAbi(shape as u64 % 3);
    let count = if abi == RegsAbi::NONE { 0 } else { regs_mask(shape).count_ones() };
    RegsFields { abi, values: random.u64s(count as usize) }
}
