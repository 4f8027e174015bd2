// SPDX-License-Identifier: Apache-2.0
// How far a training has read a topic, and how it is kept in a file.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/reader/kafka_offsets.hpp>

using lamina::reader::kafka_offsets;

TEST_CASE("offsets count messages, each once and in order") {
  kafka_offsets o;
  CHECK(o.next(0) == -1);
  CHECK(o.turn() == 0);
  o.advance(2, 7);
  CHECK(o.next(2) == 8);
  CHECK(o.next(1) == -1);
  CHECK(o.next(-1) == -1);
  CHECK(o.next(5000) == -1);
  CHECK(o.turn() == 3);
  o.advance(2, 11);  // a topic may have gaps
  CHECK(o.next(2) == 12);
  const kafka_offsets before = o;
  CHECK_THROWS_WITH(o.advance(2, 11), Catch::Contains("an offset of at least 12, found partition 2 "
                                                      "and offset 11"));
  CHECK_THROWS_AS(o.advance(-1, 0), lamina::error);
  CHECK_THROWS_AS(o.advance(kafka_offsets::most_partitions, 0), lamina::error);
  CHECK(o == before);
  o.advance(kafka_offsets::most_partitions - 1, 0);
  CHECK_FALSE(o == before);
}

TEST_CASE("offsets are as many numbers for any topic, and come back from them") {
  const auto numbers_of = [](kafka_offsets o) {
    std::vector<double> numbers;
    o.each_number([&](double& x) { numbers.push_back(x); });
    return numbers;
  };
  kafka_offsets one, many;
  one.advance(0, 5);
  many.advance(900, (std::int64_t{1} << 53) - 2);
  many.advance(3, 0);
  const std::vector<double> numbers = numbers_of(many);
  CHECK(numbers_of(one).size() == numbers.size());
  std::size_t at = 0;
  one.each_number([&](double& x) { x = numbers[at++]; });
  CHECK(one == many);
  CHECK(one.next(900) == (std::int64_t{1} << 53) - 1);
  CHECK(one.next(0) == -1);
  CHECK(one.turn() == 4);
}
