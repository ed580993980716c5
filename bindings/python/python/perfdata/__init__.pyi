# Types of the package. help() of each name has its documentation.

import builtins
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypedDict, final, overload, type_check_only

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
    "record",
]

__version__: str

_Path = str | os.PathLike[str]
_Names = str | Sequence[str]
_Ids = int | Sequence[int]
_Progress = Callable[[int, int], object]
_Format = Literal["folded", "flamegraph", "svg", "pprof", "otlp", "otlp-json", "firefox", "speedscope", "brstack", "preagg", "autofdo"]
_Weight = Literal["period", "samples"]

class Error(Exception):
    # Bytes of the capture before the record or field that is wrong.
    offset: int | None

class CaptureWarning(UserWarning): ...

@type_check_only
class Account(TypedDict):
    records: int
    bytes: int
    bytes_skipped: int
    faults: int
    lost_records: int
    lost_samples: int
    unfinished: bool
    clean: bool
    diagnostics: list[str]

@type_check_only
class Info(TypedDict):
    mode: Literal["file", "pipe", "ring"]
    endianness: Literal["little", "big"]
    features: list[str]
    hostname: str | None
    release: str | None
    arch: str | None
    processor: str | None
    cpus: int | None
    cpus_available: int | None
    memory: int | None
    perf_version: str | None
    cmdline: list[str] | None
    to_wall_clock: int | None

@type_check_only
class Edited(TypedDict):
    written: int
    left_out: int
    not_decoded: int
    features_left_out: list[str]
    left_out_for_release: list[str]
    account: Account

@type_check_only
class Difference(TypedDict):
    symbol: str | None
    dso: str
    kernel: bool
    before: float
    after: float
    delta: float
    before_with_callees: float
    after_with_callees: float

@type_check_only
class Recorded(TypedDict):
    samples: int
    lost: int
    notes: list[str]
    status: int | None

@final
class Event:
    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> int: ...
    @property
    def config(self) -> int: ...
    @property
    def frequency(self) -> int | None: ...
    @property
    def period(self) -> int | None: ...
    @property
    def sample_type(self) -> int: ...
    @property
    def ids(self) -> list[int]: ...

