/*
 * export FORMAT CAPTURE: writes a capture to the standard output in a format, as `perfdata export --to FORMAT` and `perfdata flamegraph`
 * do: folded, flamegraph, svg, pprof, speedscope, firefox, otlp or otlp-json; and, of branch stacks, brstack, preagg or autofdo.
 */
#include <stdio.h>
#include <string.h>

#include <perfdata.h>

/* A format, and what it needs of each sample. */
struct format {
    const char *name;
    uint32_t format, flags;
};

static const struct format formats[] = {
    { "folded", PERFDATA_FORMAT_FOLDED, 0 },
    { "flamegraph", PERFDATA_FORMAT_FLAMEGRAPH, PERFDATA_PROFILE_SPANS },
    { "svg", PERFDATA_FORMAT_SVG, 0 },
    { "pprof", PERFDATA_FORMAT_PPROF, PERFDATA_PROFILE_CPUS },
    { "speedscope", PERFDATA_FORMAT_SPEEDSCOPE, PERFDATA_PROFILE_TIMES },
    { "firefox", PERFDATA_FORMAT_FIREFOX, PERFDATA_PROFILE_TIMES | PERFDATA_PROFILE_CPUS | PERFDATA_PROFILE_MARKS },
    { "otlp", PERFDATA_FORMAT_OTLP, PERFDATA_PROFILE_TIMES | PERFDATA_PROFILE_CPUS },
    { "otlp-json", PERFDATA_FORMAT_OTLP_JSON, PERFDATA_PROFILE_TIMES | PERFDATA_PROFILE_CPUS },
};

/* A format of branch stacks. */
static const struct format branch_formats[] = {
    { "brstack", PERFDATA_BRANCHES_BRSTACK, 0 },
    { "preagg", PERFDATA_BRANCHES_PREAGG, 0 },
    { "autofdo", PERFDATA_BRANCHES_AUTOFDO, 0 },
};

static int print(void *user, const void *data, size_t size)
{
    (void)user;
    return fwrite(data, 1, size, stdout) != size;
}

static int failed(perfdata_error *error)
{
    fprintf(stderr, "export: %s\n", perfdata_error_text(error).data);
    perfdata_error_free(error);
    return 1;
}

int main(int count, char **arguments)
{
    const struct format *format = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && count == 3; i++)
        if (strcmp(formats[i].name, arguments[1]) == 0)
            format = &formats[i];
    const struct format *of_branches = NULL;
    for (size_t i = 0; i < sizeof branch_formats / sizeof *branch_formats && count == 3; i++)
        if (strcmp(branch_formats[i].name, arguments[1]) == 0)
            of_branches = &branch_formats[i];
    if (!format && !of_branches) {
        fputs("usage: export FORMAT CAPTURE\n", stderr);
        return 1;
    }
    const char *path = arguments[2], *slash = strrchr(path, '/');
    perfdata_error *error = NULL;
    perfdata_capture *capture = NULL;
    perfdata_profile *profile = NULL;
    if (perfdata_capture_open(path, &capture, &error) < 0)
        return failed(error);
    if (perfdata_capture_has_trace(capture)) {
        /* Samples of AUX data, as the program makes them. */
        perfdata_capture *traced = capture;
        int made = perfdata_capture_trace_samples(traced, NULL, NULL, &capture, &error);
        perfdata_capture_free(traced);
        if (made < 0)
            return failed(error);
    }
    if (of_branches) {
        int written = perfdata_branches_write(capture, of_branches->format, NULL, print, NULL, &error);
        perfdata_capture_free(capture);
        return written < 0 ? failed(error) : 0;
    }
    perfdata_profile_options options = { .size = sizeof options, .flags = format->flags };
    perfdata_export_options export = { .size = sizeof export, .name = slash ? slash + 1 : path };
    int code = perfdata_profile_new(capture, &options, &profile, &error);
    perfdata_capture_free(capture);
    if (code < 0)
        return failed(error);
    code = perfdata_profile_write_fd(profile, format->format, &export, 1, &error);
    perfdata_profile_free(profile);
    return code < 0 ? failed(error) : 0;
}
