// SPDX-License-Identifier: Apache-2.0
// test/model/parameters/file_part_test.cpp - the encoding of columns in the file of a model:
// written and read with the parameters, or nothing is.
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/dataset/column_encoding.hpp>
#include <lamina/dataset/csv_rows.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/any_model.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/parameters/file_part.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::dataset::column_encoding;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float, 1>(main);
  return layer::mean(layer::square_error_cost(layer::fc<1>(x), y));
});
constexpr auto wider = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<3>(layer::data<"x", float, 2>(main)));
});
// Its parameter is called as the entry of an encoding is.
constexpr auto same_name = lamina::program([](lamina::block& main) {
  auto w = layer::create_parameter<float, 2>(main, {.name = "@column_encoding@"});
  return layer::mean(layer::elementwise_add(layer::data<"x", float, 2>(main), w));
});

column_encoding declared() {
  column_encoding made;
  made.add_number("age").add_number("income", {.missing_is_mean = true});
  made.add_category("city", {.unseen = 1});
  return made;
}
column_encoding fitted(const test::temporary_directory& folder) {
  column_encoding made = declared();
  made.fit(lamina::dataset::read_csv_rows(folder.write(
      "rows.csv", "age,income,city\n20,0.1,Rome\n31,,\"a \"\"b\"\"\nc\"\n43,1e-300,\xc3\xa9\n")));
  return made;
}
std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
template <class Model>
bool same_values(const Model& a, const Model& b) {
  for (int i = 0; i < Model::parameter_arrays(); ++i) {
    const auto x = a.get(i), y = b.get(i);
    if (x.size() != y.size() || std::memcmp(x.data(), y.data(), x.size() * sizeof *x.data()) != 0)
      return false;
  }
  return true;
}

/// A part of a user's own.
struct note {
  static constexpr const char* part_name = "note";
  std::string of;
  std::string to_text() const { return of; }
  void read_text(std::string_view text, const std::string& source) {
    if (text == "bad") throw lamina::error("lamina: " + source + ": expected a note, found bad");
    of = text;
  }
};
/// A text that is no encoding, under the name of one.
struct foreign {
  static constexpr const char* part_name = "column_encoding";
  std::string to_text() const { return "column,kind,key,value\n"; }
  void read_text(std::string_view, const std::string&) {}
};
static_assert(lamina::file_part<note> && lamina::file_part<column_encoding>);
static_assert(!lamina::file_part<std::string> && !lamina::file_part<int>);

}  // namespace

TEST_CASE("a model's file has the encoding of its columns", "[model]") {
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/net.model", plain = folder.path() + "/plain.model";
  const column_encoding encoding = fitted(folder);
  const lamina::model m{net, 7};
  m.save(path, encoding);
  m.save(plain);

  // Any encoding takes it: one without columns, the same columns, and load_part.
  lamina::model loaded{net, 8};
  column_encoding empty, same = declared();
  loaded.load(path, empty);
  CHECK(same_values(m, loaded));
  loaded.load(path, same);
  CHECK(empty.to_text() == encoding.to_text());
  CHECK(same.to_text() == encoding.to_text());
  CHECK(lamina::load_part<column_encoding>(path).to_text() == encoding.to_text());
  CHECK(same.number("age", 1) == encoding.number("age", 1));
  CHECK(same.id("city", "a \"b\"\nc") == encoding.id("city", "a \"b\"\nc"));
  CHECK(same.id("city", "Oslo") == 1);

  // The parameters alone are read from either file.
  lamina::model alone{net, 9};
  alone.load(path);
  CHECK(same_values(m, alone));
  alone.load(plain);
  CHECK(same_values(m, alone));
  lamina::any_model any = lamina::model{net, 9};
  column_encoding other;
  any.load(path, other);
  CHECK(other.to_text() == encoding.to_text());
  any.save(folder.path() + "/any.model", other);
  CHECK(bytes_of(folder.path() + "/any.model") == bytes_of(path));
  any.load(path);
}

