//! The output for a few captures, as `check/script.sh` found it to be that of perf. `BLESS=1` writes it.

use std::fs;

use crate::perfdata;

pub(crate) const TESTS: &[needs::Test] = needs::tests![output_is_as_it_was];

/// The name of the golden, the capture, and the options.
const GOLDENS: [(&str, &str, &[&str]); 18] = [
    ("callchain", "captures/callchain.data", &["-F", "-sym,-symoff"]),
    ("breakpoint", "captures/breakpoint.data", &["-F", "+addr,+misc,-symoff"]),
    ("counts", "captures/perf_stat.data", &[]),
    ("header", "captures/everything.data", &["--header-only"]),
    ("header-of-a-pipe", "captures/tracing.pipe.data", &["-F", "comm,tid,time", "--header"]),
    ("tod", "captures/everything.data", &["-F", "comm,tid,tod,event", "--ns"]),
    ("access", "captures/mem.data", &["-F", "tid,addr,dso,data_src,weight,ins_lat,retire_lat"]),
    ("sizes", "captures/mem.data", &["-F", "ip,phys_addr,data_page_size,code_page_size"]),
    ("cgroup", "captures/cgroups.data", &["-F", "comm,cgroup,ip,dso"]),
    ("memory", "synthetic/memory.le.data", &["-F", "tid,data_src,weight"]),
    ("branches", "synthetic/branches.le.data", &["-F", "tid,brstack"]),
    ("branches-symbols", "synthetic/branches.be.data", &["-F", "tid,brstacksym,dso"]),
    ("registers", "captures/intr_regs.data", &["-F", "tid,iregs,flags"]),
    ("registers-32", "captures/user_regs_32.data", &["-F", "ip,uregs"]),
    ("bpf-output", "synthetic/script_fields.le.data", &["-F", "+bpf-output,-sym,-symoff"]),
    ("kernel-branches", "synthetic/script_fields.be.data", &["-F", "ip,brstackoff,dso"]),
    (
        "latencies",
        "synthetic/script_fields.le.data",
        &["-F", "raw:tid,weight,ins_lat,retire_lat", "-F", "hw:", "-F", "sw:"],
    ),
    ("json", "captures/cgroups.data", &["--format", "jsonl"]),
];

fn output_is_as_it_was() {
    let folder = testdata::path("").parent().unwrap().join("goldens/script");
    let mut differences = String::new();
    for (name, capture, args) in GOLDENS {
        // No file of this machine may be looked into.
        let run = perfdata("script", capture, &[args, &["--symfs", "/dev/null"][..]].concat());
        assert_eq!((run.status, &*run.err), (0, ""), "{capture} {args:?}");
        // The file's own time differs on each machine.
        let lines = run.out.split_inclusive('\n').filter(|line| !line.starts_with("# captured on "));
        let now: String = lines.take(60).collect();
        let path = folder.join(format!("{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &now).unwrap();
        }
        let before = fs::read_to_string(&path).unwrap_or_default();
        if before != now {
            let same = before.lines().zip(now.lines()).take_while(|(before, now)| before == now).count();
            let shown = |text: &str| text.lines().nth(same).map(str::to_owned);
            differences +=
                &format!("{name}, line {}: {:?}, was {:?}\n", same + 1, shown(&now), shown(&before));
        }
    }
    assert!(differences.is_empty(), "write the goldens with BLESS=1:\n{differences}");
}
