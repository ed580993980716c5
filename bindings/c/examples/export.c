/*
 * export FORMAT CAPTURE: writes a capture to the standard output in a format, as `perfdata export --to FORMAT` and `perfdata flamegraph`
 * do: folded, flamegraph, svg, pprof, speedscope, firefox, otlp or otlp-json.
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
    if (!format) {
        fputs("usage: export FORMAT CAPTURE\n", stderr);
        return 1;
    }
    const char *path = arguments[2], *slash = strrchr(path, '/');
    perfdata_error *error = NULL;
    perfdata_capture *capture = NULL;
    perfdata_profile *profile = NULL;
    perfdata_profile_options options = { .size = sizeof options, .flags = format->flags };
    perfdata_export_options export = { .size = sizeof export, .name = slash ? slash + 1 : path };
    if (perfdata_capture_open(path, &capture, &error) < 0)
        return failed(error);
    int code = perfdata_profile_new(capture, &options, &profile, &error);
    perfdata_capture_free(capture);
    if (code < 0)
        return failed(error);
    code = perfdata_profile_write_fd(profile, format->format, &export, 1, &error);
    perfdata_profile_free(profile);
    return code < 0 ? failed(error) : 0;
}
