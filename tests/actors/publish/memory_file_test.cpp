// path: cold
//
// The memory file: the pages of each core, its file system, and what earlier starts left.
#include "actors/publish/memory_file.h"

#include "actors/publish/directory.h"
#include "actors/publish/publish_folder.h"
#include "tests/actors/events.h"
#include "tests/actors/publish/published.h"
#include "tests/config/problems.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace pinstrike::actors::test {
namespace {

namespace fs = std::filesystem;

MemoryPlan plan_of(std::vector<int> nodes) {
    MemoryPlan plan{
        .feed = "test", .cores = {}, .nodes = {}, .shape = book_shape(PublishedFeed::config, 1)};
    plan.cores.assign(std::max<std::size_t>(nodes.size(), 1), "core");
    plan.nodes = std::move(nodes);
    return plan;
}

std::unique_ptr<MemoryFile> file_of(const MemoryPlan& plan) {
    Problems problems;
    auto file = MemoryFile::make(plan, problems);
    EXPECT_NE(file, nullptr) << text_of(problems);
    return file;
}

/// The kernel's answer for a page: the policy, or with MPOL_F_NODE its node. Negative: it refuses.
int ask_of_page(const void* page, unsigned flags, std::array<unsigned long, 16>& nodes) {
    int answer = 0;
    const long done = ::syscall(SYS_get_mempolicy, &answer, nodes.data(), 64 * nodes.size(), page,
                                flags | MPOL_F_ADDR);
    return done == 0 ? answer : -1;
}

TEST(MemoryFiles, have_the_pages_of_a_core_on_its_node) {
    const PublishFolder folder{"/dev/shm"};
    const auto file = file_of(plan_of({0, -1}));
    std::array<unsigned long, 16> nodes{};
    for (const std::size_t core : {0U, 1U}) {
        const CoreMemory memory = file->core(core);
        for (const pinstrike_array& array :
             {memory.core().entries, memory.core().lines, memory.core().series}) {
            const void* const first = memory.span<std::byte>(array).data();
            const int policy = ask_of_page(first, 0, nodes);
            if (policy < 0) {
                GTEST_SKIP() << "the kernel has no NUMA policies, or a container forbids them";
            }
            EXPECT_EQ(policy, core == 0 ? MPOL_PREFERRED : MPOL_DEFAULT) << core;
            EXPECT_EQ(nodes[0], core == 0 ? 1U : 0U) << core;
            EXPECT_EQ(ask_of_page(first, MPOL_F_NODE, nodes), 0) << "the node of the page";
        }
    }
}

TEST(MemoryFiles, are_allocated_as_a_whole) {
    const PublishFolder folder{"/dev/shm"};
    const auto file = file_of(plan_of({}));

    struct stat status {};

    ASSERT_EQ(::stat(file->path().c_str(), &status), 0);
    EXPECT_EQ(static_cast<std::size_t>(status.st_size), file->bytes());
    EXPECT_GE(static_cast<std::size_t>(status.st_blocks) * 512, file->bytes());
}

TEST(MemoryFiles, of_earlier_starts_are_removed_also_without_a_link) {
    const PublishFolder folder;
    const auto add = [&](const std::string& name) {
        std::ofstream{folder.path() + '/' + name} << "x";
        return folder.path() + '/' + name;
    };
    const std::string killed = add("test.1795811392618619736");
    const std::vector<std::string> others{add("test.ids"), add("tester.1795811392618619736"),
                                          add("test.1795811392618619736.2"), add("test.")};
    const auto file = file_of(plan_of({}));
    EXPECT_FALSE(fs::exists(killed));
    for (const std::string& other : others) {
        EXPECT_TRUE(fs::exists(other)) << other;
    }
    EXPECT_TRUE(fs::exists(file->path()));
}

/// A start may be killed while it allocates its memory.
TEST(MemoryFiles, without_a_link_count_as_own_space_and_are_forgotten) {
    const PublishFolder folder;
    const std::string left = folder.path() + "/test.123";
    constexpr std::size_t bytes = 1 << 20;
    std::ofstream{left} << std::string(bytes, 'x');
    const auto space = publish_space("test", PublishMemory::shm);
    if (space) {  // the file system of the folder has a limit
        EXPECT_GE(space->own_bytes, bytes);
    }
    Problems problems;
    EXPECT_TRUE(forget_memory("test", problems)) << text_of(problems);
    EXPECT_FALSE(fs::exists(left));
    EXPECT_FALSE(forget_memory("test", problems));
}

/// The memory of a start that failed would take space until the next one, or for ever.
TEST(MemoryFiles, of_a_failed_start_are_removed_also_if_they_were_to_be_kept) {
    const PublishFolder folder;
    fs::create_directory(folder.path() + "/test");  // so that the link cannot be made
    MemoryPlan plan = plan_of({});
    plan.kept = true;
    Problems problems;
    EXPECT_EQ(MemoryFile::make(plan, problems), nullptr);
    EXPECT_EQ(problems.size(), 1U);
    EXPECT_EQ(files_of(folder.path(), "test").size(), 0U);
}

TEST(MemoryFiles, of_a_failed_start_leave_no_link_to_the_removed_file_of_the_last_start) {
    const PublishFolder folder;
    MemoryPlan plan = plan_of({});
    plan.kept = true;
    auto last = file_of(plan);
    last->set_live();
    const std::string kept = last->path();
    last.reset();
    ASSERT_TRUE(fs::exists(folder.path() + "/test"));
    fs::create_directories(folder.path() + "/.test.new/x");  // so that the link cannot be made
    Problems problems;
    EXPECT_EQ(MemoryFile::make(plan, problems), nullptr);
    EXPECT_FALSE(fs::exists(kept));
    EXPECT_FALSE(fs::is_symlink(folder.path() + "/test"));
}

/// Its values are not complete.
TEST(MemoryFiles, that_were_never_live_are_not_kept) {
    const PublishFolder folder;
    MemoryPlan plan = plan_of({});
    plan.kept = true;
    file_of(plan).reset();
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(MemoryFiles, that_are_linked_later_leave_the_last_one_until_then) {
    const PublishFolder folder;
    const std::string link = folder.path() + "/test";
    MemoryPlan plan = plan_of({});
    plan.kept = plan.linked_later = true;
    std::string before;
    for (int i = 0; i < 2; ++i) {
        file_of(plan).reset();  // a start that fails
        EXPECT_EQ(files_of(folder.path(), "test").size(), before.empty() ? 0U : 1U);
        EXPECT_EQ(target_of(link), before);
        const auto file = file_of(plan);
        EXPECT_EQ(target_of(link), before);
        file->set_live();
        Problems problems;
        EXPECT_TRUE(file->link(problems)) << text_of(problems);
        EXPECT_EQ(target_of(link), file->path());
        EXPECT_EQ(files_of(folder.path(), "test").size(), 1U) << "the last one is removed";
        before = file->path();
    }
    EXPECT_TRUE(fs::exists(before));
}

/// Small file systems end in the middle of the allocation, also before the first page.
TEST(MemoryFiles, of_a_start_without_space_are_removed) {
    const PublishFolder folder;
    const char* const size = "size=64k";
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, size) != 0) {
        GTEST_SKIP() << "this user cannot mount a file system";
    }
    EXPECT_EQ(::chmod(folder.path().c_str(), S_IRWXU), 0);
    for (const bool full : {false, true}) {
        if (full) {
            std::ofstream{folder.path() + "/other"} << std::string(1 << 16, 'x');
        }
        MemoryPlan plan = plan_of({});
        plan.kept = true;
        Problems problems;
        EXPECT_EQ(MemoryFile::make(plan, problems), nullptr);
        EXPECT_NE(text_of(problems).find("cannot allocate"), std::string::npos);
        EXPECT_EQ(files_of(folder.path(), "test").size(), 0U);
    }
    ::umount(folder.path().c_str());
}

