// path: cold
//
// The C++ wrapper of the reader, in a program that also includes headers of the feed handler.
#include "actors/publish/pinstrike.hpp"
#include "tests/actors/publish/published.h"

#include <gtest/gtest.h>

namespace pinstrike::actors::test {
namespace {

TEST(Wrapper, reads_a_feed) {
    const PublishFolder folder;
    const PublishedFeed published;
    client::feed feed{"test"};
    client::filter spy;
    spy.roots = {"SPY"};
    EXPECT_EQ(feed.name(), "test");
    EXPECT_EQ(client::feed::names(), std::vector<std::string>{"test"});
    client::stream stream = feed.subscribe(spy);
    Events events;
    events.quote(key_of("SPY"), 1, 1, {.bid = 100});
    events.quote(key_of("QQQ"), 1, 2, {.bid = 200});
    events.play(*published.books[0]);
    EXPECT_EQ(feed.chain().size(), 2U);
    std::vector<pinstrike_value> values(1);
    EXPECT_EQ(feed.chain({}, values).size(), 2U);
    const std::size_t kept = values.size();
    EXPECT_EQ(feed.chain(spy, values).size(), 1U);
    EXPECT_EQ(values.size(), kept) << "it would be filled with zeros when it grows again";
    ASSERT_EQ(feed.chain(spy).size(), 1U);
    EXPECT_EQ(stream.poll().size(), 1U);
    EXPECT_THROW(client::feed{"other"}, client::error);
}

}  // namespace
}  // namespace pinstrike::actors::test
