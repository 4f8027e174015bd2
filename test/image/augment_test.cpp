// SPDX-License-Identifier: Apache-2.0
// test/image/augment_test.cpp - each change of an image by hand, and the same bits on any number of
// threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/image/image.hpp>
#include <lamina/reader/reader.hpp>

namespace image = lamina::image;
namespace reader = lamina::reader;

namespace {

constexpr int C = 3, H = 5, W = 4;
using pixels = std::array<float, C * H * W>;
struct sample {
  pixels image;
  std::int64_t label;
  bool operator==(const sample&) const = default;
};

pixels ramp(float first = 0) {
  pixels p{};
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = (first + static_cast<float>(i)) / 100;
  return p;
}
std::vector<sample> samples(int n) {
  std::vector<sample> all;
  for (int i = 0; i < n; ++i) all.push_back({ramp(static_cast<float>(i)), i});
  return all;
}
/// What a step makes of the ramp, with the random numbers of this position.
template <class Step>
pixels changed(const Step& step, std::uint64_t position = 0, pixels p = ramp()) {
  reader::random random(1, 0, position);
  image::augment<C, H, W>(step)(image::view{p.data(), C, H, W}, random);
  return p;
}
float at(const pixels& p, int c, int y, int x) {
  return p[static_cast<std::size_t>((c * H + y) * W + x)];
}
bool same_bits(const pixels& a, const pixels& b) {
  return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

}  // namespace

TEST_CASE("flips exchange left and right, top and bottom", "[image]") {
  const pixels p = ramp();
  const pixels sides = changed(image::flip{.horizontal = 1}),
               ends = changed(image::flip{.horizontal = 0, .vertical = 1});
  for (int c = 0; c < C; ++c)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        CHECK(at(sides, c, y, x) == at(p, c, y, W - 1 - x));
        CHECK(at(ends, c, y, x) == at(p, c, H - 1 - y, x));
      }
  CHECK(changed(image::flip{.horizontal = 0}) == p);
  int flipped = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) flipped += changed(image::flip{}, i) == sides;
  CHECK(flipped > 450);
  CHECK(flipped < 550);
}
TEST_CASE("a crop is each shift as often as the others", "[image]") {
  std::map<std::pair<int, int>, int> shifts;
  for (std::uint64_t i = 0; i < 900; ++i) {
    const pixels p = changed(image::crop{.padding = 1, .value = -1}, i);
    int matches = 0;
    for (int down = -1; down <= 1; ++down)
      for (int right = -1; right <= 1; ++right) {
        bool same = true;
        for (int c = 0; c < C; ++c)
          for (int y = 0; y < H; ++y)
            for (int x = 0; x < W; ++x) {
              const int r = y + down, k = x + right;
              const bool inside = r >= 0 && r < H && k >= 0 && k < W;
              same = same && at(p, c, y, x) == (inside ? at(ramp(), c, r, k) : -1);
            }
        if (same) ++shifts[{down, right}], ++matches;
      }
    REQUIRE(matches == 1);
  }
  REQUIRE(shifts.size() == 9);
  for (const auto& [shift, count] : shifts) {
    CHECK(count > 65);
    CHECK(count < 135);
  }
}
TEST_CASE("a part of an image is stretched between its own pixels", "[image]") {
  // On an image that is linear in x and y, what is cut and stretched is linear too.
  pixels plane{};
  for (int c = 0; c < C; ++c)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x)
        plane[static_cast<std::size_t>((c * H + y) * W + x)] =
            0.125f * static_cast<float>(x) + static_cast<float>(y);
  CHECK(changed(image::crop_and_stretch{.area = {1, 1}, .aspect = {1, 1}}, 3, plane) == plane);
  std::vector<float> seen;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const pixels p = changed(image::crop_and_stretch{.area = {0.3f, 0.6f}}, i, plane);
    const auto [low, high] = std::minmax_element(p.begin(), p.end());
    CHECK(*low >= 0);
    CHECK(*high <= 4.375f);
    // The step from row 2 to row 3 is the rectangle's height as a fraction.
    const float height = at(p, 0, 3, 1) - at(p, 0, 2, 1);
    CHECK(height > 0.4f);
    CHECK(height <= 1);
    seen.push_back(height);
  }
  std::sort(seen.begin(), seen.end());
  CHECK(seen.front() < 0.55f);
  CHECK(seen.back() > 0.8f);
}
TEST_CASE("colours change as their equations say", "[image]") {
  const pixels p = ramp();
  CHECK(changed(image::color{}) == p);
  const pixels brighter = changed(image::color{.brightness = 0.5f});
  const float factor = brighter[40] / p[40];
  CHECK(std::fabs(factor - 1) <= 0.5f);
  CHECK(factor != 1);
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(brighter[i] == Approx(factor * p[i]));

  // Contrast keeps the mean lightness, saturation the lightness of each pixel.
  pixels middle = p, fuller = p;
  const auto view_of = [](pixels& q) { return image::view{q.data(), C, H, W}; };
  const auto mean = [&](pixels& q) {
    double sum = 0;
    for (std::size_t i = 0; i < H * W; ++i) sum += image::lightness(view_of(q), i);
    return sum / (H * W);
  };
  pixels stronger = changed(image::color{.contrast = 0.5f, .low = -10, .high = 10}, 5);
  CHECK(stronger != p);
  CHECK(mean(stronger) == Approx(mean(middle)));
  pixels full = changed(image::color{.saturation = 0.5f, .low = -10, .high = 10}, 5);
  CHECK(full != p);
  for (std::size_t i = 0; i < H * W; ++i)
    CHECK(image::lightness(view_of(full), i) == Approx(image::lightness(view_of(fuller), i)));
  const pixels cut = changed(image::color{.brightness = 1, .low = 0.2f, .high = 0.3f});
  for (const float x : cut) CHECK((x >= 0.2f && x <= 0.3f));

  // An image of one channel is its own lightness: saturation has nothing to change.
  std::array<float, 4> grey{0.1f, 0.2f, 0.3f, 0.4f};
  reader::random random(0, 0, 0);
  image::augment<1, 2, 2>(image::color{.saturation = 1})(image::view{grey.data(), 1, 2, 2}, random);
  CHECK(grey == std::array<float, 4>{0.1f, 0.2f, 0.3f, 0.4f});
}
TEST_CASE("affine maps move pixels where they say", "[image]") {
  CHECK(same_bits(changed(image::affine{}), ramp()));
  pixels strange = ramp();
  strange[7] = std::numeric_limits<float>::infinity();
  CHECK(same_bits(changed(image::affine{}, 0, strange), strange));

  // A point of light, drawn large: its centre of mass moves by the map of the same numbers.
  constexpr int n = 31;
  const image::affine step{.degrees = 20, .shift = 0.1f, .scale = 0.2f, .shear = 10, .value = 0};
  for (std::uint64_t i = 0; i < 20; ++i) {
    std::vector<float> dot(n * n, 0.f);
    for (int y = -2; y <= 2; ++y)
      for (int x = -2; x <= 2; ++x) dot[static_cast<std::size_t>((9 + y) * n + 18 + x)] = 1;
    reader::random random(2, 1, i), again(2, 1, i);
    image::augment<1, n, n>(step)(image::view{dot.data(), 1, n, n}, random);
    const double a = again.uniform(-20, 20) * std::numbers::pi / 180,
                 tx = again.uniform(-0.1f, 0.1f) * n, ty = again.uniform(-0.1f, 0.1f) * n,
                 s = again.uniform(0.8f, 1.2f), b = again.uniform(-10, 10) * std::numbers::pi / 180;
    const double px = 18 - 15, py = 9 - 15, qx = px + std::tan(b) * py, qy = py;
    const double expected_x = s * (std::cos(a) * qx - std::sin(a) * qy) + tx + 15,
                 expected_y = s * (std::sin(a) * qx + std::cos(a) * qy) + ty + 15;
    double mass = 0, x_sum = 0, y_sum = 0;
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const double w = dot[static_cast<std::size_t>(y * n + x)];
        mass += w, x_sum += w * x, y_sum += w * y;
      }
    CHECK(x_sum / mass == Approx(expected_x).margin(0.05));
    CHECK(y_sum / mass == Approx(expected_y).margin(0.05));
    CHECK(mass == Approx(25 * s * s).epsilon(0.05));
  }
  const pixels outside = changed(image::affine{.shift = 1, .value = 7}, 11);
  CHECK(std::count(outside.begin(), outside.end(), 7.f) > 0);
}
TEST_CASE("normalising subtracts and divides by channel", "[image]") {
  const pixels p = ramp();
  const pixels q = changed(image::normalize{.mean = {0.1f, 0.2f, 0.3f}, .deviation = {1, 2, 4}});
  for (std::size_t i = 0; i < p.size(); ++i) {
    const float mean[] = {0.1f, 0.2f, 0.3f}, deviation[] = {1, 2, 4};
    CHECK(q[i] == (p[i] - mean[i / (H * W)]) / deviation[i / (H * W)]);
  }
  CHECK(changed(image::normalize{.mean = {0.5f}, .deviation = {0.5f}})[1] == (p[1] - 0.5f) / 0.5f);
}
TEST_CASE("augmented images are the same on any number of threads", "[image][threads]") {
  const auto change = image::augment<C, H, W>(
      image::flip{.vertical = 0.5f}, image::crop{.padding = 1}, image::crop_and_stretch{},
      image::color{.brightness = 0.3f, .contrast = 0.3f, .saturation = 0.3f},
      image::affine{.degrees = 15, .shift = 0.1f, .scale = 0.1f, .shear = 5},
      [](const image::view& v, reader::random& random) { *v.data += random.normal(); });
  const auto source = samples(60);
  const auto expected = test::read(source | reader::map(change, {.seed = 3}));
  CHECK(expected != source);
  for (std::size_t threads : {1u, 2u, 5u})
    CHECK(test::read(source | reader::xmap(change, {.threads = threads, .seed = 3})) == expected);
  // Other passes and seeds have other images; so has each sample, though it were the same image.
  CHECK(test::read(source | reader::map(change, {.seed = 3}), 1) != expected);
  CHECK(test::read(source | reader::map(change, {.seed = 4})) != expected);
  const auto equal = test::read(std::vector<sample>(20, sample{ramp(), 1}) |
                                reader::xmap(change, {.threads = 4, .seed = 3}));
  for (std::size_t i = 0; i < equal.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) CHECK(equal[i].image != equal[k].image);
  // Labels stay with their images.
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(expected[i].label == static_cast<std::int64_t>(i));
  // A step draws as many numbers whatever it decides, so a step before others leaves theirs.
  for (std::uint64_t i = 0; i < 8; ++i) {
    const auto two = [&](float chance) {
      pixels p = ramp();
      reader::random random(1, 0, i);
      image::augment<C, H, W>(image::flip{.horizontal = chance})(image::view{p.data(), C, H, W},
                                                                 random);
      return random();
    };
    CHECK(two(0) == two(1));
  }
}
TEST_CASE("samples are arrays or vectors, themselves or in a field", "[image]") {
  const auto change = image::augment<C, H, W>(image::flip{.horizontal = 1});
  const pixels flipped = changed(image::flip{.horizontal = 1});
  CHECK(test::read(std::vector{ramp()} | reader::map(change)) == std::vector{flipped});
  struct loose {
    std::vector<float> image;
    int label;
  };
  const pixels p = ramp();
  const std::vector<loose> good{{{p.begin(), p.end()}, 1}}, bad{{{1, 2, 3}, 1}};
  const auto read = test::read(good | reader::map(change));
  CHECK(std::equal(flipped.begin(), flipped.end(), read.at(0).image.begin()));
  CHECK_THROWS_WITH(test::read(bad | reader::map(change)),
                    "lamina: image::augment: expected an image of 3 * 5 * 4 floats, found 3");
  // An array of another size is an error of the compiler.
  static_assert(!std::is_invocable_v<decltype(change), std::array<float, 3>, std::uint64_t,
                                     std::uint64_t, reader::random&>);
}
TEST_CASE("options outside of their ranges are errors", "[image]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto augment = [](auto step) { return [step] { image::augment<C, H, W>(step); }; };
  const std::vector<std::pair<std::function<void()>, std::string>> wrong{
      {augment(image::flip{.horizontal = 1.5f}),
       "image::flip: expected a probability from 0 to 1, found 1.5"},
      {augment(image::flip{.vertical = nan}),
       "image::flip: expected a probability from 0 to 1, found nan"},
      {augment(image::crop{.padding = -1}),
       "image::crop: expected a padding from 0 to 65535, found -1"},
      {augment(image::crop_and_stretch{.area = {0.5f, 2}}),
       "image::crop_and_stretch: expected an area of 1 at most, found 2"},
      {augment(image::crop_and_stretch{.aspect = {2, 1}}),
       "image::crop_and_stretch: expected ranges with 0 < low <= high, found 2 to 1"},
      {augment(image::color{.contrast = -1}),
       "image::color: expected an option from 0 to 1, found -1"},
      {augment(image::color{.low = 2}), "image::color: expected low <= high, found 2 and 1"},
      {augment(image::affine{.degrees = 200}),
       "image::affine: expected degrees from 0 to 180, found 200"},
      {augment(image::affine{.scale = 1}),
       "image::affine: expected a scale from 0 to below 1, found 1"},
      {augment(image::normalize{.deviation = {0}}),
       "image::normalize: expected deviations above 0, found 0"},
      {augment(image::normalize{.mean = {1, 2}}),
       "image::normalize: expected as many means as deviations, found 2 and 1"}};
  for (const auto& [call, message] : wrong) CHECK_THROWS_WITH(call(), "lamina: " + message);
  CHECK_THROWS_WITH(
      changed(image::normalize{.mean = {1, 2}, .deviation = {1, 2}}),
      "lamina: image::normalize: expected 1 mean or one for each channel, 3, found 2");
}
