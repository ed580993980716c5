//! The threads that read the rings of a machine with two packages of two cores.

use super::Folder;
use crate::{ThreadMask, ThreadSpec};

fn machine() -> Folder {
    let folder = Folder::new();
    for cpu in 0..8 {
        let package = if cpu < 4 { "0-3" } else { "4-7" };
        let core = format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1);
        let topology = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        folder.put(&format!("{topology}/package_cpus_list"), package.as_bytes());
        // As before Linux 5.3.
        folder.put(&format!("{topology}/thread_siblings_list"), core.as_bytes());
    }
    folder.put("sys/devices/system/node/node0/cpulist", b"0-1,4-5\n");
    folder.put("sys/devices/system/node/node1/cpulist", b"2-3,6-7\n");
    // A node of memory alone.
    folder.put("sys/devices/system/node/node2/cpulist", b"\n");
    folder
}

/// Returns the cpus of each thread. Each runs on the cpus whose rings it reads.
fn cpus(spec: &str, cpus: &[u32]) -> Vec<Vec<u32>> {
    let masks = spec.parse::<ThreadSpec>().unwrap().masks_in(&machine().0, cpus).unwrap();
    assert!(masks.iter().all(|mask| mask.cpus == mask.affinity));
    masks.into_iter().map(|mask| mask.cpus).collect()
}

fn error(spec: &str, cpus: &[u32]) -> String {
    let masks = spec.parse::<ThreadSpec>().and_then(|spec| spec.masks_in(&machine().0, cpus));
    masks.unwrap_err().to_string()
}

#[test]
fn layouts_of_the_machine() {
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    assert_eq!(cpus("", &[0, 5]), [[0], [5]]);
    assert_eq!(cpus("CPU", &[2]), [[2]]);
    assert_eq!(cpus("core", &all), [[0, 1], [2, 3], [4, 5], [6, 7]]);
    assert_eq!(cpus("package", &all), [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert_eq!(cpus("numa", &all), [[0, 1, 4, 5], [2, 3, 6, 7]]);
    // Those of other cpus have no thread.
    assert_eq!(cpus("core", &[1, 6, 7]), [vec![1], vec![6, 7]]);
    assert!(error("core", &[0, 9]).contains("no cores with cpu 9"));
}

#[test]
fn masks() {
    let spec: ThreadSpec = "0,2-4/2-4:1,5-7,99/5-7".parse().unwrap();
    let masks = spec.masks(&[0, 1, 2, 4, 7]).unwrap();
    let [first, second] = [(vec![0, 2, 4], vec![2, 4]), (vec![1, 7], vec![7])]
        .map(|(cpus, affinity)| ThreadMask { cpus, affinity });
    assert_eq!(masks, [first, second]);
}

#[test]
fn masks_that_are_no_masks() {
    for text in ["0", "0/", "/0", "0/0:", "0/0:1", "0-/0", "cores", "0/1/2"] {
        assert!(text.parse::<ThreadSpec>().is_err(), "{text}");
    }
    assert_eq!(error("0/0:5/0", &[0]), "mask 2: has none of the recorded CPUs among its CPUs to read");
    assert_eq!(error("0/5", &[0]), "mask 1: has none of the recorded CPUs among its CPUs to run on");
    assert_eq!(error("0-1/0:1/1", &[0, 1]), "mask 2: another mask reads CPU 1 too");
    assert_eq!(error("0/0-1:1/1", &[0, 1]), "mask 2: the thread of another mask runs on CPU 1 too");
}
