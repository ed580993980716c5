//! Names of types in the BPF Type Format.
//!
//! Kernel: `include/uapi/linux/btf.h`, `Documentation/bpf/btf.rst`.

use std::collections::HashMap;

/// `BTF_MAGIC`.
const MAGIC: u16 = 0xeb9f;
/// Bytes of `struct btf_type`.
const TYPE: usize = 12;

/// Returns the names of the types with the given ids. Types without a name are missing, and so are those after a type of
/// an unknown kind. Reads each type once.
pub(crate) fn names(btf: &[u8], ids: &[u32]) -> HashMap<u32, Vec<u8>> {
    names_of(btf, ids).unwrap_or_default()
}

/// Returns `None` if the header does not fit the contents.
fn names_of(btf: &[u8], ids: &[u32]) -> Option<HashMap<u32, Vec<u8>>> {
    // `magic`, `version`, `flags`, `hdr_len`, `type_off`, `type_len`, `str_off`, `str_len`.
    if u16::from_ne_bytes(*btf.first_chunk()?) != MAGIC {
        return None;
    }
    let sections = btf.get(word(btf, 4)? as usize..)?;
    let section = |offset: usize| {
        let (start, len) = (word(btf, offset)? as usize, word(btf, offset + 4)? as usize);
        sections.get(start..start.checked_add(len)?)
    };
    let (mut types, strings) = (section(8)?, section(16)?);
    let last = ids.iter().max().copied().unwrap_or(0);
    let mut names = HashMap::new();
    for id in 1..=last {
        let (Some(name), Some(info)) = (word(types, 0), word(types, 4)) else { break };
        if ids.contains(&id) {
            let text = strings.get(name as usize..)?.split(|&byte| byte == 0).next().unwrap_or_default();
            names.extend((!text.is_empty()).then(|| (id, text.to_vec())));
        }
        let Some(rest) = following(info).and_then(|size| types.get(TYPE + size..)) else { break };
        types = rest;
    }
    Some(names)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word))
}

/// Returns how many bytes follow a `struct btf_type` with this `info`; `None` for an unknown kind.
fn following(info: u32) -> Option<usize> {
    let members = (info & 0xffff) as usize;
    Some(match info >> 24 & 0x1f {
        // INT, VAR, DECL_TAG
        1 | 14 | 17 => 4,
        // ARRAY
        3 => 12,
        // STRUCT, UNION, DATASEC, ENUM64
        4 | 5 | 15 | 19 => 12 * members,
        // ENUM, FUNC_PROTO
        6 | 13 => 8 * members,
        // PTR, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FLOAT, TYPE_TAG
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    /// Returns types: an int, a struct of two members, a prototype of one parameter, and a function.
    fn btf() -> Vec<u8> {
        let strings = b"\0int\0pair\0first\0main\0";
        let mut types: Vec<u32> = vec![1, 1 << 24, 4, 32];
        types.extend([5, 4 << 24 | 2, 8, 10, 1, 0, 10, 1, 32]);
        types.extend([0, 13 << 24 | 1, 1, 10, 1]);
        types.extend([16, 12 << 24, 3]);
        let types: Vec<u8> = types.into_iter().flat_map(u32::to_ne_bytes).collect();
        let mut btf = 0xeb9f_u16.to_ne_bytes().to_vec();
        btf.extend([1, 0]);
        let sizes = [24, 0, types.len(), types.len(), strings.len()];
        btf.extend(sizes.iter().flat_map(|size| u32::try_from(*size).unwrap().to_ne_bytes()));
        btf.extend(types);
        btf.extend(strings);
        btf
    }

    #[test]
    fn a_function_after_other_types() {
        let names = names(&btf(), &[4, 2, 3, 9]);
        assert_eq!(names[&4], b"main");
        assert_eq!(names[&2], b"pair");
        assert_eq!(names.len(), 2, "a prototype has no name, and there is no type 9");
    }

    #[test]
    fn an_unknown_kind_ends_it() {
        let mut btf = btf();
        let at = 24 + 16 + 4;
        btf[at..at + 4].copy_from_slice(&(31_u32 << 24).to_ne_bytes());
        assert_eq!(names(&btf, &[1, 2, 4]).into_keys().max(), Some(2));
    }

    #[test]
    fn cut_anywhere() {
        let btf = btf();
        for len in 0..btf.len() - 1 {
            names(&btf[..len], &[1, 2, 3, 4, u32::MAX]);
        }
        assert!(names(&btf[..btf.len() - 1], &[4]).is_empty());
        assert!(names(b"not types of a program", &[1]).is_empty());
    }
}
