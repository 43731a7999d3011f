// path: cold
//
// Measures the time that each stage of a message's path takes. Pollers that end after one stage
// each, and the complete poller, process whole loops of one capture in turn, chunk by chunk. After
// each chunk of the complete poller, the other thread empties the rings: in one turn with a core
// without an actor, in the next turn with a core that has a book. So no thread waits for another
// thread while it is measured. Its caches are nevertheless in the same state as if both threads ran
// at the same time, because another processor has written the records that it reads, or read the
// slots that it writes.
//
// The time of a chunk is measured by two clock reads around hundreds of packets. Preemptions do not
// affect the median over the chunks.
#pragma once

#include "actors/appliance/venues.h"
#include "actors/bench/rows.h"
#include "actors/bench/stages/cut_pollers.h"
#include "actors/bench/stages/looped_capture.h"
#include "actors/bench/stages/rationed_port.h"
#include "actors/bench/stages/stage_figures.h"
#include "actors/book/book_config.h"
#include "actors/core/core.h"
#include "actors/poller/poller_task.h"
#include "actors/threads/ring.h"
#include "actors/topology/actor_kinds.h"
#include "actors/topology/machine.h"
#include "config/check.h"
#include "feed/lines/line_config.h"
#include "nic/clock.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors {

struct StageOptions {
    int runs = 5;
    double seconds = 0.1;  ///< for each path in each run, but at least one loop
    unsigned cores_count = 1;
    std::size_t series_capacity = 1'500'000;
    nic::ChecksumCheck udp_checksum = nic::ChecksumCheck::software;
    /// Runs one loop with a synthetic clock, so that every run executes the same instructions.
    bool counting = false;
    CpuIndex poller_cpu = -1;
    CpuIndex core_cpu = -1;
};

/// Gives the time of a step. If `made_up`, the clock is synthetic, and each read advances it by the
/// same amount.
class StepClock {
  public:
    StepClock(const nic::Clock& clock, bool made_up) : clock_(clock), made_up_(made_up) {}

    std::int64_t now_ns() noexcept { return made_up_ ? made_up_ns_ += 1'000 : clock_.wall_ns(); }

  private:
    const nic::Clock& clock_;
    bool made_up_;
    std::int64_t made_up_ns_ = 1'700'000'000'000'000'000;
};

template <class Path>
inline void steps(Path& path, const RationedPort& port, StepClock& clock) {
    while (!port.spent()) {
        path.step(clock.now_ns());
    }
}

inline void drain(std::span<const std::unique_ptr<Core>> cores, StepClock& clock) {
    for (const std::unique_ptr<Core>& core : cores) {
        while (core->step(clock.now_ns()) != 0) {
        }
    }
}

// Separate functions for each stage, so that a profiler can be restricted to them.

template <Stage stage, class Path>
[[gnu::noinline]] void measured_steps(Path& path, const RationedPort& port, StepClock& clock) {
    steps(path, port, clock);
}

template <Stage stage>
[[gnu::noinline]] void measured_drain(std::span<const std::unique_ptr<Core>> cores,
                                      StepClock& clock) {
    drain(cores, clock);
}

/// A thread that does one piece of work at a time while the caller waits. Both spin meanwhile,
/// because a processor that slept would start its work slowly, and that delay would be measured as
/// part of the work.
class OtherThread {
  public:
    explicit OtherThread(CpuIndex cpu)
        : thread_([this, cpu] {
              place_this_thread(cpu, "core0");
              for (Work* work = next(); work != &no_more_; work = next()) {
                  work->run();
                  work_.store(nullptr, std::memory_order_release);  // pairs with run()
              }
          }) {}

    ~OtherThread() {
        give(no_more_);
        thread_.join();
    }

    OtherThread(const OtherThread&) = delete;
    OtherThread& operator=(const OtherThread&) = delete;

    class Work {
      public:
        virtual ~Work() = default;
        virtual void run() = 0;
    };

    void run(Work& work) {
        give(work);
        // Acquire, so that the caller sees the effects of the work.
        while (!spin([this] { return work_.load(std::memory_order_acquire) == nullptr; },
                     looks_before_sleep)) {
        }
    }

