// path: cold
#include "config/problem.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace pinstrike {
namespace {

TEST(Problems, are_fixed_by_a_retry_or_by_a_change) {
    for (const int error : {EADDRINUSE, EADDRNOTAVAIL, EMFILE, ENFILE, ENODEV, ENOMEM, ENOSPC}) {
        EXPECT_EQ(remedy_of(error), Remedy::retry) << error;
    }
    for (const int error : {EACCES, EPERM, ENOENT, EINVAL, EAFNOSUPPORT, EFBIG}) {
        EXPECT_EQ(remedy_of(error), Remedy::change) << error;
    }
}

TEST(Problems, one_that_needs_a_change_forbids_a_retry) {
    Problems problems;
    EXPECT_EQ(exit_of(problems), Exit::ok);
    add_problem(problems, "", "in use", Remedy::retry);
    EXPECT_EQ(exit_of(problems), Exit::failed);
    add_problem(problems, "", "wrong");
    EXPECT_EQ(exit_of(problems), Exit::config);
    add_problem(problems, "", "in use", Remedy::retry);
    EXPECT_EQ(exit_of(problems), Exit::config);
}

}  // namespace
}  // namespace pinstrike
