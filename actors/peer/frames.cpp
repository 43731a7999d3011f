// path: cold
#include "actors/peer/frames.h"

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

constexpr BodyBytes exactly(std::size_t bytes) {
    return {bytes, bytes};
}

template <class T>
constexpr BodyBytes of_fields = exactly(fields_bytes<T>);

constexpr std::size_t proof_bytes = fields_bytes<Proof> + 1;
constexpr std::size_t block_head_bytes = 8 + 2;
constexpr std::size_t refused_bytes = 8 + 1 + 1 + fields_bytes<feed::KeptRange>;

/// By FrameType.
constexpr std::array body_bytes{
    BodyBytes{1, 0},  // no type
    of_fields<Challenge>,
    BodyBytes{proof_bytes + 1, proof_bytes + feed_name_bytes_max},
    of_fields<Welcome>,
    of_fields<feed::RepairRequest>,
    BodyBytes{block_head_bytes + 1, block_head_bytes + block_bytes_max},
    of_fields<Done>,
    exactly(refused_bytes),
    exactly(0),  // keep_alive
    BodyBytes{state_request_bytes, state_request_bytes + 2 * state_lines_max},
    BodyBytes{state_series_bytes, state_series_bytes + state_trades_bytes},
    exactly(state_lost_bytes),
    of_fields<StateEnd>,
    exactly(state_place_bytes),
};
static_assert(body_bytes.size() == static_cast<std::size_t>(FrameType::state_place) + 1);

std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // tidy: bytes as text
}

}  // namespace

std::optional<Proof> parse_proof(std::span<const std::byte> bytes) {
    Body body(bytes);
    Proof proof;
    std::uint8_t name_bytes = 0;
    body.take(proof);
    body.take(name_bytes);
    proof.feed = text_of(body.rest());
    const bool named = !proof.feed.empty() && proof.feed.size() <= feed_name_bytes_max &&
                       proof.feed.size() == name_bytes;
    return body.whole() && named ? std::optional{proof} : std::nullopt;
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

std::optional<Refused> parse_refused(std::span<const std::byte> bytes) {
    Body body(bytes);
    Refused refused;
    std::uint8_t reason = 0;
    std::uint8_t has_kept = 0;
    feed::KeptRange kept;
    body.take(refused.id);
    body.take(reason);
    body.take(has_kept);
    body.take(kept);
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
    const BodyBytes* const allowed = *type < body_bytes.size() ? &body_bytes[*type] : nullptr;
    if (allowed == nullptr || *length < allowed->least || *length > allowed->most) {
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

void FrameWriter::put(const Proof& proof) {
    PINSTRIKE_CHECK(!proof.feed.empty() && proof.feed.size() <= feed_name_bytes_max);
    begin(FrameType::proof);
    add(proof);
    add(static_cast<std::uint8_t>(proof.feed.size()));
    add_bytes(std::as_bytes(std::span{proof.feed}));
    end();
}

void FrameWriter::put(const BlockFrame& block) {
    PINSTRIKE_CHECK(!block.bytes.empty() && block.bytes.size() <= block_bytes_max);
    begin(FrameType::block);
    add(block.id);
    add(block.line);
    add_bytes(block.bytes);
    end();
}

void FrameWriter::put(const Refused& refused) {
    begin(FrameType::refused);
    add(refused.id);
    add(static_cast<std::uint8_t>(refused.reason));
    add(static_cast<std::uint8_t>(refused.kept ? 1 : 0));
    add(refused.kept.value_or(feed::KeptRange{}));
    end();
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

void FrameWriter::begin(FrameType type) {
    frame_ = bytes_.size();
    add(magic);
    add(protocol_version);
    add(static_cast<std::uint8_t>(type));
    add(std::uint32_t{0});  // its length, which end() sets
}

void FrameWriter::end() {
    const auto body = static_cast<std::uint32_t>(bytes_.size() - frame_ - header_bytes);
    std::memcpy(bytes_.data() + frame_ + header_bytes - sizeof body, &body, sizeof body);
}

}  // namespace pinstrike::actors::peer
