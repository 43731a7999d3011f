// path: cold
#include "actors/peer/frames.h"

#include "actors/peer/frame_body.h"
#include "actors/peer/state_frames.h"
#include "config/check.h"
#include "feed/event/cursor.h"

#include <algorithm>
#include <cstring>

namespace pinstrike::actors::peer {

namespace {

/// The range of body lengths of a frame type.
struct BodyBytes {
    std::size_t least;
    std::size_t most;
};

constexpr std::size_t challenge_bytes = sizeof(Nonce) + sizeof(Instance);
constexpr std::size_t proof_bytes = sizeof(Nonce) + sizeof(Instance) + sizeof(Mac) + 1;
constexpr std::size_t welcome_bytes = sizeof(Mac);
constexpr std::size_t request_bytes = 8 + 8 + 8 + 8 + 4 + 2;
constexpr std::size_t block_head_bytes = 8 + 2;
constexpr std::size_t done_bytes = 8 + 4;
constexpr std::size_t refused_bytes = 8 + 1 + 1 + 8 + 8 + 8 + 8;

/// Returns nothing if the type is unknown.
std::optional<BodyBytes> body_bytes_of(FrameType type) {
    switch (type) {
        case FrameType::challenge:
            return BodyBytes{challenge_bytes, challenge_bytes};
        case FrameType::proof:
            return BodyBytes{proof_bytes + 1, proof_bytes + feed_name_bytes_max};
        case FrameType::welcome:
            return BodyBytes{welcome_bytes, welcome_bytes};
        case FrameType::request:
            return BodyBytes{request_bytes, request_bytes};
        case FrameType::block:
            return BodyBytes{block_head_bytes + 1, block_head_bytes + block_bytes_max};
        case FrameType::done:
            return BodyBytes{done_bytes, done_bytes};
        case FrameType::refused:
            return BodyBytes{refused_bytes, refused_bytes};
        case FrameType::keep_alive:
            return BodyBytes{0, 0};
        case FrameType::state_request:
            return BodyBytes{state_request_bytes, state_request_bytes + 2 * state_lines_max};
        case FrameType::state_series:
            return BodyBytes{state_series_bytes, state_series_bytes + state_trades_bytes};
        case FrameType::state_lost:
            return BodyBytes{state_lost_bytes, state_lost_bytes};
        case FrameType::state_end:
            return BodyBytes{state_end_bytes, state_end_bytes};
        case FrameType::state_place:
            return BodyBytes{state_place_bytes, state_place_bytes};
    }
    return std::nullopt;
}

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // tidy: bytes as text
}

}  // namespace

std::optional<Challenge> parse_challenge(std::span<const std::byte> bytes) {
    Body body(bytes);
    Challenge challenge;
    body.take(challenge.nonce);
    body.take(challenge.instance);
    return body.whole() ? std::optional{challenge} : std::nullopt;
}

std::optional<Proof> parse_proof(std::span<const std::byte> bytes) {
    Body body(bytes);
    Proof proof;
    std::uint8_t name_bytes = 0;
    body.take(proof.nonce);
    body.take(proof.instance);
    body.take(proof.mac);
    body.take(name_bytes);
    proof.feed = text_of(body.rest());
    const bool named = !proof.feed.empty() && proof.feed.size() <= feed_name_bytes_max &&
                       proof.feed.size() == name_bytes;
    return body.whole() && named ? std::optional{proof} : std::nullopt;
}

std::optional<Welcome> parse_welcome(std::span<const std::byte> bytes) {
    Body body(bytes);
    Welcome welcome;
    body.take(welcome.mac);
    return body.whole() ? std::optional{welcome} : std::nullopt;
}

std::optional<feed::RepairRequest> parse_request(std::span<const std::byte> bytes) {
    Body body(bytes);
    feed::RepairRequest request;
    body.take(request.id);
    body.take(request.ts_before_ns);
    body.take(request.ts_behind_ns);
    body.take(request.first);
    body.take(request.messages);
    body.take(request.line);
    return body.whole() ? std::optional{request} : std::nullopt;
}

std::optional<BlockFrame> parse_block(std::span<const std::byte> bytes) {
    Body body(bytes);
    BlockFrame block;
    body.take(block.id);
    body.take(block.line);
    block.bytes = body.rest();
    const bool sized = !block.bytes.empty() && block.bytes.size() <= block_bytes_max;
    return body.whole() && sized ? std::optional{block} : std::nullopt;
}

std::optional<Done> parse_done(std::span<const std::byte> bytes) {
    Body body(bytes);
    Done done;
    body.take(done.id);
    body.take(done.blocks);
    return body.whole() ? std::optional{done} : std::nullopt;
}

