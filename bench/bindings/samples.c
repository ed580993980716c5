/*
 * samples CAPTURE: adds up the samples of a capture, one by one, without names: as samples.rs does.
 */
#include <inttypes.h>
#include <stdio.h>

#include <perfdata.h>

int main(int count, char **arguments)
{
    perfdata_error *error = NULL;
    perfdata_capture *capture = NULL;
    perfdata_samples *samples = NULL;
    perfdata_name_options names = { .size = sizeof names, .flags = PERFDATA_NAMES_NONE };
    perfdata_sample_options options = { .size = sizeof options, .names = &names };
    if (count != 2 || perfdata_capture_open(arguments[1], &capture, &error) < 0)
        return 1;
    if (perfdata_samples_new(capture, &options, &samples, &error) < 0)
        return 1;
    uint64_t number = 0, period = 0, frames = 0, addresses = 0;
    const perfdata_sample *sample;
    while (perfdata_samples_next(samples, &sample, &error) > 0) {
        number++;
        period += sample->period + sample->time + (uint64_t)sample->tid;
        frames += sample->frame_count;
        for (size_t index = 0; index < sample->frame_count; index++)
            addresses += perfdata_samples_frame(samples, index)->ip;
    }
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", number, period, frames, addresses);
    perfdata_samples_free(samples);
    perfdata_capture_free(capture);
    return 0;
}
