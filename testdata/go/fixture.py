#!/usr/bin/env python3
"""Writes NAME.elf.gz, what a stripped program of Go has of functions and lines, and NAME.txt, what its unstripped build says.

fixture.py GO NAME [GOARCH]   GO is the go command, GOARCH amd64 unless it is given

The ELF file has the table (.gopclntab), the data of the runtime that refers to it, and the inlined calls. The code and all
other data are zeros; so are the values and files that no function of `main` uses. NAME.txt has a line for each instruction of
`main` at which something changes: its address, and the functions there, innermost first, each with its file and line, by the
symbols and the DWARF of the unstripped build (`addresses` of perf-symbol's examples).
"""
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
go, name = sys.argv[1:3]
arch = sys.argv[3] if len(sys.argv) > 3 else 'amd64'


def build(folder, *flags):
    out = os.path.join(folder, 'program')
    env = dict(os.environ, GO111MODULE='off', GOFLAGS='', CGO_ENABLED='0', GOARCH=arch, GOCACHE=folder + '/cache', HOME=folder)
    subprocess.run([go, 'build', '-trimpath', *flags, '-o', out, str(here / 'main.go')], check=True, env=env)
    return out


def sections(path):
    """Returns the address, the offset and the size of each section."""
    text = subprocess.run(['readelf', '-SW', path], check=True, capture_output=True, text=True).stdout
    found = re.findall(r'\] (\S+)\s+(?:PROGBITS|STRTAB|NOBITS)\s+(\w+) (\w+) (\w+)', text)
    return {name: tuple(int(it, 16) for it in numbers) for name, *numbers in found}


# Functions in assembly whose names are kept.
ASSEMBLY = ('runtime.goexit', 'runtime.systemstack', 'runtime.memequal')


class Image:
    """A stripped program, with some parts kept."""

    def __init__(self, path):
        self.data = open(path, 'rb').read()
        self.is_64, self.order = self.data[4] == 2, 'little' if self.data[5] == 1 else 'big'
        self.pointer = 8 if self.is_64 else 4
        self.sections = sections(path)
        self.kept = bytearray(len(self.data))

    def keep(self, at, size):
        self.kept[at:at + size] = self.data[at:at + size]

    def number(self, at, size):
        return int.from_bytes(self.data[at:at + size], self.order)

    def keep_text(self, at):
        end = self.data.index(0, at)
        self.keep(at, end + 1 - at)
        return self.data[at:end]

    def keep_values(self, at, size, quantum):
        """Keeps what a function of `size` bytes has of one kind, and returns the values."""
        def varint():
            nonlocal end
            number = shift = 0
            while True:
                byte = self.data[end]
                end, number, shift = end + 1, number | (byte & 127) << shift, shift + 7
                if byte < 128:
                    return number
        end, value, code, values = at, -1, 0, []
        while code < size:
            change = varint()
            if change == 0 and values:
                break
            value += ~(change >> 1) if change & 1 else change >> 1
            code += varint() * quantum
            values.append(value)
        self.keep(at, end + 1 - at)
        return values


