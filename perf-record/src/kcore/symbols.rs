//! The addresses of the kernel's code, by its symbols.

/// The addresses of the kernel's code, in whole pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelCode {
    /// Those of the kernel itself.
    pub(crate) kernel: (u64, u64),
    /// Those of its modules and BPF programs; `None` if it has none.
    pub(crate) modules: Option<(u64, u64)>,
}

/// The first and the last of some addresses.
#[derive(Clone, Copy, Debug, Default)]
struct AddressBounds(Option<(u64, u64)>);

impl AddressBounds {
    fn add(&mut self, address: u64) {
        let (first, last) = self.0.unwrap_or((address, address));
        self.0 = Some((first.min(address), last.max(address)));
    }
}

impl KernelCode {
    /// Returns where the code is, by the texts of `/proc/kallsyms` and `/proc/modules`; `None` if the kernel hides it.
    ///
    /// The kernel's code is from `_stext` to `_etext`, or else from its first function to a page after its last. That of
    /// the modules is from the first module, or a function before it, to a page after the last function.
    ///
    /// perf: `kcore_copy__calc_maps`.
    pub(crate) fn of(symbols: &[u8], modules: &[u8], page: u64) -> Option<Self> {
        let (mut of_kernel, mut of_modules) = (AddressBounds::default(), AddressBounds::default());
        let (mut start, mut end) = (None, None);
        for line in symbols.split(|&byte| byte == b'\n') {
            let Some((address, name, is_module)) = function(line) else { continue };
            if is_module {
                of_modules.add(address);
                continue;
            }
            of_kernel.add(address);
            match name {
                b"_stext" => start = Some(address),
                b"_etext" => end = Some(address),
                _ => {}
            }
        }
        let (first, last) = of_kernel.0?;
        let below = |address: u64| address - address % page;
        let above = |address: u64| address.checked_next_multiple_of(page).unwrap_or(below(u64::MAX));
        let after = |address: u64| above(address).checked_add(page).unwrap_or(below(u64::MAX));
        let kernel = (below(start.unwrap_or(first)), end.map_or(after(last), above));
        let first_module = modules.split(|&byte| byte == b'\n').filter_map(module).min();
        let modules = of_modules.0.map(|(first, last)| {
            (below(first_module.map_or(first, |module| module.min(first))), after(last))
        });
        Some(Self { kernel, modules })
    }

    /// Returns the ranges of addresses.
    pub(crate) fn ranges(&self) -> Vec<(u64, u64)> {
        [Some(self.kernel), self.modules].into_iter().flatten().collect()
    }
}

/// Returns the address and the name of a function, and whether it belongs to a module or a BPF program. `None` for other
/// symbols, and for hidden addresses, which are 0.
fn function(line: &[u8]) -> Option<(u64, &[u8], bool)> {
    let mut fields = line.splitn(3, |&byte| byte == b' ');
    let address = core::str::from_utf8(fields.next()?).ok()?;
    let address = u64::from_str_radix(address, 16).ok().filter(|&address| address != 0)?;
    let is_function = matches!(fields.next()?, b"t" | b"T" | b"w" | b"W");
    let name = fields.next()?.trim_ascii_end();
    is_function.then(|| (address, name, name.contains(&b'[')))
}

/// Returns the address of a module in a line of `/proc/modules`; `None` if it is hidden.
fn module(line: &[u8]) -> Option<u64> {
    let address = core::str::from_utf8(line).ok()?.split_ascii_whitespace().nth(5)?;
    u64::from_str_radix(address.strip_prefix("0x")?, 16).ok().filter(|&address| address != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_the_symbols() {
        let symbols = b"ffffffff81000123 T _stext\nffffffff80000000 t early\nffffffff81004001 T _etext\n\
            ffffffff81009000 D data\n0000000000000010 A percpu\nffffffffc0001010 t f\t[mod]\n\
            ffffffffc0005010 t bpf_prog_1\t[bpf]\nffffffffc0009000 d x\t[mod]\n";
        let modules = b"mod 16384 0 - Live 0xffffffffc0000000\nother 1 0 - Live 0x0000000000000000\n";
        let code = KernelCode::of(symbols, modules, 4096).unwrap();
        assert_eq!(code.kernel, (0xffff_ffff_8100_0000, 0xffff_ffff_8100_5000));
        assert_eq!(code.modules, Some((0xffff_ffff_c000_0000, 0xffff_ffff_c000_7000)));
    }

    #[test]
    fn without_marks() {
        let code = KernelCode::of(b"1010 T a\n5010 W b\n", b"", 4096).unwrap();
        assert_eq!((code.kernel, code.modules), ((0x1000, 0x7000), None));
        assert_eq!(
            KernelCode::of(b"ffffffffffffffff T a\n", b"", 4096).unwrap().kernel.1,
            0xffff_ffff_ffff_f000
        );
    }

    #[test]
    fn hidden_addresses() {
        assert_eq!(
            KernelCode::of(b"0000000000000000 T _stext\n0000000000000000 T _etext\n", b"", 4096),
            None
        );
        assert_eq!(KernelCode::of(b"\xff\n  \nx y z\n1 T\n", b"\xff\n", 4096), None);
    }
}
