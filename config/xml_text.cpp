// path: cold
#include "config/xml_text.h"

namespace pinstrike {

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                // Names come from configs and may contain characters that XML does not allow; they
                // become blanks.
                out += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
        }
    }
    return out;
}

}  // namespace pinstrike