std::optional<Refused> parse_refused(std::span<const std::byte> bytes) {
    Body body(bytes);
    Refused refused;
    std::uint8_t reason = 0;
    std::uint8_t has_kept = 0;
    feed::KeptRange kept;
    body.take(refused.id);
    body.take(reason);
    body.take(has_kept);
    body.take(kept.first);
    body.take(kept.last);
    body.take(kept.from_ts_ns);
    body.take(kept.to_ts_ns);
    if (!body.whole() || reason >= PeerRefusal_count || has_kept > 1) {
        return std::nullopt;
    }
    refused.reason = static_cast<PeerRefusal>(reason);
    if (has_kept == 1) {
        refused.kept = kept;
    }
    return refused;
}

void FrameReader::push(std::span<const std::byte> bytes) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(read_));
    read_ = 0;
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

FrameReader::Result FrameReader::next(Frame& frame) {
    feed::Cursor cursor(std::span<const std::byte>{bytes_}.subspan(read_));
    const auto start = cursor.take(magic.size());
    if (!start) {
        return Result::incomplete;
    }
    if (!std::equal(magic.begin(), magic.end(), start->begin())) {
        return Result::malformed;
    }
    const auto version = cursor.take_little<std::uint8_t>();
    if (version && *version != protocol_version) {
        return Result::wrong_version;
    }
    const auto type = cursor.take_little<std::uint8_t>();
    const auto length = cursor.take_little<std::uint32_t>();
    if (!version || !type || !length) {
        return Result::incomplete;
    }
    const auto allowed = body_bytes_of(static_cast<FrameType>(*type));
    if (!allowed || *length < allowed->least || *length > allowed->most) {
        return Result::malformed;
    }
    const auto body = cursor.take(*length);
    if (!body) {
        return Result::incomplete;
    }
    read_ += header_bytes + *length;
    frame = {static_cast<FrameType>(*type), *body};
    return Result::frame;
}

void FrameWriter::put(const Challenge& challenge) {
    begin(FrameType::challenge, challenge_bytes);
    put_bytes(challenge.nonce);
    put_bytes(challenge.instance);
}

void FrameWriter::put(const Proof& proof) {
    PINSTRIKE_CHECK(!proof.feed.empty() && proof.feed.size() <= feed_name_bytes_max);
    begin(FrameType::proof, proof_bytes + proof.feed.size());
    put_bytes(proof.nonce);
    put_bytes(proof.instance);
    put_bytes(proof.mac);
    put_little(static_cast<std::uint8_t>(proof.feed.size()));
    put_bytes(std::as_bytes(std::span{proof.feed}));
}

void FrameWriter::put(const Welcome& welcome) {
    begin(FrameType::welcome, welcome_bytes);
    put_bytes(welcome.mac);
}

void FrameWriter::put(const feed::RepairRequest& request) {
    begin(FrameType::request, request_bytes);
    put_little(request.id);
    put_little(request.ts_before_ns);
    put_little(request.ts_behind_ns);
    put_little(request.first);
    put_little(request.messages);
    put_little(request.line);
}

void FrameWriter::put(const BlockFrame& block) {
    PINSTRIKE_CHECK(!block.bytes.empty() && block.bytes.size() <= block_bytes_max);
    begin(FrameType::block, block_head_bytes + block.bytes.size());
    put_little(block.id);
    put_little(block.line);
    put_bytes(block.bytes);
}

void FrameWriter::put(const Done& done) {
    begin(FrameType::done, done_bytes);
    put_little(done.id);
    put_little(done.blocks);
}

void FrameWriter::put(const Refused& refused) {
    const feed::KeptRange kept = refused.kept.value_or(feed::KeptRange{});
    begin(FrameType::refused, refused_bytes);
    put_little(refused.id);
    put_little(static_cast<std::uint8_t>(refused.reason));
    put_little(static_cast<std::uint8_t>(refused.kept ? 1 : 0));
    put_little(kept.first);
    put_little(kept.last);
    put_little(kept.from_ts_ns);
    put_little(kept.to_ts_ns);
}

void FrameWriter::put(FrameType type, std::span<const std::byte> body) {
    begin(type, body.size());
    put_bytes(body);
}

void FrameWriter::put_keep_alive() {
    begin(FrameType::keep_alive, 0);
}

void FrameWriter::sent(std::size_t count) {
    PINSTRIKE_CHECK(count <= waiting().size());
    sent_ += count;
    if (sent_ == bytes_.size()) {
        bytes_.clear();
        sent_ = 0;
    } else if (sent_ >= std::size_t{64} * 1024 && 2 * sent_ >= bytes_.size()) {
        // Compacts at most once per 64 KiB, and moves at most as many bytes as were sent since the
        // last time. So the total cost is linear.
        bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(sent_));
        sent_ = 0;
    }
}

void FrameWriter::begin(FrameType type, std::size_t body_bytes) {
    put_bytes(magic);
    put_little(protocol_version);
    put_little(static_cast<std::uint8_t>(type));
    put_little(static_cast<std::uint32_t>(body_bytes));
}

void FrameWriter::put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

template <class T>
void FrameWriter::put_little(T value) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    put_bytes(bytes);
}

}  // namespace pinstrike::actors::peer
