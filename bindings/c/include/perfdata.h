/*
 * libperfdata: captures of Linux perf, with samples, stacks, names and exports.
 *
 * Made from the Rust sources by cbindgen; do not edit it. Licensed under Apache-2.0 or MIT, at your option.
 *
 * Codes: a function that returns `int` returns 0 (PERFDATA_OK), or 1 for "there is one" where it says so, or a negative
 * PERFDATA_ERROR_*. Its last argument, which may be NULL, then gets an error with a text and perhaps an offset; free it with
 * perfdata_error_free. Otherwise it gets NULL.
 *
 * Structures have their size as first field. Set it before a call: `perfdata_event event = { sizeof event };`. A library of
 * another version then reads and writes only what both have; options of 0 are the defaults; options that an older library does
 * not have are refused if they are not 0.
 *
 * Strings of the library are a pointer and a length. Unless stated otherwise they live until the next call on the handle that
 * they came from.
 *
 * Threads: there is no global state. A `perfdata_capture`, a `perfdata_profile` and a `perfdata_annotation` may be used by any number
 * of threads at the same time. Each other handle may move between threads, but one thread uses it at a time. A handle is freed
 * once, by any thread, when no call uses it.
 */

#ifndef PERFDATA_H
#define PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef _WIN32
/* File descriptors are there. */
#define PERFDATA_UNIX 1
#endif


/**
 * Write instructions of x86 in the syntax of Intel, and not in that of AT&T.
 */
#define PERFDATA_ANNOTATE_INTEL 1

/**
 * Find no texts of source lines. Their files and numbers stay.
 */
#define PERFDATA_ANNOTATE_NO_SOURCE (1 << 1)

/**
 * The instruction branches to an address that is in its bytes: the fields that begin with `target_`.
 */
#define PERFDATA_INSTRUCTION_TARGET 1

/**
 * The branch is a call.
 */
#define PERFDATA_INSTRUCTION_CALL (1 << 1)

/**
 * The instruction loads, stores or computes an address relative to its own: the fields that begin with `data_`.
 */
#define PERFDATA_INSTRUCTION_DATA (1 << 2)

/**
 * The compiler recommends the instruction as the place of a breakpoint for its line.
 */
#define PERFDATA_INSTRUCTION_IS_STMT (1 << 3)

/**
 * Branch stacks for `llvm-profgen --perfscript`: the samples one by one.
 */
#define PERFDATA_BRANCHES_BRSTACK 1

/**
 * Branch stacks for `perf2bolt -pa`: counts.
 */
#define PERFDATA_BRANCHES_PREAGG 2

/**
 * Branch stacks for `create_llvm_prof --profiler=text`: counts.
 */
#define PERFDATA_BRANCHES_AUTOFDO 3

/**
 * The call did what it should.
 */
#define PERFDATA_OK 0

/**
 * An argument is invalid: a NULL pointer, an index out of range, a path that is not text.
 */
#define PERFDATA_ERROR_ARGUMENT -1

/**
 * A file, or a callback of the program, could not be read or written.
 */
#define PERFDATA_ERROR_IO -2

/**
 * The bytes are no capture, or a record of the capture cannot be decoded. The error has the offset.
 */
#define PERFDATA_ERROR_FORMAT -3

/**
 * The capture does not have what is selected or asked for.
 */
#define PERFDATA_ERROR_SELECTION -4

/**
 * The program cancelled the work.
 */
#define PERFDATA_ERROR_CANCELLED -5

/**
 * The program was built for a newer library, and uses what this one does not have.
 */
#define PERFDATA_ERROR_UNSUPPORTED -6

/**
 * The library failed: a bug. The handle can only be freed.
 */
#define PERFDATA_ERROR_INTERNAL -7

/**
 * The code of a function was not found, or there is no disassembler for its machine. The text has the reason.
 */
#define PERFDATA_ERROR_NO_CODE -8

/**
 * Folded stacks.
 */
#define PERFDATA_FORMAT_FOLDED 1

/**
 * A flame graph as a page that loads nothing.
 */
#define PERFDATA_FORMAT_FLAMEGRAPH 2

/**
 * A flame graph as a static picture, SVG.
 */
#define PERFDATA_FORMAT_SVG 3

/**
 * A profile for `go tool pprof`: protobuf, compressed by gzip.
 */
#define PERFDATA_FORMAT_PPROF 4

/**
 * JSON for speedscope.app.
 */
#define PERFDATA_FORMAT_SPEEDSCOPE 5

/**
 * JSON for profiler.firefox.com.
 */
#define PERFDATA_FORMAT_FIREFOX 6

/**
 * A profile of OpenTelemetry, as protobuf.
 */
#define PERFDATA_FORMAT_OTLP 7

/**
 * The same as JSON.
 */
#define PERFDATA_FORMAT_OTLP_JSON 8

/**
 * Find no names: addresses and files only.
 */
#define PERFDATA_NAMES_NONE 1

/**
 * Leave inlined functions out.
 */
#define PERFDATA_NAMES_NO_INLINES (1 << 1)

/**
 * Find no source files and lines.
 */
#define PERFDATA_NAMES_NO_LINES (1 << 2)

/**
 * Name functions as perf 6.1 does: without parameters, also where two functions of a file then have one name.
 */
#define PERFDATA_NAMES_AS_PERF (1 << 3)

/**
 * Keep the names of C++ and Rust as they are in the file.
 */
#define PERFDATA_NAMES_MANGLED (1 << 4)

/**
 * Keep the CPU of samples.
 */
#define PERFDATA_PROFILE_CPUS 1

/**
 * Keep the time of each sample, and with it each sample alone. Firefox, speedscope and OTLP need it.
 */
#define PERFDATA_PROFILE_TIMES (1 << 1)

/**
 * Keep of times only in which of at most 1,024 spans they are. Flame graphs with a time line need it, or all times.
 */
#define PERFDATA_PROFILE_SPANS (1 << 2)

/**
 * Keep the texts of tracepoints and the switches of threads, which Firefox shows.
 */
#define PERFDATA_PROFILE_MARKS (1 << 3)

/**
 * Count the times that threads were off the CPU as further events.
 */
#define PERFDATA_PROFILE_OFF_CPU (1 << 4)

/**
 * The index of nothing: no DSO, no caller.
 */
#define PERFDATA_NONE 4294967295

/**
 * The field has no value.
 */
#define PERFDATA_FIELD_NONE 0

/**
 * An unsigned number: `number`.
 */
#define PERFDATA_FIELD_UNSIGNED 1

/**
 * A signed number: `number`, as two's complement.
 */
#define PERFDATA_FIELD_SIGNED 2

/**
 * True or false: `number` is 1 or 0.
 */
#define PERFDATA_FIELD_BOOL 3

/**
 * A text: `bytes`. A name that is not UTF-8 is PERFDATA_FIELD_BYTES.
 */
#define PERFDATA_FIELD_TEXT 4

/**
 * Bytes: `bytes`.
 */
#define PERFDATA_FIELD_BYTES 5

/**
 * Return records in order of time, and not in that of the capture.
 */
#define PERFDATA_RECORDS_IN_TIME_ORDER 1

/**
 * The record has a time.
 */
#define PERFDATA_RECORD_HAS_TIME 1

/**
 * The record has a CPU.
 */
#define PERFDATA_RECORD_HAS_CPU (1 << 1)

