// SPDX-License-Identifier: Apache-2.0
// embeddings/synthetic_imikolov.hpp - a twin of the Penn Treebank: sentences that a grammar
// generates, in the format of Mikolov's archive. With it, word2vec runs without a download, and the
// least possible loss is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "../helpers/draws.hpp"

#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/imikolov.hpp>

namespace examples::synthetic_imikolov {

/// Kinds of words: an animal, which has a mood and acts, and a thing, which has a colour.
inline constexpr std::string_view articles[] = {"the", "a", "one", "every"};
inline constexpr std::string_view moods[] = {"happy", "sad", "angry", "sleepy", "proud", "shy"};
inline constexpr std::string_view animals[] = {"cat",  "dog", "horse", "bird", "fox",  "cow",
                                               "goat", "hen", "mouse", "bear", "wolf", "frog"};
inline constexpr std::string_view acts[] = {"sees", "likes", "finds", "wants", "moves", "hides"};
inline constexpr std::string_view colours[] = {"red", "green", "blue", "white", "black", "grey"};
inline constexpr std::string_view things[] = {"ball", "box",  "cup",  "door", "hat",   "key",
                                              "lamp", "ring", "shoe", "tree", "wheel", "stone"};

/// The loss of a model that knows all of this and nothing of the words to come, in nats a word: of
/// the five groups of five words in a sentence, the last words are an act, an article, a colour, a
/// thing and "<e>".
inline double least_loss() { return (std::log(6) + std::log(4) + std::log(6) + std::log(12)) / 5; }

/// Which of the kinds of words a word is of; -1 for the marks.
inline int kind_of(std::string_view word) {
  const auto is_in = [&](const auto& words) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
  };
  return is_in(articles)  ? 0
         : is_in(moods)   ? 1
         : is_in(animals) ? 2
         : is_in(acts)    ? 3
         : is_in(colours) ? 4
         : is_in(things)  ? 5
                          : -1;
}

inline std::string sentences(std::uint64_t stream, int count) {
  draws draw(48, stream);
  std::string all;
  for (int i = 0; i < count; ++i) {
    for (const std::string_view word :
         {draw.of(articles), draw.of(moods), draw.of(animals), draw.of(acts), draw.of(articles),
          draw.of(colours), draw.of(things)})
      (all += ' ') += word;
    all += " \n";
  }
  return all;
}

/// The archive that they would be in.
inline lamina::dataset::imikolov::source twin() {
  using lamina::dataset::imikolov::source;
  lamina::dataset::archive_members files{"made-up sentences"};
  files.add(std::string(source::train_name), sentences(1, 1600));
  files.add(std::string(source::test_name), sentences(2, 200));
  return source(files);
}

}  // namespace examples::synthetic_imikolov
