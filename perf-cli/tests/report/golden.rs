//! The text for a few captures, as `check/report.sh` found it to be that of perf. `BLESS=1` writes it.

use std::fs;

use crate::report;

pub(crate) const TESTS: &[needs::Test] = needs::tests![output_is_as_it_was];

/// The name of the golden, the capture, and the options. Without symbols, as other machines have other files.
const GOLDENS: [(&str, &str, &[&str]); 19] = [
    ("branches", "synthetic/script_fields.le.data", &["-b"]),
    ("callchain", "captures/callchain.data", &["--no-children"]),
    ("caller", "captures/callchain.data", &["--sort", "comm,dso", "-g", "caller,2"]),
    ("fractal", "captures/callchain.data", &["--no-children", "-g", "fractal,5"]),
    ("group", "captures/group_read.data", &["--no-children", "-g", "none", "-n", "--show-total-period"]),
    ("no-group", "captures/group_read.data", &["--no-group", "--sort", "dso,sym", "--percent-limit", "2"]),
    ("tracepoints", "captures/raw.data", &[]),
    ("cgroup", "captures/cgroups.data", &["--sort", "cgroup,comm,dso"]),
    ("namespaces", "captures/namespaces.data", &["--sort", "cgroup_id,pid"]),
    ("fields", "captures/threads.dir", &["-F", "dso,overhead,overhead_sys,overhead_us,sample,period"]),
    ("separator", "captures/threads.dir", &["-t", ",", "--sort", "tid,tgid,dso"]),
    ("time", "captures/mem.data", &["--sort", "time,weight,cpu", "--ns", "--time-quantum", "1ms"]),
    ("memory", "synthetic/memory.le.data", &["--mem-mode"]),
    ("cachelines", "captures/mem.data", &["--mem-mode", "-g", "none", "--sort", "dcacheline,symbol_iaddr"]),
    ("data", "synthetic/memory.be.data", &["--mem-mode", "--sort", "phys_daddr,data_page_size,addr"]),
    ("addresses", "synthetic/script_fields.le.data", &["-b", "--sort", "addr_from,addr_to,srcline_from"]),
    (
        "socket",
        "captures/system_wide.data",
        &["--no-children", "--sort", "socket,dso,dso_size", "-g", "none"],
    ),
    (
        "latency",
        "synthetic/memory.le.data",
        &["--sort", "local_ins_lat,ins_lat,p_stage_cyc,transaction,code_page_size"],
    ),
    ("header", "captures/system_wide.data", &["--header", "--comms", "workload", "--percentage", "relative"]),
];

fn output_is_as_it_was() {
    let folder = testdata::path("").parent().unwrap().join("goldens/report");
    let mut differences = String::new();
    for (name, capture, args) in GOLDENS {
        let run = report(capture, &[&["--no-symbols"], args].concat());
        assert_eq!((run.status, &*run.err), (0, ""), "{capture} {args:?}");
        // The file's own time differs on each machine, and so do the files that stacks are judged by.
        let is_same =
            |line: &&str| !line.starts_with("# captured on ") && !line.contains(" of frames unmapped, ");
        let now: String = run.out.split_inclusive('\n').filter(is_same).take(80).collect();
        let path = folder.join(format!("{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(&folder).unwrap();
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
