#!/usr/bin/env python3
"""The public API of the libraries as text, one line for each item, in api/CRATE.txt.

api.py          writes the files
api.py --check  compares them with the sources; if they differ, prints the difference and exits with status 1

A line is the kind of the item, its path, and its signature as in Rust. Values of constants and docs are left out, and
so are automatic and blanket implementations. Paths are those at which users find an item; names of the prelude have none.
`derive` lists what a type derives. `{ .. }` after a struct means that it has private fields; in a trait, `{ .. }` and
`= ..` mean that an implementation can leave the item out.

It reads rustdoc's JSON, which needs no nightly toolchain: RUSTC_BOOTSTRAP lets stable rustdoc print it.

cargo-public-api prints the same items of the same JSON. It stays out of the gate, which has 20 minutes on two cores: version
0.52 needs a nightly toolchain of its own, 3.5 minutes of processor time to install, and 110 s for a run, where this script
takes 30 s.
"""
import difflib
import heapq
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# No compiled copy among the sources.
sys.dont_write_bytecode = True
from rust_text import RustText, kind_and_inner

ROOT = pathlib.Path(__file__).resolve().parent.parent
# In the order of their dependencies.
CRATES = ["perf-abi", "perf-parse", "perf-mmap", "perf-session", "perf-symbol", "perf-profile", "perf-export", "perf-annotate", "perf-aux", "perf-open", "perf-record"]
# The format_version of rustdoc's JSON that this script was written for.
KNOWN_FORMAT = 57
KEYWORDS = {
    "module": "mod",
    "function": "fn",
    "constant": "const",
    "assoc_const": "const",
    "type_alias": "type",
    "assoc_type": "type",
    "struct_field": "field",
}