/**
 * The record has the ids of a process and a thread.
 */
#define PERFDATA_RECORD_HAS_TID (1 << 2)

/**
 * The event of the record is known.
 */
#define PERFDATA_RECORD_HAS_EVENT (1 << 3)

/**
 * The sample has a time.
 */
#define PERFDATA_SAMPLE_HAS_TIME 1

/**
 * The sample has a CPU.
 */
#define PERFDATA_SAMPLE_HAS_CPU (1 << 1)

/**
 * The sample has the address of its instruction.
 */
#define PERFDATA_SAMPLE_HAS_IP (1 << 2)

/**
 * The sample has the address of data.
 */
#define PERFDATA_SAMPLE_HAS_ADDR (1 << 3)

/**
 * The sample has the ids of its process and thread.
 */
#define PERFDATA_SAMPLE_HAS_TID (1 << 4)

/**
 * The stack is a call chain of the kernel's, or there is none.
 */
#define PERFDATA_STACK_RECORDED 0

/**
 * Unwinding reached the outermost function of the thread.
 */
#define PERFDATA_STACK_ROOTED 1

/**
 * The outer frames are those of an earlier stack of the thread.
 */
#define PERFDATA_STACK_COMPLETED 2

/**
 * Unwinding ended at an address without a mapping.
 */
#define PERFDATA_STACK_NO_MAPPING 3

/**
 * Unwinding ended at a function without unwind information.
 */
#define PERFDATA_STACK_NO_UNWIND_INFO 4

/**
 * Unwinding ended at the end of the copied stack.
 */
#define PERFDATA_STACK_TRUNCATED 5

/**
 * Unwinding ended at an impossible address.
 */
#define PERFDATA_STACK_GARBAGE 6

/**
 * Unwinding ended for a reason that this version has no number for.
 */
#define PERFDATA_STACK_OTHER 7

/**
 * The function is inlined into that of the next frame, at the same address.
 */
#define PERFDATA_FRAME_INLINED 1

/**
 * The frame, or its name, is a guess.
 */
#define PERFDATA_FRAME_GUESSED (1 << 1)

/**
 * The frame is code of the kernel: of its image, a module, or a program that it loaded.
 */
#define PERFDATA_FRAME_KERNEL (1 << 2)

/**
 * A function with its instructions, source lines and samples. It does not change: any number of threads may use it at the same
 * time. Strings that it returns live as long as it does.
 */
typedef struct perfdata_annotation perfdata_annotation;

/**
 * The functions of a capture that have samples. One thread uses it at a time; it may move to another one. Strings that it returns
 * live as long as it does.
 */
typedef struct perfdata_annotator perfdata_annotator;

/**
 * An opened capture. It does not change: any number of threads may use it at the same time, and it may be freed before the handles
 * that were made from it. Strings that it returns live as long as it does.
 */
typedef struct perfdata_capture perfdata_capture;

/**
 * What went wrong in a call, and what to do. Free it with perfdata_error_free.
 */
typedef struct perfdata_error perfdata_error;

/**
 * The profile of a capture. It does not change: any number of threads may use it at the same time. Strings that it returns live as
 * long as it does.
 */
typedef struct perfdata_profile perfdata_profile;

/**
 * The records of a capture, one by one. One thread uses it at a time; it may move to another one.
 */
typedef struct perfdata_records perfdata_records;

/**
 * The samples of a capture, one by one, in order of time. One thread uses it at a time; it may move to another one.
 */
typedef struct perfdata_samples perfdata_samples;

/**
 * Finds the functions at addresses of files. One thread uses it at a time; it may move to another one.
 */
typedef struct perfdata_symbolizer perfdata_symbolizer;

/**
 * Bytes of the library: a name, a path or a text, of any encoding, without a NUL at the end unless that is stated. `data` is NULL
 * if there is none, for example no name is known; an empty text has a `size` of 0 and a `data` that is not NULL.
 *
 * They live until the next call on their handle that is not const, unless a function states more.
 */
typedef struct {
    /**
     * The first byte.
     */
    const char *data;
    /**
     * Number of bytes.
     */
    size_t size;
} perfdata_string;

/**
 * What an annotation is of, and the number of rows of each of its tables. Indexes begin with 0.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The name of the function.
     */
    perfdata_string symbol;
    /**
     * Why the name is a guess, in a word; NULL if it is not one.
     */
    perfdata_string guess;
    /**
     * The path of its file, or the name of what else has the code.
     */
    perfdata_string dso;
    /**
     * The recorded build id of the file, in hexadecimal; NULL if none was recorded.
     */
    perfdata_string build_id;
    /**
     * Where the bytes are from: `file`, `kcore`, `jitdump`, `bpf_prog_info` or `text_poke`.
     */
    perfdata_string code;
    /**
     * Address of the first instruction: in the memory of the file, or of the process if the code is in no file.
     */
    uint64_t start;
    /**
     * The address after the last byte.
     */
    uint64_t end;
    /**
     * Number of events, for perfdata_annotation_event.
     */
    uint32_t events;
    /**
     * Number of functions, for perfdata_annotation_function: the function itself, and each that is inlined into it.
     */
    uint32_t functions;
    /**
     * Number of source files, for perfdata_annotation_source.
     */
    uint32_t sources;
    /**
     * Number of source lines, for perfdata_annotation_line.
     */
    uint32_t lines;
    /**
     * Number of instructions, for perfdata_annotation_instruction.
     */
    uint32_t instructions;
    /**
     * Number of branches, for perfdata_annotation_branch.
     */
    uint32_t branches;
} perfdata_annotation_head;

/**
 * An instruction.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Its address, as `start` of the annotation.
     */
    uint64_t address;
    /**
     * Its bytes.
     */
    perfdata_string bytes;
    /**
     * Its mnemonic and operands; `(bad)` for bytes that are no instruction.
     */
    perfdata_string text;
    /**
     * The address that it branches to, with PERFDATA_INSTRUCTION_TARGET.
     */
    uint64_t target_address;
    /**
     * The function there; empty if it is unknown, NULL without a target.
     */
    perfdata_string target_name;
    /**
     * The offset of the target in that function.
     */
    uint64_t target_offset;
    /**
     * The address that it uses, with PERFDATA_INSTRUCTION_DATA.
     */
    uint64_t data_address;
    /**
     * The function or variable there; empty if it is unknown, NULL without data.
     */
    perfdata_string data_name;
    /**
     * The offset of the data in that function or variable.
     */
    uint64_t data_offset;
    /**
     * Tells blocks of the same line apart; 0 if there is one.
     */
    uint64_t discriminator;
    /**
     * The index of its source line; PERFDATA_NONE if it is unknown.
     */
    uint32_t line;
    /**
     * The column of that line, from 1 on; 0 if it is unknown.
     */
    uint32_t column;
    /**
     * The index of its innermost function.
     */
    uint32_t function;
    /**
     * PERFDATA_INSTRUCTION_* bits.
     */
    uint32_t flags;
} perfdata_annotation_instruction_row;

/**
 * An event that has samples in an annotated function.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Its name.
     */
    perfdata_string name;
    /**
     * Number of its samples in the function.
     */
    uint64_t samples;
    /**
     * The sum of their periods.
     */
    uint64_t period;
    /**
     * Number of its selected samples in the capture.
     */
    uint64_t all_samples;
    /**
     * The sum of their periods.
     */
    uint64_t all_period;
    /**
     * How exact the addresses are: `attr.precise_ip`. With 0, a sample may be at an instruction after the one that caused it.
     */
    uint32_t precise_ip;
} perfdata_annotation_event_row;

