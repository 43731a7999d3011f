// path: cold
#include "actors/gateway/output_queue.h"

#include "config/check.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace pinstrike::actors::gateway {

std::unique_ptr<Chunk> ChunkPool::get() {
    if (kept_.empty()) {
        return std::unique_ptr<Chunk>(new Chunk);  // its bytes need no zeros
    }
    std::unique_ptr<Chunk> chunk = std::move(kept_.back());
    kept_.pop_back();
    static_cast<ChunkState&>(*chunk) = {};
    return chunk;
}

void ChunkPool::put_back(std::unique_ptr<Chunk> chunk) {
    if (kept_.size() < kept_max) {
        kept_.push_back(std::move(chunk));
    }
}

void OutputQueue::FreeContext::operator()(ZSTD_CCtx_s* context) const {
    ZSTD_freeCCtx(context);
}

OutputQueue::OutputQueue(ChunkPool& pool) : pool_(pool) {}

OutputQueue::~OutputQueue() {
    for (auto& chunk : chunks_) {
        pool_.put_back(std::move(chunk));
    }
}

void OutputQueue::compress() {
    constexpr int level = 1;  // the fastest: the gateway is one thread for all clients
    context_.reset(ZSTD_createCCtx());
    PINSTRIKE_CHECK(context_ != nullptr);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    plain_ = chunks_.size();
}

/// Contiguous space at the end. Bytes of one call are never split between chunks.
std::span<std::byte> OutputQueue::space(std::size_t count) {
    PINSTRIKE_CHECK(count <= Chunk::capacity);
    if (chunks_.size() == plain_ || chunks_.back()->used + count > Chunk::capacity) {
        chunks_.push_back(pool_.get());
    }
    Chunk& last = *chunks_.back();
    const std::span<std::byte> free{last.bytes.data() + last.used, count};
    last.used += count;
    bytes_ += count;
    return free;
}

void OutputQueue::append(std::span<const std::byte> bytes) {
    const auto at = space(bytes.size());
    std::memcpy(at.data(), bytes.data(), bytes.size());
}

void OutputQueue::append_record(std::span<const std::byte> record, std::uint64_t now_ns,
                                std::int64_t event_ns) {
    const std::size_t trailer = has_send_times_ ? sizeof now_ns : 0;
    const auto at = space(record.size() + trailer);
    std::memcpy(at.data(), record.data(), record.size());
    if (trailer != 0) {
        std::memcpy(at.data() + record.size(), &now_ns, sizeof now_ns);
        at[0] = static_cast<std::byte>(static_cast<unsigned>(at[0]) + trailer / 4);
    }
    Chunk& last = *chunks_.back();
    last.first_ns = last.records++ == 0 ? static_cast<std::int64_t>(now_ns) : last.first_ns;
    last.event_ns = last.event_ns == 0 ? event_ns : last.event_ns;
    ++appended_;
}

std::span<const std::byte> OutputQueue::next() {
    if (context_ != nullptr && plain_ == 0) {
        if (compressed_sent_ == compressed_.size()) {
            fill_compressed();
        }
        return std::span{compressed_}.subspan(compressed_sent_);
    }
    if (chunks_.empty()) {
        return {};
    }
    Chunk& first = *chunks_.front();
    offer(first);
    return std::span{first.bytes.data() + first.sent, first.used - first.sent};
}

void OutputQueue::offer(Chunk& chunk) {
    offered_.records += chunk.records - std::exchange(chunk.offered, chunk.records);
    const std::int64_t event_ns = std::exchange(chunk.event_ns, 0);
    offered_.event_ns = offered_.event_ns == 0 ? event_ns : offered_.event_ns;
}

/// Compresses the first chunk and flushes, so that the client can decompress all of it.
void OutputQueue::fill_compressed() {
    compressed_.clear();
    compressed_sent_ = 0;
    if (chunks_.empty()) {
        return;
    }
    Chunk& first = *chunks_.front();
    const std::size_t count = first.used - first.sent;
    compressed_.resize(ZSTD_compressBound(count) + ZSTD_CStreamOutSize());
    ZSTD_inBuffer in{first.bytes.data() + first.sent, count, 0};
    ZSTD_outBuffer out{compressed_.data(), compressed_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, ZSTD_e_flush);
    PINSTRIKE_CHECK(left == 0 && in.pos == in.size);
    compressed_.resize(out.pos);
    compressed_records_ = first.records;
    compressed_ns_ = first.first_ns;
    offer(first);
    bytes_ -= count;
    pool_.put_back(std::move(chunks_.front()));
    chunks_.pop_front();
}

void OutputQueue::sent(std::size_t count) {
    bytes_sent_ += count;
    if (context_ != nullptr && plain_ == 0) {
        compressed_sent_ += count;
        if (compressed_sent_ == compressed_.size()) {
            sent_ += std::exchange(compressed_records_, 0);
            compressed_ns_ = 0;
        }
        return;
    }
    Chunk& first = *chunks_.front();
    first.sent += count;
    bytes_ -= count;
    if (first.sent == first.used) {
        sent_ += first.records;
        pool_.put_back(std::move(chunks_.front()));
        chunks_.pop_front();
        plain_ -= std::min<std::size_t>(plain_, 1);
    }
}

}  // namespace pinstrike::actors::gateway
