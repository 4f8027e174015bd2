// SPDX-License-Identifier: Apache-2.0
// Pickles: values of all kinds, what is refused, and damage. Those of numpy and of Python 2 are
// read in cifar_test.
#include <string>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/pickle.hpp>

using lamina::dataset::pickle;
using lamina::dataset::text_member;

namespace {

std::string bytes_of(std::initializer_list<int> values) {
  std::string all;
  for (const int v : values) all += static_cast<char>(v);
  return all;
}

/// pickle.dumps({"a": [1, -2, 70000, 2**40, True, None, b"\xff", (1, 2)], b"b": {}}, 4) of Python.
std::string of_python() {
  return bytes_of({0x80, 4, 0x95, 0x33, 0, 0, 0, 0, 0, 0, 0, 0x7d, 0x94, 0x28, 0x8c, 1}) + "a" +
         bytes_of({0x94, 0x5d, 0x94, 0x28, 0x4b, 1, 0x4a, 0xfe, 0xff, 0xff, 0xff, 0x4a, 0x70,
                   0x11, 1,    0,    0x8a, 6,    0, 0,    0,    0,    0,    1,    0x88, 0x4e,
                   0x43, 1,    0xff, 0x94, 0x4b, 1, 0x4b, 2,    0x86, 0x94, 0x65, 0x43, 1}) +
         "b" + bytes_of({0x94, 0x7d, 0x94, 0x75, 0x2e});
}

std::string refused(const std::string& bytes) {
  const text_member m{"made up", {}, bytes};
  return test::message_of([&] { pickle p(m); });
}

}  // namespace

TEST_CASE("values of a pickle") {
  const text_member m{"made up", {}, of_python()};
  const pickle p(m);
  REQUIRE(p.root().is == pickle::kind::dictionary);
  const pickle::value* a = p.find("a");
  REQUIRE(a != nullptr);
  REQUIRE(a->is == pickle::kind::list);
  REQUIRE(a->items.size() == 8);
  CHECK(p.at(a->items[0]).number == 1);
  CHECK(p.at(a->items[1]).number == -2);
  CHECK(p.at(a->items[2]).number == 70000);
  CHECK(p.at(a->items[3]).number == std::int64_t{1} << 40);
  CHECK(p.at(a->items[4]).is == pickle::kind::truth);
  CHECK(p.at(a->items[5]).is == pickle::kind::none);
  CHECK(p.bytes_of(p.at(a->items[6])) == "\xff");
  CHECK(p.at(a->items[7]).items.size() == 2);
  REQUIRE(p.find("b") != nullptr);
  CHECK(p.find("b")->is == pickle::kind::dictionary);
  CHECK(p.find("c") == nullptr);
}

TEST_CASE("pickles that are refused") {
  using Catch::Contains;
  CHECK_THAT(refused(""), Contains("expected a pickle, found an empty file"));
  CHECK_THAT(refused("\x80\x05."), Contains("expected protocol 1 to 4, found 5"));
  CHECK_THAT(refused("cos\nsystem\n(U\2lstR."),
             Contains("offset 0") && Contains("found Python's 'os' 'system'"));
  CHECK_THAT(refused("ios\nsystem\n."), Contains("found the byte 105"));
  CHECK_THAT(refused("}"), Contains("expected the end mark"));
  CHECK_THAT(refused("."), Contains("expected a value on the stack"));
  CHECK_THAT(refused("(."), Contains("expected a value on the stack"));
  CHECK_THAT(refused("}}."), Contains("expected one value at the end"));
  CHECK_THAT(refused("}.x"), Contains("offset 2") && Contains("expected the end of the file"));
  CHECK_THAT(refused("h\7."), Contains("kept as 7, found none"));
  CHECK_THAT(refused("K\1u."), Contains("expected a mark"));
  CHECK_THAT(refused("K\1(u."), Contains("expected a dictionary and pairs"));
  CHECK_THAT(refused("}(K\1u."), Contains("expected a dictionary and pairs"));
  CHECK_THAT(refused("K\1(e."), Contains("expected a list"));
  CHECK_THAT(refused(bytes_of({'T', 0xff, 0xff, 0xff, 0xff, 'x'})),
             Contains("expected 4294967295 bytes, found the end after 1"));
  CHECK_THAT(refused(bytes_of({0x8e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 'x'})),
             Contains("found the end after 1"));
  CHECK_THAT(refused("cnumpy\ndtype\n(U\2f4tR."), Contains("found one of 'f4'"));
  CHECK_THAT(refused("cnumpy\ndtype\n)R."), Contains("arguments of numpy's arrays"));
  CHECK_THAT(refused("K\1)R."), Contains("expected the call of a name"));
  CHECK_THAT(refused("K\1)b."), Contains("expected the state of an array"));
  CHECK_THAT(refused("\x8a\x09"
                     "123456789."),
             Contains("a number of 64 bits"));
}

TEST_CASE("damaged pickles") {
  test::damage(of_python(), 1, [](const std::string& path) {
    const text_member m{path, {}, lamina::read_file(path)};
    const pickle p(m);
    for (const std::size_t item : p.root().items) (void)p.bytes_of(p.at(item));
  });
}
