// SPDX-License-Identifier: Apache-2.0
// Samples as bytes: each kind of field, the layout, and what does not fit.
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/model/feeding/sample_record.hpp>

using Catch::Contains;

namespace {

struct sample {
  std::array<float, 3> image;
  std::int64_t label;
  std::vector<std::vector<std::int32_t>> words;
  std::string name;
  bool is_known;
  bool operator==(const sample&) const = default;
};

}  // namespace

TEST_CASE("samples become records and samples again") {
  const sample one{{1, -2, 0.5f}, -7, {{1, 2}, {}, {3}}, "n\0me" + std::string(1, '\0'), true};
  CHECK(lamina::from_record<sample>(lamina::to_record(one)) == one);
  CHECK(lamina::detail::layout_of<sample>() == "f4*3 i8 i4** s b ");
  using pair = std::tuple<double, std::vector<bool>>;
  const pair two{0.1, {true, false}};
  CHECK(lamina::from_record<pair>(lamina::to_record(two)) == two);
  CHECK(lamina::from_record<std::vector<float>>(lamina::to_record(std::vector<float>{1, 2})) ==
        std::vector<float>{1, 2});
  CHECK(lamina::from_record<std::string>(lamina::to_record(std::string("a line"))) == "a line");
  CHECK(lamina::from_record<std::int32_t>(lamina::to_record(std::int32_t{5})) == 5);
  // The bytes do not change: the layout's CRC-32 ("i4 "), then the number.
  CHECK(lamina::to_record(std::int32_t{258}).substr(4) == std::string("\2\1\0\0", 4));
}

TEST_CASE("records that are no samples") {
  const auto refused = [](const std::string& bytes) {
    try {
      (void)lamina::from_record<std::tuple<std::vector<std::string>, bool>>(bytes);
    } catch (const lamina::error& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  const std::string whole =
      lamina::to_record(std::tuple<std::vector<std::string>, bool>{{"a", "bc"}, true});
  CHECK(refused(whole) == "none");
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK(refused(whole.substr(0, n)) != "none");
  CHECK_THAT(refused(whole + "x"), Contains("found 1 more bytes"));
  CHECK_THAT(refused(lamina::to_record(5.f)),
             Contains("expected a sample of the fields 's* b ', found one of others"));
  std::string changed = whole;
  changed.back() = 2;
  CHECK_THAT(refused(changed), Contains("expected 0 or 1, found 2"));
  changed = whole;
  changed[11] = 1;  // 2^56 elements
  CHECK_THAT(refused(changed), Contains("elements of a sample"));
}
