// path: cold
#include "actors/bridge/serve_session.h"

#include "actors/publish/layout_hash.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pinstrike::actors::bridge {

void ServeSession::receive(std::size_t bytes, std::int64_t now_ns) {
    reader_.received(bytes);
    heard_ns_ = now_ns;
    Frame frame;
    while (end_ == End::none) {
        switch (reader_.next(frame)) {
            case FrameReader::Result::frame:
                take(frame);
                break;
            case FrameReader::Result::incomplete:
                return;
            case FrameReader::Result::wrong_version:
                return refuse("another version of the bridge's protocol; install the same release");
            case FrameReader::Result::malformed:
                return refuse("bytes that are not a frame of the bridge's protocol");
        }
    }
}

void ServeSession::take(const Frame& frame) {
    if (!greeted_) {
        return frame.header.type == FrameType::hello ? greet(frame)
                                                     : refuse("the first frame is not hello");
    }
    switch (frame.header.type) {
        case FrameType::credit:
            outlet_.granted =
                std::max(outlet_.granted,
                         std::min(frame.header.value, outlet_.writer.sent() + window_bytes));
            taken_ = outlet_.granted - window_bytes;
            return;
        case FrameType::ask:
            return take_questions(frame);
        case FrameType::alive:
            return;
        case FrameType::bye:
            return finish(End::left, frame.text());
        default:
            return refuse("a frame that a joining host does not send");
    }
}

void ServeSession::greet(const Frame& frame) {
    if (frame.body.size() < sizeof(HelloBody)) {
        return refuse("hello is too short");
    }
    const auto hello = frame.at<HelloBody>(0);
    if (hello.roots_count > roots_max ||
        !frame.has<std::uint64_t>(hello.roots_count, sizeof(HelloBody))) {
        return refuse("hello names another number of underlyings than it has");
    }
    if (hello.layout_hash != layout_hash()) {
        return refuse("another layout of published memory; install the same release");
    }
    std::vector<std::uint64_t> roots;
    for (std::uint32_t i = 0; i < hello.roots_count; ++i) {
        roots.push_back(frame.at<std::uint64_t>(i, sizeof(HelloBody)));
    }
    sender_.select(hello.kinds, std::move(roots));
    greeted_ = true;
    outlet_.granted = window_bytes;
}

/// Ids that are not given yet are looked for again when the other side asks again.
void ServeSession::take_questions(const Frame& frame) {
    const std::uint32_t count = frame.header.count;
    if (!frame.has<feed::SeriesKey>(count)) {
        return refuse("a frame that asks for ids, whose length contradicts its count");
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        sender_.ask(frame.header.core, frame.at<feed::SeriesKey>(i));
    }
}

void ServeSession::finish(End end, const std::string& why) {
    if (end_ == End::none) {
        end_ = end;
        why_ = why;
    }
}

void ServeSession::refuse(const std::string& why) {
    sent_last_frame_ = outlet_.writer.put_text(FrameType::refused, why);
    finish(End::refused, why);
}

void ServeSession::leave(const std::string& why) {
    if (end_ == End::none) {
        sent_last_frame_ = outlet_.writer.put_text(FrameType::bye, why);
        finish(End::left, why);
    }
}

std::size_t ServeSession::produce(std::int64_t now_ns) {
    heard_ns_ = heard_ns_ == 0 ? now_ns : heard_ns_;
    if (end_ != End::none) {
        return 0;
    }
    if (now_ns - heard_ns_ > silent_after_ns) {
        finish(End::down, "the joining host was silent for 5 s");
        return 0;
    }
    if (now_ns - spoke_ns_ >= alive_every_ns && outlet_.writer.waiting().empty()) {
        spoke_ns_ = now_ns;
        static_cast<void>(outlet_.writer.put({}));
    }
    return greeted_ ? sender_.produce(now_ns) : 0;
}

}  // namespace pinstrike::actors::bridge
