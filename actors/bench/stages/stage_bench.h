// path: cold
//
// Measures what each stage of the way of a message takes. Every path of cut_path.h and the real
// poller take whole loops of one capture in turn, chunk by chunk; behind each chunk of the poller's
// the other thread empties the rings, once by a core without an actor and once by one with a book.
// So no thread waits for another while it is measured, and yet each finds in its caches what it
// would with the other at work: records written by another processor, slots read by one.
//
// A chunk's time is that of two clock readings around hundreds of packets; the median over chunks
// leaves the machine's own stops out.
#pragma once

#include "actors/appliance/venues.h"
#include "actors/bench/stages/cut_path.h"
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
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors {

struct StageOptions {
    int runs = 5;
    double seconds = 0.1;  ///< of each path in each run; one loop at least
    unsigned cores_count = 1;
    std::size_t series_capacity = 1'500'000;
    nic::ChecksumCheck udp_checksum = nic::ChecksumCheck::software;
    bool counting = false;  ///< one loop, on a made-up clock: the same instructions every time
    CpuIndex poller_cpu = -1;
    CpuIndex core_cpu = -1;
};

/// The time of a step; made up, it goes on by the same amount each time.
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

// Functions of their own for each stage, so that a profiler can be told to look at nothing else.

template <Stage stage, class Path>
[[gnu::noinline]] void measured_steps(Path& path, const RationedPort& port, StepClock& clock) {
    steps(path, port, clock);
}

template <Stage stage>
[[gnu::noinline]] void measured_drain(std::span<const std::unique_ptr<Core>> cores,
                                      StepClock& clock) {
    drain(cores, clock);
}

/// A thread that does one thing at a time, while the caller waits. Neither sleeps meanwhile: a
/// processor that did would take up its work slowly, and that would count as the work's.
class OtherThread {
  public:
    explicit OtherThread(CpuIndex cpu)
        : thread_([this, cpu] {
              place_this_thread(cpu, "core0");
              for (Work* work = next(); work != &no_more_; work = next()) {
                  work->run();
                  work_.store(nullptr, std::memory_order_release);  // the caller acquires
              }
          }) {}

    ~OtherThread() {
        hand(no_more_);
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
        hand(work);
        // Acquire: what the work did is seen.
        while (!spin([this] { return work_.load(std::memory_order_acquire) == nullptr; },
                     looks_before_sleep)) {
        }
    }

  private:
    static constexpr unsigned looks_before_sleep = 100'000;  ///< some milliseconds
    static constexpr unsigned looks_before_yield = 1'000;    ///< for where all share a processor

    struct Nothing final : Work {
        void run() override {}
    };

    /// False if it did not come true in so many looks.
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

    void hand(Work& work) {
        work_.store(&work, std::memory_order_release);  // next() acquires
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
    std::atomic<Work*> work_{nullptr};  ///< null: nothing is to be done, or it is done
    std::thread thread_;
};

template <class Codec>
class StageBench {
  public:
    /// `port` gives a loop of so many packets for ever, and is at its beginning.
    StageBench(nic::Port& port, std::size_t loop_packets, std::vector<feed::LineConfig> lines,
               const StageOptions& options)
        : port_(port),
          loop_packets_(loop_packets),
          lines_(std::move(lines)),
          options_(options),
          time_(clock_, options.counting),
          other_(options.core_cpu) {}

    /// Of which name and messages are the caller's to tell.
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

    /// A path that takes its turn.
    class Turn {
      public:
        virtual ~Turn() = default;
        virtual void warm() = 0;
        virtual void measure() = 0;
    };

    /// Times of chunks of one path.
    class ChunkTimes {
      public:
        void add(std::size_t packets, std::int64_t ns) {
            packets_ += packets;
            if (packets == chunk_packets) {
                chunk_ns_.push_back(static_cast<double>(ns) / chunk_packets);
            }
        }

        [[nodiscard]] std::uint64_t packets() const { return packets_; }

        [[nodiscard]] double median_packet_ns() {
            const auto middle =
                chunk_ns_.begin() + static_cast<std::ptrdiff_t>(chunk_ns_.size() / 2);
            std::nth_element(chunk_ns_.begin(), middle, chunk_ns_.end());
            return *middle;
        }

      private:
        std::vector<double> chunk_ns_;
        std::uint64_t packets_ = 0;
    };

    void note(Stage stage, ChunkTimes& times) {
        figures_.path_ns[index_of(stage)].push_back(times.median_packet_ns());
        figures_.measured_packets[index_of(stage)] += times.packets();
    }

    /// Whole loops, chunk by chunk, until the time is over.
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

    template <Stage last>
    class CutTurn final : public Turn {
      public:
        explicit CutTurn(StageBench& bench)
            : bench_(bench),
              port_(*new RationedPort(bench.port_)),
              path_(bench.setup_on(std::unique_ptr<nic::Port>{&port_}),
                    bench.options_.cores_count) {}

        void warm() override {
            bench_.loops(false, [this](std::size_t packets) {
                port_.grant(packets);
                steps(path_, port_, bench_.time_);
            });
        }

        void measure() override {
            ChunkTimes times;
            bench_.loops(true, [&](std::size_t packets) {
                port_.grant(packets);
                const std::int64_t begin_ns = bench_.clock_.wall_ns();
                measured_steps<last>(path_, port_, bench_.time_);
                times.add(packets, bench_.clock_.wall_ns() - begin_ns);
            });
            bench_.note(last, times);
        }

      private:
        StageBench& bench_;
        RationedPort& port_;  ///< the path's
        CutPath<Codec, last> path_;
    };

    /// The poller, its rings, and the cores behind them; `last`: pop, without an actor, or book.
    template <Stage last>
    class WholeTurn final : public Turn, private OtherThread::Work {
      public:
        explicit WholeTurn(StageBench& bench) : bench_(bench) {
            auto port = std::make_unique<RationedPort>(bench.port_);
            port_ = port.get();
            std::vector<Producer<feed::Event>> producers;
            for (unsigned core = 0; core < bench.options_.cores_count; ++core) {
                auto ring = Ring<feed::Event>::make(ring_records);
                producers.push_back(std::move(ring.producer));
                cores_.push_back(bench.template make_core<last>(core, std::move(ring.consumer)));
            }
            // As the program makes them: one compiled here would be another, with other things
            // inlined, and the linker might take it for the program's.
            poller_ = make_poller(Codec::name, bench.setup_on(std::move(port)),
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
                if constexpr (last == Stage::pop) {  // the other turn's is the same
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
        /// On the other thread.
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
                messages += poller_->router().counters(ring).routed.read();
            }
            return messages;
        }

        /// A chunk finds room for all it has, or the figures would tell of something else.
        void refuse_nothing() const {
            for (std::size_t ring = 0; ring < cores_.size(); ++ring) {
                PINSTRIKE_CHECK(poller_->router().counters(ring).refused.read() == 0);
            }
        }

        StageBench& bench_;
        RationedPort* port_ = nullptr;  ///< the poller's
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
            config.actors.of<BookConfig>().series_capacity = options_.series_capacity;
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
    std::vector<feed::LineConfig> lines_;
    StageOptions options_;
    nic::Clock clock_;
    StepClock time_;
    OtherThread other_;
    StageFigures figures_;
};

}  // namespace pinstrike::actors
