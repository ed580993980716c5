//! A formatter: writes the bytes of several sources as frames, as the chapter D4 of Arm's IHI 0029 describes it.

/// Writes bytes with their sources. `choices` decide where the format leaves a choice: an id of the current source again, and
/// whether a new id takes effect before or after the next byte.
pub(crate) fn frames(bytes: &[(u8, u8)], mut choices: impl FnMut() -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut frame, mut source, mut place) = ([0_u8; 16], None, 0);
    let mut bytes = bytes.iter().copied().peekable();
    // Whether the source has a byte since its id. OpenCSD refuses an id without bytes.
    let mut has_bytes = false;
    // The padding at the end has the id 0.
    while bytes.peek().is_some() || place != 0 {
        let (id, byte) = bytes.peek().copied().unwrap_or((0, 0));
        if source != Some(id) || (has_bytes && choices() && choices() && choices()) {
            // An id at an even place: the byte after it, if there is one in the frame, is of the new source.
            frame[place] = id << 1 | 1;
            source = Some(id);
            has_bytes = place < 14;
            if place == 14 {
                place = 16;
            } else {
                bytes.next();
                frame[place + 1] = byte;
                place += 2;
            }
        } else {
            let mut rest = bytes.clone();
            rest.next();
            let following = rest.peek().map_or(0, |(id, _)| *id);
            if place < 14 && following != id && bytes.peek().is_some() {
                // This byte is the last of its source. It goes to the odd place, after the id of the next source.
                frame[place] = following << 1 | 1;
                frame[15] |= 1 << (place / 2);
                frame[place + 1] = byte;
                source = Some(following);
                has_bytes = false;
                bytes.next();
                place += 2;
            } else {
                has_bytes = true;
                frame[place] = byte & 0xfe;
                frame[15] |= (byte & 1) << (place / 2);
                bytes.next();
                if place == 14 {
                    place = 16;
                } else {
                    let (_, byte) = bytes.next().unwrap_or((0, 0));
                    frame[place + 1] = byte;
                    place += 2;
                }
            }
        }
        if place == 16 {
            out.extend(frame);
            (frame, place) = ([0; 16], 0);
        }
    }
    out
}
