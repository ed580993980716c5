// fold CAPTURE: prints folded stacks, as `perfdata fold CAPTURE` does.
#include <iostream>

#include <perfdata.hpp>

int main(int count, char **arguments) try {
    auto capture = perfdata::capture::open(count == 2 ? arguments[1] : "perf.data");
    if (capture.has_trace())
        capture = capture.trace_samples();
    perfdata::profile profile(capture);
    profile.write(PERFDATA_FORMAT_FOLDED, [](std::string_view part) { std::cout << part; });
    return 0;
} catch (const perfdata::error &error) {
    std::cerr << "fold: " << error.what() << '\n';
    return 1;
}
