// SPDX-License-Identifier: Apache-2.0
// Queries and documents of LETOR: as PaddlePaddle 1.8 reads them, and damaged.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/mq2007.hpp>

namespace mq2007 = lamina::dataset::mq2007;

namespace {

std::array<int, 1> whole(float label) { return {static_cast<int>(label)}; }
/// Every ninth feature, as make_archives.py writes them.
void add(std::vector<long>& to, const mq2007::features& all, std::size_t& next) {
  for (const float x : all)
    if (next++ % 9 == 0) to.push_back(std::lround(1e6 * static_cast<double>(x)));
}
std::vector<long> millionths(const std::vector<mq2007::features>& all) {
  std::vector<long> to;
  for (const auto& one : all) {
    std::size_t next = 0;
    add(to, one, next);
  }
  return to;
}

/// A line of a file.
std::string line(const std::string& begin, const std::string& last = "46:0.5") {
  std::string all = begin;
  for (int i = 1; i < 46; ++i) all += " " + std::to_string(i) + ":1";
  return all + " " + last + " #docid = x\n";
}

std::string refused(const std::string& bytes) {
  const lamina::dataset::text_member file{"made up", {}, bytes};
  return test::message_of([&] { mq2007::source s(file); });
}

}  // namespace

TEST_CASE("queries of LETOR are read as PaddlePaddle does") {
  const std::string folder = test::data_archive("");
  test::report found;
  for (const auto& part : {mq2007::train(folder), mq2007::test(folder)}) {
    found.line("pointwise");
    for (const auto& [label, vector] : part.pointwise())
      found.fields(whole(label), millionths({vector}));
    found.line("pairwise");
    for (const auto& [label, left, right] : part.pairwise())
      found.fields(whole(label), millionths({left}), millionths({right}));
    found.line("listwise");
    for (const auto& [id, labels, vectors] : part.listwise()) {
      std::vector<int> numbers;
      for (const float label : labels) numbers.push_back(static_cast<int>(label));
      found.fields(numbers, millionths(vectors));
    }
  }
  found.check("mq2007");
  CHECK(mq2007::train(folder).listwise()[0].id == 10);
  CHECK_THROWS_WITH(mq2007::train(folder + "/none"), Catch::Contains("train.txt"));
}

TEST_CASE("lines that are none of LETOR are refused") {
  using Catch::Contains;
  CHECK(refused(line("2 qid:1") + line("0 qid:1")) == "none");
  CHECK(refused("2 qid:7 1:-1.5e-3" + line("").substr(4)) == "none");
  CHECK_THAT(refused(""), Contains("a document that answers it, found none"));
  CHECK_THAT(refused(line("0 qid:1")), Contains("a document that answers it, found none"));
  CHECK_THAT(refused(line("2 qid:1") + "\n"), Contains("line 2") && Contains("found 0 words"));
  CHECK_THAT(refused(line("2 qid:1 1:2")), Contains("expected '2:', found '1:1'"));
  CHECK_THAT(refused(line("2 qid:1", "46:1 47:1")), Contains("found 49 words"));
  CHECK_THAT(refused(line("x qid:1")), Contains("expected a relevance from 0"));
  CHECK_THAT(refused(line("-1 qid:1")), Contains("expected a relevance from 0"));
  CHECK_THAT(refused(line("2 id:1")), Contains("expected 'qid:', found 'id:1'"));
  CHECK_THAT(refused(line("2 qid:1.5")), Contains("expected a query from 0"));
  CHECK_THAT(refused(line("2 qid:1", "46:nan")), Contains("expected a number, found 'nan'"));
  CHECK_THAT(refused(line("2 qid:1", "46:1e99")), Contains("expected a number, found '1e99'"));
  CHECK_THAT(refused(line("2 qid:1", "46:NULL")), Contains("expected a number, found 'NULL'"));
}

TEST_CASE("damaged texts of LETOR") {
  test::damage(line("1 qid:1") + line("0 qid:1"), 3, [](const std::string& path) {
    const auto all = mq2007::read(path);
    for (const auto& p : all.pairwise()) CHECK(p.label == 1);
    for (const auto& q : all.listwise()) CHECK(q.labels.size() == q.vectors.size());
  });
}