/**
 * A function, or a function that is inlined into it.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Its name; empty if it has none.
     */
    perfdata_string name;
    /**
     * The index of the function that it is inlined into; PERFDATA_NONE for the first.
     */
    uint32_t caller;
} perfdata_annotation_function_row;

/**
 * A file of source lines.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The path that the compiler recorded.
     */
    perfdata_string path;
    /**
     * The number of the first line that has a text, from 1 on.
     */
    uint32_t first;
    /**
     * Number of lines that have a text; 0 if the file was not found.
     */
    uint32_t count;
    /**
     * Whether the file was modified after the recording, so that its lines may be others.
     */
    bool is_newer;
} perfdata_annotation_source_row;

/**
 * A source line that has instructions.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The index of its file.
     */
    uint32_t source;
    /**
     * Its number, from 1 on.
     */
    uint32_t line;
} perfdata_annotation_line_row;

/**
 * Branches that were recorded from one address to another.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The address of the branch, if `has_from`.
     */
    uint64_t from;
    /**
     * The address that it went to, if `has_to`.
     */
    uint64_t to;
    /**
     * How often it was recorded.
     */
    uint64_t count;
    /**
     * How often it was mispredicted.
     */
    uint64_t mispredicted;
    /**
     * The sum of the cycles since the branch before it, of the branches that have them.
     */
    uint64_t cycles;
    /**
     * How many branches have cycles.
     */
    uint64_t timed;
    /**
     * Whether the branch is in the function, and not in another one.
     */
    bool has_from;
    /**
     * Whether it went to an address of the function, and not to another one.
     */
    bool has_to;
} perfdata_annotation_branch_row;

/**
 * Samples of an event.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Number of samples.
     */
    uint64_t samples;
    /**
     * The sum of their periods.
     */
    uint64_t period;
} perfdata_total;

/**
 * The samples that are wanted: those that each field selects. A field that is 0 or NULL selects all.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Spans of time, as `perfdata --time` has them: `10%-20%`, or seconds `12.5,13`.
     */
    const char *time;
    /**
     * CPUs: `0,2-3`.
     */
    const char *cpus;
    /**
     * The name of an event, or its index in the capture.
     */
    const char *event;
    /**
     * Names of threads.
     */
    const char *const *comms;
    /**
     * Number of names of threads.
     */
    size_t comm_count;
    /**
     * Ids of processes.
     */
    const int32_t *pids;
    /**
     * Number of ids of processes.
     */
    size_t pid_count;
    /**
     * Ids of threads.
     */
    const int32_t *tids;
    /**
     * Number of ids of threads.
     */
    size_t tid_count;
    /**
     * Files that have the address of the sample, each by its path or file name.
     */
    const char *const *dsos;
    /**
     * Number of files.
     */
    size_t dso_count;
    /**
     * Functions that have the address of the sample.
     */
    const char *const *symbols;
    /**
     * Number of functions.
     */
    size_t symbol_count;
} perfdata_selection;

/**
 * Where names come from, and how functions are named. A field that is 0 or NULL is the default: the files of this machine.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * PERFDATA_NAMES_* bits.
     */
    uint32_t flags;
    /**
     * A folder that all paths are looked for in: the root of another machine.
     */
    const char *symfs;
    /**
     * Folders with debug files.
     */
    const char *const *debug_dirs;
    /**
     * Number of folders with debug files.
     */
    size_t debug_dir_count;
    /**
     * The kernel with its symbols.
     */
    const char *vmlinux;
    /**
     * A copy of /proc/kallsyms.
     */
    const char *kallsyms;
} perfdata_name_options;

/**
 * Options of an annotator. A field that is 0 or NULL is the default.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The samples that are wanted.
     */
    const perfdata_selection *selection;
    /**
     * Where code and names come from.
     */
    const perfdata_name_options *names;
    /**
     * Folders with sources. Of each, the longest end of the recorded path that exists below it is used.
     */
    const char *const *source_dirs;
    /**
     * Number of folders with sources.
     */
    size_t source_dir_count;
    /**
     * A folder in front of absolute recorded paths of sources.
     */
    const char *source_prefix;
    /**
     * Number of leading folders of the recorded path that are dropped before `source_prefix` is added. The name of the file stays.
     */
    uint32_t source_strip;
    /**
     * PERFDATA_ANNOTATE_* bits.
     */
    uint32_t flags;
    /**
     * Number of threads that find names; 0 is one for each processor.
     */
    uint32_t threads;
    /**
     * None yet; 0.
     */
    uint32_t reserved;
    /**
     * Called about once a mebibyte with the number of bytes that were read; a result that is not 0 cancels. It is called on the
     * thread of the call, and may not throw. May be NULL.
     */
    int (*progress)(void *user,
                    uint64_t bytes);
    /**
     * The first argument of `progress`.
     */
    void *user;
} perfdata_annotate_options;

/**
 * What was read of a capture, and what could not be decoded or was lost.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Number of records that were read.
     */
    uint64_t records;
    /**
     * Number of bytes that were read.
     */
    uint64_t bytes;
    /**
     * Number of bytes that could not be read as records.
     */
    uint64_t bytes_skipped;
    /**
     * Number of faults: of records that could not be decoded, and of the capture itself.
     */
    uint64_t faults;
    /**
     * Number of records that the kernel dropped, as the capture states it.
     */
    uint64_t lost;
    /**
     * Number of samples that the kernel dropped, as the capture states it.
     */
    uint64_t lost_samples;
    /**
     * Whether nothing is wrong: neither faults nor bytes that were skipped.
     */
    bool is_clean;
} perfdata_account;

/**
 * An event that was recorded.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The name, as perf has it, for example `cycles:u`.
     */
    perfdata_string name;
    /**
     * The index in the capture.
     */
    uint32_t index;
    /**
     * The type of its attr: PERF_TYPE_*.
     */
    uint32_t type;
    /**
     * The config of its attr.
     */
    uint64_t config;
    /**
     * The fields of its samples: PERF_SAMPLE_* bits.
     */
    uint64_t sample_type;
    /**
     * The period of its samples, or with `frequency` how many there should be in a second.
     */
    uint64_t sample_period;
    /**
     * Whether `sample_period` is a frequency.
     */
    bool frequency;
} perfdata_event;

/**
 * Samples of an event in a capture.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Number of samples that were selected.
     */
    uint64_t samples;
    /**
     * The sum of their periods.
     */
    uint64_t period;
    /**
     * Number of those at addresses without a symbol, which are in no function.
     */
    uint64_t unnamed_samples;
    /**
     * The sum of the periods of these.
     */
    uint64_t unnamed_period;
    /**
     * Number of those that are in no function because there were too many different addresses before.
     */
    uint64_t beyond_samples;
    /**
     * The sum of the periods of these.
     */
    uint64_t beyond_period;
} perfdata_sampled_event;

