//! Addresses of the kernel.

use super::Folder;
use crate::kernel;

#[test]
fn bpf_trampolines_and_dispatchers() {
    let symbols = "\
        ffffffff81000000 T _text\n\
        ffffffffc0001000 t bpf_trampoline_6442\t[bpf]\n\
        ffffffffc0002000 t bpf_prog_49115487516d30e7_its_second\t[bpf]\n\
        ffffffffc0003000 t bpf_dispatcher_xdp\t[bpf]\n\
        ffffffffc0004000 t bpf_trampoline_of\t[bpf]\n\
        ffffffff81004000 t bpf_dispatcher_xdp_func\n\
        ffffffffc0005000 t bpf_trampoline_7\t[other]\n\
        0000000000000000 t bpf_trampoline_8\t[bpf]\n\
        not an address t\t[bpf]\n";
    let folder = Folder::with(&[("proc/kallsyms", symbols)]);
    let images = kernel::bpf_images(&folder.0);
    let expected = [
        (0xffff_ffff_c000_1000, &b"bpf_trampoline_6442"[..]),
        (0xffff_ffff_c000_3000, b"bpf_dispatcher_xdp"),
    ];
    assert_eq!(images, expected.map(|(address, name)| (address, name.to_vec())));
    assert_eq!(kernel::bpf_images("/no/such/folder".as_ref()), []);
}