/// A file that a start has created and not yet locked looks like one that was left.
TEST(MemoryFiles, are_not_forgotten_during_a_start) {
    const PublishFolder folder;
    const std::string starting = folder.path() + "/test.123";
    std::ofstream{starting} << "x";
    Problems problems;
    {
        NameLock start;
        ASSERT_EQ(start.take(folder.path() + "/.test.lock", problems), NameLock::Result::taken);
        EXPECT_FALSE(forget_memory("test", problems));
        EXPECT_NE(text_of(problems).find("a process publishes"), std::string::npos);
        EXPECT_TRUE(fs::exists(starting));
    }
    EXPECT_TRUE(forget_memory("test", problems));
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

/// Without the lock nothing would exclude a second start.
TEST(MemoryFiles, are_not_made_if_the_name_cannot_be_locked) {
    const PublishFolder folder;
    fs::create_directory(folder.path() + "/.test.lock");  // so that it cannot be opened
    Problems problems;
    EXPECT_EQ(MemoryFile::make(plan_of({}), problems), nullptr);
    EXPECT_NE(text_of(problems).find("cannot lock the name"), std::string::npos);
    EXPECT_FALSE(forget_memory("test", problems));
    EXPECT_EQ(problems.size(), 2U);
}

TEST(MemoryFiles, give_the_latest_series_an_id_first) {
    const PublishFolder folder;
    constexpr std::uint32_t series_count = 20'000;
    MemoryPlan plan{.feed = "test", .cores = {"core0", "core1"}, .nodes = {}, .shape = {}};
    plan.shape = {.series = series_count + 1, .slots = 64 * 1024};
    const auto file = file_of(plan);
    Directory directory{file->core(1)};
    for (std::uint32_t i = 0; i < series_count; ++i) {
        directory.add({test_events::series_of("SPY", i + 1)});
    }
    const auto id_of = [&](std::uint32_t index) {
        const CoreMemory memory = file->core(1);
        return memory.span<pinstrike_series>(memory.core().series)[index].id;
    };
    for (int i = 0; i < 100 && id_of(series_count) == 0; ++i) {
        file->give_ids();
    }
    EXPECT_EQ(id_of(series_count), series_count);
    const std::uint32_t latest = directory.add(test_events::series_of("QQQ"));
    file->give_ids();
    EXPECT_EQ(id_of(latest), series_count + 1);
    directory.remove(7);
    EXPECT_EQ(directory.add(test_events::series_of("IWM")), 7U);  // a record that is used again
    for (int i = 0; i < 100 && id_of(7) == 0; ++i) {
        file->give_ids();
    }
    EXPECT_EQ(id_of(7), series_count + 2);
}

TEST(MemoryFiles, keep_ids_in_the_folder_of_states_if_the_service_has_one) {
    const PublishFolder folder;
    MemoryPlan plan = plan_of({});
    plan.trade_date = 20261127;
    const std::string states = folder.path() + "/states";
    fs::create_directory(states);
    ::setenv("STATE_DIRECTORY", (states + ":/no/such/folder").c_str(), 1);
    const auto file = file_of(plan);
    ::unsetenv("STATE_DIRECTORY");
    EXPECT_TRUE(fs::exists(states + "/.test.ids"));
    EXPECT_FALSE(fs::exists(folder.path() + "/.test.ids"));
    EXPECT_TRUE(file->remarks().empty());
}

TEST(MemoryFiles, remark_that_ids_cannot_be_kept) {
    const PublishFolder folder;
    MemoryPlan plan = plan_of({});
    plan.trade_date = 20261127;
    fs::create_directory(folder.path() + "/.test.ids");
    const auto file = file_of(plan);
    ASSERT_EQ(file->remarks().size(), 1U);
    EXPECT_NE(file->remarks()[0].find("change at a restart"), std::string::npos);
}

TEST(Space, counts_what_the_next_start_gives_back) {
    const PublishFolder folder{"/dev/shm"};
    const auto before = publish_space("test", PublishMemory::shm);
    const auto file = file_of(plan_of({}));
    const auto space = publish_space("test", PublishMemory::shm);
    ASSERT_TRUE(before && space);
    EXPECT_EQ(before->own_bytes, 0U);
    EXPECT_GE(space->own_bytes, file->bytes());
    EXPECT_EQ(space->folder, folder.path());
}

TEST(Space, is_refused_with_the_remedy) {
    const PublishSpace space{
        .folder = "/f", .total_bytes = 100 << 20, .free_bytes = 10 << 20, .own_bytes = 30 << 20};
    const auto remedy = [&](std::uint64_t bytes) {
        Problems problems;
        check_space(space, bytes, problems);
        return problems.empty()                           ? ""
               : problems.front().remedy == Remedy::retry ? "retry"
                                                          : "change";
    };
    EXPECT_STREQ(remedy(40 << 20), "");
    EXPECT_STREQ(remedy((40 << 20) + 1), "retry");
    EXPECT_STREQ(remedy(100 << 20), "retry");
    EXPECT_STREQ(remedy((100 << 20) + 1), "change");
    Problems problems;
    check_space({}, 1, problems);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems.front().text.find("mounted hugetlbfs"), std::string::npos);
}

}  // namespace
}  // namespace pinstrike::actors::test