TEST_CASE("a file without the encoding, or with another one, changes nothing", "[model]") {
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/net.model", plain = folder.path() + "/plain.model";
  const column_encoding encoding = fitted(folder);
  const lamina::model m{net, 7};
  m.save(path, encoding);
  m.save(plain);
  const lamina::model before{net, 8};
  lamina::model loaded{net, 8};
  column_encoding to = declared();
  const auto refused = [&](const std::string& from, column_encoding& into,
                           const std::string& message) {
    CHECK_THROWS_WITH(loaded.load(from, into), Contains(message));
    CHECK(same_values(loaded, before));
  };

  refused(plain, to,
          "lamina: " + plain +
              ": expected a column_encoding beside the parameters, as save(path, "
              "column_encoding) writes it, found none");
  CHECK_THROWS_WITH(lamina::load_part<column_encoding>(plain), Contains("found none"));
  CHECK_THROWS_WITH(to.id("city", "Rome"), Contains("expected fit() or load() before"));

  // Other columns: another name, kind, option, order or number.
  const std::string found =
      "found numbers \"age\" (missing: error), numbers \"income\" (missing: "
      "mean), words \"city\" (unseen: 1)";
  const auto with = [&](auto add) {
    column_encoding other;
    add(other);
    refused(path, other, path + ": column_encoding: expected columns ");
    refused(path, other, found);
  };
  with([](auto& c) { c.add_number("age"); });
  with([](auto& c) {
    c.add_number("aged").add_number("income", {.missing_is_mean = true});
    c.add_category("city", {.unseen = 1});
  });
  with([](auto& c) {
    c.add_number("age").add_category("income").add_category("city", {.unseen = 1});
  });
  with([](auto& c) { c.add_number("age").add_number("income").add_category("city", {1}); });
  with([](auto& c) {
    c.add_number("age").add_number("income", {.missing_is_mean = true});
    c.add_category("city");
  });
  with([](auto& c) {
    c.add_number("income", {.missing_is_mean = true}).add_number("age");
    c.add_category("city", {.unseen = 1});
  });
  // An encoding that was fitted keeps its numbers when a file is refused.
  column_encoding own;
  own.add_category("city").fit(
      lamina::dataset::read_csv_rows(folder.write("own.csv", "city\nOslo\n")));
  refused(path, own, found);
  CHECK(own.id("city", "Oslo") == 0);

  // A model of another program: the encoding is not taken either.
  lamina::model other{wider, 3};
  const lamina::model other_before{wider, 3};
  column_encoding kept;
  CHECK_THROWS_WITH(other.load(path, kept), Contains("fc_0.w_0: expected float32 [2, 3]"));
  CHECK(same_values(other, other_before));
  CHECK_THROWS_WITH(kept.to_text(), Contains("expected fit() or load() before"));

  // A file that cannot be written whole is not begun.
  CHECK_THROWS_WITH(m.save(plain, declared()), Contains("expected fit() or load() before"));
  CHECK_THROWS_WITH(m.save(plain, encoding, encoding),
                    "lamina: save: expected one column_encoding, found two");
  loaded.load(plain);
  CHECK(same_values(loaded, m));

  // Each file in place of the other says what it is.
  CHECK_THROWS_WITH(column_encoding::load(path),
                    Contains("found the file of a model") && Contains("lamina::load_part"));
  encoding.save(folder.path() + "/columns.csv");
  CHECK_THROWS_WITH(lamina::load_part<column_encoding>(folder.path() + "/columns.csv"),
                    Contains("expected a lamina file, found other first bytes"));
  CHECK_THROWS_AS(lamina::load_part<column_encoding>(folder.path() + "/none"), lamina::error);
}

TEST_CASE("a damaged file is refused whole", "[model]") {
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/net.model";
  const column_encoding encoding = fitted(folder);
  const lamina::model m{net, 7};
  m.save(path, encoding);
  const std::string good = bytes_of(path);
  lamina::model loaded{net, 8};
  const lamina::model before{net, 8};
  const auto refused = [&](const std::string& bytes) {
    column_encoding to;
    const std::string bad = folder.write("bad.model", bytes);
    try {
      loaded.load(bad, to);
      return false;
    } catch (const lamina::format_error& e) {
      return e.file() == bad && same_values(loaded, before);
    }
  };
  for (std::size_t n = 0; n < good.size(); ++n)
    if (!refused(good.substr(0, n))) FAIL("cut after " << n);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    if (!refused(bytes)) FAIL("bit of byte " << i);
  }
  // Whole as a file, but with a text that is no encoding.
  m.save(path, foreign{});
  column_encoding to;
  CHECK_THROWS_WITH(loaded.load(path, to),
                    Contains(path + ": column_encoding") &&
                        Contains("expected a saved column_encoding with a checksum at its end"));
  CHECK(same_values(loaded, before));
}

TEST_CASE("several parts, and a parameter of a part's name", "[model]") {
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/net.model";
  const column_encoding encoding = fitted(folder);
  lamina::model m{same_name, 7};
  m.set(0, {5.f, 6.f});
  m.save(path, note{"hello"}, encoding);
  lamina::model loaded{same_name, 8};
  column_encoding to;
  note read;
  loaded.load(path, to, read);
  CHECK(read.of == "hello");
  CHECK(to.to_text() == encoding.to_text());
  CHECK(same_values(m, loaded));
  loaded.load(path);
  // The second part is refused: the first one stays too.
  m.save(path, note{"bad"}, encoding);
  column_encoding none;
  CHECK_THROWS_WITH(loaded.load(path, none, read),
                    "lamina: " + path + ": note: expected a note, found bad");
  CHECK_THROWS_WITH(none.to_text(), Contains("expected fit() or load() before"));
  CHECK(read.of == "hello");
  // An empty text is a text.
  m.save(path, note{});
  loaded.load(path, read);
  CHECK(read.of.empty());
  // A parameter of this name is no encoding.
  m.save(path);
  CHECK_THROWS_WITH(loaded.load(path, to), Contains("found none"));
}

TEST_CASE("a trainer's file has the encoding too", "[model]") {
  struct sample {
    std::array<float, 2> x;
    float y;
  };
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/run.trainer";
  const column_encoding encoding = fitted(folder);
  const std::vector<sample> batch{{{1, 2}, 3}, {{2, 1}, 1}};
  const lamina::optimizer::adam adam{.learning_rate = 0.1f};
  lamina::model a{net, 7};
  lamina::trainer first{a, adam};
  for (int i = 0; i < 3; ++i) first.step(batch);
  first.save(path, encoding);

  lamina::model b{net, 8};
  lamina::trainer second{b, adam};
  column_encoding to = declared();
  second.load(path, to);
  CHECK(to.to_text() == encoding.to_text());
  CHECK(second.steps() == 3);
  first.step(batch);
  second.step(batch);
  CHECK(same_values(a, b));
  lamina::model served{net, 9};
  column_encoding by_model;
  served.load(path, by_model);
  CHECK(by_model.to_text() == encoding.to_text());

  // Nothing is changed by a file without it, nor with other columns.
  column_encoding other;
  other.add_number("height");
  CHECK_THROWS_WITH(second.load(path, other), Contains("expected columns numbers \"height\""));
  first.save(path);
  CHECK_THROWS_WITH(second.load(path, to), Contains("found none"));
  CHECK(second.steps() == 4);
  CHECK(same_values(a, b));
  second.load(path);
}