  private:
    static constexpr unsigned looks_before_sleep = 100'000;  ///< takes some milliseconds
    static constexpr unsigned looks_before_yield = 1'000;    ///< if threads share a processor

    struct Nothing final : Work {
        void run() override {}
    };

    /// Evaluates `is_true` until it is true, but at most `looks` times. Returns false if it never
    /// was.
    template <class True>
    static bool spin(True&& is_true, unsigned looks) {
        for (unsigned look = 1; !is_true(); ++look) {
            if (look == looks) {
                return false;
            }
            look % looks_before_yield == 0 ? std::this_thread::yield() : _mm_pause();
        }
        return true;
    }

    void give(Work& work) {
        work_.store(&work, std::memory_order_release);  // pairs with next()
        work_.notify_one();
    }

    Work* next() {
        Work* work = nullptr;
        const auto given = [&] {
            return (work = work_.load(std::memory_order_acquire)) != nullptr;
        };
        while (!spin(given, looks_before_sleep)) {
            work_.wait(nullptr, std::memory_order_acquire);
        }
        return work;
    }

    Nothing no_more_;
    std::atomic<Work*> work_{nullptr};  ///< null: no work is pending
    std::thread thread_;
};

class StageBench {
  public:
    /// `port` repeats a loop of `loop_packets` packets endlessly, and its next packet is the first
    /// of the loop. `venue` is the kind of the feed, and `cut_pollers` have its codec.
    StageBench(nic::Port& port, std::size_t loop_packets, std::string_view venue,
               const CutPollers& cut_pollers, std::vector<feed::LineConfig> lines,
               const StageOptions& options)
        : port_(port),
          loop_packets_(loop_packets),
          venue_(venue),
          cut_pollers_(cut_pollers),
          lines_(std::move(lines)),
          options_(options),
          time_(clock_, options.counting),
          other_(options.core_cpu) {}

    /// Returns the figures. The caller sets their name.
    StageFigures run() {
        place_this_thread(options_.poller_cpu, "poller0");
        const auto cuts = make_cuts();
        for (int run = options_.counting ? 0 : -1; run < options_.runs; ++run) {
            for (const std::unique_ptr<Turn>& turn : cuts) {
                turn->warm();
                if (run >= 0) {
                    turn->measure();
                }
            }
        }
        figures_.loop_packets = loop_packets_;
        return std::move(figures_);
    }

