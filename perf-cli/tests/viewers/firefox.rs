//! `--to firefox`.

use serde_json::Value;

use crate::made::Made;
use crate::{HOSTILE, Sums, add, captures, export, exported, list, number, same_bytes, text};

/// Returns a column of a table, after checking that it has the length of the table.
fn column<'a>(table: &'a Value, name: &str) -> &'a [Value] {
    let column = list(&table[name]);
    assert_eq!(column.len() as u64, number(&table["length"]), "{name}");
    column
}

/// Checks that a column has rows of a table with this many; `absent` where there is none.
fn check_rows(column: &[Value], rows: usize, absent: &Value) {
    for row in column {
        assert!(row == absent || number(row) < rows as u64, "{row}: {rows} rows");
    }
}

/// Checks all tables of a profile, and that no row is of another table's end.
fn check(profile: &Value) {
    assert_eq!(profile["meta"]["preprocessedProfileVersion"], 60);
    let shared = &profile["shared"];
    let strings = list(&shared["stringArray"]);
    let texts: std::collections::BTreeSet<_> = strings.iter().map(text).collect();
    assert_eq!(texts.len(), strings.len(), "each once");
    let table = |name: &str, columns: &[&str]| {
        let table = &shared[name];
        columns.iter().for_each(|name| {
            column(table, name);
        });
        assert_eq!(table.as_object().unwrap().len(), columns.len() + 1, "{name}");
        number(&table["length"]) as usize
    };
    let resources = table("resourceTable", &["type", "lib", "name", "host"]);
    let of_function = ["name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber"];
    let functions = table("funcTable", &of_function);
    let of_frame = ["address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol"];
    let frames = table("frameTable", &[&of_frame[..], &["innerWindowID", "line", "column"]].concat());
    let symbols = table("nativeSymbols", &["address", "functionSize", "libIndex", "name"]);
    let sources = table("sources", &["id", "filename"]);
    let stacks = table("stackTable", &["frame", "prefix"]);
    let (null, minus) = (Value::Null, Value::from(-1));
    let libs = list(&profile["libs"]).len();
    let categories = list(&profile["meta"]["categories"]).len();
    for (name, of, rows, absent) in [
        ("resourceTable", "lib", libs, &null),
        ("resourceTable", "name", strings.len(), &null),
        ("funcTable", "name", strings.len(), &null),
        ("funcTable", "resource", resources, &minus),
        ("funcTable", "source", sources, &null),
        ("frameTable", "func", functions, &null),
        ("frameTable", "category", categories, &null),
        ("frameTable", "nativeSymbol", symbols, &null),
        ("frameTable", "address", 1 << 32, &minus),
        ("nativeSymbols", "libIndex", libs, &null),
        ("nativeSymbols", "name", strings.len(), &null),
        ("sources", "filename", strings.len(), &null),
        ("stackTable", "frame", frames, &null),
    ] {
        check_rows(column(&shared[name], of), rows, absent);
    }
    for (prefix, row) in column(&shared["stackTable"], "prefix").iter().zip(0..) {
        assert!(prefix.is_null() || number(prefix) < row, "callers are before");
    }
    let mut ids = std::collections::BTreeSet::new();
    let mut main_threads = std::collections::BTreeSet::new();
    for thread in list(&profile["threads"]) {
        assert!(ids.insert(text(&thread["tid"])), "a thread has an id of its own");
        let is_new = thread["isMainThread"] == false || main_threads.insert(text(&thread["pid"]));
        assert!(is_new, "a process has one main thread");
        let (samples, markers) = (&thread["samples"], &thread["markers"]);
        check_rows(column(samples, "stack"), stacks, &null);
        column(samples, "weight");
        if samples.get("threadCPUDelta").is_some() {
            column(samples, "threadCPUDelta");
        }
        check_rows(column(markers, "name"), strings.len(), &null);
        check_rows(column(markers, "category"), categories, &null);
        let ends = column(markers, "endTime").iter().zip(column(markers, "startTime"));
        for ((phase, data), (end, start)) in
            column(markers, "phase").iter().zip(column(markers, "data")).zip(ends)
        {
            let is_off_cpu = data["type"] == "off-cpu";
            assert_eq!((phase == 1, !end.is_null()), (is_off_cpu, is_off_cpu));
            assert!(!is_off_cpu || start.as_f64() <= end.as_f64());
            if let Some(cause) = data.get("cause") {
                check_rows(&[cause["stack"].clone()], stacks, &minus);
            }
        }
        for times in [column(samples, "time"), column(markers, "startTime")] {
            let times: Vec<_> = times.iter().map(|time| time.as_f64().unwrap()).collect();
            assert!(times.is_sorted() && times.iter().all(|time| *time >= 0.0));
        }
    }
}

/// Returns the event whose samples are shown.
fn shown(profile: &Value) -> &str {
    text(&profile["meta"]["extra"][0]["entries"][0]["value"])
}

/// Returns what the threads have: samples of the event that is shown, and periods of the others as markers.
fn sums(profile: &Value) -> Sums {
    let mut sums = Sums::new();
    let strings = list(&profile["shared"]["stringArray"]);
    for thread in list(&profile["threads"]) {
        for (weight, row) in list(&thread["samples"]["weight"]).iter().zip(0..) {
            let period = number_or_0(&thread["samples"]["threadCPUDelta"][row]);
            add(&mut sums, shown(profile), number(weight), period);
        }
        let markers = &thread["markers"];
        for (name, data) in list(&markers["name"]).iter().zip(list(&markers["data"])) {
            let name = text(&strings[number(name) as usize]);
            // Tracepoints that are shown are markers too, with their texts. Another event may have the same name.
            if data["type"] == "sample" && (name != shown(profile) || data.get("text").is_none()) {
                add(&mut sums, name, 1, number(&data["period"]));
            }
        }
    }
    sums
}

