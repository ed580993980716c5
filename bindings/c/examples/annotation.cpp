// annotation CAPTURE: every function that has samples, with its instructions and source lines: one row a line, its columns separated
// by tabs. Totals are samples and period of the first event.
#include <iostream>

#include <perfdata.hpp>

using perfdata::view;

static void print_hex(perfdata_string bytes) {
    for (unsigned char byte : view(bytes))
        std::cout << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
}

static void print_instruction(const perfdata_annotation_instruction_row &row) {
    std::cout << "instruction\t" << row.address << '\t';
    print_hex(row.bytes);
    std::cout << '\t' << view(row.text) << '\t' << row.function << '\t';
    if (row.line != PERFDATA_NONE)
        std::cout << row.line;
    std::cout << '\t' << row.column << '\t' << row.discriminator << '\t' << ((row.flags & PERFDATA_INSTRUCTION_IS_STMT) != 0) << '\t';
    if (row.flags & PERFDATA_INSTRUCTION_TARGET)
        std::cout << row.target_address << ' ' << view(row.target_name) << ' ' << row.target_offset << ' '
                  << ((row.flags & PERFDATA_INSTRUCTION_CALL) != 0);
    std::cout << '\t';
    if (row.flags & PERFDATA_INSTRUCTION_DATA)
        std::cout << row.data_address << ' ' << view(row.data_name) << ' ' << row.data_offset;
}

static void print_total(const perfdata_total &total) { std::cout << '\t' << total.samples << '\t' << total.period << '\n'; }

static void print(const perfdata::annotation &annotation) {
    auto head = annotation.info();
    std::cout << "symbol\t" << view(head.symbol) << '\t' << view(head.dso) << '\t' << view(head.build_id) << '\t' << view(head.code) << '\t'
              << head.start << '\t' << head.end << '\n';
    for (std::uint32_t i = 0; i < head.events; i++) {
        auto row = annotation.event(i);
        std::cout << "event\t" << view(row.name) << '\t' << row.precise_ip << '\t' << row.samples << '\t' << row.period << '\t'
                  << row.all_samples << '\t' << row.all_period << '\n';
    }
    for (std::uint32_t i = 0; i < head.functions; i++) {
        auto row = annotation.function(i);
        std::cout << "function\t" << view(row.name) << '\t';
        if (row.caller != PERFDATA_NONE)
            std::cout << row.caller;
        print_total(annotation.function_total(i, 0));
    }
    for (std::uint32_t i = 0; i < head.sources; i++) {
        auto row = annotation.source(i);
        std::cout << "source\t" << view(row.path) << '\t' << row.is_newer << '\t' << row.first << '\t' << row.count << '\n';
        for (std::uint32_t line = row.first; line < row.first + row.count; line++)
            std::cout << "text\t" << view(annotation.source_text(i, line)) << '\n';
    }
    for (std::uint32_t i = 0; i < head.lines; i++) {
        auto row = annotation.line(i);
        std::cout << "line\t" << row.source << '\t' << row.line;
        print_total(annotation.line_total(i, 0));
    }
    for (std::uint32_t i = 0; i < head.branches; i++) {
        auto row = annotation.branch(i);
        std::cout << "branch\t" << (row.has_from ? std::to_string(row.from) : "") << '\t' << (row.has_to ? std::to_string(row.to) : "")
                  << '\t' << row.count << '\t' << row.mispredicted << '\t' << row.cycles << '\t' << row.timed << '\n';
    }
    for (std::uint32_t i = 0; i < head.instructions; i++) {
        print_instruction(annotation.instruction(i));
        print_total(annotation.instruction_total(i, 0));
    }
}

int main(int count, char **arguments) try {
    perfdata::annotator annotator(perfdata::capture::open(count == 2 ? arguments[1] : "perf.data"));
    for (std::size_t i = 0; i < annotator.function_count(); i++) {
        auto annotation = annotator.annotate(i);
        if (annotation)
            print(*annotation);
        else
            std::cerr << "annotation: there is no code of " << view(annotator.function(i).name) << '\n';
    }
    return 0;
} catch (const perfdata::error &error) {
    std::cerr << "annotation: " << error.what() << '\n';
    return 1;
}