  private:
    static constexpr std::size_t chunk_packets = 256;
    static constexpr std::size_t ring_records = std::size_t{1} << 16;
    static constexpr nic::Subnet no_source{{0xFFFF'FFFF}, 0xFFFF'FFFF};

    /// A path that is measured in turn with the others.
    class Turn {
      public:
        virtual ~Turn() = default;
        virtual void warm() = 0;
        virtual void measure() = 0;
    };

    /// The times of the chunks of one path.
    class ChunkTimes {
      public:
        void add(std::size_t packets, std::int64_t ns) {
            packets_ += packets;
            if (packets == chunk_packets) {
                chunk_ns_.push_back(static_cast<double>(ns) / chunk_packets);
            }
        }

        [[nodiscard]] std::uint64_t packets() const { return packets_; }

        [[nodiscard]] double median_packet_ns() const { return median(chunk_ns_); }

      private:
        std::vector<double> chunk_ns_;
        std::uint64_t packets_ = 0;
    };

    void note(Stage stage, const ChunkTimes& times) {
        figures_.path_ns[index_of(stage)].push_back(times.median_packet_ns());
        figures_.measured_packets[index_of(stage)] += times.packets();
    }

    /// Runs one loop in chunks, or, if `measured`, as many loops as the configured time allows.
    template <class Chunk>
    void loops(bool measured, Chunk&& chunk) {
        const double seconds = measured && !options_.counting ? options_.seconds : 0;
        const std::int64_t begin_ns = clock_.wall_ns();
        do {
            for (std::size_t left = loop_packets_; left != 0;) {
                const std::size_t packets = std::min(left, chunk_packets);
                chunk(packets);
                left -= packets;
            }
        } while (static_cast<double>(clock_.wall_ns() - begin_ns) < seconds * 1e9);
    }

    PollerSetup setup_on(std::unique_ptr<nic::Port> port) const {
        return looped_setup(std::move(port), options_.udp_checksum, lines_);
    }

    /// A poller whose path ends after stage `last`: its port returns no packets, or it allows no
    /// source, or its codec ends the path.
    template <Stage last>
    class CutTurn final : public Turn {
      public:
        explicit CutTurn(StageBench& bench) : bench_(bench) {
            auto port = std::make_unique<RationedPort>(bench.port_, last == Stage::receive);
            port_ = port.get();
            PollerSetup setup = bench.setup_on(std::move(port));
            std::vector<Producer<feed::Event>> producers;
            for (unsigned core = 0; core < bench.options_.cores_count; ++core) {
                auto ring = Ring<feed::Event>::make(ring_records);
                producers.push_back(std::move(ring.producer));
                rings_.push_back(std::move(ring.consumer));
            }
            Router router = router_to(std::move(producers), bench.lines_.size());
            if constexpr (last <= Stage::parse) {
                setup.ports.front().sources = {no_source};
                poller_ = make_poller(bench.venue_, std::move(setup), std::move(router));
            } else {
                poller_ = bench.cut_pollers_[index_of(last)](std::move(setup), std::move(router),
                                                             bench.options_.cores_count);
            }
        }

        void warm() override {
            bench_.loops(false, [this](std::size_t packets) {
                port_->grant(packets);
                steps(*poller_, *port_, bench_.time_);
            });
        }

        void measure() override {
            ChunkTimes times;
            bench_.loops(true, [&](std::size_t packets) {
                port_->grant(packets);
                const std::int64_t begin_ns = bench_.clock_.wall_ns();
                measured_steps<last>(*poller_, *port_, bench_.time_);
                times.add(packets, bench_.clock_.wall_ns() - begin_ns);
                for (Consumer<feed::Event>& ring : rings_) {
                    ring.release(ring.peek(ring_records).size());
                }
            });
            bench_.note(last, times);
        }

      private:
        StageBench& bench_;
        RationedPort* port_ = nullptr;  ///< owned by poller_
        std::unique_ptr<PollerTask> poller_;
        std::vector<Consumer<feed::Event>>
            rings_;  ///< get only what no codec decodes: resets, gaps
    };

    /// The poller, its rings, and the cores that read them. If `last` is pop, the cores have no
    /// actor, and if it is book, they have a book.
    template <Stage last>
    class WholeTurn final : public Turn, private OtherThread::Work {
      public:
        explicit WholeTurn(StageBench& bench) : bench_(bench) {
            auto port = std::make_unique<RationedPort>(bench.port_, false);
            port_ = port.get();
            std::vector<Producer<feed::Event>> producers;
            for (unsigned core = 0; core < bench.options_.cores_count; ++core) {
                auto ring = Ring<feed::Event>::make(ring_records);
                producers.push_back(std::move(ring.producer));
                cores_.push_back(bench.make_core<last>(core, std::move(ring.consumer)));
            }
            // Makes the poller with the function that the program uses. A poller that is
            // instantiated in this file would be compiled with other inlining, and the linker might
            // use it for the program as well.
            poller_ = make_poller(bench.venue_, bench.setup_on(std::move(port)),
                                  router_to(std::move(producers), bench.lines_.size()));
            PINSTRIKE_CHECK(poller_ != nullptr);
            for (const std::unique_ptr<Core>& core : cores_) {
                core->start();
            }
        }

        void warm() override {
            measured_ = false;
            bench_.loops(false, [this](std::size_t packets) {
                port_->grant(packets);
                steps(*poller_, *port_, bench_.time_);
                bench_.other_.run(*this);
            });
        }

        void measure() override {
            measured_ = true;
            ChunkTimes poller_times;
            ChunkTimes core_times;
            const std::uint64_t messages_before = messages();
            bench_.loops(true, [&](std::size_t packets) {
                port_->grant(packets);
                const std::int64_t begin_ns = bench_.clock_.wall_ns();
                if constexpr (last == Stage::pop) {  // the other turn runs the same code
                    measured_steps<Stage::push>(*poller_, *port_, bench_.time_);
                } else {
                    steps(*poller_, *port_, bench_.time_);
                }
                poller_times.add(packets, bench_.clock_.wall_ns() - begin_ns);
                bench_.other_.run(*this);
                core_times.add(packets, drain_ns_);
            });
            refuse_nothing();
            if (last == Stage::pop) {
                bench_.note(Stage::push, poller_times);
                bench_.figures_.messages_per_packet =
                    static_cast<double>(messages() - messages_before) /
                    static_cast<double>(poller_times.packets());
            }
            bench_.note(last, core_times);
        }

      private:
        /// Runs on the other thread.
        void run() override {
            const std::int64_t begin_ns = bench_.clock_.wall_ns();
            if (measured_) {
                measured_drain<last>(cores_, bench_.time_);
            } else {
                drain(cores_, bench_.time_);
            }
            drain_ns_ = bench_.clock_.wall_ns() - begin_ns;
        }

        [[nodiscard]] std::uint64_t messages() const {
            std::uint64_t messages = 0;
            for (std::size_t ring = 0; ring < cores_.size(); ++ring) {
                messages += poller_->router().counters(ring).read(RingCount::routed);
            }
            return messages;
        }

        /// Checks that no ring was too full for a message, because the figures would then be wrong.
        void refuse_nothing() const {
            for (std::size_t ring = 0; ring < cores_.size(); ++ring) {
                PINSTRIKE_CHECK(poller_->router().counters(ring).read(RingCount::refused) == 0);
            }
        }

        StageBench& bench_;
        RationedPort* port_ = nullptr;  ///< owned by poller_
        std::unique_ptr<PollerTask> poller_;
        std::vector<std::unique_ptr<Core>> cores_;
        bool measured_ = false;
        std::int64_t drain_ns_ = 0;
    };

    template <Stage last>
    std::unique_ptr<Core> make_core(unsigned index, Consumer<feed::Event> consumer) const {
        std::vector<Consumer<feed::Event>> consumers;
        consumers.push_back(std::move(consumer));
        std::vector<std::unique_ptr<Actor>> list;
        if (last == Stage::book) {
            FeedConfig config;
            config.actors.get<BookConfig>().series_capacity = options_.series_capacity;
            config.cores.resize(options_.cores_count);
            list.push_back(make_actor("book", config));
        }
        CoreOptions options;
        options.info = {"core" + std::to_string(index), index, options_.cores_count};
        options.clock = options_.counting ? nullptr : &clock_;
        return std::make_unique<Core>(std::move(options), std::move(consumers), std::move(list));
    }

    std::vector<std::unique_ptr<Turn>> make_cuts() {
        std::vector<std::unique_ptr<Turn>> turns;
        turns.push_back(std::make_unique<CutTurn<Stage::receive>>(*this));
        turns.push_back(std::make_unique<CutTurn<Stage::parse>>(*this));
        turns.push_back(std::make_unique<CutTurn<Stage::find_line>>(*this));
        turns.push_back(std::make_unique<CutTurn<Stage::check>>(*this));
        turns.push_back(std::make_unique<CutTurn<Stage::arbitrate>>(*this));
        turns.push_back(std::make_unique<CutTurn<Stage::decode>>(*this));
        if (options_.cores_count > 1) {
            turns.push_back(std::make_unique<CutTurn<Stage::route>>(*this));
        }
        turns.push_back(std::make_unique<WholeTurn<Stage::pop>>(*this));
        turns.push_back(std::make_unique<WholeTurn<Stage::book>>(*this));
        return turns;
    }

    nic::Port& port_;
    std::size_t loop_packets_;
    std::string_view venue_;
    CutPollers cut_pollers_;
    std::vector<feed::LineConfig> lines_;
    StageOptions options_;
    nic::Clock clock_;
    StepClock time_;
    OtherThread other_;
    StageFigures figures_;
};

}  // namespace pinstrike::actors