/**
 * A function that has samples.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Its name.
     */
    perfdata_string name;
    /**
     * Its name as it is in the file.
     */
    perfdata_string raw_name;
    /**
     * The path of its file, or a name as `[kernel.kallsyms]`.
     */
    perfdata_string dso;
    /**
     * Why the name is a guess, in a word; NULL if it is not one.
     */
    perfdata_string guess;
    /**
     * The offset of its start in the file; its address if it is in none.
     */
    uint64_t start;
    /**
     * Number of its bytes; UINT64_MAX if only DWARF has the function.
     */
    uint64_t length;
} perfdata_sampled_function;

/**
 * Options of branches. A field that is 0 or NULL is the default.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The samples that are wanted.
     */
    const perfdata_selection *selection;
    /**
     * Where the file and its names come from.
     */
    const perfdata_name_options *names;
    /**
     * The file whose branches are wanted, by its path, or by its name without folders; by default the one with the most branches.
     */
    const char *binary;
    /**
     * None yet; 0.
     */
    uint32_t flags;
    /**
     * None yet; 0.
     */
    uint32_t reserved;
    /**
     * Called about once a mebibyte with the number of bytes that were read; a result that is not 0 cancels. It is called on the
     * thread of the call, and may not throw. May be NULL.
     */
    int (*progress)(void *user,
                    uint64_t bytes);
    /**
     * The first argument of `progress`.
     */
    void *user;
} perfdata_branch_options;

/**
 * A function that takes a part of an export. Returns 0, or another number to cancel. It may not throw.
 */
typedef int (*perfdata_write_fn)(void *user,
                                 const void *data,
                                 size_t size);

/**
 * What is known of a capture before its records are read. In a pipe, what comes after its first sample is not there.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * How the capture stores its records: `file` or `pipe`.
     */
    perfdata_string mode;
    /**
     * The name of the machine that recorded it.
     */
    perfdata_string hostname;
    /**
     * Its architecture, as in `uname -m`.
     */
    perfdata_string arch;
    /**
     * The release of its kernel, as in `uname -r`.
     */
    perfdata_string release;
    /**
     * The name of its processor.
     */
    perfdata_string processor;
    /**
     * Nanoseconds from a time of the samples to the wall clock's, modulo 2^64, if `has_wall_clock`.
     */
    uint64_t to_wall_clock;
    /**
     * The number of its CPUs that were online; 0 if it was not recorded.
     */
    uint32_t cpus;
    /**
     * Whether times of samples can be converted to the wall clock.
     */
    bool has_wall_clock;
    /**
     * Whether the capture is big-endian.
     */
    bool is_big_endian;
} perfdata_info;

/**
 * Options of an export. A field that is 0 or NULL is the default.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The name of the capture, which flame graphs, Firefox and speedscope show.
     */
    const char *name;
    /**
     * The name of the event that folded stacks, flame graphs and Firefox show first or alone; by default the first one.
     */
    const char *event;
    /**
     * Number of threads that work on it; 0 is one for each processor.
     */
    uint32_t threads;
    /**
     * None yet; 0.
     */
    uint32_t flags;
} perfdata_export_options;

/**
 * A thread of a capture, as it was after the last record.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Its name.
     */
    perfdata_string comm;
    /**
     * Id of its process.
     */
    int32_t pid;
    /**
     * Its id.
     */
    int32_t tid;
    /**
     * Whether it has exited.
     */
    bool has_exited;
} perfdata_thread;

/**
 * A mapping of a process, as it was after the last record.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The first address.
     */
    uint64_t start;
    /**
     * The address after the last one.
     */
    uint64_t end;
    /**
     * The offset of `start` in the file.
     */
    uint64_t offset;
    /**
     * The path of the file.
     */
    perfdata_string dso;
    /**
     * Its build id; NULL if none was recorded.
     */
    perfdata_string build_id;
    /**
     * PROT_* bits; 0 if they were not recorded.
     */
    uint32_t prot;
} perfdata_mapping;

/**
 * Callbacks with which the library reads a capture. They are called by any thread that uses a handle of the capture, but never by
 * two at once. They may not throw, and may not call the library with a handle of the same capture.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The first argument of the callbacks.
     */
    void *user;
    /**
     * Number of bytes of the capture.
     */
    uint64_t length;
    /**
     * Reads up to `size` bytes at `offset` into `buffer`. Returns how many it read, 0 at the end, or a negative number if it
     * failed.
     */
    ptrdiff_t (*read_at)(void *user,
                         uint64_t offset,
                         void *buffer,
                         size_t size);
    /**
     * Called once, after the last read, when the last handle of the capture is freed or opening it failed; may be NULL.
     */
    void (*close)(void *user);
} perfdata_source;

/**
 * Options of a profile. A field that is 0 or NULL is the default.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The samples that are wanted.
     */
    const perfdata_selection *selection;
    /**
     * Where names come from.
     */
    const perfdata_name_options *names;
    /**
     * PERFDATA_PROFILE_* bits. Without them, samples that differ in time and CPU only are counted together.
     */
    uint32_t flags;
    /**
     * The largest number of addresses of a stack; 127 by default.
     */
    uint32_t max_stack;
    /**
     * Number of threads that work on it; 0 is one for each processor.
     */
    uint32_t threads;
    /**
     * None yet; 0.
     */
    uint32_t reserved;
    /**
     * Called about once a mebibyte with the number of bytes that were read; a result that is not 0 cancels. It is called on the
     * thread of the call, and may not throw. May be NULL.
     */
    int (*progress)(void *user,
                    uint64_t bytes);
    /**
     * The first argument of `progress`.
     */
    void *user;
} perfdata_profile_options;

/**
 * Number of rows of each table of a profile. Indexes begin with 0.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Number of samples, for perfdata_profile_sample.
     */
    uint32_t samples;
    /**
     * Number of threads, for perfdata_profile_thread.
     */
    uint32_t threads;
    /**
     * Number of events, for perfdata_profile_event.
     */
    uint32_t events;
    /**
     * Number of stacks, for perfdata_profile_stack.
     */
    uint32_t stacks;
    /**
     * Number of frames, for perfdata_profile_frame.
     */
    uint32_t frames;
    /**
     * Number of functions at the addresses of frames, for perfdata_profile_function.
     */
    uint32_t functions;
    /**
     * Number of files, for perfdata_profile_dso.
     */
    uint32_t dsos;
} perfdata_profile_counts;

/**
 * Samples that have everything in common that the profile keeps of them: one, if it keeps times.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Nanoseconds of the capture's clock; 0 without PERFDATA_PROFILE_TIMES.
     */
    uint64_t time;
    /**
     * How many samples these are.
     */
    uint64_t samples;
    /**
     * The sum of their periods.
     */
    uint64_t period;
    /**
     * Index of the thread.
     */
    uint32_t thread;
    /**
     * Index of the event.
     */
    uint32_t event;
    /**
     * Index of the stack; 0 is the empty one.
     */
    uint32_t stack;
    /**
     * The CPU; PERFDATA_NONE if it was not recorded, or is not kept.
     */
    uint32_t cpu;
} perfdata_profile_sample_row;

/**
 * A thread, as long as it had a name: an exec or a new name begins another one.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The name.
     */
    perfdata_string comm;
    /**
     * Tells threads apart that have the same id at other times.
     */
    uint64_t key;
    /**
     * Id of the process.
     */
    int32_t pid;
    /**
     * Id of the thread.
     */
    int32_t tid;
} perfdata_profile_thread_row;

