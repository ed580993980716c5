/*
 * sources CAPTURE: opens a file in every way: by path, by descriptor, as bytes that are copied, as bytes that are not, and by
 * callbacks; and reads it on two threads that share one handle. Ends with 2 if the samples are not the same everywhere.
 */
/* For pread and pthreads under -std=c11. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata.h>

/* What the samples of a capture add up to. */
struct sums {
    uint64_t samples, faults, frames, periods;
};

static void *sum(void *of)
{
    const perfdata_capture *capture = of;
    struct sums *sums = calloc(1, sizeof *sums);
    perfdata_name_options names = { .size = sizeof names, .flags = PERFDATA_NAMES_NONE };
    perfdata_sample_options options = { .size = sizeof options, .names = &names };
    perfdata_samples *samples = NULL;
    const perfdata_sample *sample;
    int code;
    if (!sums || perfdata_samples_new(capture, &options, &samples, NULL) < 0)
        return sums;
    while ((code = perfdata_samples_next(samples, &sample, NULL)) != 0) {
        if (code < 0) {
            sums->faults++;
            continue;
        }
        sums->samples++;
        sums->periods += sample->period;
        sums->frames += sample->frame_count;
    }
    perfdata_samples_free(samples);
    return sums;
}

struct memory {
    const char *bytes;
    size_t size;
    int closed;
};

static ptrdiff_t read_at(void *user, uint64_t offset, void *buffer, size_t size)
{
    const struct memory *memory = user;
    size_t left = offset < memory->size ? memory->size - (size_t)offset : 0;
    size_t read = size < left ? size : left;
    memcpy(buffer, memory->bytes + offset, read);
    return (ptrdiff_t)read;
}

static void closed(void *user)
{
    ((struct memory *)user)->closed++;
}

/* Compares the samples of a capture with the expected ones, or makes them these, and frees it. */
static int compare(const char *how, perfdata_capture *capture, struct sums *expected)
{
    if (!capture)
        return 0;
    struct sums *found = sum(capture);
    perfdata_capture_free(capture);
    if (!found)
        return 2;
    int differs = memcmp(found, expected, sizeof *found) != 0;
    if (differs)
        fprintf(stderr, "sources: %s: %" PRIu64 " samples in place of %" PRIu64 "\n", how, found->samples, expected->samples);
    free(found);
    return differs ? 2 : 0;
}

int main(int count, char **arguments)
{
    const char *path = count == 2 ? arguments[1] : "perf.data";
    perfdata_capture *capture = NULL;
    perfdata_error *error = NULL;
    if (perfdata_capture_open(path, &capture, &error) < 0) {
        fprintf(stderr, "sources: %s\n", perfdata_error_text(error).data);
        perfdata_error_free(error);
        return 1;
    }
    pthread_t threads[2];
    void *sums[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, sum, capture);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &sums[i]);
    perfdata_capture_free(capture);
    if (!sums[0] || !sums[1])
        return 2;
    struct sums expected = *(struct sums *)sums[0];
    int status = memcmp(sums[0], sums[1], sizeof expected) != 0 ? 2 : 0;
    free(sums[0]);
    free(sums[1]);
    int fd = open(path, O_RDONLY);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        /* The other ways take one file, and this is a folder. */
        if (fd >= 0)
            close(fd);
        return status;
    }
    size_t size = (size_t)info.st_size;
    char *bytes = malloc(size);
    if (!bytes || pread(fd, bytes, size, 0) != info.st_size)
        return 2;
    capture = NULL;
    perfdata_capture_open_fd(fd, &capture, NULL);
    status |= compare("descriptor", capture, &expected);
    close(fd);
    capture = NULL;
    perfdata_capture_open_bytes(bytes, size, &capture, NULL);
    status |= compare("bytes", capture, &expected);
    capture = NULL;
    perfdata_capture_open_borrowed(bytes, size, &capture, NULL);
    status |= compare("borrowed bytes", capture, &expected);
    struct memory memory = { bytes, size, 0 };
    perfdata_source source = { sizeof source, &memory, size, read_at, closed };
    capture = NULL;
    perfdata_capture_open_source(&source, &capture, NULL);
    status |= compare("callbacks", capture, &expected);
    if (memory.closed != 1)
        status = 2;
    free(bytes);
    return status;
}