def reduce(path, is_wanted):
    """Returns the bytes of a stripped program with the table alone, and in it only what some functions need."""
    it = Image(path)
    size = 64 if it.is_64 else 52
    program_headers, section_headers = (it.number(32, 8), it.number(40, 8)) if it.is_64 else (it.number(28, 4), it.number(32, 4))
    at = size - 10
    it.keep(0, size)
    it.keep(program_headers, it.number(at, 2) * it.number(at + 2, 2))
    it.keep(section_headers, it.number(at + 4, 2) * it.number(at + 6, 2))
    _, offset, length = it.sections['.shstrtab']
    it.keep(offset, length)
    address, table, length = it.sections['.gopclntab']
    word = lambda number: it.number(table + 8 + number * it.pointer, it.pointer)
    quantum, magic, count = it.data[table + 6], it.number(table, 4), word(0)
    it.keep(table, 8 + 8 * it.pointer)
    names, units, files, values, functions = (table + word(number) for number in (3, 4, 5, 6, 7))
    # The data of the runtime: a pointer to the table, and one to its names.
    start = (address.to_bytes(it.pointer, it.order) + (address + word(3)).to_bytes(it.pointer, it.order))
    module = it.data.index(start)
    it.keep(module, 44 * it.pointer)
    go_120 = magic == 0xfffffff1
    places = {True: (40, 43), False: (38,)}[go_120]
    offset_of = lambda address: next(o + address - a for a, o, s in it.sections.values() if a and a <= address < a + s)
    is_data = lambda address: any(a and a <= address < a + s for a, _, s in it.sections.values())
    end_of_table = address + length
    candidates = [it.number(module + place * it.pointer, it.pointer) for place in places]
    function_data = next(c for c in reversed(candidates) if is_data(c) and (c < end_of_table or not go_120 or c == candidates[0]))
    it.keep(functions, 8 * count + 4)
    ranges, with_trees = [], 0
    for number in range(count):
        start, record, end = (it.number(functions + 8 * number + 4 * field, 4) for field in range(3))
        record += functions
        field = lambda number: it.number(record + 4 * number, 4)
        fixed = 11 if go_120 else 10
        tables, data = field(7), it.data[record + 4 * fixed - 1]
        it.keep(record, 4 * (fixed + tables + data))
        name_at = names + field(1)
        name = it.data[name_at:it.data.index(0, name_at)].decode()
        if name in ASSEMBLY:
            it.keep_text(name_at)
        calls = field(fixed + 2) if tables > 2 else 0
        tree = field(fixed + tables + 3) if data > 3 else 0xffffffff
        has_tree = calls != 0 and tree != 0xffffffff
        with_trees += has_tree
        if not is_wanted(name) and not (has_tree and with_trees <= 32):
            continue
        it.keep_text(name_at)
        if is_wanted(name):
            ranges.append((it.number(module + 22 * it.pointer, it.pointer) + start, end - start))
        size = end - start
        numbers = it.keep_values(values + field(5), size, quantum) if field(5) else []
        if field(6):
            it.keep_values(values + field(6), size, quantum)
        for file in set(numbers) - {-1}:
            unit = units + 4 * (field(8) + file)
            it.keep(unit, 4)
            if it.number(unit, 4) != 0xffffffff:
                it.keep_text(files + it.number(unit, 4))
        if not has_tree:
            continue
        for call in set(it.keep_values(values + calls, size, quantum)) - {-1}:
            entry_size, name_offset = (16, 4) if go_120 else (20, 12)
            entry = offset_of(function_data + tree) + call * entry_size
            it.keep(entry, entry_size)
            name_at = names + it.number(entry + name_offset, 4)
            # A name begins after the end of another one.
            it.keep_text(name_at)
    return bytes(it.kept), ranges


def main():
    with tempfile.TemporaryDirectory() as folder:
        stripped, ranges = reduce(build(folder, '-ldflags=-s -w'), lambda name: name.startswith('main.'))
        with open(here / (name + '.elf.gz'), 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as out:
            out.write(stripped)
        addresses = [start + step for start, size in ranges for step in range(0, size, 1)]
        program = build(folder)
        command = ['cargo', 'run', '-q', '-p', 'perf-symbol', '--example', 'addresses', program]
        text = subprocess.run(command, input='\n'.join(map(hex, addresses)), check=True, capture_output=True, text=True, cwd=here).stdout
    lines, before = [], None
    for address, found in re.findall(r'^0x([0-9a-f]{16})\n((?:(?!0x).*\n)*)', text, re.M):
        found = found.splitlines()
        places = [f'{function} {file.removeprefix("./")}' for function, file in zip(found[::2], found[1::2])]
        if places != before:
            lines.append(f'{int(address, 16):x} ' + ' < '.join(places))
            before = places
    (here / (name + '.txt')).write_text('\n'.join(lines) + '\n')


main()
