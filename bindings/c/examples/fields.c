/*
 * fields CAPTURE: prints each record of a capture with its decoded fields.
 */
#include <inttypes.h>
#include <stdio.h>

#include <perfdata.h>

/* Prints an error and frees it. */
static int failed(perfdata_error *error)
{
    uint64_t offset;
    if (perfdata_error_offset(error, &offset))
        fprintf(stderr, "fields: at %" PRIu64 ": ", offset);
    fprintf(stderr, "%s\n", perfdata_error_text(error).data);
    perfdata_error_free(error);
    return 1;
}

static void print_field(const perfdata_field *field)
{
    printf("    %.*s ", (int)field->name.size, field->name.data);
    switch (field->kind) {
    case PERFDATA_FIELD_UNSIGNED:
        printf("%" PRIu64 "\n", field->number);
        break;
    case PERFDATA_FIELD_SIGNED:
        printf("%" PRId64 "\n", (int64_t)field->number);
        break;
    case PERFDATA_FIELD_BOOL:
        puts(field->number ? "true" : "false");
        break;
    case PERFDATA_FIELD_TEXT:
        printf("\"%.*s\"\n", (int)field->bytes.size, field->bytes.data);
        break;
    case PERFDATA_FIELD_BYTES:
        printf("%zu bytes\n", field->bytes.size);
        break;
    default:
        puts("none");
    }
}

int main(int count, char **arguments)
{
    perfdata_error *error = NULL;
    perfdata_capture *capture = NULL;
    perfdata_records *records = NULL;
    if (perfdata_capture_open(count == 2 ? arguments[1] : "perf.data", &capture, &error) < 0)
        return failed(error);
    int code = perfdata_records_new(capture, 0, &records, &error), status = 0;
    perfdata_capture_free(capture);
    if (code < 0)
        return failed(error);
    const perfdata_record *record;
    while ((code = perfdata_records_next(records, &record, &error)) != 0) {
        if (code < 0) {
            status = failed(error);
            if (code != PERFDATA_ERROR_FORMAT)
                break;
            continue;
        }
        printf("record %" PRIu32 " at %" PRIu64 ", %zu bytes\n", record->type, record->offset, record->data_size);
        size_t fields = 0;
        if (perfdata_records_decode(records, &fields, &error) < 0)
            status = failed(error);
        for (size_t index = 0; index < fields; index++) {
            perfdata_field field = { .size = sizeof field };
            if (perfdata_records_field(records, index, &field, NULL) == PERFDATA_OK)
                print_field(&field);
        }
    }
    perfdata_records_free(records);
    return status;
}
