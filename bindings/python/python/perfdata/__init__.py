"""Linux perf captures: samples, stacks, names, Arrow tables, flame graphs and exports.

    >>> import perfdata
    >>> capture = perfdata.open("perf.data", time="10%-20%")
    >>> capture.report(sort="dso,sym")[0]                          # doctest: +SKIP
    {'event': 'cycles', 'percent': 12.5, 'samples': 1024, ...}

Times are nanoseconds of the capture's clock. Bytes of names that are no UTF-8 are ``\\xNN``.
"""

from __future__ import annotations

import os
from typing import Any

from . import _perfdata
from ._perfdata import (
    AnnotatedBranch,
    AnnotatedEvent,
    AnnotatedFunction,
    AnnotatedInstruction,
    AnnotatedLine,
    AnnotatedSource,
    AnnotatedTarget,
    Annotation,
    Annotations,
    Capture,
    CaptureWarning,
    Error,
    Event,
    FlameGraph,
    Frame,
    MissingAnnotation,
    Sample,
    Samples,
    Table,
    __version__,
    merge,
    open,
)

__all__ = [
    "AnnotatedBranch",
    "AnnotatedEvent",
    "AnnotatedFunction",
    "AnnotatedInstruction",
    "AnnotatedLine",
    "AnnotatedSource",
    "AnnotatedTarget",
    "Annotation",
    "Annotations",
    "Capture",
    "CaptureWarning",
    "Error",
    "Event",
    "FlameGraph",
    "Frame",
    "MissingAnnotation",
    "Sample",
    "Samples",
    "Table",
    "__version__",
    "edit",
    "merge",
    "open",
]

# Recording needs Linux.
if hasattr(_perfdata, "record"):
    from ._perfdata import record  # noqa: F401

    __all__.append("record")

# The arguments of open.
_OPEN = frozenset(
    "time comm event pid tid cpu dso symbol threads names inline symfs debug_dirs vmlinux kallsyms max_stack progress".split()
)


def edit(
    input: str | os.PathLike[str], output: str | os.PathLike[str], **arguments: Any
) -> dict[str, Any]:
    """Write another capture with the selected samples of a capture, and with all records that they need.

    The keyword arguments are those of ``open``, which select samples, and those of ``Capture.edit``. The input does not change.
    Return what was written, and what was not.
    """
    of_open = {name: arguments.pop(name) for name in _OPEN & arguments.keys()}
    return open(input, **of_open).edit(output, **arguments)
