// path: cold
#include "actors/publish/publisher.h"

#include "actors/threads/start_thread.h"

#include <chrono>

namespace pinstrike::actors {

void Publisher::start() {
    file_->set_live();
    thread_ = start_thread([this] {
        constexpr std::chrono::milliseconds period{1};
        while (!stops_.load(std::memory_order_relaxed)) {  // relaxed: no data depends on it
            file_->wake_readers();
            file_->give_ids();
            std::this_thread::sleep_for(period);
        }
    });
}

Publisher::~Publisher() {
    stops_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) {
        thread_.join();
    }
}

}  // namespace pinstrike::actors
