//! Memory accesses: rows of a made capture, which `perf.rs` compares with perf; and what they count.

use std::path::PathBuf;

use perf_abi::data_src::{DataSrc, MemBlk, MemLock, MemLvl, MemLvlNum, MemOp, MemSnoop, MemTlb};
use perf_abi::record::Misc;
use perf_abi::txn::Txn;
use perf_abi::weight::WeightStruct;
use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;
use perf_parse::write::SampleFields;
use serde_json::Value;

use crate::made::Made;
use crate::{perfdata, report};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    accesses_count_their_weights,
    lines_are_those_of_files_or_processes,
    rows_have_only_what_their_text_says,
    symbols_have_sizes_and_offsets,
    addresses_after_the_recorded_text_are_the_kernels,
    members_are_those_of_the_text,
];

const KERNEL: Misc = Misc(1);
const USER: Misc = Misc(2);
const SHARED: u32 = 1;
const PRIVATE: u32 = 2;
const READ_WRITE: u32 = 3;
const READ_EXECUTE: u32 = 5;

pub(crate) fn mapped(filename: &str, addr: u64, inode: u64, prot_flags: (u32, u32)) -> Mmap2<'_> {
    let maj = if inode == 0 { 0 } else { 8 };
    let id = FileId::Inode { maj, min: 0, ino: inode, ino_generation: 0 };
    let (len, pgoff) = (0x2000, 0x1000);
    Mmap2 {
        pid: 0,
        tid: 0,
        addr,
        len,
        pgoff,
        id,
        prot_flags: Some(prot_flags),
        reading: Reading::Certain,
        filename: filename.as_bytes(),
    }
}

fn access(ip: u64, addr: u64, weight: u32, source: DataSrc) -> SampleFields {
    SampleFields {
        ip: Some(ip),
        addr: Some(addr),
        period: Some(1000),
        data_src: Some(source),
        weight_struct: Some(WeightStruct(0).with_var1_dw(weight).with_var2_w(7).with_var3_w(3)),
        transaction: Some(Txn(if addr & 0x40 == 0 { 0 } else { 0x22 })),
        phys_addr: Some(addr ^ 0x5000_0000),
        data_page_size: Some(if addr < 0x20000 { 4096 } else { 2 << 20 }),
        code_page_size: Some(4096),
        ..SampleFields::default()
    }
}

/// A load that some cache had.
fn load(level: MemLvl, number: MemLvlNum) -> DataSrc {
    DataSrc(0)
        .with_op(MemOp::LOAD)
        .with_lvl(MemLvl::HIT | level)
        .with_lvl_num(number)
        .with_snoop(MemSnoop::NO_SNOOP)
        .with_dtlb(MemTlb::HIT | MemTlb::L1)
        .with_lock(MemLock::NA)
}

/// Two processes that share a file, have a private file at the same place, and memory without a file.
pub(crate) fn made() -> PathBuf {
    let mut made = Made::new().with_accesses();
    for tid in [7, 8] {
        made = made
            .comm(tid, if tid == 7 { "seven" } else { "eight" })
            .map2(tid, mapped("/code", 0x1000, 1, (READ_EXECUTE, PRIVATE)))
            .map2(tid, mapped("/shared", 0x10000 + (u64::from(tid == 8) << 12), 2, (READ_WRITE, SHARED)))
            .map2(tid, mapped("/private", 0x20000, 3, (READ_WRITE, PRIVATE)))
            .map2(tid, mapped("//anon", 0x30000, 0, (READ_WRITE, PRIVATE)));
    }
    let l1 = load(MemLvl::L1, MemLvlNum::L1);
    let locked = load(MemLvl::L3, MemLvlNum::L3).with_lock(MemLock::LOCKED).with_blk(MemBlk::DATA);
    made = made
        // One line of the shared file, by two processes at two addresses.
        .access(7, USER, access(0x1010, 0x10008, 10, l1))
        .access(8, USER, access(0x1010, 0x11010, 20, l1))
        // Private to the file, so that it is the same line too.
        .access(7, USER, access(0x1020, 0x20008, 30, locked))
        .access(8, USER, access(0x1020, 0x20030, 0, locked))
        // Two lines, as each process has its own memory.
        .access(7, USER, access(0x1030, 0x30040, 5, l1))
        .access(8, USER, access(0x1030, 0x30048, 6, l1))
        // Of the code, of nothing, and of the kernel.
        .access(7, USER, access(0x1040, 0x1080, 7, l1))
        .access(7, USER, access(0x1040, 0x50048, 8, l1))
        .access(7, KERNEL, access(0xffff_8000_0000_1000, 0x10008, 9, l1));
    made.file("accesses.data")
}

