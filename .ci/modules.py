#!/usr/bin/env python3
"""Lists the circles of modules in each `src` folder given: siblings of which each imports the other, and files that import
each other through more files. Exit status 1 if there are any.

A module imports what its `use` lines and its `crate::` and `super::` paths name, and what the modules inside it
import. A name that another module re-exports counts as an import of the module that defines it too, so a re-export
hides no cycle. Test modules do not count. A module and its parent may import each other.

To mend a finding, move what both need into a module that imports neither: their parent, one of the two, or a small
module named after the concept. Methods of a type may be in the module that needs more than the type does.
"""
import os
import re
import sys

TEST_MODULE = r'#\[cfg\(test\)\]\s*mod\s+(\w+)\s*'


def modules(src):
    """Returns the code of each module by its path, a tuple of names; the crate's root is the empty tuple."""
    found, tests = {}, set()
    for folder, _, files in os.walk(src):
        for name in files:
            if not name.endswith('.rs'):
                continue
            file = os.path.join(folder, name)
            path = tuple(os.path.relpath(file, src)[:-3].split(os.sep))
            path = () if path in (('lib',), ('main',)) else path
            with open(file, encoding='utf-8') as opened:
                text = re.sub(r'(?m)(^|\s)//.*', '', opened.read())
            tests.update(path + (test,) for test in re.findall(TEST_MODULE + ';', text))
            found[path] = re.split(TEST_MODULE + '{', text)[0]
    return {path: text for path, text in found.items() if not any(path[:len(test)] == test for test in tests)}


def base(mod, words):
    """Returns the module that `crate`, `self` or a chain of `super` means in `mod`."""
    for word in words.split('::'):
        mod = () if word == 'crate' else mod[:-1] if word == 'super' else mod
    return mod


def expand(tree, prefix=()):
    """Yields the local name and the path of each name in a use tree: `a::{b, c as d}`."""
    tree = tree.strip()
    nested = re.fullmatch(r'((?:\w+::)*)\{(.*)\}', tree, re.S)
    if not nested:
        path, _, alias = (part.strip() for part in tree.partition(' as '))
        path = prefix + tuple(path.split('::'))
        path = path[:-1] if path[-1] == 'self' else path
        yield (alias or path[-1], path) if path else ('', path)
        return
    prefix += tuple(nested[1].split('::')[:-1])
    depth, part = 0, ''
    for sign in nested[2] + ',':
        depth += (sign == '{') - (sign == '}')
        if sign == ',' and depth == 0:
            if part.strip():
                yield from expand(part, prefix)
            part = ''
        else:
            part += sign


def uses(mod, text, mods):
    """Returns the local name and the path from the crate's root of each import of a module."""
    found = []
    for start, tree in re.findall(r'\buse\s+((?:(?:crate|super|self)::)*)([^;]+);', text):
        names = expand(tree, base(mod, start[:-2]) if start else mod)
        # Without a start, the first name is a module inside this one, or another crate.
        found += [(name, path) for name, path in names if start or path[:len(mod) + 1] in mods]
    return found


def circles(edges):
    """Returns the sets of modules in which each reaches each other one by imports."""
    targets = {}
    for one, other in edges:
        targets.setdefault(one, set()).add(other)

    def reached(mod):
        seen, left = set(), [mod]
        while left:
            new = targets.get(left.pop(), set()) - seen
            seen |= new
            left += new
        return seen

    by_mod = {mod: reached(mod) for mod in targets}
    return {frozenset(it for it in by_mod[mod] if mod in by_mod.get(it, ())) for mod in by_mod if mod in by_mod[mod]}


def cycles(src):
    """Returns the circles, each with its imports."""
    mods = modules(src)
    imports = {mod: uses(mod, text, mods) for mod, text in mods.items()}

    def reached(path, seen=()):
        """Yields the modules in which `path` is looked up, from the one it names to the one that defines it."""
        owner = path
        while owner and owner not in mods:
            owner = owner[:-1]
        yield owner
        rest = path[len(owner):]
        for name, target in imports.get(owner, []):
            if rest and name in (rest[0], '*') and (owner, target) not in seen:
                tail = rest if name == '*' else rest[1:]
                yield from reached(target[:-1] + tail if name == '*' else target + tail, seen + ((owner, target),))

    siblings, files = {}, {}
    for mod, text in mods.items():
        paths = [path for _, path in imports[mod]]
        for start, path in re.findall(r'(?<![\w:])(crate|(?:super::)*super)::(\w+(?:::\w+)*)', text):
            paths.append(base(mod, start) + tuple(path.split('::')))
        for target in {target for path in paths for target in reached(path)}:
            same = len(os.path.commonprefix([mod, target]))
            if same < min(len(mod), len(target)):
                why = '::'.join(mod) + ' -> ' + '::'.join(target)
                siblings.setdefault((mod[:same + 1], target[:same + 1]), set()).add(why)
                files.setdefault((mod, target), set()).add(why)
    found = {frozenset(pair) for pair in siblings if pair[::-1] in siblings}
    found = [(circle, siblings) for circle in found] + [(circle, files) for circle in circles(files) - found]
    for circle, edges in sorted(found, key=lambda it: sorted(it[0])):
        yield sorted(circle), {why for edge in edges if circle.issuperset(edge) for why in edges[edge]}


def main():
    found = [(src, *cycle) for src in sys.argv[1:] for cycle in cycles(src)]
    for src, circle, why in found:
        print(src, ' <-> '.join('::'.join(mod) for mod in circle))
        for line in sorted(why):
            print('   ', line)
    sys.exit(bool(found))


main()
