/*
 * interned CAPTURE: the samples of a capture as a viewer stores them: tables of threads, events, files, functions, frames and stacks,
 * each row once, and then each sample as (time, thread, event, CPU, stack). Here they are printed, one row a line, its
 * columns separated by tabs.
 */
#include <inttypes.h>
#include <stdio.h>

#include <perfdata.h>

#define TEXT(string) (int)(string).size, (string).data ? (string).data : ""

static int failed(perfdata_error *error)
{
    fprintf(stderr, "interned: %s\n", perfdata_error_text(error).data);
    perfdata_error_free(error);
    return 1;
}

static void print_tables(const perfdata_profile *profile, const perfdata_profile_counts *counts)
{
    for (uint32_t i = 0; i < counts->threads; i++) {
        perfdata_profile_thread_row row = { .size = sizeof row };
        perfdata_profile_thread(profile, i, &row, NULL);
        printf("thread\t%" PRIu32 "\t%d\t%d\t%.*s\n", i, row.pid, row.tid, TEXT(row.comm));
    }
    for (uint32_t i = 0; i < counts->events; i++) {
        perfdata_event row = { .size = sizeof row };
        perfdata_profile_event(profile, i, &row, NULL);
        printf("event\t%" PRIu32 "\t%.*s\n", i, TEXT(row.name));
    }
    for (uint32_t i = 0; i < counts->dsos; i++) {
        perfdata_profile_dso_row row = { .size = sizeof row };
        perfdata_profile_dso(profile, i, &row, NULL);
        printf("dso\t%" PRIu32 "\t%.*s\n", i, TEXT(row.path));
    }
    for (uint32_t i = 0; i < counts->functions; i++) {
        perfdata_profile_function_row row = { .size = sizeof row };
        perfdata_profile_function(profile, i, &row, NULL);
        printf("function\t%" PRIu32 "\t%.*s\t%.*s:%" PRIu32 "\t%d\n", i, TEXT(row.name), TEXT(row.file), row.line,
               (row.flags & PERFDATA_FRAME_GUESSED) != 0);
    }
    for (uint32_t i = 0; i < counts->frames; i++) {
        perfdata_profile_frame_row row = { .size = sizeof row };
        perfdata_profile_frame(profile, i, &row, NULL);
        printf("frame\t%" PRIu32 "\t%" PRIx64 "\t%" PRId32 "\t%" PRIu32 "\t%" PRIu32 "\t%d\n", i, row.ip, (int32_t)row.dso,
               row.function, row.function_count, (row.flags & PERFDATA_FRAME_GUESSED) != 0);
    }
    for (uint32_t i = 1; i < counts->stacks; i++) {
        perfdata_profile_stack_row row = { .size = sizeof row };
        perfdata_profile_stack(profile, i, &row, NULL);
        printf("stack\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\n", i, row.caller, row.frame);
    }
}

int main(int count, char **arguments)
{
    perfdata_error *error = NULL;
    perfdata_capture *capture = NULL;
    perfdata_profile *profile = NULL;
    perfdata_profile_options options = { .size = sizeof options, .flags = PERFDATA_PROFILE_TIMES | PERFDATA_PROFILE_CPUS };
    if (perfdata_capture_open(count == 2 ? arguments[1] : "perf.data", &capture, &error) < 0)
        return failed(error);
    int code = perfdata_profile_new(capture, &options, &profile, &error);
    perfdata_capture_free(capture);
    if (code < 0)
        return failed(error);
    perfdata_profile_counts counts = { .size = sizeof counts };
    perfdata_profile_count(profile, &counts, NULL);
    print_tables(profile, &counts);
    for (uint32_t i = 0; i < counts.samples; i++) {
        perfdata_profile_sample_row row = { .size = sizeof row };
        perfdata_profile_sample(profile, i, &row, NULL);
        printf("sample\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRId32 "\t%" PRIu32 "\t%" PRIu64 "\n",
               row.time, row.thread, row.event, (int32_t)row.cpu, row.stack, row.period);
    }
    perfdata_profile_free(profile);
    return 0;
}