fn rows(args: &[&str]) -> Vec<String> {
    let file = made();
    let run = report(file.to_str().unwrap(), &[&["--mem-mode", "--no-symbols"], args].concat());
    assert_eq!((run.status, &*run.err), (0, ""), "{args:?}");
    let rows = run.out.lines().filter(|line| line.starts_with("  "));
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn accesses_count_their_weights() {
    let file = made();
    let out = report(file.to_str().unwrap(), &["--mem-mode", "--no-symbols", "-s", "+comm"]).out;
    // An access without a weight counts 1.
    assert!(out.contains("\n# Total weight : 96\n# Sort order   : local_weight,mem,"), "{out}");
    assert!(out.contains(",local_p_stage_cyc,comm\n"), "{out}");
    assert!(!out.contains("Event count"), "{out}");
    assert_eq!(
        rows(&["-s", "comm,local_weight", "-F", "period,comm,local_weight", "--comms", "eight"]),
        ["20 20", "6 6", "1 0"]
    );
    // The total has the accesses that are not selected.
    let run =
        report(file.to_str().unwrap(), &["--mem-mode", "--no-symbols", "-s", "comm", "--comms", "eight"]);
    assert!(run.out.contains("Total weight : 96\n"), "{}", run.out);
}

fn lines_are_those_of_files_or_processes() {
    assert_eq!(
        rows(&["-s", "dcacheline", "-F", "period,sample,dcacheline"]),
        [
            "9 1 [X] 0x0000000000010000",
            "5 1 [.] 0x0000000000030040",
            "6 1 [.] 0x0000000000030040",
            "7 1 [.] 0x0000000000001080",
            "30 2 [s] 0x0000000000001000",
            "31 2 [.] 0x0000000000001000",
            "8 1 [X] 0x0000000000050040",
        ]
    );
}

/// perf compares the level without its number: it would have these two in one row.
fn rows_have_only_what_their_text_says() {
    let file = Made::new()
        .with_accesses()
        .access(7, USER, access(0x1010, 0x1000, 3, load(MemLvl(0), MemLvlNum::PMEM)))
        .access(7, USER, access(0x1010, 0x1000, 4, load(MemLvl(0), MemLvlNum::RAM)))
        .file("levels.data");
    let run =
        report(file.to_str().unwrap(), &["--mem-mode", "--no-symbols", "-s", "mem", "-F", "period,mem"]);
    let rows: Vec<_> = run.out.lines().filter(|line| line.starts_with("  ")).map(str::trim).collect();
    assert_eq!(rows, ["4  RAM hit", "3  PMEM hit"], "{}", run.err);
}

/// The text of a kernel.
fn kernel() -> Mmap2<'static> {
    let (pid, addr) = (-1, 0xffff_ffff_8100_0000);
    let text = mapped("[kernel.kallsyms]_text", 0, 0, (0, 0));
    Mmap2 { pid, tid: pid, addr, len: 0x2000, pgoff: addr, ..text }
}

/// Writes a table of a kernel's symbols.
fn kallsyms(text: &str) -> PathBuf {
    let path = needs::folder().join("kallsyms");
    std::fs::write(&path, text).unwrap();
    path
}

