/*
 * script CAPTURE [FIELDS]: prints each sample, as `perfdata script -F FIELDS CAPTURE` does. FIELDS are some of comm, pid, tid, cpu,
 * time, period, event, ip and sym, by default all. Names are printed as they are: perfdata escapes what a terminal would take for
 * a command.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <perfdata.h>

/* PERF_SAMPLE_CALLCHAIN of <linux/perf_event.h>. */
#define SAMPLE_CALLCHAIN (1u << 5)

static const char *fields = "comm,pid,tid,cpu,time,period,event,ip,sym";

/* Returns whether a field is wanted. */
static bool wants(const char *field)
{
    size_t size = strlen(field);
    for (const char *at = fields; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, field, size) == 0 && (at[size] == ',' || at[size] == 0))
            return true;
    }
    return false;
}

/* Returns the length of the longest name of an event. */
static int name_width(perfdata_samples *samples)
{
    size_t width = 0, count = perfdata_samples_event_count(samples);
    for (size_t index = 0; index < count; index++) {
        perfdata_event event = { .size = sizeof event };
        if (perfdata_samples_event(samples, index, &event, NULL) == PERFDATA_OK && event.name.size > width)
            width = event.name.size;
    }
    return (int)width;
}

static void print_text(perfdata_string text)
{
    fwrite(text.data, 1, text.size, stdout);
}

static void print_padded(perfdata_string text, int width)
{
    printf("%*s", width > (int)text.size ? width - (int)text.size : 0, "");
    print_text(text);
}

static void print_function(const perfdata_frame *frame)
{
    if (!wants("sym"))
        return;
    putchar(' ');
    if (frame->function.data)
        print_text(frame->function);
    else
        fputs("[unknown]", stdout);
    if (frame->flags & PERFDATA_FRAME_GUESSED)
        fputs(" [guessed]", stdout);
}

static void print_stack(const perfdata_samples *samples)
{
    const perfdata_frame *frame;
    putchar('\n');
    for (size_t index = 0; (frame = perfdata_samples_frame(samples, index)); index++) {
        /* As perf 6.1: the offset in the file, but of the kernel's code the address. */
        bool is_in_file = frame->dso.data && !(frame->flags & PERFDATA_FRAME_KERNEL);
        printf("\t%16" PRIx64, is_in_file ? frame->file_offset : frame->address);
        print_function(frame);
        puts(frame->flags & PERFDATA_FRAME_INLINED ? " (inlined)" : "");
    }
}

/* Prints the address of a sample without a stack, with the function that is not inlined. */
static void print_address(const perfdata_samples *samples, const perfdata_sample *sample)
{
    const perfdata_frame *frame = NULL, *next;
    for (size_t index = 0; (next = perfdata_samples_frame(samples, index)); index++) {
        frame = next;
        if (!(next->flags & PERFDATA_FRAME_INLINED))
            break;
    }
    printf(" %16" PRIx64, sample->ip);
    if (frame)
        print_function(frame);
}

static void print_sample(perfdata_samples *samples, const perfdata_sample *sample, int width)
{
    perfdata_event event = { .size = sizeof event };
    perfdata_samples_event(samples, sample->event, &event, NULL);
    bool has_stack = wants("ip") && event.sample_type & SAMPLE_CALLCHAIN;
    if (wants("comm")) {
        print_padded(sample->comm, has_stack ? 0 : 16);
        putchar(' ');
    }
    if (wants("pid") && wants("tid"))
        printf("%5d/%-5d ", sample->pid, sample->tid);
    else if (wants("pid") || wants("tid"))
        printf("%5d ", wants("pid") ? sample->pid : sample->tid);
    if (wants("cpu") && sample->flags & PERFDATA_SAMPLE_HAS_CPU)
        printf("[%03" PRIu32 "] ", sample->cpu);
    else if (wants("cpu"))
        fputs("[-01] ", stdout);
    if (wants("time"))
        printf("%5" PRIu64 ".%06" PRIu64 ": ", sample->time / 1000000000, sample->time % 1000000000 / 1000);
    if (wants("period"))
        printf("%10" PRIu64 " ", sample->period);
    if (wants("event")) {
        print_padded(event.name, width);
        fputs(": ", stdout);
    }
    if (has_stack)
        print_stack(samples);
    else if (wants("ip"))
        print_address(samples, sample);
    putchar('\n');
}

/* Prints an error and frees it. */
static int failed(perfdata_error *error)
{
    fprintf(stderr, "script: %s\n", perfdata_error_text(error).data);
    perfdata_error_free(error);
    return 1;
}

int main(int count, char **arguments)
{
    if (count < 2 || count > 3) {
        fputs("usage: script CAPTURE [FIELDS]\n", stderr);
        return 2;
    }
    if (count > 2)
        fields = arguments[2];
    perfdata_error *error = NULL;
    perfdata_capture *capture = NULL;
    perfdata_samples *samples = NULL;
    perfdata_name_options names = { .size = sizeof names, .flags = PERFDATA_NAMES_AS_PERF | PERFDATA_NAMES_NO_LINES };
    perfdata_sample_options options = { .size = sizeof options, .names = &names };
    if (perfdata_capture_open(arguments[1], &capture, &error) < 0)
        return failed(error);
    if (perfdata_samples_new(capture, &options, &samples, &error) < 0) {
        perfdata_capture_free(capture);
        return failed(error);
    }
    perfdata_capture_free(capture);
    const perfdata_sample *sample;
    int code, width = 0, status = 0;
    while ((code = perfdata_samples_next(samples, &sample, &error)) != 0) {
        if (code < 0) {
            /* The samples after one that cannot be decoded are still there. */
            status = failed(error);
            if (code != PERFDATA_ERROR_FORMAT)
                break;
            continue;
        }
        if (width == 0)
            width = name_width(samples);
        print_sample(samples, sample, width);
    }
    perfdata_samples_free(samples);
    return status;
}
