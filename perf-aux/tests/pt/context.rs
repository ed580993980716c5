//! Addresses and modes that packets leave out.

use perf_aux::pt::{CompressedIp, Context, IpCompression, LastIp, Packet, Packets};

/// The table "FUP/TIP IP Reconstruction" of the Intel SDM.
#[test]
fn addresses_of_every_compression() {
    const LAST: u64 = 0x1122_3344_5566_7788;
    let payload = 0x8765_4321_0fed_cba9;
    let expected = [
        None,
        Some(0x1122_3344_5566_cba9),
        Some(0x1122_3344_0fed_cba9),
        Some(0x0000_4321_0fed_cba9),
        Some(0x1122_4321_0fed_cba9),
        None,
        Some(payload),
        None,
    ];
    for (code, expected) in (0_u8..).zip(expected) {
        let compression = IpCompression(code);
        let size = compression.size();
        assert_eq!(size.is_none(), matches!(code, 5 | 7));
        let mut last = LastIp::default();
        last.apply(CompressedIp { compression: IpCompression::FULL, payload: LAST });
        let mask = size.map_or(0, |size| if size == 8 { u64::MAX } else { (1 << (8 * size)) - 1 });
        let ip = CompressedIp { compression, payload: payload & mask };
        assert_eq!(last.apply(ip), expected, "{code}");
        assert_eq!(last.get(), expected.or(Some(LAST)), "{code}");

        let mut unknown = LastIp::default();
        let needs_last = matches!(
            compression,
            IpCompression::UPDATE_16 | IpCompression::UPDATE_32 | IpCompression::UPDATE_48
        );
        assert_eq!(unknown.apply(ip), expected.filter(|_| !needs_last), "{code}");
        last.forget();
        assert_eq!(last.get(), None);
        last.reset();
        assert_eq!(
            last.apply(ip),
            expected.map(|_| if code == 3 { 0x4321_0fed_cba9 } else { payload & mask })
        );
    }
    let high = CompressedIp { compression: IpCompression::SIGN_EXTEND_48, payload: 0x8000_0000_0000 };
    assert_eq!(LastIp::default().apply(high), Some(0xffff_8000_0000_0000));
}

#[test]
fn modes() {
    let mut context = Context::default();
    let mut apply = |bytes: &[u8]| {
        let packet = Packets::new(bytes).next().unwrap().unwrap().packet;
        let ip = context.apply(&packet);
        (ip, context)
    };
    let (ip, without_last) = apply(&[0x2d, 1, 2]);
    assert!(ip.is_none() && without_last.enabled && without_last.last_ip.get().is_none());
    let (_, at_psb) = apply(&testdata::intel_pt::PSB);
    assert!(at_psb.in_psb && !at_psb.enabled && at_psb.last_ip.get() == Some(0));
    assert_eq!(apply(&[0x1d | 1 << 5, 1, 2]).0, Some(0x201));
    apply(&[0x99, 0x05]);
    apply(&[0x99, 0x21]);
    apply(&[0x02, 0x43, 3, 0, 0, 0, 0, 0]);
    apply(&[0x02, 0xc8, 1, 0, 0, 0, 0]);
    apply(&[0x02, 0x03, 0x20, 0]);
    let (_, after) = apply(&[0x02, 0x23]);
    assert!(!after.in_psb && after.enabled);
    assert_eq!(after.exec.map(|mode| (mode.bits(), mode.interrupts())), Some((64, true)));
    assert_eq!(after.transaction.map(|tsx| (tsx.in_transaction(), tsx.aborted())), Some((true, false)));
    assert_eq!(after.pip.map(|pip| (pip.cr3(), pip.is_guest())), Some((0x20, true)));
    assert_eq!(
        (after.vmcs.map(|vmcs| vmcs.address()), after.cbr.map(|cbr| cbr.ratio())),
        (Some(0x1000), Some(0x20))
    );
    assert!(!apply(&[0x01]).1.enabled);
    assert!(apply(&[0x11]).1.enabled);
    assert!(!apply(&[0x02, 0x83]).1.enabled);
    assert!(apply(&[0x0d]).1.enabled);
    assert!(!apply(&[0x02, 0xf3]).1.enabled);
}

#[test]
fn synchronisation() {
    let psb = testdata::intel_pt::PSB;
    // A block is open before the PSB, which is not at an even offset; another PSB follows.
    let trace = [&[0x02, 0x63, 0x81, 0x02][..], &psb, &[0x06], &psb[..15], &psb].concat();
    let mut packets = Packets::new(&trace);
    packets.next();
    assert!(packets.sync());
    assert_eq!((packets.offset(), packets.block(), packets.rest().len()), (4, None, trace.len() - 4));
    // It stays where a PSB is.
    assert!(packets.sync() && packets.offset() == 4);
    assert_eq!(packets.next().unwrap().unwrap().packet, Packet::Psb);
    assert!(packets.sync());
    // 15 bytes of a PSB and a whole one: the first 16 bytes that are one.
    assert_eq!(packets.offset(), 4 + 16 + 1 + 15);
    packets.next();
    assert!(!packets.sync() && packets.rest().is_empty() && packets.next().is_none());
}