/// The names are those of a table of the kernel's symbols.
fn symbols_have_sizes_and_offsets() {
    let text = "ffffffff81000000 T _stext\nffffffff81001000 T first\nffffffff81001040 T second\nffffffff81002000 T _etext\n";
    let symbols = kallsyms(text);
    let ip = 0xffff_ffff_8100_1010;
    let file = Made::new()
        .with_accesses()
        .kernel(kernel())
        .access(7, KERNEL, access(ip, ip + 0x40, 3, DataSrc(0)))
        .file("sizes.data");
    let args = ["--mem-mode", "--kallsyms", symbols.to_str().unwrap(), "-F"];
    let row = |keys: &str| {
        let run = report(file.to_str().unwrap(), &[&args[..], &[keys]].concat());
        let row = run.out.lines().find(|line| line.starts_with("  ")).unwrap_or_default().trim().to_owned();
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("symbol_size,symbol_iaddr,symbol_daddr,dso_size"), "64 [k] first [k] second 8192");
    assert_eq!(row("addr,dso_daddr"), "0xffffffff81001010 [kernel.kallsyms]");
}

/// perf 6.1 and 7.2 print `start_kernel ([kernel.kallsyms])`.
fn addresses_after_the_recorded_text_are_the_kernels() {
    let symbols =
        kallsyms("ffffffff81000000 T _stext\nffffffff81002000 T _etext\nffffffff81003000 T start_kernel\n");
    let ip = 0xffff_ffff_8100_3010;
    let file = Made::new()
        .with_accesses()
        .kernel(kernel())
        .access(7, KERNEL, access(ip, ip + 0x40, 3, DataSrc(0)))
        .access(7, KERNEL, access(ip + 0x1000_0000, 0, 3, DataSrc(0)))
        .file("after.data");
    let file = file.to_str().unwrap();
    let (of_kallsyms, threads) = (["--kallsyms", symbols.to_str().unwrap()], ["--threads", "1"]);
    let rows = "1000  [kernel.kallsyms]  start_kernel\n1000  [unknown]          0xffffffff91003010\n";
    for threads in [&[][..], &threads] {
        let args = [&["-F", "period,dso,sym", "-s", "dso,sym"], &of_kallsyms[..], threads].concat();
        let run = report(file, &args);
        let found = run.out.lines().filter(|line| line.starts_with("  "));
        let found: String = found.map(|line| format!("{}\n", line.trim())).collect();
        assert_eq!(found.replace("[k] ", ""), rows, "{}", run.err);
    }
    let printed = perfdata("script", file, &[&["-F", "ip,sym,dso,addr"][..], &of_kallsyms].concat());
    let first = printed.out.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>();
    assert_eq!(
        first,
        ["ffffffff81003050", "ffffffff81003010", "start_kernel", "([kernel.kallsyms])"],
        "{}",
        printed.err
    );
    let json = perfdata("script", file, &[&["--format", "jsonl"][..], &of_kallsyms].concat());
    assert!(json.out.contains("\"dso\":\"[kernel.kallsyms]\",\"sym\":\"start_kernel\""), "{}", json.out);
}

fn members_are_those_of_the_text() {
    let file = made();
    let keys = "mem,tlb,snoop,locked,blocked,dso_daddr,symbol_daddr,symbol_iaddr,dcacheline,phys_daddr,data_page_size,\
        local_ins_lat,p_stage_cyc,transaction,code_page_size,addr,dso_size,symbol_size,socket";
    let args = ["--mem-mode", "--no-symbols", "--format", "json", "-s", keys];
    let document: Value = serde_json::from_str(&report(file.to_str().unwrap(), &args).out).unwrap();
    let rows = document["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 9);
    let row = rows.iter().find(|row| row["daddr"] == 0x20008).unwrap();
    let expected = serde_json::json!({
        "self": [{"samples": 1, "period": 30, "percent": 100.0 * 30.0 / 96.0}],
        "mem": "L3 or L3 hit", "tlb": "L1 hit", "snoop": "None", "locked": "Yes", "blocked": "Data",
        "dso_daddr": "private", "symbol_daddr": null, "daddr": 0x20008, "symbol_iaddr": null, "iaddr": 0x1020,
        "dcacheline": 0x1000, "dcacheline_symbol": null, "phys_daddr": 0x5002_0008, "data_page_size": 2 << 20,
        "local_ins_lat": 7, "p_stage_cyc": 3, "transaction": "", "code_page_size": 4096, "addr": 0x1020,
        "dso_size": 0x2000, "symbol_size": null, "socket": null,
    });
    assert_eq!(*row, expected);
    let aborted = rows.iter().filter(|row| row["transaction"] == "TX CON NEITHER");
    assert_eq!(aborted.count(), 3);
}