fn number_or_0(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

#[test]
fn all_samples_of_all_captures_are_written() {
    let (mut with_cpu, mut with_markers, mut by_name) = (0, 0, 0);
    for (path, reported) in captures() {
        let profile = exported("firefox", &path);
        check(&profile);
        let markers: u64 =
            list(&profile["threads"]).iter().map(|thread| number(&thread["markers"]["length"])).sum();
        with_markers += u64::from(markers > 0);
        let (shown, mut written, mut reported) = (shown(&profile), sums(&profile), reported);
        let has_cpu =
            list(&profile["threads"]).iter().any(|it| it["samples"].get("threadCPUDelta").is_some());
        with_cpu += u64::from(has_cpu);
        // Only clocks and cycles have CPU times.
        for sums in [&mut written, &mut reported].into_iter().filter(|_| !has_cpu) {
            sums.entry(shown.to_owned()).or_default().1 = 0;
        }
        assert_eq!(written, reported, "{}", path.display());
        by_name += 1;
    }
    let counts = (with_cpu, with_markers, by_name);
    assert!(with_cpu > 10 && with_markers > 3 && by_name > 30, "{counts:?}");
}

#[test]
fn the_bytes_are_the_same_on_any_number_of_threads() {
    same_bytes("firefox");
}

#[test]
fn names_are_escaped_and_renamed_threads_are_others() {
    let made = Made::new().comm(7, HOSTILE.0).map(7, HOSTILE.0).sample(7, 3, &[0x1100, 0x1200]);
    let profile = exported("firefox", &made.comm(7, "later").sample(7, 4, &[0x1100]).file("hostile.data"));
    check(&profile);
    let threads = list(&profile["threads"]);
    let of = |key| threads.iter().map(|thread| text(&thread[key])).collect::<Vec<_>>();
    assert_eq!(of("name"), [HOSTILE.1, "later"]);
    assert_eq!(of("processName"), [HOSTILE.1, "later"]);
    assert_eq!(of("pid"), ["7", "7.1"]);
    assert_eq!(of("tid"), ["7", "7.1"]);
    assert_eq!(profile["libs"][0]["name"], HOSTILE.1);
    assert_eq!(profile["libs"][0]["codeId"], Value::Null);
    assert_eq!(profile["libs"][0]["breakpadId"], "0".repeat(33));
    // In microseconds after the first sample: the name, and the sample with it.
    assert_eq!(threads[1]["samples"]["time"], serde_json::json!([0.002]));
    assert_eq!(threads[1]["samples"]["threadCPUDelta"], serde_json::json!([4]));
    assert_eq!(profile["meta"]["sampleUnits"]["threadCPUDelta"], "ns");
}

#[test]
fn switches_and_tracepoints_are_markers() {
    let profile = exported("firefox", &testdata::path("switch.data"));
    let of_type = |profile: &Value, kind: &str| -> Vec<Value> {
        let threads = list(&profile["threads"]).iter();
        let data = threads.flat_map(|thread| list(&thread["markers"]["data"]).to_vec());
        data.filter(|data| data["type"] == kind).collect()
    };
    let off_cpu = of_type(&profile, "off-cpu");
    assert!(!off_cpu.is_empty());
    assert!(off_cpu.iter().all(|data| data["text"] == "waits" || data["text"] == "preempted"));
    // Each is a gap between samples, too.
    let mut gaps = 0;
    for thread in list(&profile["threads"]) {
        let (samples, markers) = (&thread["samples"], &thread["markers"]);
        let rows = list(&samples["time"]).iter().zip(list(&samples["weight"])).zip(list(&samples["stack"]));
        let empty = rows.filter(|((_, weight), _)| **weight == 0).map(|((time, _), stack)| {
            assert!(stack.is_null());
            time.as_f64().unwrap()
        });
        let starts = list(&markers["data"]).iter().zip(list(&markers["startTime"]));
        let starts =
            starts.filter(|(data, _)| data["type"] == "off-cpu").map(|(_, time)| time.as_f64().unwrap());
        let first = samples["time"].get(0).and_then(Value::as_f64);
        let expected: Vec<_> = starts.filter(|start| first.is_some_and(|first| first <= *start)).collect();
        let empty: Vec<_> = empty.collect();
        assert_eq!(empty, expected);
        gaps += empty.len();
    }
    assert!(gaps > 0);
    let path = testdata::path("tracing.pipe.data");
    let (_, script, _) = crate::run(&["script", "-F", "trace", path.to_str().unwrap()]);
    let texts: Vec<_> = script.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut texts: Vec<_> = texts.into_iter().map(ToOwned::to_owned).collect();
    let marked = of_type(&exported("firefox", &path), "sample");
    let mut marked: Vec<_> = marked.iter().map(|data| text(&data["text"]).trim().to_owned()).collect();
    texts.sort();
    marked.sort();
    assert!(!texts.is_empty());
    assert_eq!(marked, texts);
}

#[test]
fn several_captures_are_refused() {
    let path = testdata::path("callchain.data");
    let (status, out, errors) = export("firefox", &[&path, &path], &[]);
    assert_eq!((status, &*out), (1, ""));
    assert!(errors.contains("--to firefox writes one capture"), "{errors}");
}
