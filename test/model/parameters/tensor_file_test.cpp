// SPDX-License-Identifier: Apache-2.0
// Files of models: there and back, damage, links, killed writers.
#include <csignal>

#include "model/samples.hpp"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/model/parameters/tensor_file.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

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

// The checksum of files, as their description says it: stripes of eight words, four lanes.
std::uint64_t sum_of(const std::string& bytes, std::uint64_t seed) {
  const auto step = [](std::uint64_t h, std::uint64_t w) {
    return std::rotl(h ^ w, 29) * 0x9e3779b97f4a7c15u;
  };
  std::uint64_t lanes[4] = {seed + 1, seed + 2, seed + 3, seed + 4};
  REQUIRE(bytes.size() % 64 == 0);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t w = 0;
    for (std::size_t i = 8; i > 0; --i) w = w << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
    std::uint64_t& lane = lanes[at / 8 % 4];
    lane = step(lane, w);
  }
  std::uint64_t h = bytes.size() / 64;
  for (const std::uint64_t lane : lanes) h = step(h, lane);
  return h ^ h >> 32;
}

std::string word(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::uint64_t word_at(const std::string& bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return value;
}

// Right checksums in a file whose bytes were changed, where its header still has a size: a
// forger's.
std::string signed_again(std::string bytes) {
  const std::uint64_t header = word_at(bytes, 8);
  if (header < 64 || header % 64 != 0 || header + 8 > bytes.size()) return bytes;
  const std::uint64_t sum = sum_of(bytes.substr(0, header - 8) + word(0), 0);
  bytes.replace(header - 8, 8, word(sum));
  const std::string data = bytes.substr(header, bytes.size() - 8 - header);
  if (data.size() % 64 != 0) return bytes;
  return bytes.replace(bytes.size() - 8, 8, word(sum_of(data, sum)));
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
  for (const auto& left : std::filesystem::directory_iterator(folder.string()))
    CHECK(left.path().extension() != ".writing");
}

TEST_CASE("a link stays a link and its file gets the parameters; a pipe stays a pipe") {
  const test::folder folder;
  const lamina::model m{net, 5};
  m.save(folder / "model");
  const std::string bytes = test::read(folder / "model");
  std::filesystem::create_directory(folder / "elsewhere");
  test::write(folder / "elsewhere/file", "old");
  std::filesystem::create_symlink("elsewhere/file", folder / "latest");
  m.save(folder / "latest");
  CHECK(std::filesystem::is_symlink(folder / "latest"));
  CHECK(test::read(folder / "elsewhere/file") == bytes);
  std::filesystem::create_symlink("nowhere", folder / "broken");
  m.save(folder / "broken");
  CHECK(test::read(folder / "broken") == bytes);

  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
  REQUIRE(reader >= 0);
  m.save(pipe);
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  std::string piped(bytes.size() + 1, ' ');
  const ::ssize_t got = ::read(reader, piped.data(), piped.size());
  ::close(reader);
  REQUIRE(got == static_cast<::ssize_t>(bytes.size()));
  CHECK(piped.substr(0, bytes.size()) == bytes);
  for (const auto& left : std::filesystem::recursive_directory_iterator(folder.string()))
    CHECK(left.path().extension() != ".writing");
}

TEST_CASE("values of any size come back, each at a multiple of 64 bytes of the file") {
  const test::folder folder;
  std::vector<lamina::tensor_entry> all;
  for (const std::size_t count : {0, 1, 63, 64, 65, 128, 300'000}) {
    std::string bytes(count, '\0');
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i * 7 + count);
    all.push_back(lamina::tensor_entry::letters(std::string(count % 10, 'n'), bytes));
  }
  all.push_back(lamina::tensor_entry::number("number", 77));
  lamina::write_tensor_file(folder / "all", all);
  const std::string file = test::read(folder / "all");
  CHECK(signed_again(file) == file);  // both sums are what the description says
  const auto found = lamina::read_tensor_file(folder / "all");
  REQUIRE(found.size() == all.size());
  std::size_t at = word_at(file, 8);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(found[i].name == all[i].name);
    CHECK(found[i].type == all[i].type);
    CHECK(found[i].dims == all[i].dims);
    CHECK(found[i].bytes.view() == all[i].bytes.view());
    CHECK(file.substr(at, all[i].bytes.size()) == all[i].bytes.view());
    at += (all[i].bytes.size() + 63) / 64 * 64;
  }
  CHECK(at + 8 == file.size());
}

