// path: cold
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pinstrike::actors::test {

/// A folder that the writer and the readers of this process use.
class PublishFolder {
  public:
    explicit PublishFolder(
        const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
        std::string name = parent / "pinstrike-test-XXXXXX";
        path_ = ::mkdtemp(name.data());
        ::setenv("PINSTRIKE_FOLDER", path_.c_str(), 1);
    }

    ~PublishFolder() {
        ::unsetenv("PINSTRIKE_FOLDER");
        std::filesystem::remove_all(path_);
    }

    PublishFolder(const PublishFolder&) = delete;
    PublishFolder& operator=(const PublishFolder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace pinstrike::actors::test
