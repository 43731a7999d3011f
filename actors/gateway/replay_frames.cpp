// path: cold
#include "actors/gateway/replay_frames.h"

#include "feed/event/cursor.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace pinstrike::actors::gateway {
namespace {

using Kind = ReplayFrame::Kind;

/// In front of each frame.
struct Head {
    std::uint16_t bytes = 0;  ///< of the frame, with this head
    std::uint8_t kind = 0;
    std::uint8_t schema = 0;
    std::uint32_t sequence = 0;
    std::uint16_t line = 0;
    std::uint8_t is_late = 0;
    std::uint8_t code = 0;
    std::uint32_t reserved = 0;
    std::int64_t receive_ns = 0;
    std::int64_t time_ns = 0;
};

static_assert(sizeof(Head) == 32 && std::has_unique_object_representations_v<Head>);

/// Nothing if there are too few bytes.
template <class T>
std::optional<T> value_of(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(T)) {
        return std::nullopt;
    }
    T value;
    std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
    return value;
}

bool is_record(std::span<const std::byte> record) {
    return record.size() >= sizeof(feed::dbn::RecordHeader) &&
           std::to_integer<std::size_t>(record[0]) * 4 == record.size();
}

}  // namespace

void put_frame(std::vector<std::byte>& out, const ReplayFrame& frame) {
    std::span<const std::byte> body;
    if (frame.kind == Kind::series) {
        body = std::as_bytes(std::span{&frame.key, 1});
    } else if (frame.kind == Kind::record || frame.kind == Kind::interval) {
        body = frame.record;
    } else if (frame.kind == Kind::error) {
        body = std::as_bytes(std::span{frame.text});
    }
    body = body.first(std::min(body.size(), replay_frame_bytes_max - sizeof(Head)));
    Head head;
    head.bytes = static_cast<std::uint16_t>(sizeof head + body.size());
    head.kind = static_cast<std::uint8_t>(frame.kind);
    head.schema = static_cast<std::uint8_t>(frame.schema);
    head.sequence = frame.place.sequence;
    head.line = frame.place.line;
    head.is_late = frame.is_late ? 1 : 0;
    head.code = frame.code;
    head.receive_ns = frame.place.receive_ns;
    head.time_ns = frame.time_ns;
    const auto head_bytes = std::as_bytes(std::span{&head, 1});
    out.insert(out.end(), head_bytes.begin(), head_bytes.end());
    out.insert(out.end(), body.begin(), body.end());
}

std::optional<ReplayFrame> take_frame(std::span<const std::byte>& bytes, bool& is_malformed) {
    const auto head = value_of<Head>(bytes);
    if (!head) {
        return std::nullopt;
    }
    is_malformed = head->bytes < sizeof(Head) || head->bytes > replay_frame_bytes_max ||
                   head->kind > static_cast<std::uint8_t>(Kind::error) ||
                   head->schema >= feed::dbn::schemas_count;
    if (is_malformed || head->bytes > bytes.size()) {
        return std::nullopt;
    }
    const auto body = bytes.first(head->bytes).subspan(sizeof(Head));
    ReplayFrame frame;
    frame.kind = static_cast<Kind>(head->kind);
    frame.schema = static_cast<feed::dbn::Schema>(head->schema);
    frame.is_late = head->is_late != 0;
    frame.code = head->code;
    frame.place = {head->line, head->sequence, head->receive_ns};
    frame.time_ns = head->time_ns;
    if (frame.kind == Kind::series) {
        const auto key = value_of<pinstrike_key>(body);
        is_malformed = !key;
        frame.key = key.value_or(pinstrike_key{});
    } else if (frame.kind == Kind::record || frame.kind == Kind::interval) {
        is_malformed = !is_record(body);
        frame.record = body;
    } else if (frame.kind == Kind::error) {
        const auto* const text = reinterpret_cast<const char*>(body.data());  // tidy: text
        frame.text = {text, body.size()};
    }
    if (is_malformed) {
        return std::nullopt;
    }
    bytes = bytes.subspan(head->bytes);
    return frame;
}

std::size_t whole_frames_bytes(std::span<const std::byte> bytes) {
    std::size_t whole = 0;
    while (const auto head = value_of<Head>(bytes.subspan(whole))) {
        if (head->bytes < sizeof(Head)) {
            return bytes.size();  // malformed: take_frame() says so
        }
        if (whole + head->bytes > bytes.size()) {
            break;
        }
        whole += head->bytes;
    }
    return whole;
}

std::string to_text(const ReplayRequest& request) {
    nlohmann::json wanted = nlohmann::json::array();
    for (const ReplayWanted& each : request.wanted) {
        wanted.push_back({{"schema", feed::dbn::name_of(each.schema)},
                          {"start_ns", each.start_ns},
                          {"everything", each.everything},
                          {"roots", each.roots},
                          {"symbols", each.symbols}});
    }
    return nlohmann::json{
        {"folder", request.folder}, {"config", request.config}, {"wanted", std::move(wanted)}}
        .dump();
}

std::optional<ReplayRequest> parse_replay_request(const std::string& text) {
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    try {
        ReplayRequest request{json.at("folder"), json.at("config"), {}};
        for (const nlohmann::json& each : json.at("wanted")) {
            const auto schema = feed::dbn::schema_of(each.at("schema").get<std::string>());
            if (!schema) {
                return std::nullopt;
            }
            request.wanted.push_back({*schema, each.at("start_ns"), each.at("everything"),
                                      each.at("roots"), each.at("symbols")});
        }
        return request;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

}  // namespace pinstrike::actors::gateway