TEST_CASE("a file that is cut short anywhere is an error and changes nothing", "[damage]") {
  const test::folder folder;
  lamina::model good{net, 1}, m{net, 2};
  good.save(folder / "net");
  const std::string bytes = test::read(folder / "net");
  const auto before = test::bytes_of(m);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    test::write(folder / "cut", bytes.substr(0, n));
    CHECK_THROWS_AS(m.load(folder / "cut"), lamina::format_error);
  }
  test::write(folder / "cut", bytes + "x");
  CHECK_THROWS_AS(m.load(folder / "cut"), lamina::format_error);
  CHECK(test::bytes_of(m) == before);
  m.load(folder / "net");
  CHECK(test::bytes_of(m) == test::bytes_of(good));
}

TEST_CASE("a file with a changed byte is an error and changes nothing", "[damage]") {
  const test::folder folder;
  lamina::model good{net, 1}, m{net, 2};
  good.save(folder / "net");
  const std::string bytes = test::read(folder / "net");
  const auto before = test::bytes_of(m);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ (1 << n % 8));
    test::write(folder / "changed", changed);
    CHECK_THROWS_AS(m.load(folder / "changed"), lamina::format_error);
  }
  CHECK(test::bytes_of(m) == before);
}

TEST_CASE("a changed file whose checksum is right is all or nothing", "[damage]") {
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
  CHECK(refused > 300);
}

TEST_CASE("foreign files say what they are not") {
  const test::folder folder;
  lamina::model m{net};
  const auto before = test::bytes_of(m);
  test::write(folder / "foreign", "GIF89a, and then a lot of other bytes that are no model");
  CHECK_THAT(test::error_of([&] { m.load(folder / "foreign"); }),
             Contains("foreign, offset 0") && Contains("expected a lamina file"));
  m.save(folder / "net");
  std::string bytes = test::read(folder / "net");
  for (const char version : {'\0', '\1', '\3', '\377'}) {
    bytes[7] = version;
    test::write(folder / "other", bytes);
    CHECK_THAT(test::error_of([&] { m.load(folder / "other"); }),
               Contains("other, offset 7") &&
                   Contains("expected a lamina file of version 2, found version " +
                            std::to_string(static_cast<unsigned char>(version))));
  }
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
  lamina::model other{net, 2};
  CHECK_THROWS_AS(other.save(folder / "net/file"), lamina::error);  // a file is no folder
  CHECK(test::read(folder / "net") == bytes);
  CHECK_THROWS_AS(other.save(folder / "no/such/folder/net"), lamina::error);
}

TEST_CASE("whenever a writer is killed, the file is whole") {
  const test::folder folder;
  const std::string path = (folder / "net").string();
  lamina::model a{net, 1}, b{net, 2};
  a.save(path);
  const auto all_of_a = test::bytes_of(a), all_of_b = test::bytes_of(b);
  int seen_b = 0;
  for (int i = 0; i < 60; ++i) {
    const pid_t writer = ::fork();
    REQUIRE(writer >= 0);
    if (writer == 0)
      for (;;) {  // until it is killed
        b.save(path);
        a.save(path);
      }
    ::usleep(static_cast<useconds_t>(300 + 97 * i));
    REQUIRE(::kill(writer, SIGKILL) == 0);
    REQUIRE(::waitpid(writer, nullptr, 0) == writer);
    lamina::model found{net, 3};
    REQUIRE_NOTHROW(found.load(path));
    const auto bytes = test::bytes_of(found);
    seen_b += bytes == all_of_b;
    REQUIRE((bytes == all_of_a || bytes == all_of_b));
  }
  CHECK(seen_b > 0);  // it was killed between whole files, not before all
}
