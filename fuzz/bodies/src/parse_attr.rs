//! An attr of any size in both byte orders: it is read and written back at the newest version and at its own.

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{BigEndian, Endian, LittleEndian};

/// `data` is an attr.
pub fn run(data: &[u8]) -> bool {
    check::<LittleEndian>(data);
    check::<BigEndian>(data);
    true
}

fn check<O: Endian>(bytes: &[u8]) {
    let Ok(read) = Attr::read::<O>(bytes) else { return };
    let attr = read.attr;
    let size = if attr.size == 0 { AttrVersion::VER0.size() } else { attr.size };
    assert!(size as usize <= bytes.len());
    assert_eq!(read.tail.len(), size.saturating_sub(AttrVersion::NEWEST.size()) as usize);

    let at = |version: AttrVersion| {
        let written = attr.write::<O>(version).expect("the version has room for every field that is set");
        let again = Attr::read::<O>(&written).expect("it was just written");
        assert_eq!(again.attr, Attr { size: version.size(), ..attr });
        assert!(again.tail.is_empty());
        written
    };
    at(AttrVersion::NEWEST);
    let oldest = attr.oldest_version();
    at(oldest);
    let own = AttrVersion::ALL.iter().copied().find(|version| version.size() >= size);
    assert!(oldest <= own.unwrap_or(AttrVersion::NEWEST));
    if AttrVersion::ALL.contains(&AttrVersion(attr.size)) {
        // Every bit is the same, including bits of unknown meaning.
        assert_eq!(*at(AttrVersion(attr.size)), bytes[..size as usize]);
    }
    // The meaning does not depend on the byte order.
    let little = attr.write::<LittleEndian>(AttrVersion::NEWEST).expect("the newest has room for all");
    let big = attr.write::<BigEndian>(AttrVersion::NEWEST).expect("the newest has room for all");
    assert_eq!(Attr::read::<LittleEndian>(&little), Attr::read::<BigEndian>(&big));
}
