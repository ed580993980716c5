//! Raw data of AMD Instruction-Based Sampling. Registers are the words of the data, and the rest follows them. The text has a
//! line of each register that is valid, and only loads and stores have a data source.

use perf_abi::data_src::{DataSrc, MemOp};
use perf_aux::ibs::{AmdCpu, FetchSample, IbsCaps, IbsText, OpSample};
use perf_aux::perf_text::PerfText;

/// The first bytes of `data` are the family, the model, the release and the capabilities. The others are raw data.
pub fn run(data: &[u8]) -> bool {
    let Some(([family, model, release, caps @ ..], raw)) = data.split_first_chunk::<7>() else {
        return false;
    };
    let cpu = AmdCpu { family: (*family).into(), model: (*model).into() };
    let release = if release % 2 == 0 { PerfText::V6_1 } else { PerfText::V7_2 };
    let text = IbsText { cpu, caps: IbsCaps(u32::from_le_bytes(*caps)), release };
    let word = |index: usize| {
        let bytes = raw.get(4 + 8 * index..)?.first_chunk().copied();
        bytes.map(u64::from_le_bytes)
    };
    match OpSample::parse(raw) {
        Ok(op) => op_sample(&op, word, raw, text),
        Err(error) => {
            assert_eq!((error.offset + error.available, error.available < error.needed), (raw.len(), true))
        }
    }
    match FetchSample::parse(raw) {
        Ok(fetch) => {
            let registers = [fetch.ctl.0, fetch.lin_addr, fetch.phys_addr];
            let all = registers.into_iter().chain(fetch.ctl_extd.map(|word| word.0));
            let count = all.clone().count();
            assert!(all.map(Some).eq((0..count).map(word)));
            assert_eq!(4 + 8 * count + fetch.rest.len(), raw.len());
            let lines = fetch.text(text).to_string().lines().count();
            assert!((2..=4).contains(&lines) && (lines >= 3 || !fetch.ctl.phy_addr_valid()));
        }
        Err(error) => {
            assert_eq!((error.offset + error.available, error.available < error.needed), (raw.len(), true))
        }
    }
    true
}

fn op_sample(op: &OpSample<'_>, word: impl Fn(usize) -> Option<u64>, raw: &[u8], text: IbsText) {
    let registers = [op.ctl.0, op.rip, op.data.0, op.data2.0, op.data3.0, op.dc_lin_addr, op.dc_phys_addr];
    let all = registers.into_iter().chain(op.branch_target).chain(op.data4);
    let count = all.clone().count();
    assert!(all.map(Some).eq((0..count).map(word)));
    assert_eq!(4 + 8 * count + op.rest.len(), raw.len());

    let shown = op.text(text).to_string();
    let has = |start: &str| shown.lines().any(|line| line.starts_with(start));
    assert!(["ibs_op_ctl:", "ibs_op_data:", "ibs_op_data3:"].into_iter().all(has));
    assert_eq!(has("IbsOpRip:"), !op.data.op_rip_invalid());
    assert_eq!(has("IbsDCLinAd:"), op.data3.dc_lin_addr_valid());

    let source = op.data_src(text.cpu);
    let is_access = op.data3.ld_op() || op.data3.st_op();
    assert_eq!(source != DataSrc::NA, is_access);
    assert_eq!(source.op().intersects(MemOp::LOAD | MemOp::STORE), is_access);
    assert_eq!(source.unknown(), 0);
    assert_eq!(op.weight().is_some(), op.data3.ld_op() && op.data3.dc_miss());
}
