// SPDX-License-Identifier: Apache-2.0
// text/synthetic_wmt14.hpp - a twin of WMT-14: sentences that a grammar generates, and their
// translations, in the format of that data set. With it, machine_translation runs without a
// download, and a net that learns can translate each sentence right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../helpers/draws.hpp"

#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/wmt14.hpp>

namespace examples::synthetic_wmt14 {

/// A word of the source in singular and plural, and of the target.
struct word {
  std::string_view one, many, to_one, to_many;
};
inline constexpr word nouns[] = {
    {"chat", "chats", "cat", "cats"},       {"chien", "chiens", "dog", "dogs"},
    {"roi", "rois", "king", "kings"},       {"garçon", "garçons", "boy", "boys"},
    {"oiseau", "oiseaux", "bird", "birds"}, {"jardin", "jardins", "garden", "gardens"},
    {"livre", "livres", "book", "books"},   {"bateau", "bateaux", "boat", "boats"}};
inline constexpr word adjectives[] = {{"noir", "noirs", "black", "black"},
                                      {"vert", "verts", "green", "green"},
                                      {"petit", "petits", "small", "small"},
                                      {"rapide", "rapides", "fast", "fast"},
                                      {"triste", "tristes", "sad", "sad"}};
inline constexpr word verbs[] = {{"voit", "voient", "sees", "see"},
                                 {"trouve", "trouvent", "finds", "find"},
                                 {"veut", "veulent", "wants", "want"},
                                 {"connaît", "connaissent", "knows", "know"}};
inline constexpr word times[] = {{"demain", "demain", "tomorrow", "tomorrow"},
                                 {"souvent", "souvent", "often", "often"},
                                 {"toujours", "toujours", "always", "always"}};

/// "le chat noir voit les jardins souvent", "often the black cat sees the gardens": adjectives go
/// before their noun, when something happens goes to the front, and numbers agree.
inline std::string pairs(std::uint64_t stream, int count) {
  draws draw(14, stream);
  std::string all;
  for (int i = 0; i < count; ++i) {
    std::string from, to;
    const auto add = [&](const word& w, bool many) {
      ((from += from.empty() ? "" : " ") += many ? w.many : w.one);
      ((to += to.empty() ? "" : " ") += many ? w.to_many : w.to_one);
    };
    const auto noun = [&](bool many) {
      add({"le", "les", "the", "the"}, many);
      const word& n = draw.of(nouns);
      if (draw.chance(0.6)) {
        const word& a = draw.of(adjectives);
        ((from += ' ') += many ? n.many : n.one);
        ((from += ' ') += many ? a.many : a.one);
        (((to += ' ') += a.to_one) += ' ') += many ? n.to_many : n.to_one;
      } else {
        add(n, many);
      }
    };
    const bool many = draw.chance(0.5);
    noun(many);
    add(draw.of(verbs), many);
    noun(draw.chance(0.5));
    if (draw.chance(0.5)) {
      const word& t = draw.of(times);
      (from += ' ') += t.one;
      to = std::string(t.to_one) + " " + to;
    }
    all += from + "\t" + to + "\n";
  }
  return all;
}

/// The dictionary of one side, with its marks.
inline std::string dictionary(bool of_target) {
  std::string all = "<s>\n<e>\n<unk>\n";
  all += of_target ? "the\n" : "le\nles\n";
  const auto add = [&](const auto& words) {
    for (const word& w : words) {
      const std::string_view one = of_target ? w.to_one : w.one,
                             many = of_target ? w.to_many : w.many;
      (all += one) += '\n';
      if (many != one) (all += many) += '\n';
    }
  };
  add(nouns), add(adjectives), add(verbs), add(times);
  return all;
}

/// The archive that they would be in.
inline lamina::dataset::wmt14::source twin() {
  lamina::dataset::archive_members files{"made-up sentences"};
  files.add("wmt14/src.dict", dictionary(false));
  files.add("wmt14/trg.dict", dictionary(true));
  files.add("wmt14/train/train", pairs(1, 1200));
  files.add("wmt14/test/test", pairs(2, 100));
  return lamina::dataset::wmt14::source(files);
}

}  // namespace examples::synthetic_wmt14
