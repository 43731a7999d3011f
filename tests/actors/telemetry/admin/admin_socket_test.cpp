// path: cold
//
// The admin socket: its limits on connections, and hostile clients.
#include "actors/telemetry/admin/admin_socket.h"

#include "actors/telemetry/admin/address.h"
#include "actors/telemetry/admin/admin_client.h"
#include "actors/telemetry/admin/tally.h"
#include "config/time_units.h"
#include "tests/config/no_more_descriptors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace pinstrike::actors::admin {
namespace {

using testing::HasSubstr;

class Admin : public testing::Test {
  public:
    ~Admin() override { std::filesystem::remove_all(folder_); }

  protected:
    Admin() {
        std::string name = testing::TempDir() + "adminXXXXXX";
        folder_ = ::mkdtemp(name.data());
    }

    [[nodiscard]] std::string path() const { return folder_ + "/a.sock"; }

    std::unique_ptr<AdminSocket> opened() {
        auto socket = AdminSocket::open(path(), problems_);
        EXPECT_NE(socket, nullptr);
        return socket;
    }

    [[nodiscard]] std::string problem() const {
        return problems_.empty() ? "" : problems_.back().text;
    }

    /// A connection without the client's code.
    nic::FileDescriptor connected() {
        nic::FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0)};
        const auto address = socket_address(path());
        EXPECT_EQ(::connect(socket.get(), as_any(*address), sizeof *address), 0);
        return socket;
    }

    static void say(const nic::FileDescriptor& socket, const std::string& text) {
        EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }

    /// The bytes that have arrived, followed by "-" if the other side has closed.
    static std::string heard(const nic::FileDescriptor& socket) {
        std::string text;
        std::array<char, 4096> piece{};
        ssize_t count = 0;
        while ((count = ::recv(socket.get(), piece.data(), piece.size(), 0)) > 0) {
            text.append(piece.data(), static_cast<std::size_t>(count));
        }
        return count == 0 ? text + "-" : text;
    }

    std::string folder_;
    Problems problems_;
};

Reply echo(const std::string& request, const Asker&) {
    return {"<" + request + ">\n", {}};
}