/**
 * A stack: a frame, and the stack of its caller. Stack 0 is the empty one.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Index of the stack of the caller, which is less than that of this one; PERFDATA_NONE for stack 0.
     */
    uint32_t caller;
    /**
     * Index of the innermost frame; PERFDATA_NONE for stack 0.
     */
    uint32_t frame;
} perfdata_profile_stack_row;

/**
 * An address in a mapping.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The address; a return address in callers.
     */
    uint64_t ip;
    /**
     * Its offset in the file.
     */
    uint64_t file_offset;
    /**
     * Index of the file; PERFDATA_NONE if it is in none.
     */
    uint32_t dso;
    /**
     * Index of the first function at the address, the innermost inlined one.
     */
    uint32_t function;
    /**
     * Number of functions; 0 if none is known.
     */
    uint32_t function_count;
    /**
     * PERFDATA_FRAME_GUESSED and PERFDATA_FRAME_KERNEL.
     */
    uint32_t flags;
} perfdata_profile_frame_row;

/**
 * A function at the address of a frame.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The name.
     */
    perfdata_string name;
    /**
     * The source file; NULL if it is unknown.
     */
    perfdata_string file;
    /**
     * Index of the name: equal for equal functions, at any address.
     */
    uint32_t symbol;
    /**
     * The line of the address, from 1 on; 0 if it is unknown.
     */
    uint32_t line;
    /**
     * PERFDATA_FRAME_INLINED and PERFDATA_FRAME_GUESSED.
     */
    uint32_t flags;
} perfdata_profile_function_row;

/**
 * A file that was mapped, or the kernel.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The path, or a name as `[kernel.kallsyms]`.
     */
    perfdata_string path;
} perfdata_profile_dso_row;

/**
 * A record. It is the library's, and lives until the next call of perfdata_records_next.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The bytes of the record with its header, in the byte order of the capture; of a compressed capture, decompressed.
     */
    const void *data;
    /**
     * Number of these bytes.
     */
    size_t data_size;
    /**
     * Number of bytes of the capture before the record; of a compressed record, before the one that has it.
     */
    uint64_t offset;
    /**
     * Nanoseconds of the capture's clock; UINT64_MAX without PERFDATA_RECORD_HAS_TIME.
     */
    uint64_t time;
    /**
     * PERF_RECORD_* of the kernel and of perf.
     */
    uint32_t type;
    /**
     * PERF_RECORD_MISC_* bits.
     */
    uint32_t misc;
    /**
     * Id of the process; -1 without PERFDATA_RECORD_HAS_TID.
     */
    int32_t pid;
    /**
     * Id of the thread; -1 without PERFDATA_RECORD_HAS_TID.
     */
    int32_t tid;
    /**
     * The CPU; UINT32_MAX without PERFDATA_RECORD_HAS_CPU.
     */
    uint32_t cpu;
    /**
     * Index of the event; UINT32_MAX without PERFDATA_RECORD_HAS_EVENT.
     */
    uint32_t event;
    /**
     * PERFDATA_RECORD_* bits.
     */
    uint32_t flags;
    /**
     * None yet; 0.
     */
    uint32_t reserved;
} perfdata_record;

/**
 * A field of a record.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The path of the field, with the kernel's names: `pid`, or `sample_id.time`. Elements of a list have their index:
     * `callchain.0`.
     */
    perfdata_string name;
    /**
     * The value of a text, or of bytes.
     */
    perfdata_string bytes;
    /**
     * The value of a number.
     */
    uint64_t number;
    /**
     * What the value is: PERFDATA_FIELD_*.
     */
    uint32_t kind;
} perfdata_field;

/**
 * Options of samples. A field that is 0 or NULL is the default.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The samples that are wanted.
     */
    const perfdata_selection *selection;
    /**
     * Where names come from.
     */
    const perfdata_name_options *names;
    /**
     * The largest number of addresses of a stack; 127 by default.
     */
    uint32_t max_stack;
    /**
     * None yet; 0.
     */
    uint32_t flags;
} perfdata_sample_options;

/**
 * A sample. It is the library's, and lives until the next call of perfdata_samples_next. A newer library may have further fields
 * at its end: `size` is what is there.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Nanoseconds of the capture's clock; UINT64_MAX without PERFDATA_SAMPLE_HAS_TIME.
     */
    uint64_t time;
    /**
     * Number of events that the sample stands for.
     */
    uint64_t period;
    /**
     * Address of the instruction; 0 without PERFDATA_SAMPLE_HAS_IP.
     */
    uint64_t ip;
    /**
     * Address of the data; 0 without PERFDATA_SAMPLE_HAS_ADDR.
     */
    uint64_t addr;
    /**
     * The name of the thread at that time.
     */
    perfdata_string comm;
    /**
     * Id of the process; -1 without PERFDATA_SAMPLE_HAS_TID.
     */
    int32_t pid;
    /**
     * Id of the thread; -1 without PERFDATA_SAMPLE_HAS_TID.
     */
    int32_t tid;
    /**
     * The CPU; UINT32_MAX without PERFDATA_SAMPLE_HAS_CPU.
     */
    uint32_t cpu;
    /**
     * Index of the event, for perfdata_samples_event.
     */
    uint32_t event;
    /**
     * PERFDATA_SAMPLE_* bits.
     */
    uint32_t flags;
    /**
     * How the stack ends: PERFDATA_STACK_*.
     */
    uint32_t stack_end;
    /**
     * Number of frames, for perfdata_samples_frame.
     */
    size_t frame_count;
} perfdata_sample;

/**
 * A frame of a stack: a function, or one that is inlined into the function of the next frame. It is the library's, and lives until
 * the next call of perfdata_samples_next.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * The address: a return address in all frames but the innermost one.
     */
    uint64_t ip;
    /**
     * The address as perf prints it: that of a stack which was unwound is one less than a return address.
     */
    uint64_t address;
    /**
     * The offset of `address` in its file; UINT64_MAX if it is in no mapping.
     */
    uint64_t file_offset;
    /**
     * The offset of `address` in its function; UINT64_MAX if it is unknown.
     */
    uint64_t function_offset;
    /**
     * The name of the function; NULL if it is unknown.
     */
    perfdata_string function;
    /**
     * The source file, as the compiler recorded its path; NULL if it is unknown.
     */
    perfdata_string file;
    /**
     * The path of the mapped file, or a name as `[kernel.kallsyms]`; NULL if the address is in no mapping.
     */
    perfdata_string dso;
    /**
     * The line in the source file, from 1 on; 0 if it is unknown.
     */
    uint32_t line;
    /**
     * PERFDATA_FRAME_* bits.
     */
    uint32_t flags;
    /**
     * The mode of the CPU: PERF_RECORD_MISC_KERNEL, _USER and so on.
     */
    uint32_t mode;
    /**
     * None yet; 0.
     */
    uint32_t reserved;
} perfdata_frame;

/**
 * A function at an address.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Its name; NULL if it is unknown.
     */
    perfdata_string name;
    /**
     * Its name as it is in the file; NULL if it is unknown.
     */
    perfdata_string raw_name;
    /**
     * The source file, as the compiler recorded its path; NULL if it is unknown.
     */
    perfdata_string file;
    /**
     * The offset of the address in the function; UINT64_MAX if it is unknown.
     */
    uint64_t offset;
    /**
     * The line in the source file, from 1 on; 0 if it is unknown.
     */
    uint32_t line;
    /**
     * The column, from 1 on; 0 if it is unknown.
     */
    uint32_t column;
    /**
     * Whether it is inlined into the next function of the address.
     */
    bool is_inlined;
} perfdata_function;

