// SPDX-License-Identifier: Apache-2.0
// bleu: values of NLTK and sacrebleu, and its ends.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/metric/bleu.hpp>

using lamina::metric::bleu;

namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all(1);
  for (const char c : text) {
    if (c == ' ')
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}
struct translation {
  std::string_view text, first, second;
};
constexpr translation translations[] = {
    {"the the the the the the the", "the cat is on the mat", "there is a cat on the mat"},
    {"the cat sat on the mat", "the cat sat on the mat", "a cat sat there"},
    {"he was interested in world history because he read the book",
     "he was interested in world history because he read the book today", "he read a book"},
    {"a b c d e f", "a b c d x e f g h", "f e d c b a"}};

}  // namespace

TEST_CASE("bleu is that of NLTK's corpus_bleu", "[metric]") {
  const double expected[] = {0.8060134170683382, 0.7547845828616695, 0.7215715124668816,
                             0.7015644898268705};
  for (std::size_t n = 1; n <= 4; ++n) {
    bleu score{{.max_n = n}};
    for (const auto& [text, first, second] : translations)
      score.update(words(text), std::vector{words(first), words(second)});
    CHECK(score.eval() == Approx(expected[n - 1]).epsilon(1e-12));
  }
  // sacrebleu 2, without smoothing: 70.16 with both references, 65.63 with the first one.
  bleu one;
  for (const auto& [text, first, second] : translations) one.update(words(text), words(first));
  CHECK(one.eval() == Approx(0.6563184806831807).epsilon(1e-12));
}

TEST_CASE("bleu at its ends", "[metric]") {
  using ids = std::vector<std::int64_t>;
  bleu score;
  CHECK_THROWS_WITH(score.eval(), Catch::Contains("an update before eval"));
  score.update(ids{1, 2, 3, 4}, ids{1, 2, 3, 4});
  CHECK(score.eval() == 1);
  score.update(ids{}, ids{1, 2, 3, 4});  // nothing said: half of the length is missing
  CHECK(score.eval() == Approx(std::exp(-1)));
  score.reset();
  score.update(ids{1, 2, 3}, ids{1, 2, 3});  // no four words
  CHECK(score.eval() == 0);
  score.reset();
  score.update(ids{}, ids{});
  CHECK(score.eval() == 0);
  score.reset();
  score.update(ids{1, 2, 3, 4, 5, 6}, ids{1, 2, 3, 4});  // longer: no penalty of its own
  CHECK(score.eval() == Approx(std::pow(4 / 6. * 3 / 5 * 2 / 4 * 1 / 3, 0.25)));
  // Of references that are equally near, the shorter one: 3 words are not too short then.
  bleu pairs{{.max_n = 1}};
  pairs.update(ids{1, 2, 3}, std::vector<ids>{{1, 2, 3, 4}, {1, 2}});
  CHECK(pairs.eval() == 1);
  CHECK_THROWS_WITH(pairs.update(ids{1}, std::vector<ids>{}), Catch::Contains("one reference"));
  CHECK_THROWS_WITH(bleu{{.max_n = 0}}, Catch::Contains("max_n of 0"));
}
