#!/usr/bin/env python3
"""Packs and unpacks the corpora of the fuzz targets: corpus/TARGET.tar.gz has the inputs of corpus/TARGET.

corpus.py unpack [TARGET...]   writes the inputs of the targets (default: all) to corpus/TARGET, for cargo fuzz
corpus.py pack [TARGET...]     replaces the archives of the targets (default: those that are unpacked) by the files there

With one version of zlib, the bytes of an archive depend on nothing but the names and the contents of the inputs.
"""
import gzip
import io
import pathlib
import sys
import tarfile

CORPUS = pathlib.Path(__file__).resolve().parent / 'corpus'
ENDING = '.tar.gz'


def unpack(target):
    folder = CORPUS / target
    folder.mkdir(exist_ok=True)
    with tarfile.open(CORPUS / (target + ENDING)) as archive:
        for member in archive:
            (folder / pathlib.PurePath(member.name).name).write_bytes(archive.extractfile(member).read())


def pack(target):
    inputs = sorted(path for path in (CORPUS / target).iterdir() if path.is_file())
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode='w', format=tarfile.USTAR_FORMAT) as archive:
        for path in inputs:
            # The owner, mode and time are those of a new TarInfo.
            member = tarfile.TarInfo(path.name)
            member.size = path.stat().st_size
            with path.open('rb') as file:
                archive.addfile(member, file)
    # Without a name and a time: `gzip.compress` writes a header that differs between versions of Python.
    path = CORPUS / (target + ENDING)
    with path.open('wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=0) as compressed:
        compressed.write(content.getvalue())


def main():
    verb, *targets = sys.argv[1:] or ['']
    if verb == 'unpack':
        targets = targets or sorted(path.name.removesuffix(ENDING) for path in CORPUS.glob('*' + ENDING))
        for target in targets:
            unpack(target)
    elif verb == 'pack':
        for target in targets or sorted(path.name for path in CORPUS.iterdir() if path.is_dir()):
            pack(target)
    else:
        sys.exit(__doc__)


main()