/**
 * What was decoded of AUX data, and what was not.
 */
typedef struct {
    /**
     * Size of this structure in bytes.
     */
    size_t size;
    /**
     * Number of samples that were made.
     */
    uint64_t samples;
    /**
     * Number of records of the trace, including damaged ones.
     */
    uint64_t records;
    /**
     * Number of records of the trace that a fault ended.
     */
    uint64_t damaged;
    /**
     * Number of bytes at which there is no packet.
     */
    uint64_t bad_bytes;
    /**
     * Number of buffers whose data cannot be read.
     */
    uint64_t unreadable;
    /**
     * Number of bytes that the capture announces and does not have.
     */
    uint64_t cut_off;
    /**
     * Number of places at which data is missing between buffers.
     */
    uint64_t gaps;
    /**
     * Number of times that the kernel reported lost data.
     */
    uint64_t lost;
    /**
     * Whether all data was decoded.
     */
    bool is_clean;
} perfdata_trace_account;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the version of the library, for example "0.1.0", which also ends with a NUL. It lives as long as the library.
 */
perfdata_string perfdata_version(void);

/**
 * Writes what an annotation is of, and the number of rows of each table.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_info(const perfdata_annotation *annotation,
                             perfdata_annotation_head *out,
                             perfdata_error **error);

/**
 * Frees an annotation. NULL has no effect.
 *
 * Demands: `annotation` is NULL or a live handle that no other call uses.
 */
void perfdata_annotation_free(perfdata_annotation *annotation);

/**
 * Writes an instruction of an annotation by its index. Instructions are in the order of their addresses, without gaps.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_instruction(const perfdata_annotation *annotation,
                                    uint32_t index,
                                    perfdata_annotation_instruction_row *out,
                                    perfdata_error **error);

/**
 * Writes an event of an annotation by its index: the one with most samples in the capture comes first.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_event(const perfdata_annotation *annotation,
                              uint32_t index,
                              perfdata_annotation_event_row *out,
                              perfdata_error **error);

/**
 * Writes a function of an annotation by its index: the annotated function comes first, then those that are inlined into it.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_function(const perfdata_annotation *annotation,
                                 uint32_t index,
                                 perfdata_annotation_function_row *out,
                                 perfdata_error **error);

/**
 * Writes a source file of an annotation by its index, which lines have.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_source(const perfdata_annotation *annotation,
                               uint32_t index,
                               perfdata_annotation_source_row *out,
                               perfdata_error **error);

/**
 * Returns the text of a line, from 1 on, of a source file, given by its index; NULL if it is unknown. It has no line end.
 *
 * Demands: `annotation` is NULL or a live handle.
 */
perfdata_string perfdata_annotation_source_text(const perfdata_annotation *annotation,
                                                uint32_t source,
                                                uint32_t line);

/**
 * Writes a source line of an annotation by its index. Lines are in the order of their first instructions.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_line(const perfdata_annotation *annotation,
                             uint32_t index,
                             perfdata_annotation_line_row *out,
                             perfdata_error **error);

/**
 * Writes a recorded branch of an annotation by its index. Branches are in the order of their addresses.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_branch(const perfdata_annotation *annotation,
                               uint32_t index,
                               perfdata_annotation_branch_row *out,
                               perfdata_error **error);

/**
 * Writes the samples of an event at an instruction. Both are given by their indexes in the annotation.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_instruction_total(const perfdata_annotation *annotation,
                                          uint32_t instruction,
                                          uint32_t event,
                                          perfdata_total *out,
                                          perfdata_error **error);

/**
 * Writes the samples of an event at the instructions of a source line. Both are given by their indexes in the annotation.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_line_total(const perfdata_annotation *annotation,
                                   uint32_t line,
                                   uint32_t event,
                                   perfdata_total *out,
                                   perfdata_error **error);

/**
 * Writes the samples of an event at the instructions of a function, without those of functions that are inlined into it. Both are
 * given by their indexes in the annotation.
 *
 * Demands: `annotation` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotation_function_total(const perfdata_annotation *annotation,
                                       uint32_t function,
                                       uint32_t event,
                                       perfdata_total *out,
                                       perfdata_error **error);

/**
 * Counts the selected samples of a capture by their addresses, and finds the functions of these. `options` may be NULL. A sample
 * counts at its own address, and not at those of its callers. What could not be decoded is in the account.
 *
 * Demands: `capture` is a live handle; `options` is NULL or has its size; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_annotator_new(const perfdata_capture *capture,
                           const perfdata_annotate_options *options,
                           perfdata_annotator **out,
                           perfdata_error **error);

/**
 * Disassembles a function, given by its index, and finds its source lines. Takes time and memory in proportion to the size of the
 * function. The annotation does not need the annotator any more. PERFDATA_ERROR_NO_CODE if the code of the function is not found, or
 * there is no disassembler for its machine.
 *
 * Demands: `annotator` is a live handle that no other call uses; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_annotator_annotate(perfdata_annotator *annotator,
                                size_t function,
                                perfdata_annotation **out,
                                perfdata_error **error);

/**
 * Writes what was read of the capture, and what could not be.
 *
 * Demands: `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotator_account(const perfdata_annotator *annotator,
                               perfdata_account *out,
                               perfdata_error **error);

/**
 * Frees an annotator. Annotations that it made stay valid. NULL has no effect.
 *
 * Demands: `annotator` is NULL or a live handle that no other call uses.
 */
void perfdata_annotator_free(perfdata_annotator *annotator);

/**
 * Returns the number of events that have samples; 0 for NULL.
 *
 * Demands: `annotator` is NULL or a live handle.
 */
size_t perfdata_annotator_event_count(const perfdata_annotator *annotator);

/**
 * Writes an event that has samples by its index, which is not that in the capture.
 *
 * Demands: `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotator_event(const perfdata_annotator *annotator,
                             size_t event,
                             perfdata_event *out,
                             perfdata_error **error);

/**
 * Writes the samples of an event, given by its index: all, and those that are in no function.
 *
 * Demands: `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotator_event_totals(const perfdata_annotator *annotator,
                                    size_t event,
                                    perfdata_sampled_event *out,
                                    perfdata_error **error);

/**
 * Returns the number of functions that have samples; 0 for NULL.
 *
 * Demands: `annotator` is NULL or a live handle.
 */
size_t perfdata_annotator_function_count(const perfdata_annotator *annotator);

/**
 * Writes a function by its index: those come first that the first event counted most in.
 *
 * Demands: `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotator_function(const perfdata_annotator *annotator,
                                size_t function,
                                perfdata_sampled_function *out,
                                perfdata_error **error);

/**
 * Writes the samples of an event in a function, both given by their indexes in the annotator.
 *
 * Demands: `annotator` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_annotator_function_total(const perfdata_annotator *annotator,
                                      size_t function,
                                      size_t event,
                                      perfdata_total *out,
                                      perfdata_error **error);

/**
 * Finds a function by its name, as people read it or as it is in the file: the first one whose index is at least `first`. Returns 1
 * and writes its index, or returns 0 if there is none. Functions of several files may have one name.
 *
 * Demands: `annotator` is a live handle; `name` ends with a NUL; `out` can be written; `error` is NULL or can be written.
 */
