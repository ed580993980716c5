/**
 * The samples that are used, and how. Times and ids are those of the capture.
 */
export interface SampleOptions {
    /** Spans of time: "12.5,13" in seconds, "10%-20%" of the capture. */
    time?: string;
    /** Names of threads. */
    comm?: string | string[];
    /** Ids of processes. */
    pid?: number | number[];
    /** Ids of threads. */
    tid?: number | number[];
    /** CPUs: "0,2-4". */
    cpu?: string;
    /** The name of an event. */
    event?: string;
    /** Names or paths of files. */
    dso?: string | string[];
    /** Names of functions. */
    symbol?: string | string[];
    /** Count the times that threads were off the CPU. */
    offCpu?: boolean;
    /** The largest number of frames of a stack, the innermost ones. 127 by default. */
    maxStack?: number;
    /** Called with the number of bytes that were read, after each MiB. If it returns false, the work ends with an error. */
    progress?: (bytes: number) => unknown;
}

export interface FoldOptions extends SampleOptions {
    /** The outermost frame: the name of the thread, also with the id of its process, or with both ids. "comm" by default. */
    root?: "comm" | "pid" | "tid";
    /** What stacks count. "period" by default. */
    weight?: "period" | "samples";
}

export interface NamedOptions extends SampleOptions {
    /** The name of the capture, which is shown. Empty by default. */
    name?: string;
}

export interface ReportOptions extends SampleOptions {
    /** The keys of a row, as `perf report --sort` has them. "comm,dso,symbol" by default. */
    sort?: string;
    /** The columns, as `perf report --fields` has them. */
    fields?: string;
    /** Rows include the cost of callees, if samples have stacks. True by default. */
    children?: boolean;
    /** Rows below this percentage are left out. */
    percentLimit?: number;
}

/** Counts are numbers, rounded beyond 2^53. Times, in nanoseconds, and addresses are bigints. */
export interface Account {
    /** Whether every byte was decoded. */
    is_clean: boolean;
    records: number;
    bytes: number;
    bytes_skipped: number;
    /** Records that the kernel lost. */
    lost: number;
    /** Samples that the kernel lost. */
    lost_samples: number;
    faults: number;
    /** Whether the recorder did not finish the file. */
    unfinished: boolean;
    /** The first faults. */
    diagnostics: { offset: number; type: string | null; field: string; message: string }[];
    diagnostics_omitted: number;
}

export interface CaptureInfo {
    mode: string;
    endianness: "little" | "big";
    size: number;
    hostname: string | null;
    os_release: string | null;
    arch: string | null;
    perf_version: string | null;
    cpu: string | null;
    features: string[];
    events: { name: string; type: string; config: bigint; ids: bigint[] }[];
    records: { type: string; count: number }[];
    /** The first and the last time of a record; null without times. */
    time: [bigint, bigint] | null;
    account: Account;
}

export interface SampleShare {
    samples: number;
    period: number;
    percent: number;
}

/** A member or more for each key, with the names of `perfdata report --format json`. */
export interface ReportRow {
    /** For each event of the table. */
    self: SampleShare[];
    /** The same with the cost of callees; absent without them. */
    children?: SampleShare[];
    /** The row of all samples that are beyond the limits. It has no keys. */
    beyond_limits?: true;
    comm?: string;
    dso?: string | null;
    symbol?: string | null;
    /** Of a frame without a symbol. */
    address?: bigint;
    [key: string]: unknown;
}

export interface ReportTable {
    name: string;
    /** Indexes of events in CaptureInfo.events. */
    events: number[];
    totals: { samples: number; period: number }[];
    columns: string[];
    headings: string[];
    rows: ReportRow[];
}

export interface Quality {
    /** Number of samples with stacks, and how the stacks end. */
    stacks: { samples: number; [end: string]: number };
    frames: { total: number; mapped: number; named: number; with_line: number; inlined: number; guessed: number };
    /** Files that names are missing of, and what to do. */
    missing: { dso: string; build_id: string | null; frames: number; hint: string }[];
}

export interface Report {
    tables: ReportTable[];
    quality: Quality;
    account: Account;
}

export interface Timeline {
    /** The times of the first and of the last sample. */
    span: [bigint, bigint];
    /** Number of nanoseconds of a part. */
    part: number;
    events: {
        name: string;
        /** The largest number of samples in a part of a thread. */
        most: number;
        threads: { pid: number; tid: number; comm: string; total: number; samples: number[] }[];
    }[];
}