@final
class Frame:
    @property
    def function(self) -> str | None: ...
    @property
    def file(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def ip(self) -> int: ...
    @property
    def dso(self) -> str | None: ...
    @property
    def inlined(self) -> bool: ...
    @property
    def guessed(self) -> bool: ...
    @property
    def kernel(self) -> bool: ...

@final
class Sample:
    @property
    def comm(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def tid(self) -> int: ...
    @property
    def cpu(self) -> int | None: ...
    @property
    def time(self) -> int | None: ...
    @property
    def event(self) -> str: ...
    @property
    def period(self) -> int: ...
    @property
    def stack(self) -> tuple[Frame, ...]: ...

@final
class Samples(Iterator[Sample]):
    @property
    def account(self) -> Account: ...
    def __iter__(self) -> Samples: ...
    def __next__(self) -> Sample: ...

@final
class Table:
    schema_version: int
    @property
    def name(self) -> str: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

@final
class FlameGraph:
    @property
    def document(self) -> str: ...
    def save(self, path: _Path) -> None: ...
    def _repr_html_(self) -> str: ...

@final
class AnnotatedEvent:
    @property
    def name(self) -> str: ...
    @property
    def samples(self) -> int: ...
    @property
    def period(self) -> int: ...
    @property
    def all_samples(self) -> int: ...
    @property
    def all_period(self) -> int: ...
    @property
    def precise_ip(self) -> int: ...

@final
class AnnotatedFunction:
    @property
    def name(self) -> str | None: ...
    @property
    def caller(self) -> int | None: ...
    @property
    def samples(self) -> list[int]: ...
    @property
    def period(self) -> list[int]: ...

@final
class AnnotatedSource:
    @property
    def path(self) -> str: ...
    @property
    def is_newer(self) -> bool: ...
    @property
    def first(self) -> int: ...
    @property
    def text(self) -> list[str]: ...

@final
class AnnotatedLine:
    @property
    def source(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def samples(self) -> list[int]: ...
    @property
    def period(self) -> list[int]: ...

@final
class AnnotatedInstruction:
    @property
    def address(self) -> int: ...
    @property
    def bytes(self) -> builtins.bytes: ...
    @property
    def text(self) -> str: ...
    @property
    def target(self) -> AnnotatedTarget | None: ...
    @property
    def data(self) -> AnnotatedTarget | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def column(self) -> int | None: ...
    @property
    def is_stmt(self) -> bool: ...
    @property
    def discriminator(self) -> int: ...
    @property
    def function(self) -> int: ...
    @property
    def samples(self) -> list[int]: ...
    @property
    def period(self) -> list[int]: ...

@final
class AnnotatedTarget:
    @property
    def address(self) -> int: ...
    @property
    def symbol(self) -> str | None: ...
    @property
    def offset(self) -> int: ...
    @property
    def is_call(self) -> bool: ...

@final
class AnnotatedBranch:
    @property
    def from_address(self) -> int | None: ...
    @property
    def to_address(self) -> int | None: ...
    @property
    def count(self) -> int: ...
    @property
    def mispredicted(self) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def timed(self) -> int: ...

@final
class Annotation:
    @property
    def symbol(self) -> str: ...
    @property
    def guess(self) -> Literal["scanned", "completed", "file", "clock", "remapped"] | None: ...
    @property
    def dso(self) -> str: ...
    @property
    def build_id(self) -> str | None: ...
    @property
    def code(self) -> Literal["file", "kcore", "jitdump", "bpf_prog_info", "text_poke"]: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def events(self) -> tuple[AnnotatedEvent, ...]: ...
    @property
    def functions(self) -> tuple[AnnotatedFunction, ...]: ...
    @property
    def sources(self) -> tuple[AnnotatedSource, ...]: ...
    @property
    def lines(self) -> tuple[AnnotatedLine, ...]: ...
    @property
    def instructions(self) -> tuple[AnnotatedInstruction, ...]: ...
    @property
    def branches(self) -> tuple[AnnotatedBranch, ...]: ...

@final
class MissingAnnotation:
    @property
    def symbol(self) -> str: ...
    @property
    def dso(self) -> str: ...
    @property
    def why(self) -> str: ...

@final
class Annotations:
    @property
    def functions(self) -> tuple[Annotation, ...]: ...
    @property
    def missing(self) -> tuple[MissingAnnotation, ...]: ...
    @property
    def account(self) -> Account: ...

@final
class Capture:
    @property
    def path(self) -> os.PathLike[str]: ...
    @property
    def info(self) -> Info: ...
    @property
    def events(self) -> list[Event]: ...
    @property
    def account(self) -> Account: ...
    def samples(self, *, errors: Literal["raise", "skip"] = "raise") -> Samples: ...
    def tables(
        self, *, flat: bool = False, branches: bool = False, registers: bool = False, trace: bool = False
    ) -> dict[str, Table]: ...
    def report(
        self,
        sort: str | None = None,
        *,
        children: bool = False,
        off_cpu: bool = False,
        branches: bool | None = None,
        memory: bool = False,
        percent_limit: float = 0.0,
        time_quantum: str | None = None,
        parent: str | None = None,
    ) -> list[dict[str, Any]]: ...
    def annotate(
        self,
        symbol: str | None = None,
        *,
        percent_limit: float | None = None,
        source: Sequence[_Path] = ...,
        prefix: _Path | None = None,
        prefix_strip: int = 0,
        syntax: Literal["att", "intel"] = "att",
    ) -> Annotations: ...
    def fold(
        self,
        *,
        event: str | None = None,
        root: Literal["comm", "pid", "tid"] = "comm",
        weight: _Weight = "period",
        mark: _Names | None = None,
        off_cpu: bool = False,
    ) -> str: ...
    def flamegraph(
        self, path: _Path | None = None, *, event: str | None = None, off_cpu: bool = False
    ) -> FlameGraph: ...
    @overload
    def export(
        self,
        format: _Format,
        path: None = None,
        *,
        event: str | None = None,
        off_cpu: bool = False,
        binary: str | None = None,
    ) -> bytes: ...
    @overload
    def export(
        self,
        format: _Format,
        path: _Path,
        *,
        event: str | None = None,
        off_cpu: bool = False,
        binary: str | None = None,
    ) -> None: ...
    def diff(
        self,
        other: Capture,
        *,
        event: str | None = None,
        normalize: Literal["share", "time", "nothing"] = "share",
        weight: _Weight = "period",
    ) -> list[Difference]: ...
    def edit(
        self,
        output: _Path,
        *,
        sample_every: int | None = None,
        limit: int | None = None,
        drop: _Names | None = None,
        unwind: bool = False,
        build_ids: bool = False,
        symbols_inside: bool = False,
        sort: bool = False,
        compress: int | None = None,
        to: Literal["file", "pipe"] = "file",
        redact: bool | _Names | None = None,
        salt: str | None = None,
        aslr: bool | str | None = None,
        release: Literal["perf-6.1"] | None = None,
    ) -> Edited: ...

def open(
    path: _Path,
    *,
    time: str | None = None,
    comm: _Names | None = None,
    event: str | int | None = None,
    pid: _Ids | None = None,
    tid: _Ids | None = None,
    cpu: int | str | Sequence[int] | None = None,
    dso: _Names | None = None,
    symbol: _Names | None = None,
    threads: int = 0,
    names: bool = True,
    inline: bool = True,
    symfs: _Path | None = None,
    debug_dirs: Sequence[_Path] = ...,
    vmlinux: _Path | None = None,
    kallsyms: _Path | None = None,
    max_stack: int = 127,
    itrace: str | bool | None = None,
    progress: _Progress | None = None,
) -> Capture: ...
def edit(input: _Path, output: _Path, **arguments: Any) -> Edited: ...
def merge(
    inputs: Sequence[_Path],
    output: _Path,
    *,
    clock_offsets: dict[int, int] = ...,
    progress: _Progress | None = None,
) -> Edited: ...
def record(
    command: Sequence[_Path] | None = None,
    *,
    output: _Path = ...,
    events: str | None = None,
    pid: _Ids | None = None,
    system_wide: bool = False,
    frequency: int | None = None,
    period: int | None = None,
    call_graph: Literal["fp", "dwarf", "lbr"] | None = None,
    duration: float | None = None,
) -> Recorded: ...
