// path: cold
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace pinstrike::feed {

/// Appends one JSON object to a string, member by member and without white space. The output is
/// ASCII: bytes above 127 become U+0080 to U+00FF, escaped, because many readers take U+0085 for
/// the end of a line.
class JsonWriter {
  public:
    explicit JsonWriter(std::string& out) : out_(out) { out_ += '{'; }

    void end() { out_ += '}'; }

    void text(std::string_view name, std::string_view value);

    void character(std::string_view name, char value) { text(name, {&value, 1}); }

    template <class Integer>
    void number(std::string_view name, Integer value) {
        key(name);
        const fmt::format_int digits{value};
        out_.append(digits.data(), digits.size());
    }

    void boolean(std::string_view name, bool value) {
        key(name);
        out_ += value ? "true" : "false";
    }

    void null(std::string_view name) {
        key(name);
        out_ += "null";
    }

    /// An object inside this one. It must be ended before the next member is added here.
    [[nodiscard]] JsonWriter object(std::string_view name) {
        key(name);
        return JsonWriter{out_};
    }

  private:
    void key(std::string_view name);

    std::string& out_;
    bool first_ = true;
};

}  // namespace pinstrike::feed
