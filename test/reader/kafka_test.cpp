// SPDX-License-Identifier: Apache-2.0
// Messages of Kafka, from librdkafka's own brokers.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "reader/kafka_broker.hpp"
#include <catch2/catch.hpp>

#include <lamina/reader/kafka.hpp>
#include <lamina/reader/reader.hpp>

namespace reader = lamina::reader;
using Catch::Contains;
using namespace std::chrono_literals;

namespace {

/// The first n messages, as "partition:offset=value".
std::vector<std::string> first(const reader::kafka_topic& topic, std::size_t n) {
  std::vector<std::string> all;
  for (const reader::kafka_message& m : reader::begin_pass(topic | reader::first_n(n)))
    all.push_back(std::to_string(m.partition) + ":" + std::to_string(m.offset) + "=" + m.value);
  return all;
}
std::int64_t committed(const std::string& brokers, const std::string& topic, int partition) {
  ::rd_kafka_conf_t* const conf = ::rd_kafka_conf_new();
  char why[200];
  ::rd_kafka_conf_set(conf, "bootstrap.servers", brokers.c_str(), why, sizeof why);
  ::rd_kafka_conf_set(conf, "group.id", "lamina", why, sizeof why);
  ::rd_kafka_t* const handle = ::rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
  ::rd_kafka_topic_partition_list_t* const one = ::rd_kafka_topic_partition_list_new(1);
  ::rd_kafka_topic_partition_list_add(one, topic.c_str(), partition);
  ::rd_kafka_committed(handle, one, 10000);
  const std::int64_t offset = one->elems[0].offset;
  ::rd_kafka_topic_partition_list_destroy(one);
  ::rd_kafka_destroy(handle);
  return offset;
}

}  // namespace

TEST_CASE("a topic of Kafka is a reader that begins at given offsets") {
  test::kafka_broker broker;
  broker.create("numbers", 3);
  for (int i = 0; i < 30; ++i)
    broker.put("numbers", i % 3, std::to_string(i), "key" + std::to_string(i));
  broker.put("numbers", 0, std::string("a\0b", 3));
  broker.put("numbers", 1, "");
  broker.flush();
  const reader::kafka_options options{.brokers = broker.address(), .topic = "numbers"};

  // A message of each partition in turn, in each pass.
  std::vector<std::string> expected;
  for (int i = 0; i < 30; ++i)
    expected.push_back(std::to_string(i % 3) + ":" + std::to_string(i / 3) + "=" +
                       std::to_string(i));
  expected.push_back("0:10=" + std::string("a\0b", 3));
  expected.push_back("1:10=");
  const reader::kafka_topic whole(options);
  CHECK(first(whole, 32) == expected);
  CHECK(first(whole, 5) == std::vector(expected.begin(), expected.begin() + 5));

  // From the position after each message the rest follows.
  reader::kafka_offsets offsets;
  int seen = 0;
  for (const auto& batch : reader::begin_pass(whole | reader::batch(5) | reader::first_n(3))) {
    for (const auto& m : batch) {
      CHECK(m.key == "key" + std::to_string(seen++));
      offsets.advance(m.partition, m.offset);
    }
    const reader::kafka_topic rest(options, offsets);
    CHECK(first(rest, 7) == std::vector(expected.begin() + seen, expected.begin() + seen + 7));
  }

  reader::kafka_topic commits(options);
  commits.commit({}, true);  // nothing to tell
  commits.commit(offsets);
  commits.commit(offsets, true);
  CHECK(committed(broker.address(), "numbers", 1) == offsets.next(1));
  CHECK(first(whole, 1) == std::vector(expected.begin(), expected.begin() + 1));  // no effect

  // Messages in any order are those of the partitions in theirs.
  reader::kafka_options any = options;
  any.order = reader::kafka_order::arrival;
  reader::kafka_offsets ordered;
  for (const auto& m : reader::begin_pass(reader::kafka_topic(any) | reader::first_n(32)))
    CHECK_NOTHROW(ordered.advance(m.partition, m.offset));
  CHECK(ordered.next(0) == 11);
  CHECK(ordered.next(1) == 11);
  CHECK(ordered.next(2) == 10);
}

TEST_CASE("a pass over Kafka waits for messages and for brokers until it is stopped") {
  test::kafka_broker broker;
  broker.create("slow", 1);
  broker.put("slow", 0, "a");
  broker.flush();
  std::atomic<bool> stop = false;
  std::atomic<int> count = 0;
  const reader::kafka_topic topic({.brokers = broker.address(), .topic = "slow", .stop = &stop});
  std::thread later([&] {
    while (count < 1) std::this_thread::sleep_for(1ms);
    broker.put("slow", 0, "b");
    broker.put("slow", 0, "c");
    broker.flush();
    while (count < 3) std::this_thread::sleep_for(1ms);
    ::rd_kafka_mock_broker_set_down(broker.cluster(), 1);
    std::this_thread::sleep_for(200ms);
    ::rd_kafka_mock_broker_set_up(broker.cluster(), 1);
    broker.put("slow", 0, "d");
    broker.flush();
    while (count < 4) std::this_thread::sleep_for(1ms);
    stop = true;
  });
  std::vector<std::string> all;
  for (const auto& m : reader::begin_pass(topic)) {
    all.push_back(m.value);
    ++count;
  }
  later.join();
  CHECK(all == std::vector<std::string>{"a", "b", "c", "d"});
  // A mini-batch that is not whole is left to the next run.
  stop = false;
  std::atomic<bool> taken = false;
  std::thread again([&] {
    while (!taken) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(100ms);
    stop = true;
  });
  int batches = 0;
  for (const auto& batch : reader::begin_pass(topic | reader::batch(3, true))) {
    CHECK(batch.size() == 3);
    ++batches;
    taken = true;
  }
  again.join();
  CHECK(batches == 1);
}

TEST_CASE("what Kafka does not have is an error") {
  CHECK_THROWS_WITH(reader::kafka_topic({.brokers = "", .topic = "x"}),
                    Contains("expected brokers and a topic"));
  test::kafka_broker broker;
  broker.create("short", 1);
  broker.put("short", 0, "only");
  broker.flush();
  reader::kafka_offsets beyond;
  beyond.advance(0, 40);
  CHECK_THROWS_WITH(
      first(reader::kafka_topic({.brokers = broker.address(), .topic = "short"}, beyond), 1),
      Contains("partition 0: expected messages from offset 41 on"));
  CHECK_THROWS_WITH(first(reader::kafka_topic({.brokers = broker.address(),
                                               .topic = "short",
                                               .settings = {{"no.such.setting", "1"}}}),
                          1),
                    Contains("no.such.setting"));
  CHECK_THROWS_WITH(first(reader::kafka_topic({.brokers = "127.0.0.1:1",
                                               .topic = "short",
                                               .timeout_ms = 200,
                                               .settings = {{"log_level", "0"}}}),
                          1),
                    Contains("kafka_topic short at 127.0.0.1:1"));
}
