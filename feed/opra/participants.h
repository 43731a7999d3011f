// path: cold
#pragma once

#include <array>
#include <string_view>

namespace pinstrike::feed::opra {

/// The exchange behind a participant id (spec c.9), or "" for an id that this table does not know:
/// the ids are an open set, so nothing may depend on this but words for people.
[[nodiscard]] constexpr std::string_view participant_name(char id) {
    // clang-format off
    constexpr std::array<std::string_view, 26> names{
        /* A */ "NYSE American",   /* B */ "BOX",         /* C */ "Cboe",
        /* D */ "MIAX Emerald",    /* E */ "Cboe EDGX",   /* F */ "",
        /* G */ "MX2",             /* H */ "Nasdaq GEMX", /* I */ "Nasdaq ISE",
        /* J */ "Nasdaq MRX",      /* K */ "",            /* L */ "",
        /* M */ "MIAX",            /* N */ "NYSE Arca",   /* O */ "OPRA",
        /* P */ "MIAX Pearl",      /* Q */ "Nasdaq Options Market", /* R */ "",
        /* S */ "MIAX Sapphire",   /* T */ "Nasdaq BX Options",     /* U */ "MEMX",
        /* V */ "IEX Options",     /* W */ "Cboe C2",     /* X */ "Nasdaq PHLX",
        /* Y */ "",                /* Z */ "Cboe BZX"};
    // clang-format on
    return id >= 'A' && id <= 'Z' ? names[static_cast<unsigned>(id - 'A')] : std::string_view{};
}

/// The exchanges themselves, OPRA not among them.
inline constexpr std::string_view exchange_ids = "ABCDEGHIJMNPQSTUVWXZ";

}  // namespace pinstrike::feed::opra
