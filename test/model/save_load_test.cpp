// SPDX-License-Identifier: Apache-2.0
// Models go to files and come back; damaged files change nothing.
#include "model/samples.hpp"

namespace layer = lamina::layer;
using Catch::Matchers::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::relu});
  return layer::fc<3>(hidden, {.name = "output"});
});
// The same names, another shape; and one parameter more.
constexpr auto wider = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto hidden = layer::fc<18>(x, {.act = lamina::activation::relu});
  return layer::fc<3>(hidden, {.name = "output"});
});
constexpr auto deeper = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::relu});
  return layer::fc<3>(layer::fc<3>(hidden, {.name = "output"}), {.name = "last"});
});

// FNV-1a of all but the last eight bytes, put there: a forger's file.
std::string signed_again(std::string bytes) {
  std::uint64_t h = 14695981039346656037ull;
  for (std::size_t i = 0; i + 8 < bytes.size(); ++i)
    h = (h ^ static_cast<unsigned char>(bytes[i])) * 1099511628211ull;
  for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() - 8 + i] = static_cast<char>(h >> (8 * i));
  return bytes;
}

}  // namespace

TEST_CASE("a saved model loads into another one bit for bit") {
  const test::folder folder;
  lamina::model first{net, 1}, second{net, 2};
  REQUIRE(test::bytes_of(first) != test::bytes_of(second));
  first.save(folder / "net");
  second.load(folder / "net");
  CHECK(test::bytes_of(first) == test::bytes_of(second));
  second.save(folder / "again");
  CHECK(test::read(folder / "net") == test::read(folder / "again"));
  CHECK_FALSE(std::filesystem::exists(folder / "net.writing"));
}

TEST_CASE("equal seeds give equal models, and set_parameter what was set") {
  lamina::model a{net, 7}, b{net, 7}, c{net, 8};
  CHECK(test::bytes_of(a) == test::bytes_of(b));
  CHECK(test::bytes_of(a) != test::bytes_of(c));

  lamina::array<float> w = a.parameter<"fc_0.w_0">();
  REQUIRE(w.dimension() == 2);
  REQUIRE(w.shape()[0] == 6);
  REQUIRE(w.shape()[1] == 17);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 17; ++j) w(i, j) = static_cast<float>(100 * i + j);
  a.set_parameter<"fc_0.w_0">(w);
  CHECK((a.parameter<"fc_0.w_0">() == w));
  CHECK((a.parameter<"fc_0.b_0">() == b.parameter<"fc_0.b_0">()));

  const auto before = test::bytes_of(a);
  const lamina::array<float> turned({17, 6}), longer({6, 17, 1});
  CHECK_THAT(test::error_of([&] { a.set_parameter<"fc_0.w_0">(turned); }),
             Contains("fc_0.w_0") && Contains("[6, 17]") && Contains("[17, 6]"));
  CHECK_THAT(test::error_of([&] { a.set_parameter<"fc_0.w_0">(longer); }), Contains("[6, 17, 1]"));
  CHECK(test::bytes_of(a) == before);
}

TEST_CASE("a file that is cut short anywhere is an error and changes nothing") {
  const test::folder folder;
  lamina::model good{net, 1}, m{net, 2};
  good.save(folder / "net");
  const std::string bytes = test::read(folder / "net");
  const auto before = test::bytes_of(m);
  for (std::size_t n = 0; n < bytes.size(); n += 7) {
    test::write(folder / "cut", bytes.substr(0, n));
    CHECK_THROWS_AS(m.load(folder / "cut"), lamina::format_error);
  }
  test::write(folder / "cut", bytes + "x");
  CHECK_THROWS_AS(m.load(folder / "cut"), lamina::format_error);
  CHECK(test::bytes_of(m) == before);
  m.load(folder / "net");
  CHECK(test::bytes_of(m) == test::bytes_of(good));
}

