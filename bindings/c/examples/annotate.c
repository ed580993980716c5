/*
 * annotate CAPTURE [FUNCTION]: the hottest instructions of the function with most samples, or of FUNCTION: the percentage of the
 * function's first event, the address, the text, and the source line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfdata.h>

#define TEXT(string) (int)(string).size, (string).data ? (string).data : ""

struct hot {
    uint64_t period;
    uint32_t index;
};

static int hotter(const void *left, const void *right)
{
    const struct hot *one = left, *other = right;
    if (one->period != other->period)
        return one->period < other->period ? 1 : -1;
    return one->index < other->index ? -1 : 1;
}

static int failed(perfdata_error *error)
{
    fprintf(stderr, "annotate: %s\n", perfdata_error_text(error).data);
    perfdata_error_free(error);
    return 1;
}

static void print(const perfdata_annotation *annotation, uint32_t index, double percent)
{
    perfdata_annotation_instruction_row row = { .size = sizeof row };
    perfdata_annotation_instruction(annotation, index, &row, NULL);
    printf("%6.2f %8" PRIx64 "  %.*s", percent, row.address, TEXT(row.text));
    if (row.flags & PERFDATA_INSTRUCTION_TARGET)
        printf(" <%.*s+0x%" PRIx64 ">", TEXT(row.target_name), row.target_offset);
    if (row.line != PERFDATA_NONE) {
        perfdata_annotation_line_row line = { .size = sizeof line };
        perfdata_annotation_line(annotation, row.line, &line, NULL);
        perfdata_string text = perfdata_annotation_source_text(annotation, line.source, line.line);
        printf("  # line %" PRIu32 ": %.*s", line.line, TEXT(text));
    }
    putchar('\n');
}

static void print_hottest(const perfdata_annotation *annotation)
{
    perfdata_annotation_head head = { .size = sizeof head };
    perfdata_annotation_event_row event = { .size = sizeof event };
    perfdata_annotation_info(annotation, &head, NULL);
    perfdata_annotation_event(annotation, 0, &event, NULL);
    printf("%.*s in %.*s: %" PRIu64 " samples of %.*s\n", TEXT(head.symbol), TEXT(head.dso), event.samples, TEXT(event.name));
    struct hot *hot = calloc(head.instructions, sizeof *hot);
    for (uint32_t i = 0; hot && i < head.instructions; i++) {
        perfdata_total total = { .size = sizeof total };
        perfdata_annotation_instruction_total(annotation, i, 0, &total, NULL);
        hot[i] = (struct hot){ total.period, i };
    }
    if (hot)
        qsort(hot, head.instructions, sizeof *hot, hotter);
    for (uint32_t i = 0; hot && i < head.instructions && i < 10 && hot[i].period > 0; i++)
        print(annotation, hot[i].index, hot[i].period * 100.0 / event.period);
    free(hot);
}

int main(int count, char **arguments)
{
    perfdata_error *error = NULL;
    perfdata_capture *capture = NULL;
    perfdata_annotator *annotator = NULL;
    perfdata_annotation *annotation = NULL;
    size_t function = 0;
    if (perfdata_capture_open(count > 1 ? arguments[1] : "perf.data", &capture, &error) < 0)
        return failed(error);
    int code = perfdata_annotator_new(capture, NULL, &annotator, &error);
    perfdata_capture_free(capture);
    if (code < 0)
        return failed(error);
    if (count > 2 ? perfdata_annotator_find(annotator, arguments[2], 0, &function, NULL) != 1
                  : perfdata_annotator_function_count(annotator) == 0) {
        perfdata_annotator_free(annotator);
        fputs("annotate: no sample is in such a function\n", stderr);
        return 1;
    }
    code = perfdata_annotator_annotate(annotator, function, &annotation, &error);
    perfdata_annotator_free(annotator);
    if (code < 0)
        return failed(error);
    print_hottest(annotation);
    perfdata_annotation_free(annotation);
    return 0;
}