def rustdoc_json():
    """What rustdoc knows of each crate."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    files = {crate: target / "doc" / f"{crate.replace('-', '_')}.json" for crate in CRATES}
    for file in files.values():
        file.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # For rustdoc alone: build scripts that see RUSTC_BOOTSTRAP use unstable features, and cargo builds them again.
        wrapper = pathlib.Path(scratch) / "rustdoc"
        wrapper.write_text('#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n')
        wrapper.chmod(0o755)
        environment = {
            **os.environ,
            "CARGO_TARGET_DIR": str(target),
            "RUSTDOC": str(wrapper),
            # Links in docs are checked elsewhere.
            "RUSTDOCFLAGS": "-Z unstable-options --output-format json --cap-lints allow",
        }
        packages = [word for crate in CRATES for word in ("--package", crate)]
        command = ["cargo", "doc", "--quiet", "--no-deps", "--lib", "--all-features", *packages]
        if subprocess.run(command, cwd=ROOT, env=environment).returncode != 0:
            sys.exit("api.py: rustdoc failed; its message is above")
    for file in files.values():
        if not file.exists():
            sys.exit(f"api.py: cargo did not write {file}; run `cargo clean --doc` and try again")
    return {crate: json.loads(file.read_text()) for crate, file in files.items()}


class Api(RustText):
    """The public items of one crate, a line each."""

    def __init__(self, document, found_at):
        super().__init__(document["paths"], found_at)
        self.index = document["index"]
        self.lines, self.derives = [], {}
        self.place_items(document["root"])
        for id, path in self.public.items():
            if str(id) in self.paths:
                self.found_at["::".join(self.paths[str(id)]["path"])] = path
        for id, path in self.public.items():
            self.item(self.index[str(id)], path)
        for item in self.index.values():
            if item["crate_id"] == 0 and "impl" in item["inner"]:
                self.implementation(item, item["inner"]["impl"])
        for path, names in self.derives.items():
            self.add(path, f"derive {path}: {', '.join(sorted(names))}", 1)

    def text(self):
        return "".join(line + "\n" for _, _, line in sorted(set(self.lines)))

    def add(self, path, line, rank=0):
        self.lines.append((tuple(path.split("::")), rank, line))

    # Paths

    def place_items(self, root):
        """Gives each item its path: where it is declared, if that is public; else the shortest of its re-exports."""
        reexports = []

        def children(id):
            kind, inner = kind_and_inner(self.index[str(id)]["inner"])
            return inner[{"module": "items", "enum": "variants"}[kind]] if kind in ("module", "enum") else []

        def place(id, path):
            if id in self.public:
                self.add(path, f"use {path} = {self.public[id]}")
                return
            self.public[id] = path
            for child in children(id):
                visit(child, path)

        def visit(id, parent):
            item = self.index.get(str(id))
            if item is None:
                return  # Hidden.
            kind, inner = kind_and_inner(item["inner"])
            if kind == "use":
                path = parent + "::" + ("*" if inner["is_glob"] else inner["name"])
                heapq.heappush(reexports, (path.count("::"), path, inner["source"], inner["id"] or 0))
            else:
                place(id, f"{parent}::{item['name']}")

        place(root, self.index[str(root)]["name"])
        while reexports:
            _, path, source, id = heapq.heappop(reexports)
            parent, name = path.rsplit("::", 1)
            if str(id) not in self.index:
                self.add(path, f"use {path} = {self.path(source, id)}")
            elif name == "*":
                for child in children(id):
                    visit(child, parent)
            else:
                place(id, path)

    # Items

    def item(self, item, path, shown=None, outer=None, in_trait=False):
        """Adds the lines of an item. `shown` is its path with generics, `outer` the generics of what it is in."""
        kind, inner = kind_and_inner(item["inner"])
        shown = shown or path
        words = self.attributes(item) + KEYWORDS.get(kind, kind) + " "
        params = where = ""
        if "generics" in (inner or ()):
            params, where = self.params(inner["generics"]), self.where(inner["generics"], outer)
        if kind == "function":
            words = self.attributes(item) + self.header(inner["header"]) + "fn "
            body = "" if not in_trait else " { .. }" if inner["has_body"] else ";"
            line = params + self.signature(inner["sig"]) + where + body
        elif kind in ("constant", "assoc_const", "static"):
            body = " = .." if in_trait and inner.get("value") is not None else ""
            line = f": {self.type(inner['type'])}{self.where(None, outer)}{body}"
        elif kind == "struct_field":
            line = ": " + self.type(inner)
        elif kind in ("type_alias", "assoc_type"):
            value = " = " + self.type(inner["type"]) if inner["type"] else ""
            line = params + self.colon_bounds(inner.get("bounds")) + value + where
        elif kind == "trait":
            words = self.attributes(item) + ("unsafe " if inner["is_unsafe"] else "") + "trait "
            line = params + self.colon_bounds(inner["bounds"]) + where
            self.members(inner["items"], path, in_trait=True)
        elif kind == "enum":
            line = params + where
            self.members(inner["variants"], path)
        elif kind in ("struct", "variant"):
            line = params + self.fields(inner["kind"], path) + where
        elif kind == "union":
            line = params + self.fields({"plain": inner}, path) + where
        elif kind == "macro":
            line = "! " + " ".join(inner.split())
        elif kind in ("module", "proc_macro", "extern_crate"):
            line = ""
        else:
            raise ValueError(f"an unknown kind of item, {kind}")
        self.add(path, words + shown + line)

    def attributes(self, item):
        attributes = ["deprecated"] if item["deprecation"] else []
        for name, value in map(kind_and_inner, item["attrs"]):
            if name == "repr":
                sizes = [f"{size}({value[size]})" for size in ("align", "packed") if value[size]]
                words = [value["kind"].replace("c", "C"), value["int"], *sizes]
                attributes.append("repr(" + ", ".join(word for word in words if word not in (None, "rust")) + ")")
            elif name == "non_exhaustive":
                attributes.append(name)
        return "".join(f"#[{each}] " for each in attributes)

    def colon_bounds(self, bounds):
        return ": " + self.bounds(bounds) if bounds else ""

    def members(self, ids, path, in_trait=False):
        for id in ids:
            if str(id) in self.index:
                member = self.index[str(id)]
                self.item(member, f"{path}::{member['name']}", in_trait=in_trait)

    def fields(self, tagged, path):
        kind, inner = kind_and_inner(tagged)
        if kind == "tuple":
            visible = [self.index.get(str(id)) for id in inner]
            return "(" + ", ".join(self.type(each["inner"]["struct_field"]) if each else "_" for each in visible) + ")"
        if kind in ("plain", "struct") and inner:
            self.members(inner["fields"], path)
            return " { .. }" if inner["has_stripped_fields"] else ""
        return ";" if kind == "unit" else ""

    def implementation(self, item, block):
        trait, this = block["trait"], block["for"]
        concerned = [*self.named(this), *(self.named(trait) if trait else [])]
        homes = [id for id in concerned if id in self.public]
        if block["is_synthetic"] or block["blanket_impl"] or any(map(self.is_private, concerned)):
            return
        path = self.public[homes[0]]
        members = [self.index[str(id)] for id in block["items"] if str(id) in self.index]
        if not trait:
            for member in members:
                name = f"::{member['name']}"
                self.item(member, path + name, self.type(this) + name, block["generics"])
            return
        name = self.path(trait["path"], trait["id"])
        # The impls of zerocopy can only be derived, as they are unsafe to write; not all of them carry the attribute.
        if "automatically_derived" in item["attrs"] or name.startswith("zerocopy::"):
            if name != "std::marker::StructuralPartialEq":
                self.derives.setdefault(path, set()).add(name)
            return
        types = [f"type {each['name']} = {self.type(each['inner']['assoc_type']['type'])}" for each in members
                 if "assoc_type" in each["inner"]]
        start = ("unsafe " if block["is_unsafe"] else "") + "impl" + self.params(block["generics"])
        end = self.where(block["generics"]) + (" { " + "; ".join(types) + " }" if types else "")
        negative = "!" if block["is_negative"] else ""
        self.add(path, f"{start} {negative}{self.trait(trait)} for {self.type(this)}{end}", 2)


def generate():
    texts, found_at = {}, {}
    for crate, document in rustdoc_json().items():
        try:
            texts[crate] = Api(document, found_at).text()
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            problem = f"there is no field {error}" if isinstance(error, KeyError) else error
            sys.exit(
                f"api.py: cannot read rustdoc's JSON of {crate}: {problem}. Its format version is "
                f"{document.get('format_version')}; .ci/api.py was written for {KNOWN_FORMAT} and has to be changed."
            )
    return texts


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    differ = False
    for crate, new in generate().items():
        file = ROOT / "api" / f"{crate}.txt"
        if not sys.argv[1:]:
            file.parent.mkdir(exist_ok=True)
            file.write_text(new)
            continue
        old = file.read_text() if file.exists() else ""
        name = file.relative_to(ROOT).as_posix()
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, "the sources", n=0, lineterm="")
        for line in lines:
            print(line)
            differ = True
    if differ:
        sys.exit("The public API differs from api/. If that is meant, run .ci/api.py and commit the files it writes.")


main()
