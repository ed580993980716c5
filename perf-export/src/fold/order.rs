//! The order of lines by their bytes, without the lines.

/// The ranks of names where a line ends after them, and where a semicolon follows.
pub(super) struct NameRanks([Vec<u32>; 2]);

impl NameRanks {
    /// Ranks names that have no semicolons, each given once.
    pub(super) fn new(names: &[Vec<u8>]) -> Self {
        let mut keys: Vec<(Vec<u8>, usize, bool)> = Vec::with_capacity(2 * names.len());
        for (number, name) in names.iter().enumerate() {
            keys.push((name.clone(), number, false));
            keys.push(([name, &b";"[..]].concat(), number, true));
        }
        keys.sort_unstable();
        let mut ranks = [vec![0; names.len()], vec![0; names.len()]];
        for (rank, (_, name, goes_on)) in (0..).zip(keys) {
            if let Some(place) = ranks.get_mut(usize::from(goes_on)).and_then(|ranks| ranks.get_mut(name)) {
                *place = rank;
            }
        }
        Self(ranks)
    }

    /// Returns the rank of a name by its number.
    pub(super) fn of(&self, name: u32, goes_on: bool) -> u32 {
        let ranks = self.0.get(usize::from(goes_on));
        ranks.and_then(|ranks| ranks.get(name as usize)).copied().unwrap_or(0)
    }
}

/// A name in a tree: as the end of a line, or with a semicolon and the names that follow.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct OrderedName {
    /// The last one first, as they are taken from the end of a list.
    from_last: u32,
    node: u32,
    goes_on: bool,
}

/// Returns the ranks of lines, by the nodes of a tree at which they end; 0 for other nodes. `nodes` are the caller and the
/// name of each, callers before what they call; the first one is the root, which is no name. `is_end` tells where lines end.
pub(super) fn ranks_of_lines(nodes: &[(u32, u32)], is_end: &[bool], names: &NameRanks) -> Vec<u32> {
    let of_tree = || (0_u32..).zip(nodes).skip(1);
    let mut is_caller = vec![false; nodes.len()];
    for (_, &(caller, _)) in of_tree() {
        if let Some(place) = is_caller.get_mut(caller as usize) {
            *place = true;
        }
    }
    let is = |list: &[bool], node: u32| list.get(node as usize) == Some(&true);
    let kinds = |node: u32| {
        [(is_end, false), (&is_caller[..], true)].map(|(list, goes_on)| (is(list, node), goes_on))
    };
    let items_of =
        |node: u32| kinds(node).into_iter().filter(|&(is_there, _)| is_there).map(|(_, goes_on)| goes_on);
    // Where the items of each caller end, counted first and then filled from their ends.
    let mut ends = vec![0_u32; nodes.len()];
    for (node, &(caller, _)) in of_tree() {
        if let Some(count) = ends.get_mut(caller as usize) {
            *count += items_of(node).count() as u32;
        }
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    let mut starts = ends.clone();
    let mut items = vec![OrderedName::default(); sum as usize];
    for (node, &(caller, name)) in of_tree() {
        for goes_on in items_of(node) {
            let item = OrderedName { from_last: u32::MAX - names.of(name, goes_on), node, goes_on };
            let Some(start) = starts.get_mut(caller as usize) else { continue };
            *start -= 1;
            if let Some(place) = items.get_mut(*start as usize) {
                *place = item;
            }
        }
    }
    for (&start, &end) in starts.iter().zip(&ends) {
        items.get_mut(start as usize..end as usize).unwrap_or_default().sort_unstable();
    }
    let called = |node: u32| {
        let range = starts.get(node as usize).zip(ends.get(node as usize));
        range.and_then(|(&start, &end)| items.get(start as usize..end as usize)).unwrap_or_default()
    };
    let mut ranks = vec![0; nodes.len()];
    let mut next = 1;
    let mut stack = called(0).to_vec();
    while let Some(OrderedName { node, goes_on, .. }) = stack.pop() {
        if goes_on {
            stack.extend_from_slice(called(node));
        } else if let Some(place) = ranks.get_mut(node as usize) {
            *place = next;
            next += 1;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names with bytes below and above that of the semicolon, one the start of another.
    #[test]
    fn lines_have_the_order_of_their_bytes() {
        let names = ["a", "a b", "a(b", "ab", "", "b", "\u{e9}", "a<"].map(|name| name.as_bytes().to_vec());
        // Each name under the root, and below each of these twice.
        let mut nodes = vec![(0, 0)];
        let mut level = 0..1;
        for _ in 0..3 {
            let callers = level.clone();
            let start = nodes.len() as u32;
            for caller in callers {
                nodes.extend((0..names.len() as u32).map(|name| (caller, name)));
            }
            level = start..nodes.len() as u32;
        }
        let ends: Vec<_> = (0..nodes.len()).map(|node| node % 3 > 0).collect();
        let ranks = ranks_of_lines(&nodes, &ends, &NameRanks::new(&names));
        let mut lines = vec![Vec::new()];
        for &(caller, name) in &nodes[1..] {
            let of_caller: &[u8] = &lines[caller as usize];
            let between: &[u8] = if caller == 0 { b"" } else { b";" };
            lines.push([of_caller, between, &names[name as usize]].concat());
        }
        let mut by_rank: Vec<_> = (1..nodes.len()).filter(|&node| ends[node]).collect();
        by_rank.sort_unstable_by_key(|&node| ranks[node]);
        let mut by_bytes = by_rank.clone();
        by_bytes.sort_by(|&one, &other| lines[one].cmp(&lines[other]));
        assert!(by_rank.iter().map(|&node| &lines[node]).eq(by_bytes.iter().map(|&node| &lines[node])));
        assert_eq!(by_rank.len(), (8 + 64 + 512) * 2 / 3 + 1);
        assert!((0..nodes.len()).all(|node| ends[node] == (ranks[node] > 0)));
    }
}
