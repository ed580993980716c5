#!/usr/bin/env python3
"""Compares the functions, inlined functions and lines of addresses with those of addr2line, of binutils and of LLVM.

    lines.py ADDRESSES FILE...

ADDRESSES is the program of perf-symbol/examples/addresses.rs. Each FILE has an executable .text and DWARF, of its own or
in a debug file. Takes COUNT (500) addresses of each, the same in every run. An address agrees if each function and each
line is that of binutils' addr2line, or if each is that of LLVM's. Prints the disagreements by kind, those between the
other two as well, and examples with EXAMPLES=N. Exits with 1 if less than 99.9 % of the addresses agree where binutils
and LLVM agree with each other, and if there were none.

Several symbols may have one address: the constructors of a class, or aliases such as clone3 and __clone3. perfdata has the
one that perf has; each of them agrees with each other one. It has what the compiler or the linker appended to the name,
too, which DWARF has not: .constprop.0, .cold, @@GLIBC_2.2.5. Of a path, only what remains of it after `.` and `..` counts.
DWARF 5 says that the first folder of a line table is that of the compilation; where it is relative, binutils and LLVM
append it to itself (math/math/w_log.c), so that a folder counts once. Of a line, discriminators do not count.
"""

import collections
import os
import posixpath
import random
import re
import subprocess
import sys

COUNT = int(os.environ.get("COUNT", 500))
EXAMPLES = int(os.environ.get("EXAMPLES", 0))

APPENDED = re.compile(r"(\.(constprop|isra|part|cold|lto_priv)(\.\d+)?)+$|@.*$")


def text_of(file):
    """Returns the addresses of .text."""
    listing = subprocess.run(["readelf", "-SW", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
    for line in listing.splitlines():
        words = line.replace("[", " ").split()
        if ".text" in words:
            at = words.index(".text")
            start, size = int(words[at + 2], 16), int(words[at + 4], 16)
            return range(start, start + size)
    sys.exit(f"{file}: no .text")


def symbols_of(file):
    """Returns the address of each function's name: of the file, and of its debug file."""
    notes = subprocess.run(["readelf", "-nW", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)
    debug = f"/usr/lib/debug/.build-id/{build_id[1][:2]}/{build_id[1][2:]}.debug" if build_id else ""
    addresses = {}
    for path in filter(os.path.exists, [file, debug]):
        table = subprocess.run(["readelf", "-sW", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
        for line in table.splitlines():
            words = line.split()
            if len(words) >= 8 and words[3] in ("FUNC", "IFUNC", "NOTYPE") and words[6] != "UND":
                addresses.setdefault(words[7], int(words[1], 16))
    return addresses


def frames(command, addresses):
    """Runs a program that prints as addr2line -a -i -f does. Returns the frames of each address."""
    given = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    found, lines = {}, iter(done.stdout.splitlines())
    current = None
    for line in lines:
        if line.startswith("0x"):
            current = found.setdefault(int(line, 16), [])
            continue
        current.append((line, place(next(lines))))
    return found


def place(text):
    """Returns the path and the line."""
    text = text.split(" (discriminator")[0]
    path, _, line = text.rpartition(":")
    if path in ("", "??") or line in ("0", "?"):
        return ("??", "?")
    path = posixpath.normpath(path)
    return (re.sub(r"^([^/]+)/\1/", r"\1/", path), line)


def is_same(one, other, symbols):
    """Returns whether two lists of frames are the same but for which of its names the outermost function has."""
    if one == other:
        return True
    if len(one) != len(other) or one[:-1] != other[:-1]:
        return False
    (name, at), (other_name, other_at) = one[-1], other[-1]
    address = symbols.get(name)
    is_alias = address is not None and address == symbols.get(other_name)
    return at == other_at and (is_alias or APPENDED.sub("", name) == APPENDED.sub("", other_name))


def kind(one, other):
    """Returns how two lists of frames differ."""
    if len(one) != len(other):
        return "another number of inlined functions"
    if [name for name, _ in one] != [name for name, _ in other]:
        return "another function"
    if [at[0] for _, at in one] != [at[0] for _, at in other]:
        return "another file"
    return "another line"


def main():
    program, files = sys.argv[1], sys.argv[2:]
    if not files:
        sys.exit(__doc__)
    kinds, theirs = collections.Counter(), collections.Counter()
    total = equal = undisputed = undisputed_equal = shown = 0
    for file in files:
        text = text_of(file)
        addresses = sorted(random.Random(os.path.basename(file)).sample(text, min(COUNT, len(text))))
        ours = frames([program, file], addresses)
        binutils = frames(["addr2line", "-a", "-i", "-f", "-e", file], addresses)
        llvm = frames(["llvm-addr2line", "-a", "-i", "-f", "-e", file], addresses)
        of_file, symbols = 0, symbols_of(file)
        for address in addresses:
            one, two, three = ours[address], binutils[address], llvm[address]
            total += 1
            agrees = is_same(one, two, symbols) or is_same(one, three, symbols)
            same = is_same(two, three, symbols)
            equal += agrees
            of_file += agrees
            if same:
                undisputed += 1
                undisputed_equal += agrees
            else:
                theirs[kind(two, three)] += 1
            if not agrees:
                what = "binutils and LLVM agree" if same else f"binutils and LLVM differ: {kind(two, three)}"
                kinds[f"{kind(one, three)} than LLVM's; {what}"] += 1
                if shown < EXAMPLES:
                    shown += 1
                    print(f"{file} {address:#x}", f"  ours:     {one}", f"  binutils: {two}", f"  LLVM:     {three}", sep="\n")
        print(f"{file}: {of_file} of {len(addresses)}")
    for what, count in kinds.most_common():
        print(f"{count:6} {what}")
    for what, count in theirs.most_common():
        print(f"{count:6} binutils and LLVM differ: {what}")
    print(f"equal to one of both: {equal} of {total}; where both agree: {undisputed_equal} of {undisputed}")
    sys.exit(undisputed == 0 or undisputed_equal < 0.999 * undisputed)


main()
