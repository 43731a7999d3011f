// path: cold
//
// A client of a gateway that measures how old quotes are when they come:
//
//     bench_gateway_client PORT KEY SECONDS
//
// It follows all series in schema cmbp-1 with send times. It prints one JSON object: records and
// records a second, and percentiles in microseconds of two times: from the receive time of the
// packet to the gateway's send time, and to the client's read. One quote of 16 is sampled.
#include "actors/gateway/client_keys.h"
#include "config/wall_time.h"
#include "feed/dbn/records.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace pinstrike;
using feed::dbn::ConsolidatedRecord;

constexpr std::size_t metadata_bytes = 128;
constexpr std::size_t send_time_bytes = 8;

[[noreturn]] void fail(const char* what) {
    fmt::print(stderr, "bench_gateway_client: {}\n", what);
    std::exit(1);
}

class Client {
  public:
    Client(std::uint16_t port, const std::string& key) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
            0) {
            fail("nothing listens");
        }
        line();  // the version
        const std::string challenge = line().substr(std::string_view{"cram="}.size());
        write("auth=" + actors::gateway::answer_of(challenge, key) +
              "|dataset=OPRA.PILLAR|encoding=dbn|ts_out=1\n");
        if (!line().starts_with("success=1")) {
            fail("the login was refused");
        }
        write("schema=cmbp-1|stype_in=raw_symbol|symbols=ALL_SYMBOLS|is_last=1\nstart_session\n");
        while (count_ < metadata_bytes) {
            read();
        }
        drop(metadata_bytes);
    }

    /// Reads records that have come, and samples them.
    void step() {
        read();
        const auto now_ns = static_cast<std::uint64_t>(wall_ns());
        std::size_t at = 0;
        while (at < count_) {
            const std::size_t size = static_cast<unsigned char>(bytes_[at]) * std::size_t{4};
            if (at + size > count_) {
                break;
            }
            if (size == sizeof(ConsolidatedRecord) + send_time_bytes) {
                take_quote(at, now_ns);
            }
            at += size;
        }
        drop(at);
    }

    [[nodiscard]] std::uint64_t quotes() const { return quotes_; }

    std::vector<double> sent_us;
    std::vector<double> read_us;

  private:
    void take_quote(std::size_t at, std::uint64_t now_ns) {
        constexpr std::uint64_t sampled = 16;
        if (++quotes_ % sampled != 0) {
            return;
        }
        ConsolidatedRecord record;
        std::uint64_t sent_ns = 0;
        std::memcpy(&record, bytes_.data() + at, sizeof record);
        std::memcpy(&sent_ns, bytes_.data() + at + sizeof record, sizeof sent_ns);
        sent_us.push_back(static_cast<double>(sent_ns - record.receive_ns) / 1e3);
        read_us.push_back(static_cast<double>(now_ns - record.receive_ns) / 1e3);
    }

    void read() {
        const ssize_t count = ::read(descriptor_, bytes_.data() + count_, bytes_.size() - count_);
        if (count <= 0) {
            fail("the gateway closed the connection");
        }
        count_ += static_cast<std::size_t>(count);
    }

    void drop(std::size_t count) {
        std::memmove(bytes_.data(), bytes_.data() + count, count_ - count);
        count_ -= count;
    }

    std::string line() {
        while (true) {
            const std::string_view text{bytes_.data(), count_};
            if (const std::size_t end = text.find('\n'); end != std::string_view::npos) {
                std::string found{text.substr(0, end)};
                drop(end + 1);
                return found;
            }
            read();
        }
    }

    void write(const std::string& text) const {
        if (::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
            fail("the gateway closed the connection");
        }
    }

    int descriptor_ = ::socket(AF_INET, SOCK_STREAM, 0);
    std::vector<char> bytes_ = std::vector<char>(std::size_t{1} << 20);
    std::size_t count_ = 0;
    std::uint64_t quotes_ = 0;
};

std::string percentiles(std::vector<double>& samples) {
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double share) {
        return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
    };
    return fmt::format(R"({{"p50": {:.1f}, "p99": {:.1f}, "p999": {:.1f}}})", at(0.5), at(0.99),
                       at(0.999));
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        fail("bench_gateway_client PORT KEY SECONDS");
    }
    Client client{static_cast<std::uint16_t>(std::atoi(arguments[1])), arguments[2]};
    constexpr std::int64_t mappings_ns = 2'000'000'000;
    const std::int64_t connected_ns = wall_ns();
    while (client.quotes() == 0 || wall_ns() < connected_ns + mappings_ns) {
        client.step();
    }
    client.sent_us.clear();
    client.read_us.clear();
    const std::uint64_t before = client.quotes();
    const std::int64_t begin_ns = wall_ns();
    const auto end_ns = begin_ns + static_cast<std::int64_t>(std::atof(arguments[3]) * 1e9);
    while (wall_ns() < end_ns) {
        client.step();
    }
    const double seconds = static_cast<double>(wall_ns() - begin_ns) / 1e9;
    const std::uint64_t records = client.quotes() - before;
    if (client.sent_us.empty()) {
        fail("no quote came");
    }
    fmt::print(R"({{"records": {}, "records_per_second": {:.0f}, )"
               R"("to_send_us": {}, "to_read_us": {}}})"
               "\n",
               records, static_cast<double>(records) / seconds, percentiles(client.sent_us),
               percentiles(client.read_us));
    return 0;
}
