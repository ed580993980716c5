#!/usr/bin/env python3
"""Siblings that import each other, in the crates named: src folders. Exit status 1 if there are any."""
import os, re, sys
def modules(src):
    found = {}
    for folder, _, files in os.walk(src):
        for f in files:
            if f.endswith('.rs'):
                p = os.path.relpath(os.path.join(folder, f), src)[:-3].split(os.sep)
                if p in (['lib'], ['main']): p = []
                found[tuple(p)] = os.path.join(folder, f)
    return found
bad = 0
for src in sys.argv[1:]:
    mods = modules(src)
    edges = {}
    for mod, path in mods.items():
        text = re.sub(r'//[^\n]*', '', open(path).read())
        text = re.split(r'#\[cfg\(test\)\]\s*mod', text)[0]
        targets = set()
        def add(base, tree):
            # tree: text after the base path, expands {a::b, c}
            tree = tree.strip()
            m = re.match(r'^((?:\w+::)*)\{(.*)\}$', tree, re.S)
            if m:
                pre = [x for x in m.group(1).split('::') if x]
                depth = 0; part = ''
                for ch in m.group(2) + ',':
                    if ch == '{': depth += 1
                    if ch == '}': depth -= 1
                    if ch == ',' and depth == 0:
                        if part.strip(): add(base + pre, part)
                        part = ''
                    else: part += ch
                return
            targets.add(tuple(base + [x.strip() for x in tree.split(' as ')[0].split('::')]))
        for m in re.finditer(r'\buse\s+((?:crate|super|self)(?:::super)*)::([^;]+);', text):
            base = list(mod)
            for word in m.group(1).split('::'):
                if word == 'crate': base = []
                elif word == 'super': base = base[:-1]
            add(base, m.group(2))
        for m in re.finditer(r'(?<![\w:])(crate|(?:super::)*super)::([\w:]+)', text):
            base = list(mod)
            if m.group(1) == 'crate': base = []
            else: base = base[:len(base) - m.group(1).count('super')]
            targets.add(tuple(base + m.group(2).split('::')))
        for t in targets:
            while t and t not in mods: t = t[:-1]
            if t and t != mod:
                k = 0
                while k < min(len(t), len(mod)) and t[k] == mod[k]: k += 1
                if k < len(t) and k < len(mod):
                    edges.setdefault((mod[:k + 1], t[:k + 1]), set()).add('::'.join(mod) + ' -> ' + '::'.join(t))
    for (a, b), why in sorted(edges.items()):
        if a < b and (b, a) in edges:
            bad = 1
            print(src, '::'.join(a), '<->', '::'.join(b))
            for w in sorted(why)[:4]: print('   ', w)
            for w in sorted(edges[(b, a)])[:4]: print('   ', w)
sys.exit(bad)
