//! What the tests have in common.

use perf_aux::pt::{Config, Info, Packet, PacketErrorKind, Packets};
use perf_parse::abi::auxtrace::AuxtraceType;
use perf_parse::abi::endian::Endianness;
use perf_parse::list::List;
use perf_parse::record::user::AuxtraceInfo;
use testdata::intel_pt::{self, WITHOUT_BRANCHES};

/// A packet without its place, or the reason why there is none.
pub(crate) type Found = Result<Packet, PacketErrorKind>;

/// Returns all packets of a trace.
pub(crate) fn packets(trace: &[u8]) -> Vec<Found> {
    Packets::new(trace).map(|found| found.map(|found| found.packet).map_err(|error| error.kind)).collect()
}

/// Returns the only packet of a trace.
pub(crate) fn packet(trace: &[u8]) -> Packet {
    match packets(trace)[..] {
        [Ok(packet)] => packet,
        ref others => panic!("{trace:02x?}: {others:?}"),
    }
}

/// Returns a record with these words, which stay in memory.
pub(crate) fn record(words: &[u64]) -> AuxtraceInfo<'static> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    AuxtraceInfo { kind: AuxtraceType::INTEL_PT, words: List::new_in(Endianness::Little, bytes.leak()) }
}

/// The parameters of the captures of the testdata: a TSC of 2 GHz, 20 ticks of it for one of the crystal clock.
pub(crate) fn info() -> Info<'static> {
    Info::new(&record(&intel_pt::info())).unwrap()
}

/// The same, changed.
pub(crate) fn changed(change: impl FnOnce(&mut Info<'static>)) -> Info<'static> {
    let mut info = info();
    change(&mut info);
    info
}

/// The event of the captures of the testdata, with an MTC period of 3.
pub(crate) const CONFIG: Config = Config(WITHOUT_BRANCHES);
