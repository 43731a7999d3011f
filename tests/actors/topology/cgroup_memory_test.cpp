// path: cold
//
// Reads the memory that a control group gives from files that the test writes.
#include "actors/topology/cgroup_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace pinstrike::actors {
namespace {

/// A temporary folder, removed at the end.
class ControlGroups : public testing::Test {
  public:
    ~ControlGroups() override { std::filesystem::remove_all(root_); }

  protected:
    ControlGroups() {
        std::string name = (std::filesystem::temp_directory_path() / "groups.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        root_ = name;
    }

    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((root_ / name).parent_path());
        std::ofstream{root_ / name} << text;
    }

    std::filesystem::path root_;
};

TEST_F(ControlGroups, WithoutALimitGiveNothing) {
    EXPECT_FALSE(read_cgroup_memory(root_));
    write("proc/self/cgroup", "0::/a/b\n");
    write("sys/fs/cgroup/a/b/memory.max", "max\n");
    EXPECT_FALSE(read_cgroup_memory(root_));
    write("proc/self/cgroup", "7:cpu,memory:/a\n");
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_FALSE(read_cgroup_memory(root_));
}

TEST_F(ControlGroups, OfVersionTwoGiveTheLowestOfThoseAround) {
    write("proc/self/cgroup", "0::/a/b\n");
    write("sys/fs/cgroup/a/b/memory.max", "5000\n");
    write("sys/fs/cgroup/a/b/memory.current", "4000\n");
    write("sys/fs/cgroup/a/b/memory.stat",
          "anon 1000\nfile 3000\ninactive_file 2000\nactive_file 500\nshmem 500\n");
    write("sys/fs/cgroup/a/memory.max", "4000\n");
    write("sys/fs/cgroup/a/memory.current", "500\n");
    const auto found = read_cgroup_memory(root_);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->group, "/a");
    EXPECT_EQ(found->limit_bytes, 4000U);
    EXPECT_EQ(found->free_bytes, 3500U);  // 4000 - 2500 of 5000
}

TEST_F(ControlGroups, OfVersionOneInAContainerGiveTheLimitAtTheTop) {
    write("proc/self/cgroup", "4:memory:/docker/of-the-host\n3:cpu:/x\n0::/x\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
    write("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 1000\n");
    const auto found = read_cgroup_memory(root_);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->limit_bytes, 4096U);
    EXPECT_EQ(found->free_bytes, 96U);
}

}  // namespace
}  // namespace pinstrike::actors
