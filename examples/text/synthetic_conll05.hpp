// SPDX-License-Identifier: Apache-2.0
// text/synthetic_conll05.hpp - a twin of CoNLL-2005: sentences that a grammar generates, with the
// roles of their words, in the format of that data set. With it, label_semantic_roles runs without
// a download, and a net that learns can label each word right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../helpers/draws.hpp"

#include <lamina/dataset/conll05.hpp>
#include <lamina/dataset/text_member.hpp>

namespace examples::synthetic_conll05 {

inline constexpr std::string_view articles[] = {"the", "a", "this", "every"};
inline constexpr std::string_view adjectives[] = {"old", "young", "quiet", "rich"};
inline constexpr std::string_view nouns[] = {"teacher", "farmer", "doctor",  "pilot",
                                             "painter", "singer", "student", "lawyer"};
/// A verb as it acts and as it is acted upon, and its base form.
struct verb {
  std::string_view past, participle, base;
};
inline constexpr verb verbs[] = {
    {"saw", "seen", "see"},        {"knew", "known", "know"},         {"drew", "drawn", "draw"},
    {"chose", "chosen", "choose"}, {"forgot", "forgotten", "forget"}, {"took", "taken", "take"}};
inline constexpr std::string_view places[] = {"garden", "village", "school", "market"};
inline constexpr std::string_view times[] = {"yesterday", "today", "again"};

/// The words of a sentence, and the columns after them.
class sentence {
 public:
  explicit sentence(draws& draw) : draw_(draw) {}

  /// "A saw B" or "B was seen by A", where and when or not; a second such clause behind "and",
  /// whose words play no role for the first predicate.
  void make() {
    const std::size_t clauses = 1 + draw_.below(2);
    for (std::size_t i = 0; i < clauses; ++i) {
      if (i > 0) add("and", "O");
      clause(i);
    }
    add(".", "O");
  }
  void append_to(std::string& words, std::string& props) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      ((words += words_[i]) += '\n');
      props += bases_[i];
      for (int clause = 0; clause < clauses_; ++clause)
        (props += ' ') += roles_[i].clause == clause ? bracket(i) : "*";
      props += '\n';
    }
    words += '\n';
    props += '\n';
  }

 private:
  struct role {
    std::string name;
    int clause;
  };
  void add(std::string_view word, std::string role_name, std::string_view base = "-") {
    words_.emplace_back(word);
    bases_.emplace_back(base);
    const bool is_outside = role_name == "O";
    roles_.push_back({std::move(role_name), is_outside ? -1 : clauses_ - 1});
  }
  void person(const std::string& role_name) {
    add(draw_.of(articles), role_name);
    if (draw_.chance(0.4)) add(draw_.of(adjectives), role_name);
    add(draw_.of(nouns), role_name);
  }
  void clause(std::size_t) {
    ++clauses_;
    const verb& v = draw_.of(verbs);
    const bool is_passive = draw_.chance(0.5);
    person(is_passive ? "A1" : "A0");
    if (is_passive) add("was", "O");
    add(is_passive ? v.participle : v.past, "V", v.base);
    if (is_passive) add("by", "A0");
    person(is_passive ? "A0" : "A1");
    if (draw_.chance(0.4)) {
      add("in", "AM-LOC");
      add("the", "AM-LOC");
      add(draw_.of(places), "AM-LOC");
    }
    if (draw_.chance(0.4)) add(draw_.of(times), "AM-TMP");
  }
  /// A role's name and star where it begins, its end where it ends.
  std::string bracket(std::size_t i) const {
    const auto same = [&](std::size_t j) {
      return j < roles_.size() && roles_[j].name == roles_[i].name &&
             roles_[j].clause == roles_[i].clause;
    };
    std::string all = i > 0 && same(i - 1) ? "*" : "(" + roles_[i].name + "*";
    return same(i + 1) ? all : all + ")";
  }

  draws& draw_;
  std::vector<std::string> words_, bases_;
  std::vector<role> roles_;
  int clauses_ = 0;
};

/// The texts of `count` sentences, with their dictionaries.
inline lamina::dataset::conll05::source twin(int count) {
  namespace conll05 = lamina::dataset::conll05;
  draws draw(2005, 0);
  std::string words, props;
  for (int i = 0; i < count; ++i) {
    sentence made(draw);
    made.make();
    made.append_to(words, props);
  }
  std::string known = "<unk>\nbos\neos\nwas\nby\nin\nand\n.\n", bases;
  const auto add = [&](const auto& all) {
    for (const std::string_view word : all) (known += word) += '\n';
  };
  add(articles), add(adjectives), add(nouns), add(places), add(times);
  for (const verb& v : verbs) {
    add(std::vector{v.past, v.participle});
    (bases += v.base) += '\n';
  }
  return {{"made-up sentences", "words", words},
          {"made-up sentences", "props", props},
          conll05::dictionaries_of({"words", {}, known}, {"verbs", {}, bases},
                                   {"targets", {}, "B-A0\nB-A1\nB-V\nB-AM-LOC\nB-AM-TMP\nO\n"})};
}

}  // namespace examples::synthetic_conll05
