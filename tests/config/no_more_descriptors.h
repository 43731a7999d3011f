// path: cold
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace pinstrike {

/// While it exists, this process can open no file and no socket (EMFILE).
class NoMoreDescriptors {
  public:
    NoMoreDescriptors() {
        const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::close(next);
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }

    ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

    NoMoreDescriptors(const NoMoreDescriptors&) = delete;
    NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

  private:
    rlimit before_{};
};

}  // namespace pinstrike
