// SPDX-License-Identifier: Apache-2.0
// embeddings/synthetic_movielens.hpp - a twin of MovieLens 1M: users, films and ratings that a rule
// generates, in the format of that data set. With it, recommender_system runs without a download.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../helpers/draws.hpp"

#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/movielens.hpp>

namespace examples::synthetic_movielens {

inline constexpr int users = 300, films = 150, ratings = 20000;
inline constexpr std::string_view genres[] = {"Action", "Comedy",  "Drama",
                                              "Horror", "Musical", "Western"};
/// Words of titles that say the genre: two each.
inline constexpr std::string_view title_words[] = {"Chase",   "Escape", "Wedding", "Holiday",
                                                   "Letters", "Winter", "Night",   "Grave",
                                                   "Song",    "Stage",  "Canyon",  "Rider"};
inline constexpr std::string_view other_words[] = {"The", "Last", "of", "My", "Great", "Secret"};

/// Ratings by a rule: a user likes one genre and dislikes another, which age and gender decide;
/// some films are better than others; one rating in ten is a star off. A film of one genre has 3
/// stars if the user neither likes nor dislikes it.
inline lamina::dataset::movielens::source twin() {
  using lamina::dataset::movielens::age_table;
  using lamina::dataset::movielens::source;
  draws draw(11, 0);
  std::string user_lines, film_lines, rating_lines;
  std::vector<std::pair<std::size_t, std::size_t>> tastes;  // liked, disliked
  for (int i = 1; i <= users; ++i) {
    const std::size_t age = draw.below(age_table.size()), gender = draw.below(2);
    const std::size_t liked = (age + 3 * gender) % 6;
    tastes.emplace_back(liked, (liked + 1 + age % 3) % 6);
    user_lines += std::to_string(i) + (gender == 0 ? "::M::" : "::F::") +
                  std::to_string(age_table[age]) + "::" + std::to_string(draw.below(21)) +
                  "::00000\n";
  }
  std::vector<std::pair<std::size_t, int>> made;  // genre, how much better than others
  for (int i = 1; i <= films; ++i) {
    const std::size_t genre = draw.below(6);
    made.emplace_back(genre, static_cast<int>(draw.below(3)) - 1);
    film_lines += std::to_string(i) + "::" + std::string(draw.of(other_words)) + " " +
                  std::string(title_words[2 * genre + draw.below(2)]) + " (" +
                  std::to_string(1930 + draw.below(70)) + ")::" + std::string(genres[genre]) + "\n";
  }
  for (int i = 0; i < ratings; ++i) {
    const std::size_t user = draw.below(users), film = draw.below(films);
    const auto [liked, disliked] = tastes[user];
    const auto [genre, better] = made[film];
    int stars = (genre == liked ? 5 : genre == disliked ? 1 : 3) + better;
    if (draw.chance(0.1)) stars += draw.chance(0.5) ? 1 : -1;
    rating_lines += std::to_string(user + 1) + "::" + std::to_string(film + 1) +
                    "::" + std::to_string(std::clamp(stars, 1, 5)) + "::978300760\n";
  }
  lamina::dataset::archive_members files{"made-up ratings"};
  files.add(std::string(source::movies_name), film_lines);
  files.add(std::string(source::users_name), user_lines);
  files.add(std::string(source::ratings_name), rating_lines);
  return source(files);
}

}  // namespace examples::synthetic_movielens