TEST_F(Admin, is_for_its_user_and_group_alone) {
    const auto socket = opened();

    struct stat found {};

    ASSERT_EQ(::stat(path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0660U);
}

TEST_F(Admin, answers_a_line_with_who_asked_and_ends) {
    const auto socket = opened();
    const nic::FileDescriptor client = connected();
    Asker seen;
    const Answer answer = [&seen](const std::string& request, const Asker& asker) {
        seen = asker;
        return echo(request, asker);
    };
    say(client, "half a ");
    socket->step(1, answer);
    EXPECT_EQ(heard(client), "");
    say(client, "line\n");
    socket->step(2, answer);
    EXPECT_EQ(heard(client), "<half a line>\n-");
    EXPECT_EQ(seen.user, ::getuid());
    EXPECT_EQ(seen.process, ::getpid());
}

TEST_F(Admin, goes_on_while_there_is_more) {
    const auto socket = opened();
    const nic::FileDescriptor client = connected();
    int left = 2;
    const Answer answer = [&left](const std::string&, const Asker&) -> Reply {
        return {"first\n", [&left](std::string& out) {
                    out += "more\n";
                    return --left != 0;
                }};
    };
    say(client, "x\n");
    socket->step(1, answer);
    EXPECT_EQ(heard(client), "first\nmore\n");
    socket->step(2, answer);
    EXPECT_EQ(heard(client), "more\n-");
}

TEST_F(Admin, lets_go_of_what_goes_on_when_the_client_has_gone) {
    const auto socket = opened();
    auto held = std::make_shared<int>(0);
    const std::weak_ptr<int> seen = held;
    {
        const nic::FileDescriptor client = connected();
        say(client, "x\n");
        const Answer answer = [&held](const std::string&, const Asker&) -> Reply {
            return {{}, [kept = std::move(held)](std::string&) { return true; }};
        };
        socket->step(1, answer);
        socket->step(AdminSocket::patience_ns * 3, answer);
        EXPECT_FALSE(seen.expired()) << "nothing to tell for long is no silence of the client";
    }
    socket->step(AdminSocket::patience_ns * 3 + 1, echo);
    EXPECT_TRUE(seen.expired());
}

TEST_F(Admin, closes_who_says_nothing_says_too_much_or_does_not_read) {
    const auto socket = opened();
    const nic::FileDescriptor silent = connected();
    const nic::FileDescriptor loud = connected();
    const nic::FileDescriptor deaf = connected();
    say(loud, std::string(AdminSocket::request_bytes_max + 1, 'x'));
    say(deaf, "x\n");
    const Answer endless = [](const std::string&, const Asker&) -> Reply {
        return {{}, [](std::string& out) {
                    out += std::string(1 << 16, 'y');
                    return true;
                }};
    };
    for (std::int64_t now_ns = 1; now_ns < 100; ++now_ns) {
        socket->step(now_ns, endless);
    }
    EXPECT_EQ(heard(loud), "-");
    EXPECT_EQ(heard(silent), "");
    socket->step(AdminSocket::patience_ns + 200, endless);
    EXPECT_EQ(heard(silent), "-");
    EXPECT_THAT(heard(deaf), testing::EndsWith("-"));
}

/// An answer that never ends.
Reply endless(const std::string&, const Asker&) {
    return {{}, [](std::string& out) {
                out += std::string(1 << 12, 'y');
                return true;
            }};
}

TEST_F(Admin, single_bytes_do_not_extend_the_time_to_ask) {
    const auto socket = opened();
    const nic::FileDescriptor dripping = connected();
    std::int64_t now_ns = 1;
    for (; now_ns < AdminSocket::patience_ns; now_ns += AdminSocket::patience_ns / 8) {
        say(dripping, "x");
        socket->step(now_ns, echo);
        EXPECT_EQ(heard(dripping), "") << now_ns;
    }
    socket->step(now_ns, echo);
    EXPECT_EQ(heard(dripping), "-");
}

TEST_F(Admin, single_bytes_do_not_extend_the_time_to_read) {
    const auto socket = opened();
    const nic::FileDescriptor dripping = connected();
    say(dripping, "x\n");
    std::int64_t now_ns = 1;
    for (int i = 0; i < 1000; ++i) {
        socket->step(now_ns, endless);  // until the kernel's buffers are full
    }
    bool closed = false;
    for (int i = 0; i < 10 && !closed; ++i, now_ns += AdminSocket::patience_ns / 8) {
        std::array<char, 2048> piece{};
        closed = ::recv(dripping.get(), piece.data(), piece.size(), 0) == 0;
        char more = 0;
        socket->step(now_ns, endless);
        closed = closed || ::send(dripping.get(), &more, 1, MSG_NOSIGNAL) < 0;
    }
    EXPECT_TRUE(closed);
}

TEST_F(Admin, who_reads_what_was_there_in_time_may_read_for_ever) {
    const auto socket = opened();
    const nic::FileDescriptor client = connected();
    say(client, "x\n");
    std::int64_t now_ns = 1;
    for (int i = 0; i < 100; ++i, now_ns += AdminSocket::patience_ns / 4) {
        for (int j = 0; j < 100; ++j) {
            socket->step(now_ns, endless);
        }
        const std::string text = heard(client);
        ASSERT_FALSE(text.empty()) << i;
        ASSERT_EQ(text.back(), 'y') << i;
    }
}

TEST_F(Admin, closes_who_is_late_the_longest_for_a_newer_one) {
    const auto socket = opened();
    const nic::FileDescriptor capturing = connected();  // its answer waits for packets
    const Answer quiet = [](const std::string&, const Asker&) -> Reply {
        return {{}, [](std::string&) { return true; }};
    };
    say(capturing, "x\n");
    socket->step(1, quiet);
    std::vector<nic::FileDescriptor> slow;
    for (std::int64_t now_ns = 2; slow.size() + 1 < AdminSocket::connections_max; ++now_ns) {
        slow.push_back(connected());
        say(slow.back(), "x");
        socket->step(now_ns, quiet);
    }
    for (std::size_t i = 0; i < 30; ++i) {
        say(slow.front(), "x");
        const nic::FileDescriptor good = connected();
        say(good, "x\n");
        const std::int64_t now_ns = 100 + static_cast<std::int64_t>(i);
        socket->step(now_ns, echo);
        EXPECT_EQ(heard(good), "<x>\n-");
        EXPECT_EQ(heard(slow.front()), "-");
        EXPECT_EQ(heard(slow[1]), "");
        slow.erase(slow.begin());
        slow.push_back(connected());
        socket->step(now_ns, echo);
    }
    EXPECT_EQ(heard(capturing), "");
}

TEST_F(Admin, keeps_those_with_whom_it_is_not_late) {
    const auto socket = opened();
    const Answer quiet = [](const std::string&, const Asker&) -> Reply {
        return {{}, [](std::string&) { return true; }};
    };
    std::vector<nic::FileDescriptor> busy;
    for (std::size_t i = 0; i < AdminSocket::connections_max; ++i) {
        busy.push_back(connected());
        say(busy.back(), "x\n");
    }
    socket->step(1, quiet);
    const nic::FileDescriptor late = connected();
    say(late, "x\n");
    socket->step(2, echo);
    EXPECT_EQ(heard(late), "") << "eight are enough at once";
    busy.clear();
    socket->step(3, echo);
    EXPECT_EQ(heard(late), "<x>\n-");
}

TEST_F(Admin, who_has_shut_its_half_is_answered_to_the_end) {
    const auto socket = opened();
    const nic::FileDescriptor client = connected();
    int left = 3;
    const Answer later = [&left](const std::string&, const Asker&) -> Reply {
        return {{}, [&left](std::string& out) {
                    out += left == 1 ? "last\n" : "";
                    return --left > 0;
                }};
    };
    say(client, "x\n");
    ASSERT_EQ(::shutdown(client.get(), SHUT_WR), 0);
    for (std::int64_t now_ns = 1; now_ns < 4; ++now_ns) {
        socket->step(now_ns, later);
    }
    EXPECT_EQ(heard(client), "last\n-");
}

TEST_F(Admin, takes_the_place_of_a_dead_one_and_of_nothing_else) {
    {
        auto first = opened();
        EXPECT_EQ(AdminSocket::open(path(), problems_), nullptr);
        EXPECT_THAT(problem(), HasSubstr("another instance answers"));
        EXPECT_EQ(::link(path().c_str(), (folder_ + "/left").c_str()), 0);
    }
    EXPECT_FALSE(std::filesystem::exists(path())) << "it removes its file";
    std::filesystem::rename(folder_ + "/left", path());  // as after kill -9
    auto second = opened();
    second.reset();
    std::ofstream{path()} << "somebody's file";
    EXPECT_EQ(AdminSocket::open(path(), problems_), nullptr);
    EXPECT_THAT(problem(), HasSubstr("not replaced"));
    EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(Admin, reports_that_descriptors_ran_out_and_tries_again_after_a_second) {
    const auto socket = opened();
    const nic::FileDescriptor client = connected();
    say(client, "x\n");
    {
        const NoMoreDescriptors limit;
        EXPECT_EQ(socket->step(second_ns, echo), EMFILE);
    }
    EXPECT_EQ(socket->step(2 * second_ns - 1, echo), 0);
    EXPECT_EQ(heard(client), "");
    EXPECT_EQ(socket->step(2 * second_ns, echo), 0);
    EXPECT_EQ(heard(client), "<x>\n-");
}

TEST_F(Admin, refuses_a_path_that_no_socket_has) {
    EXPECT_EQ(AdminSocket::open(std::string(200, 'x'), problems_), nullptr);
    EXPECT_THAT(problem(), HasSubstr("107 bytes"));
    EXPECT_EQ(AdminSocket::open(folder_ + "/none/a.sock", problems_), nullptr);
    EXPECT_THAT(problem(), HasSubstr("No such file"));
}

TEST_F(Admin, client_and_socket_understand_each_other) {
    std::string complaint;
    const auto nothing = [](const std::string&) { return true; };
    EXPECT_FALSE(ask(path(), "x", nothing, false, complaint));
    EXPECT_THAT(complaint, HasSubstr("is the instance running?"));
    const auto socket = opened();
    std::atomic<bool> done{false};
    std::thread server([&] {
        for (std::int64_t now_ns = 1; !done; ++now_ns) {
            socket->step(now_ns, [](const std::string& request, const Asker&) -> Reply {
                return {request + "\nsecond\n", {}};
            });
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    std::vector<std::string> lines;
    const bool good = ask(
        path(), "first",
        [&lines](const std::string& line) {
            lines.push_back(line);
            return true;
        },
        false, complaint);
    done = true;
    server.join();
    EXPECT_TRUE(good) << complaint;
    EXPECT_THAT(lines, testing::ElementsAre("first", "second"));
}

TEST(Address, names_are_services_and_what_has_a_slash_is_a_path) {
    EXPECT_EQ(socket_path("opra"), "/run/pinstrike/opra/admin.sock");
    EXPECT_EQ(socket_path("./opra"), "./opra");
    EXPECT_EQ(socket_path("/etc/pinstrike/opra.yaml"), "/run/pinstrike/opra/admin.sock");
    EXPECT_EQ(socket_path("opra.yaml"), "/run/pinstrike/opra/admin.sock");
}

TEST(Tally, counts_since_it_was_cleared) {
    Tally tally;
    Histogram times;
    times.record(100);
    EXPECT_EQ(tally.count("x", 7), 7U);
    EXPECT_EQ(tally.times("t", times.snapshot()).count, 1U);
    tally.clear([&] {
        static_cast<void>(tally.count("x", 7));
        static_cast<void>(tally.times("t", times.snapshot()));
    });
    times.record(3000);
    EXPECT_EQ(tally.count("x", 9), 2U);
    EXPECT_EQ(tally.count("never seen before", 9), 9U);
    EXPECT_EQ(tally.count("x", 4), 0U) << "lost messages were found";
    EXPECT_EQ(tally.count("x", 5), 1U);
    const Histogram::Snapshot since = tally.times("t", times.snapshot());
    EXPECT_EQ(since.count, 1U);
    EXPECT_GE(since.quantile_ns(0.5), 2900U);
}

}  // namespace
}  // namespace pinstrike::actors::admin