int perfdata_annotator_find(const perfdata_annotator *annotator,
                            const char *name,
                            size_t first,
                            size_t *out,
                            perfdata_error **error);

/**
 * Writes the branches of a file in a format, PERFDATA_BRANCHES_*, into a callback, which gets it part by part on the thread of the
 * call. `options` may be NULL. The file must be there: its segments tell the addresses. A result of the callback that is not 0 ends
 * the export with PERFDATA_ERROR_CANCELLED. What cannot be decoded is left out.
 *
 * Demands: `capture` is a live handle; `options` is NULL or has its size; `write` may be called with `user`; `error` is NULL or can be
 * written.
 */
int perfdata_branches_write(const perfdata_capture *capture,
                            uint32_t format,
                            const perfdata_branch_options *options,
                            perfdata_write_fn write,
                            void *user,
                            perfdata_error **error);

/**
 * Writes what is known of a capture. Strings live as long as the capture.
 *
 * Demands: `capture` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_capture_info(const perfdata_capture *capture,
                          perfdata_info *out,
                          perfdata_error **error);

/**
 * Returns the number of events that are known before the records are read: of a file, all; of a pipe, those before its first
 * sample.
 *
 * Demands: `capture` is NULL or a live handle.
 */
size_t perfdata_capture_event_count(const perfdata_capture *capture);

/**
 * Writes an event by its index. The name lives as long as the capture.
 *
 * Demands: `capture` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_capture_event(const perfdata_capture *capture,
                           size_t index,
                           perfdata_event *out,
                           perfdata_error **error);

/**
 * Writes the account of opening a capture: the faults of its header, attrs and features.
 *
 * Demands: `capture` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_capture_account(const perfdata_capture *capture,
                             perfdata_account *out,
                             perfdata_error **error);

/**
 * Frees a capture. Handles that were made from it stay valid. NULL has no effect.
 *
 * Demands: `capture` is NULL or a live handle that no other call uses.
 */
void perfdata_capture_free(perfdata_capture *capture);

/**
 * Returns the code of an error; PERFDATA_OK for NULL.
 *
 * Demands: `error` is NULL or an error of this library that was not freed.
 */
int perfdata_error_code(const perfdata_error *error);

/**
 * Returns the text of an error, which also ends with a NUL; an empty one for NULL. It lives as long as the error.
 *
 * Demands: `error` is NULL or an error of this library that was not freed.
 */
perfdata_string perfdata_error_text(const perfdata_error *error);

/**
 * Returns whether an error has an offset, and writes it: the number of bytes of the capture before the record or field that
 * is wrong.
 *
 * Demands: `error` is NULL or an error of this library that was not freed. `offset` is NULL or can be written.
 */
bool perfdata_error_offset(const perfdata_error *error,
                           uint64_t *offset);

/**
 * Frees an error. NULL has no effect.
 *
 * Demands: `error` is NULL or an error of this library that was not freed.
 */
void perfdata_error_free(perfdata_error *error);

/**
 * Writes a profile in a format, PERFDATA_FORMAT_*, into a callback, which gets it part by part on the thread of the call. `options`
 * may be NULL. A result of the callback that is not 0 ends the export with PERFDATA_ERROR_CANCELLED.
 *
 * Demands: `profile` is a live handle; `options` is NULL or has its size; `write` may be called with `user`; `error` is NULL or can be
 * written.
 */
int perfdata_profile_write(const perfdata_profile *profile,
                           uint32_t format,
                           const perfdata_export_options *options,
                           perfdata_write_fn write,
                           void *user,
                           perfdata_error **error);

#if defined(PERFDATA_UNIX)
/**
 * Writes a profile in a format, PERFDATA_FORMAT_*, into a file descriptor, which stays the caller's. `options` may be NULL.
 *
 * Demands: `profile` is a live handle; `options` is NULL or has its size; `fd` is an open descriptor; `error` is NULL or can be written.
 */
int perfdata_profile_write_fd(const perfdata_profile *profile,
                              uint32_t format,
                              const perfdata_export_options *options,
                              int fd,
                              perfdata_error **error);
#endif

/**
 * Writes a thread by its id, as it was after the last record. Returns 1, or 0 if the capture has no such thread. All samples must
 * have been read.
 *
 * Demands: `samples` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_samples_thread(perfdata_samples *samples,
                            int32_t tid,
                            perfdata_thread *out,
                            perfdata_error **error);

/**
 * Writes the mapping that a thread had at an address after the last record. Returns 1, or 0 if there is none. All samples must have
 * been read. The build id lives until the next call on the handle.
 *
 * Demands: `samples` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_samples_mapping(perfdata_samples *samples,
                             int32_t tid,
                             uint64_t address,
                             perfdata_mapping *out,
                             perfdata_error **error);

/**
 * Opens a capture by its path: a file, a pipe, or the folder of `perf record --threads`. `-` is the standard input. It is read by
 * windows and not mapped, so that a file that another program cuts short is an error and not a signal.
 *
 * Demands: `path` ends with a NUL; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_capture_open(const char *path,
                          perfdata_capture **out,
                          perfdata_error **error);

#if defined(PERFDATA_UNIX)
/**
 * Opens the capture of a file descriptor: of a file from its start, or of a pipe or socket from where it is. The descriptor stays
 * the caller's, and is duplicated. The records of a pipe can be read once, by one handle.
 *
 * Demands: `fd` is an open descriptor; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_capture_open_fd(int fd,
                             perfdata_capture **out,
                             perfdata_error **error);
#endif

/**
 * Opens a capture in memory. The bytes are copied.
 *
 * Demands: `data` has `size` bytes; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_capture_open_bytes(const void *data,
                                size_t size,
                                perfdata_capture **out,
                                perfdata_error **error);

/**
 * Opens a capture in memory without copying the bytes. They must stay as they are until the capture and all handles that were
 * made from it are freed.
 *
 * Demands: `data` has `size` bytes, which nobody changes or frees until then; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_capture_open_borrowed(const void *data,
                                   size_t size,
                                   perfdata_capture **out,
                                   perfdata_error **error);

/**
 * Opens a capture that the program reads. `source` is copied; its callbacks are called until `close`, which is also called if
 * the capture cannot be opened.
 *
 * Demands: `source` has its size, and callbacks as it demands them; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_capture_open_source(const perfdata_source *source,
                                 perfdata_capture **out,
                                 perfdata_error **error);

/**
 * Makes the profile of a capture. `options` may be NULL. What could not be decoded is in its account.
 *
 * Demands: `capture` is a live handle; `options` is NULL or has its size; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_profile_new(const perfdata_capture *capture,
                         const perfdata_profile_options *options,
                         perfdata_profile **out,
                         perfdata_error **error);

/**
 * Writes what was read of the capture, and what could not be.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_account(const perfdata_profile *profile,
                             perfdata_account *out,
                             perfdata_error **error);

/**
 * Frees a profile. NULL has no effect.
 *
 * Demands: `profile` is NULL or a live handle that no other call uses.
 */
void perfdata_profile_free(perfdata_profile *profile);

