// path: cold
#include "config/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace pinstrike {
namespace {

namespace fs = std::filesystem;

class AWholeFile : public testing::Test {
  public:
    ~AWholeFile() override { fs::remove_all(folder_); }

  protected:
    AWholeFile() {
        std::string name = (fs::temp_directory_path() / "whole_file.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        folder_ = name;
    }

    [[nodiscard]] std::string path(const std::string& name) const {
        return (folder_ / name).string();
    }

    static std::string text_in(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream{path}.rdbuf();
        return text.str();
    }

    [[nodiscard]] std::ptrdiff_t files_count() const {
        return std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{});
    }

    static bool write(const std::string& path, const std::string& text, bool fails = false) {
        return write_whole(path, [&](std::FILE* file) {
            const bool put = std::fwrite(text.data(), 1, text.size(), file) == text.size();
            errno = ENOSPC;
            return put && !fails;
        });
    }

    fs::path folder_;
};

TEST_F(AWholeFile, replaces_what_was_there) {
    EXPECT_TRUE(write(path("a"), "first and longer"));
    EXPECT_TRUE(write(path("a"), "second"));
    EXPECT_EQ(text_in(path("a")), "second");
    EXPECT_EQ(files_count(), 1);
}

TEST_F(AWholeFile, may_be_for_its_owner_only) {
    EXPECT_TRUE(write(path("a"), "for all"));
    EXPECT_EQ(::chmod(path("a").c_str(), 0644), 0);
    WholeFile whole{path("a"), true};
    std::ofstream{whole.where()} << "for one";
    EXPECT_TRUE(whole.commit());

    struct stat found {};

    EXPECT_EQ(::stat(path("a").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777U, 0600U);
    EXPECT_EQ(text_in(path("a")), "for one");
}

TEST_F(AWholeFile, that_fails_leaves_the_last_good_one) {
    EXPECT_TRUE(write(path("a"), "good"));
    EXPECT_FALSE(write(path("a"), "ha", true));
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_EQ(text_in(path("a")), "good");
    EXPECT_EQ(files_count(), 1);
    EXPECT_FALSE(write(path("no/such/folder"), "x"));
    EXPECT_EQ(errno, ENOENT);
}

TEST_F(AWholeFile, is_seen_under_its_name_when_it_is_whole_alone) {
    WholeFile file{path("a.csv")};
    EXPECT_FALSE(fs::exists(path("a.csv")));
    EXPECT_TRUE(file.where().ends_with(".csv")) << file.where();
    std::ofstream{file.where()} << "rows";
    EXPECT_TRUE(file.commit());
    EXPECT_EQ(text_in(path("a.csv")), "rows");
}

TEST_F(AWholeFile, keeps_permissions_and_follows_links) {
    EXPECT_TRUE(write(path("a"), "one"));
    ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
    fs::create_symlink("a", path("link"));
    EXPECT_TRUE(write(path("link"), "two"));
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(text_in(path("a")), "two");
    EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms{0640});
}

TEST_F(AWholeFile, has_the_permissions_of_any_new_one) {
    const mode_t before = ::umask(027);
    EXPECT_TRUE(write(path("a"), "one"));
    ::umask(before);
    EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms{0640});
}

TEST_F(AWholeFile, is_not_made_of_pipes_and_devices) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    for (const std::string& each : {path("pipe"), std::string{"/dev/null"},
                                    std::string{"/dev/stdout"}, std::string{"/proc/self/fd/1"}}) {
        EXPECT_TRUE(is_written_directly(each)) << each;
        EXPECT_EQ(WholeFile{each}.where(), each);
    }
    EXPECT_FALSE(is_written_directly(path("new")));
    EXPECT_FALSE(is_written_directly("/dev/shm/new")) << "a folder like others";
    EXPECT_TRUE(write("/dev/null", "gone"));
    EXPECT_FALSE(write("/dev/full", "gone"));
    EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

}  // namespace
}  // namespace pinstrike
