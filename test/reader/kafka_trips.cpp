// SPDX-License-Identifier: Apache-2.0
// A broker of Kafka with trips for the example online_kafka, until its standard input ends.
//
// usage: kafka_trips TOPIC PARTITIONS MESSAGES
//
// Prints the address of the broker. Half of the messages lie there at once, the rest comes bit by
// bit for some seconds. One in 50 is no trip.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "reader/kafka_broker.hpp"

#include <lamina/core/numbers/philox.hpp>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string topic = argv[1];
  const int partitions = std::atoi(argv[2]), messages = std::atoi(argv[3]);
  test::kafka_broker broker;
  broker.create(topic, partitions);
  const auto put = [&](int i) {
    const auto at = static_cast<std::uint64_t>(i);
    const float distance = 10 * lamina::uniform_at(1, 0, at),
                hour = 24 * lamina::uniform_at(1, 1, at);
    const int passengers = 1 + i % 4;
    char text[100];
    std::snprintf(text, sizeof text, i % 50 == 49 ? "%.4f,%.4f,%d,none" : "%.4f,%.4f,%d,%.4f",
                  static_cast<double>(distance), static_cast<double>(hour), passengers,
                  static_cast<double>(2 + 1.5f * distance + (hour > 20 ? 1 : 0)));
    broker.put(topic, i % partitions, text);
  };
  for (int i = 0; i < messages / 2; ++i) put(i);
  broker.flush();
  std::cout << broker.address() << std::endl;
  std::thread later([&] {
    for (int i = messages / 2; i < messages; ++i) {
      put(i);
      if (i % (messages / 400 + 1) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    broker.flush();
  });
  for (std::string line; std::getline(std::cin, line);) {
  }
  later.join();
}