TEST_CASE("a file with a changed byte is an error and changes nothing") {
  const test::folder folder;
  lamina::model good{net, 1}, m{net, 2};
  good.save(folder / "net");
  const std::string bytes = test::read(folder / "net");
  const auto before = test::bytes_of(m);
  for (std::size_t n = 0; n < bytes.size(); n += 3) {
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ (1 << n % 8));
    test::write(folder / "changed", changed);
    CHECK_THROWS_AS(m.load(folder / "changed"), lamina::format_error);
  }
  CHECK(test::bytes_of(m) == before);
}

TEST_CASE("a changed file whose checksum is right is all or nothing") {
  const test::folder folder;
  lamina::model good{net, 1};
  good.save(folder / "net");
  const std::string bytes = test::read(folder / "net");
  int refused = 0;
  for (std::size_t n = 8; n + 8 < bytes.size(); ++n) {
    for (const unsigned char with : {0xffu, 0x80u}) {
      std::string changed = bytes;
      changed[n] = static_cast<char>(changed[n] ^ with);
      test::write(folder / "changed", signed_again(changed));
      lamina::model m{net, 2};
      const auto before = test::bytes_of(m);
      try {
        m.load(folder / "changed");
        CHECK(test::bytes_of(m) != before);
      } catch (const lamina::error&) {
        ++refused;
        CHECK(test::bytes_of(m) == before);
      }
    }
  }
  CHECK(refused > 400);
}

TEST_CASE("foreign files say what they are not") {
  const test::folder folder;
  lamina::model m{net};
  const auto before = test::bytes_of(m);
  test::write(folder / "foreign", "GIF89a, and then a lot of other bytes that are no model");
  CHECK_THAT(test::error_of([&] { m.load(folder / "foreign"); }),
             Contains("foreign, offset") && Contains("expected a lamina file"));
  test::write(folder / "empty", "");
  CHECK_THAT(test::error_of([&] { m.load(folder / "empty"); }), Contains("found 0"));
  CHECK_THAT(test::error_of([&] { m.load(folder / "none"); }), Contains("cannot be opened"));
  CHECK_THROWS_AS(m.load(folder.string()), lamina::error);
  CHECK(test::bytes_of(m) == before);
}

TEST_CASE("files of other programs say which parameter differs and how") {
  const test::folder folder;
  lamina::model m{net, 2};
  lamina::model other{wider, 1};
  lamina::model more{deeper, 1};
  const auto before = test::bytes_of(m), before_more = test::bytes_of(more);
  other.save(folder / "wider");
  CHECK_THAT(test::error_of([&] { m.load(folder / "wider"); }),
             Contains("fc_0.w_0") && Contains("[6, 17]") && Contains("[6, 18]"));
  m.save(folder / "net");
  CHECK_THAT(test::error_of([&] { more.load(folder / "net"); }),
             Contains("last.w_0") && Contains("found none"));
  CHECK(test::bytes_of(m) == before);
  CHECK(test::bytes_of(more) == before_more);

  std::vector<lamina::tensor_entry> entries = m.entries();
  entries[0].type = lamina::dtype::int32;
  lamina::write_tensor_file(folder / "integers", entries);
  CHECK_THAT(test::error_of([&] { m.load(folder / "integers"); }), Contains("expected float32"));
  entries = m.entries();
  entries[0].dims = {17, 6};
  lamina::write_tensor_file(folder / "turned", entries);
  CHECK_THAT(test::error_of([&] { m.load(folder / "turned"); }), Contains("[17, 6]"));

  more.save(folder / "deeper");
  m.load(folder / "deeper");  // what the program does not have is ignored
  CHECK((m.parameter<"output.w_0">() == more.parameter<"output.w_0">()));
}

TEST_CASE("a failed write leaves the old file whole") {
  const test::folder folder;
  lamina::model m{net, 1};
  m.save(folder / "net");
  const std::string bytes = test::read(folder / "net");
  std::filesystem::create_directory(folder / "net.writing");  // nothing can be written there
  lamina::model other{net, 2};
  CHECK_THROWS_AS(other.save(folder / "net"), lamina::error);
  CHECK(test::read(folder / "net") == bytes);
  CHECK_THROWS_AS(other.save(folder / "no/such/folder/net"), lamina::error);
}
