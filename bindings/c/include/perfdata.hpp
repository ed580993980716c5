/*
 * libperfdata for C++17: handles that free themselves, errors as exceptions, strings as std::string_view.
 *
 * Licensed under Apache-2.0 or MIT, at your option. See perfdata.h for what each function does, and for the rules of threads and of
 * the lives of strings, which are the same here.
 */
#ifndef PERFDATA_HPP
#define PERFDATA_HPP

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "perfdata.h"

namespace perfdata {

/* A string of the library; empty if there is none. */
inline std::string_view view(perfdata_string text) {
    return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

/* What went wrong, and what to do. */
class error : public std::runtime_error {
public:
    error(int code, const std::string &text, std::optional<std::uint64_t> offset)
        : std::runtime_error(text), code_(code), offset_(offset) {}

    /* PERFDATA_ERROR_*. */
    int code() const noexcept { return code_; }

    /* Number of bytes of the capture before the record or field that is wrong. */
    std::optional<std::uint64_t> offset() const noexcept { return offset_; }

private:
    int code_;
    std::optional<std::uint64_t> offset_;
};

/* Returns a structure of the API whose size is set and whose other fields are 0: `auto options = sized<perfdata_sample_options>();`. */
template <typename T> T sized() {
    T value{};
    value.size = sizeof value;
    return value;
}

namespace detail {

/* Frees a handle. */
template <typename T, void (*free)(T *)> struct deleter {
    void operator()(T *handle) const noexcept { free(handle); }
};

template <typename T, void (*free)(T *)> using owned = std::unique_ptr<T, deleter<T, free>>;

/* Returns a code that is not negative; throws the error otherwise. The error is a reference, as the call that writes it is another
 * argument, and may be evaluated later. */
inline int check(int code, perfdata_error *const &raw) {
    owned<perfdata_error, perfdata_error_free> failed(raw);
    if (code >= 0)
        return code;
    std::uint64_t offset = 0;
    bool has_offset = perfdata_error_offset(failed.get(), &offset);
    throw error(code, std::string(view(perfdata_error_text(failed.get()))),
                has_offset ? std::optional<std::uint64_t>(offset) : std::nullopt);
}

/* Returns what a call writes: its last two arguments are where the value goes, and the error. Throws the error. */
template <typename T, typename Call, typename... Arguments> T written(T value, Call call, Arguments... arguments) {
    perfdata_error *failed = nullptr;
    check(call(arguments..., &value, &failed), failed);
    return value;
}

/* A function that gets what is written, and what it threw: an exception may not pass through the library. */
struct sink {
    const std::function<void(std::string_view)> &out;
    std::exception_ptr thrown;

    static int write(void *user, const void *data, std::size_t size) noexcept {
        auto &to = *static_cast<sink *>(user);
        try {
            to.out(std::string_view(static_cast<const char *>(data), size));
            return 0;
        } catch (...) {
            to.thrown = std::current_exception();
            return 1;
        }
    }

    /* As detail::check; throws what the function threw. */
    void check(int code, perfdata_error *const &failed) const {
        if (thrown) {
            perfdata_error_free(failed);
            std::rethrow_exception(thrown);
        }
        detail::check(code, failed);
    }
};

} // namespace detail

/* An opened capture. Any number of threads may use it at the same time. */
class capture {
public:
    /* Opens a capture by its path. Throws perfdata::error. */
    static capture open(const char *path) {
        return capture(detail::written<perfdata_capture *>(nullptr, perfdata_capture_open, path));
    }

    /* Opens a capture by a file descriptor, which stays the caller's. Throws perfdata::error. */
    static capture open_fd(int fd) {
        return capture(detail::written<perfdata_capture *>(nullptr, perfdata_capture_open_fd, fd));
    }

    /* Opens a copy of bytes. Throws perfdata::error. */
    static capture open_bytes(std::string_view bytes) {
        return capture(detail::written<perfdata_capture *>(nullptr, perfdata_capture_open_bytes, bytes.data(), bytes.size()));
    }

    /* What is known before the records are read. */
    perfdata_info info() const {
        return detail::written(sized<perfdata_info>(), perfdata_capture_info, get());
    }

    /* Writes the branches of a file in a format, PERFDATA_BRANCHES_*, part by part into a function. An exception of the function ends
     * the export and is thrown by this call. Throws perfdata::error. */
    void write_branches(std::uint32_t format, const std::function<void(std::string_view)> &out,
                        const perfdata_branch_options *options = nullptr) const {
        detail::sink to{out, nullptr};
        perfdata_error *failed = nullptr;
        to.check(perfdata_branches_write(get(), format, options, &detail::sink::write, &to, &failed), failed);
    }

    /* Whether it has a trace of which perf makes samples without being asked. */
    bool has_trace() const noexcept { return perfdata_capture_has_trace(get()); }

    /* Makes the samples of its AUX data: a capture that has them in place of the data. `letters` are those of `perfdata --itrace`;
     * NULL is all kinds. Throws perfdata::error. */
    capture trace_samples(const char *letters = nullptr, perfdata_trace_account *account = nullptr) const {
        return capture(detail::written<perfdata_capture *>(nullptr, perfdata_capture_trace_samples, get(), letters, account));
    }

    const perfdata_capture *get() const noexcept { return handle_.get(); }

private:
    explicit capture(perfdata_capture *handle) : handle_(handle) {}
    detail::owned<perfdata_capture, perfdata_capture_free> handle_;
};

/* The samples of a capture, one by one. */
class samples {
public:
    /* Begins to read the samples. Throws perfdata::error. */
    explicit samples(const capture &of, const perfdata_sample_options *options = nullptr)
        : handle_(detail::written<perfdata_samples *>(nullptr, perfdata_samples_new, of.get(), options)) {}

    /* Returns the next sample, which lives until the next call; a null pointer after the last one. Throws perfdata::error; after one
     * with the code PERFDATA_ERROR_FORMAT, the next call returns the sample after it. */
    const perfdata_sample *next() {
        return detail::written<const perfdata_sample *>(nullptr, perfdata_samples_next, handle_.get());
    }

    /* Returns a frame of the last sample, the innermost one at index 0; a null pointer if there are not as many. */
    const perfdata_frame *frame(std::size_t index) const noexcept { return perfdata_samples_frame(handle_.get(), index); }

    /* Returns an event by its index. Throws perfdata::error. */
    perfdata_event event(std::size_t index) {
        return detail::written(sized<perfdata_event>(), perfdata_samples_event, handle_.get(), index);
    }

    perfdata_samples *get() const noexcept { return handle_.get(); }

private:
    detail::owned<perfdata_samples, perfdata_samples_free> handle_;
};

/* The records of a capture, one by one. */
class records {
public:
    /* Begins to read the records. Throws perfdata::error. */
    explicit records(const capture &of, std::uint32_t flags = 0)
        : handle_(detail::written<perfdata_records *>(nullptr, perfdata_records_new, of.get(), flags)) {}

    /* Returns the next record, which lives until the next call; a null pointer after the last one. Throws perfdata::error. */
    const perfdata_record *next() {
        return detail::written<const perfdata_record *>(nullptr, perfdata_records_next, handle_.get());
    }

    /* Decodes the last record, and returns the number of its fields. Throws perfdata::error. */
    std::size_t decode() {
        return detail::written<std::size_t>(0, perfdata_records_decode, handle_.get());
    }

    /* Returns a field of the record that was decoded. Throws perfdata::error. */
    perfdata_field field(std::size_t index) const {
        return detail::written(sized<perfdata_field>(), perfdata_records_field, handle_.get(), index);
    }

    perfdata_records *get() const noexcept { return handle_.get(); }

private:
    detail::owned<perfdata_records, perfdata_records_free> handle_;
};

/* The samples of a capture, with stacks and names that are each kept once. Any number of threads may use it at the same time. */
class profile {
public:
    /* Makes the profile of a capture. Throws perfdata::error. */
    explicit profile(const capture &of, const perfdata_profile_options *options = nullptr)
        : handle_(detail::written<perfdata_profile *>(nullptr, perfdata_profile_new, of.get(), options)) {}

    /* Writes the profile in a format, PERFDATA_FORMAT_*, part by part into a function. An exception of the function ends the export
     * and is thrown by this call. Throws perfdata::error. */
    void write(std::uint32_t format, const std::function<void(std::string_view)> &out,
               const perfdata_export_options *options = nullptr) const {
        detail::sink to{out, nullptr};
        perfdata_error *failed = nullptr;
        to.check(perfdata_profile_write(get(), format, options, &detail::sink::write, &to, &failed), failed);
    }

    const perfdata_profile *get() const noexcept { return handle_.get(); }

private:
    detail::owned<perfdata_profile, perfdata_profile_free> handle_;
};

/* A function with its instructions, source lines and samples. Any number of threads may use it at the same time. */
class annotation {
public:
    /* Owns what perfdata_annotator_annotate made. */
    explicit annotation(perfdata_annotation *handle) noexcept : handle_(handle) {}

    /* What it is of, and the number of rows of each table. Throws perfdata::error. */
    perfdata_annotation_head info() const {
        return detail::written(sized<perfdata_annotation_head>(), perfdata_annotation_info, handle_.get());
    }

    /* An event that has samples in the function. Throws perfdata::error. */
    perfdata_annotation_event_row event(std::uint32_t index) const {
        return detail::written(sized<perfdata_annotation_event_row>(), perfdata_annotation_event, handle_.get(), index);
    }

    /* The function, at index 0, or one that is inlined into it. Throws perfdata::error. */
    perfdata_annotation_function_row function(std::uint32_t index) const {
        return detail::written(sized<perfdata_annotation_function_row>(), perfdata_annotation_function, handle_.get(), index);
    }

    /* A source file. Throws perfdata::error. */
    perfdata_annotation_source_row source(std::uint32_t index) const {
        return detail::written(sized<perfdata_annotation_source_row>(), perfdata_annotation_source, handle_.get(), index);
    }

    /* A source line that has instructions. Throws perfdata::error. */
    perfdata_annotation_line_row line(std::uint32_t index) const {
        return detail::written(sized<perfdata_annotation_line_row>(), perfdata_annotation_line, handle_.get(), index);
    }

    /* An instruction. Throws perfdata::error. */
    perfdata_annotation_instruction_row instruction(std::uint32_t index) const {
        return detail::written(sized<perfdata_annotation_instruction_row>(), perfdata_annotation_instruction, handle_.get(), index);
    }

    /* Branches that were recorded. Throws perfdata::error. */
    perfdata_annotation_branch_row branch(std::uint32_t index) const {
        return detail::written(sized<perfdata_annotation_branch_row>(), perfdata_annotation_branch, handle_.get(), index);
    }

    /* The text of a line, from 1 on, of a source file; a string without data if it is unknown. */
    perfdata_string source_text(std::uint32_t source, std::uint32_t line) const noexcept {
        return perfdata_annotation_source_text(handle_.get(), source, line);
    }

    /* Samples of an event in a function, without those of functions that are inlined into it. Throws perfdata::error. */
    perfdata_total function_total(std::uint32_t function, std::uint32_t event) const {
        return detail::written(sized<perfdata_total>(), perfdata_annotation_function_total, handle_.get(), function, event);
    }

    /* Samples of an event at a source line. Throws perfdata::error. */
    perfdata_total line_total(std::uint32_t line, std::uint32_t event) const {
        return detail::written(sized<perfdata_total>(), perfdata_annotation_line_total, handle_.get(), line, event);
    }

    /* Samples of an event at an instruction. Throws perfdata::error. */
    perfdata_total instruction_total(std::uint32_t instruction, std::uint32_t event) const {
        return detail::written(sized<perfdata_total>(), perfdata_annotation_instruction_total, handle_.get(), instruction, event);
    }

    const perfdata_annotation *get() const noexcept { return handle_.get(); }

private:
    detail::owned<perfdata_annotation, perfdata_annotation_free> handle_;
};

/* The functions of a capture that have samples, ready to be annotated. */
class annotator {
public:
    /* Counts the samples of a capture by their addresses. Throws perfdata::error. */
    explicit annotator(const capture &of, const perfdata_annotate_options *options = nullptr)
        : handle_(detail::written<perfdata_annotator *>(nullptr, perfdata_annotator_new, of.get(), options)) {}

    /* Number of events that have samples. */
    std::size_t event_count() const noexcept { return perfdata_annotator_event_count(handle_.get()); }

    /* Number of functions that have samples. */
    std::size_t function_count() const noexcept { return perfdata_annotator_function_count(handle_.get()); }

    /* An event that has samples. Throws perfdata::error. */
    perfdata_event event(std::size_t event) const {
        return detail::written(sized<perfdata_event>(), perfdata_annotator_event, handle_.get(), event);
    }

    /* All samples of an event, and those in no function. Throws perfdata::error. */
    perfdata_sampled_event event_totals(std::size_t event) const {
        return detail::written(sized<perfdata_sampled_event>(), perfdata_annotator_event_totals, handle_.get(), event);
    }

    /* A function that has samples. Throws perfdata::error. */
    perfdata_sampled_function function(std::size_t function) const {
        return detail::written(sized<perfdata_sampled_function>(), perfdata_annotator_function, handle_.get(), function);
    }

    /* Samples of an event in a function. Throws perfdata::error. */
    perfdata_total function_total(std::size_t function, std::size_t event) const {
        return detail::written(sized<perfdata_total>(), perfdata_annotator_function_total, handle_.get(), function, event);
    }

    /* The index of the first function of a name from an index on; none if there is none. Throws perfdata::error. */
    std::optional<std::size_t> find(const char *name, std::size_t first = 0) const {
        std::size_t index = 0;
        perfdata_error *failed = nullptr;
        int found = detail::check(perfdata_annotator_find(handle_.get(), name, first, &index, &failed), failed);
        return found == 1 ? std::optional<std::size_t>(index) : std::nullopt;
    }

    /* Annotates a function; none if its code is not found, or there is no disassembler for its machine, which why then states.
     * Throws other errors as perfdata::error. */
    std::optional<annotation> annotate(std::size_t function, std::string *why = nullptr) {
        perfdata_annotation *handle = nullptr;
        perfdata_error *failed = nullptr;
        int code = perfdata_annotator_annotate(handle_.get(), function, &handle, &failed);
        if (code == PERFDATA_ERROR_NO_CODE) {
            detail::owned<perfdata_error, perfdata_error_free> reason(failed);
            if (why)
                *why = std::string(view(perfdata_error_text(reason.get())));
            return std::nullopt;
        }
        detail::check(code, failed);
        return annotation(handle);
    }

    perfdata_annotator *get() const noexcept { return handle_.get(); }

private:
    detail::owned<perfdata_annotator, perfdata_annotator_free> handle_;
};

} // namespace perfdata

#endif
