// path: cold
#include "config/section.h"

#include "config/nearest.h"

#include <algorithm>

namespace pinstrike {

std::string path_of(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

void report_unknown(const Node& child, const std::string& path, const std::string& noun,
                    const std::vector<std::string>& known, Reader& reader) {
    if (std::ranges::count(known, child.key) != 0) {
        return;
    }
    // The user probably meant this key, so its value is unknown: rules over it are not checked.
    for (const std::string& meant : nearest(child.key, known)) {
        reader.mark_bad(path_of(path, meant));
    }
    reader.report(child.key_mark, fmt::format("{}: found an unknown key, expected one of {}{}",
                                              path_of(path, shown_bare(child.key)), noun,
                                              did_you_mean(child.key, known)));
}

void report_missing(const Node& section, const std::string& path, const std::string& words,
                    Reader& reader) {
    reader.mark_bad(path);
    reader.report(section.mark, fmt::format("{}: found nothing, expected {}", path, words));
}

}  // namespace pinstrike