/**
 * Writes the number of rows of each table.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_count(const perfdata_profile *profile,
                           perfdata_profile_counts *out,
                           perfdata_error **error);

/**
 * Writes a sample by its index. Samples are in the order in which they came, which is that of time.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_sample(const perfdata_profile *profile,
                            uint32_t index,
                            perfdata_profile_sample_row *out,
                            perfdata_error **error);

/**
 * Writes a thread by its index.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_thread(const perfdata_profile *profile,
                            uint32_t index,
                            perfdata_profile_thread_row *out,
                            perfdata_error **error);

/**
 * Writes an event of the profile by its index, which is not that in the capture: only events with samples are there.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_event(const perfdata_profile *profile,
                           uint32_t index,
                           perfdata_event *out,
                           perfdata_error **error);

/**
 * Writes a stack by its index.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_stack(const perfdata_profile *profile,
                           uint32_t index,
                           perfdata_profile_stack_row *out,
                           perfdata_error **error);

/**
 * Writes a frame by its index.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_frame(const perfdata_profile *profile,
                           uint32_t index,
                           perfdata_profile_frame_row *out,
                           perfdata_error **error);

/**
 * Writes a function at an address by its index, which frames have.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_function(const perfdata_profile *profile,
                              uint32_t index,
                              perfdata_profile_function_row *out,
                              perfdata_error **error);

/**
 * Writes a file by its index, which frames have.
 *
 * Demands: `profile` is a live handle; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_profile_dso(const perfdata_profile *profile,
                         uint32_t index,
                         perfdata_profile_dso_row *out,
                         perfdata_error **error);

/**
 * Begins to read the records of a capture. `flags` are PERFDATA_RECORDS_* bits.
 *
 * Demands: `capture` is a live handle; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_records_new(const perfdata_capture *capture,
                         uint32_t flags,
                         perfdata_records **out,
                         perfdata_error **error);

/**
 * Reads the next record. Returns 1 and writes it, 0 after the last one, or an error. After an error, the next call returns the
 * next record that can be read.
 *
 * Demands: `records` is a live handle that no other call uses; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_records_next(perfdata_records *records,
                          const perfdata_record **out,
                          perfdata_error **error);

/**
 * Decodes the last record into fields, and writes how many it has. They live until the next call of perfdata_records_next.
 *
 * Demands: `records` is a live handle that no other call uses; `count` and `error` can be written, `error` may be NULL.
 */
int perfdata_records_decode(perfdata_records *records,
                            size_t *count,
                            perfdata_error **error);

/**
 * Writes a field of the record that was decoded, in the order of the record.
 *
 * Demands: `records` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_records_field(const perfdata_records *records,
                           size_t index,
                           perfdata_field *out,
                           perfdata_error **error);

/**
 * Writes what was read so far, and what could not be.
 *
 * Demands: `records` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_records_account(const perfdata_records *records,
                             perfdata_account *out,
                             perfdata_error **error);

/**
 * Frees records. NULL has no effect.
 *
 * Demands: `records` is NULL or a live handle that no other call uses.
 */
void perfdata_records_free(perfdata_records *records);

/**
 * Begins to read the samples of a capture. `options` may be NULL.
 *
 * Demands: `capture` is a live handle; `options` is NULL or has its size; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_samples_new(const perfdata_capture *capture,
                         const perfdata_sample_options *options,
                         perfdata_samples **out,
                         perfdata_error **error);

/**
 * Reads the next sample. Returns 1 and writes it, 0 after the last one, or an error. After PERFDATA_ERROR_FORMAT, a sample that
 * cannot be decoded, the next call returns the one after it. A sample that reads several counters comes once for each.
 *
 * Demands: `samples` is a live handle that no other call uses; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_samples_next(perfdata_samples *samples,
                          const perfdata_sample **out,
                          perfdata_error **error);

/**
 * Returns a frame of the last sample, the innermost one at index 0; NULL if there are not as many.
 *
 * Demands: `samples` is NULL or a live handle that no other call uses.
 */
const perfdata_frame *perfdata_samples_frame(const perfdata_samples *samples,
                                             size_t index);

/**
 * Returns the number of events that are known so far. It grows while a pipe is read.
 *
 * Demands: `samples` is NULL or a live handle that no other call uses.
 */
size_t perfdata_samples_event_count(perfdata_samples *samples);

/**
 * Writes an event by its index, which samples have. Events are known from the first sample on. The name lives until the next
 * call of perfdata_samples_next.
 *
 * Demands: `samples` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_samples_event(perfdata_samples *samples,
                           size_t index,
                           perfdata_event *out,
                           perfdata_error **error);

/**
 * Writes what was read so far, and what could not be.
 *
 * Demands: `samples` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_samples_account(const perfdata_samples *samples,
                             perfdata_account *out,
                             perfdata_error **error);

/**
 * Frees samples. NULL has no effect.
 *
 * Demands: `samples` is NULL or a live handle that no other call uses.
 */
void perfdata_samples_free(perfdata_samples *samples);

/**
 * Makes a symbolizer. `options` may be NULL. It needs no capture.
 *
 * Demands: `options` is NULL or has its size; `out` and `error` can be written, `error` may be NULL.
 */
int perfdata_symbolizer_new(const perfdata_name_options *options,
                            perfdata_symbolizer **out,
                            perfdata_error **error);

/**
 * Finds the functions at addresses of an ELF file, as its symbols have them. A file that is not there, or has no symbols, has no
 * functions, which is no error. What was found lives until the next call of this function.
 *
 * Demands: `symbolizer` is a live handle that no other call uses; `path` ends with a NUL; `addresses` has `count` of them; `error` is
 * NULL or can be written.
 */
int perfdata_symbolizer_find(perfdata_symbolizer *symbolizer,
                             const char *path,
                             const uint64_t *addresses,
                             size_t count,
                             perfdata_error **error);

/**
 * Writes a function that the last perfdata_symbolizer_find found: that with the index `function` at the address with the index
 * `address`, the innermost inlined one first. Returns 1, or 0 if the address has no more.
 *
 * Demands: `symbolizer` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
 */
int perfdata_symbolizer_function(const perfdata_symbolizer *symbolizer,
                                 size_t address,
                                 size_t function,
                                 perfdata_function *out,
                                 perfdata_error **error);

/**
 * Frees a symbolizer. NULL has no effect.
 *
 * Demands: `symbolizer` is NULL or a live handle that no other call uses.
 */
void perfdata_symbolizer_free(perfdata_symbolizer *symbolizer);

/**
 * Returns whether a capture has a trace of which the program `perfdata`, and perf, make samples without being asked: one of Arm SPE.
 *
 * Demands: `capture` is NULL or a live handle.
 */
bool perfdata_capture_has_trace(const perfdata_capture *capture);

/**
 * Makes the samples of the AUX data of a capture, and gives a capture that has them in place of the data. `letters` selects which, as
 * the option `--itrace` of `perfdata` does; NULL is all kinds, of each operation. A sample counts 1 without a period in the letters.
 * The new capture is in a temporary file without a name, which is gone with it. `account` may be NULL.
 *
 * The code is PERFDATA_ERROR_SELECTION if the capture has no AUX data of which samples are made.
 *
 * Demands: `capture` is a live handle; `letters` is NULL or ends with a NUL; `account` is NULL, or `account->size` is set; `out` can be
 * written; `error` is NULL or can be written.
 */
int perfdata_capture_trace_samples(const perfdata_capture *capture,
                                   const char *letters,
                                   perfdata_trace_account *account,
                                   perfdata_capture **out,
                                   perfdata_error **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PERFDATA_H */
