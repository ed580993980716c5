#!/usr/bin/env python3
"""inventory.py TARGET OUT [FOLDER]: what the program consists of, or a package of bindings, whose folder is named.

Writes OUT/THIRD-PARTY.txt, the licence texts of all crates in it; OUT/THIRD-PARTY-rust-std.html, those of Rust's standard library;
and OUT/perfdata.cdx.json, a bill of materials (CycloneDX 1.5). Neither has a time or a random number, so that the same sources give the same bytes.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Texts that a package lacks.
LICENCES = ROOT / "release" / "licences"
NAMES = ("license", "licence", "copying", "unlicense", "notice", "copyright")


def cargo(folder, *arguments):
    return subprocess.run(["cargo", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def sysroot():
    return subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def linked(folder, crate, target):
    """Name and version of each crate that is linked into a crate: no build scripts, no macros, no tests."""
    lines = cargo(
        folder, "tree", "--locked", "--package", crate, "--edges", "normal,no-proc-macro", "--target", target,
        "--prefix", "none", "--format", "{p}",
    )  # fmt: skip
    return sorted({tuple(line.split()[:2]) for line in lines.splitlines() if line})


def packages(folder, crate, target):
    everything = json.loads(cargo(folder, "metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    found = {(package["name"], "v" + package["version"]): package for package in everything["packages"]}
    return [found[key] for key in linked(folder, crate, target)]


def expression(package):
    """Old packages separate alternatives by a slash."""
    licence = package["license"] or sys.exit(f"{package['name']} names no licence")
    return " OR ".join(part.strip() for part in licence.split("/"))


def texts(package):
    """The licence files of a package, also those of C sources one folder below."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [
        file
        for file in sorted([*folder.glob("*"), *folder.glob("*/*")])
        if file.is_file() and file.name.lower().startswith(NAMES) and file.suffix in ("", ".md", ".txt")
    ]
    of_release = LICENCES / ("ratatui.txt" if package["name"].startswith("ratatui") else f"{package['name']}.txt")
    if not files and of_release.exists():
        files = [of_release]
    return files or sys.exit(
        f"{package['name']} {package['version']} has no licence text: add {of_release.name} to release/licences"
    )


def third_party(found, target):
    """One text, however many crates have it, after the names of these crates."""
    users = {}
    for package in found:
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']} ({expression(package)})"
        for file in texts(package):
            text = file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip("\n")
            # The alternative of some packages, which is not the one chosen here.
            if "GNU GENERAL PUBLIC LICENSE" in text[:500]:
                continue
            users.setdefault(text, []).append(name)
    if target.endswith("musl"):
        musl = (LICENCES / "musl.txt").read_text().strip("\n")
        users.setdefault(musl, []).append("musl (MIT)")
    line = "=" * 80
    parts = ["perfdata contains these crates and libraries. Rust's standard library has a file of its own."]
    for text, names in users.items():
        parts.append("\n".join([line, *dict.fromkeys(names), line]) + "\n\n" + text)
    return "\n\n".join(parts) + "\n"


def bill(found, folder, crate):
    lock = tomllib.loads((folder / "Cargo.lock").read_text())
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}

    def component(package, kind):
        purl = f"pkg:cargo/{package['name']}@{package['version']}"
        entry = {
            "type": kind,
            "bom-ref": purl,
            "name": package["name"],
            "version": package["version"],
            "purl": purl,
            "licenses": [{"expression": expression(package)}],
        }
        checksum = checksums[package["name"], package["version"]]
        if checksum:
            entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return entry

    whole = next(package for package in found if package["name"] == crate)
    kind = "application" if crate == "perf-cli" else "library"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(whole, kind)},
        "components": [component(package, "library") for package in found if package is not whole],
    }


def main():
    target, out = sys.argv[1], pathlib.Path(sys.argv[2])
    folder, crate = ROOT, "perf-cli"
    if len(sys.argv) > 3:
        folder = pathlib.Path(sys.argv[3]).resolve()
        crate = tomllib.loads((folder / "Cargo.toml").read_text())["package"]["name"]
    found = packages(folder, crate, target)
    out.mkdir(parents=True, exist_ok=True)
    (out / "THIRD-PARTY.txt").write_text(third_party(found, target), encoding="utf-8")
    standard = pathlib.Path(sysroot()) / "share/doc/rust/COPYRIGHT-library.html"
    if not standard.exists():
        sys.exit(f"{standard} is missing, the licences of Rust's standard library; install Rust by rustup")
    shutil.copyfile(standard, out / "THIRD-PARTY-rust-std.html")
    (out / "perfdata.cdx.json").write_text(json.dumps(bill(found, folder, crate), indent=2) + "\n", encoding="utf-8")


main()
