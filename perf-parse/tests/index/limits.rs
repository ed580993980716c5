//! The limits on the lists of a chunk.

use perf_parse::index::IndexIdentity;

use crate::{index, ring, round, sample};

#[test]
fn threads_up_to_256() {
    for (count, is_listed) in [(255, true), (256, true), (257, false)] {
        let data: Vec<_> = (0..count).flat_map(|tid| sample(tid * 2 - 4, 7, 0)).collect();
        let reader = ring(&data);
        let index = index(&reader);
        let chunk = index.chunks().next().unwrap();
        assert_eq!(chunk.threads().map(Iterator::count), is_listed.then_some(count as usize));
        assert_eq!(chunk.cpus().unwrap().collect::<Vec<_>>(), [0]);
        assert!(chunk.may_hold(&.., None, Some(-4)));
        assert_eq!(chunk.may_hold(&.., None, Some(1)), !is_listed);
    }
}

#[test]
fn cpus_up_to_256() {
    for (count, is_listed) in [(255, true), (256, true), (257, false)] {
        let data: Vec<_> = (0..count).rev().flat_map(|cpu| sample(1, 7, u32::MAX - cpu)).collect();
        let reader = ring(&data);
        let index = index(&reader);
        let chunk = index.chunks().next().unwrap();
        assert_eq!(chunk.cpus().map(Iterator::count), is_listed.then_some(count as usize));
        assert!(chunk.may_hold(&.., Some(u32::MAX), None));
        assert_eq!(chunk.may_hold(&.., Some(1), None), !is_listed);
    }
}

#[test]
fn a_chunk_of_the_smallest_records_lists_them_all() {
    let data = round().repeat(1 << 14);
    let reader = ring(&data);
    let index = index(&reader);
    let listed: Vec<_> = index.chunks().map(|chunk| chunk.others().unwrap().count()).collect();
    assert_eq!(listed, [8192, 8192]);
}

/// The captures that make the largest index: many chunks with many threads, and records that are not samples.
#[test]
fn an_index_is_small_whatever_the_capture_contains() {
    let types = (0..1_u32 << 16).flat_map(|number| {
        let kind = (u32::MAX - number).to_le_bytes();
        [kind[0], kind[1], kind[2], kind[3], 0, 0, 8, 0]
    });
    let threads = (0..1 << 14).flat_map(|number: u32| {
        let hash = number.wrapping_mul(0x9e37_79b9);
        sample(hash as i32, u64::from(hash) << 32, hash.rotate_left(16))
    });
    for data in [types.collect::<Vec<_>>(), threads.collect(), round().repeat(1 << 16)] {
        let reader = ring(&data);
        let size = index(&reader).encode(&IndexIdentity::new(&reader, data.len() as u64, 0)).len();
        assert!(size < data.len() + 1024, "{size} of {}", data.len());
    }
}
