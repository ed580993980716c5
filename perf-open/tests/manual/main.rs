//! The tables in the crate's documentation contain every name of the manual page. rustdoc checks that the linked items
//! exist.
#![cfg(target_os = "linux")]

use std::collections::HashSet;

use perf_open::abi::Name;
use perf_open::abi::attr::{AttrFlags, AuxAction};
use perf_open::abi::branch::BranchSampleType;
use perf_open::abi::breakpoint::{BreakpointLen, BreakpointType};
use perf_open::abi::event::{EventType, HwCacheId, HwCacheOpId, HwCacheOpResultId, HwId, SwId};
use perf_open::abi::ioctl::{IocFlags, Request};
use perf_open::abi::mmap_page::Capabilities;
use perf_open::abi::open::OpenFlags;
use perf_open::abi::read_format::ReadFormat;
use perf_open::abi::sample_type::SampleType;

const TABLE: &str = include_str!("../../src/manual.md");
/// The names in the manual page, from its version of 2013 and that of Linux 6.
const MANUAL: &str = include_str!("names.txt");

/// Returns the words in backticks in the first column of the tables.
fn told() -> HashSet<&'static str> {
    let first_columns = TABLE.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let quoted = first_columns.flat_map(|column| column.split('`').skip(1).step_by(2));
    quoted.flat_map(|code| code.split(' ')).map(|word| word.trim_end_matches(['/', ','])).collect()
}

fn missing<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let told = told();
    names.into_iter().filter(|name| !told.contains(name)).collect()
}

#[test]
fn every_name_of_the_manual_is_in_the_table() {
    let names: Vec<_> = MANUAL.lines().collect();
    assert!(names.len() > 250);
    assert_eq!(missing(names), [""; 0]);
}

#[test]
fn every_constant_that_an_event_is_opened_with_is_in_the_table() {
    let lists: [&[Name]; 15] = [
        AttrFlags::NAMES,
        AuxAction::NAMES,
        BranchSampleType::NAMES,
        BreakpointLen::NAMES,
        BreakpointType::NAMES,
        EventType::NAMES,
        HwId::NAMES,
        SwId::NAMES,
        HwCacheId::NAMES,
        HwCacheOpId::NAMES,
        HwCacheOpResultId::NAMES,
        IocFlags::NAMES,
        OpenFlags::NAMES,
        ReadFormat::NAMES,
        SampleType::NAMES,
    ];
    assert_eq!(missing(lists.into_iter().flatten().map(|name| name.c_name)), [""; 0]);
    assert_eq!(missing(Request::ALL.map(|request| request.c_name)), [""; 0]);
    assert_eq!(missing(Capabilities::NAMES.iter().map(|name| name.c_name)), [""; 0]);
}

#[test]
fn a_name_that_is_not_there_would_be_missed() {
    assert_eq!(missing(["PERF_SAMPLE_IP", "PERF_SAMPLE_NONSENSE"]), ["PERF_SAMPLE_NONSENSE"]);
}
