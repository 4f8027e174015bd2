// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/movielens.hpp - a million ratings of films by users: MovieLens 1M, ml-1m.zip.
// Source: Harper and Konstan, "The MovieLens Datasets" (ACM TiiS 2015).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/python_random.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/dataset/utf8.hpp>
#include <lamina/dataset/vocabulary.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::movielens {

/// A user, a film, and the rating of the film by the user.
struct sample {
  std::int64_t user_id, gender_id, age_id, job_id, movie_id;
  std::vector<std::int64_t> category_ids;  ///< categories of the film; at least one
  std::vector<std::int64_t> title_ids;     ///< the words of the title of the film
  float score;                             ///< 2 * stars - 5: -3 to 5
};

/// A user. Fluid: UserInfo.
struct user {
  std::int64_t gender_id;  ///< 0: male, 1: female
  std::int64_t age_id;     ///< position in age_table
  std::int64_t job_id;
};
/// A film. Fluid: MovieInfo.
struct movie {
  std::string title;  ///< without the year, as UTF-8
  std::vector<std::int64_t> category_ids, title_ids;
};

/// The groups of ages in the data; each group is given by its lowest age.
inline constexpr std::array<std::int64_t, 7> age_table{1, 18, 25, 35, 45, 50, 56};

/// The options of reading the archive.
struct options {
  double test_ratio = 0.1;  ///< the fraction of the ratings that is for testing
  std::uint64_t rand_seed = 0;
};

/// The ratings, users and films. All tables of a source share them.
class source {
 public:
  static constexpr std::string_view movies_name = "ml-1m/movies.dat";
  static constexpr std::string_view users_name = "ml-1m/users.dat";
  static constexpr std::string_view ratings_name = "ml-1m/ratings.dat";

  /// `files` must have the members movies_name, users_name and ratings_name.
  LAMINA_COLD explicit source(const archive_members& files, const options& how = {})
      : data_(std::make_shared<const data>(files, how)) {}

  LAMINA_API sample at(std::size_t row) const;

  /// Return the ratings for training and the ratings for testing, each in the order of the archive.
  /// Each rating is for testing with the probability `test_ratio`. The choice uses the random
  /// numbers of Python's random.Random(rand_seed), as PaddlePaddle 0.11 does. Fluid:
  /// dataset.movielens.train, test.
  table<source> train() const { return {*this, 0, data_->train_count}; }
  table<source> test() const { return {*this, data_->train_count, data_->ratings.size()}; }

  /// Return the largest ids over all users and films. Fluid: dataset.movielens.max_user_id,
  /// max_movie_id, max_job_id.
  std::int64_t max_user_id() const { return data_->users.rbegin()->first; }
  std::int64_t max_movie_id() const { return data_->movies.rbegin()->first; }
  LAMINA_API std::int64_t max_job_id() const;
  /// Return the categories, and the words of titles in lower case, both sorted by their bytes.
  /// (PaddlePaddle has the order of Python's sets.) Fluid: dataset.movielens.movie_categories,
  /// get_movie_title_dict.
  const vocabulary& movie_categories() const { return data_->categories; }
  const vocabulary& movie_title_dict() const { return data_->title_words; }
  /// Return maps from ids to users and from ids to films. Fluid: dataset.movielens.user_info,
  /// movie_info.
  const std::map<std::int64_t, user>& user_info() const { return data_->users; }
  const std::map<std::int64_t, movie>& movie_info() const { return data_->movies; }

 private:
  struct rating {
    const std::pair<const std::int64_t, user>* by;
    const std::pair<const std::int64_t, movie>* of;
    float score;
  };
  static constexpr std::int64_t largest_id = 2147483647;

  struct data {
    LAMINA_API data(const archive_members& files, const options& how);
    data(const data&) = delete;

    /// Splits a line of movies.dat into the id of the film, its title without the year, and its
    /// categories.
    LAMINA_API static std::array<std::string_view, 3> movie_of(const text_line& line);
    template <class Visit>
    static void for_each_category(const text_line& line, std::string_view all, Visit visit) {
      for (std::size_t at = 0; at <= all.size();) {
        const std::size_t end = (std::min)(all.find('|', at), all.size());
        if (end == at) line.fail(all, "expected categories with a '|' between them, found none");
        visit(all.substr(at, end - at));
        at = end + 1;
      }
    }
    /// Converts a word of a title from Latin-1 to UTF-8, with all letters in lower case, also those
    /// that are not ASCII.
    LAMINA_API static std::string in_lower_case(std::string_view word);
    /// Throws format_error if a text contains bytes from 128 to 159. In Latin-1 these are not
    /// printable characters, so such a text is probably UTF-8.
    LAMINA_API static void check_latin1(const text_member& from);

    LAMINA_API static vocabulary words_of(const archive_members& files, bool of_categories);
    LAMINA_API void read_movies(const text_member& from);
    LAMINA_API void read_users(const text_member& from);
    LAMINA_API void read_ratings(const text_member& from, const options& how);

    vocabulary categories, title_words;
    std::map<std::int64_t, user> users;
    std::map<std::int64_t, movie> movies;
    std::vector<rating> ratings;
    std::size_t train_count = 0;
  };
  std::shared_ptr<const data> data_;
};

namespace detail {
inline bool is_part(std::string_view name) {
  return name == source::movies_name || name == source::users_name || name == source::ratings_name;
}
}  // namespace detail

/// Reads ml-1m.zip: movies.dat (id::title (year)::category|category), users.dat
/// (id::gender::age::job::zip code) and ratings.dat (user::film::stars::time), in Latin-1. Throws
/// format_error for a damaged archive, a missing or empty member, another encoding, a line with
/// another number of fields, a field that is not a number or is out of its range, an id that occurs
/// twice, and ratings by unknown users or of unknown films. Throws lamina::error for a test_ratio
/// that is not from 0 to 1.
LAMINA_COLD inline source read(const std::string& path, const options& how = {}) {
  return source(read_zip_members(path, detail::is_part), how);
}

#if LAMINA_DEFINES

sample source::at(std::size_t row) const {
  const rating& r = data_->ratings[row];
  const user& who = r.by->second;
  const movie& what = r.of->second;
  return {r.by->first, who.gender_id,     who.age_id,     who.job_id,
          r.of->first, what.category_ids, what.title_ids, r.score};
}

std::int64_t source::max_job_id() const {
  std::int64_t largest = 0;
  for (const auto& [id, who] : data_->users)
    if (who.job_id > largest) largest = who.job_id;
  return largest;
}

source::data::data(const archive_members& files, const options& how)
    : categories(words_of(files, true)), title_words(words_of(files, false)) {
  if (!(how.test_ratio >= 0 && how.test_ratio <= 1))
    throw error(lamina::text("lamina: dataset::movielens: expected a test_ratio from 0 to 1, "
                             "found ")
                    .print("%g", how.test_ratio));
  read_movies(files.at(movies_name));
  read_users(files.at(users_name));
  read_ratings(files.at(ratings_name), how);
}

std::array<std::string_view, 3> source::data::movie_of(const text_line& line) {
  auto fields = fields_of<3>(line, "::");
  std::string_view& title = fields[1];
  std::size_t digits = title.size();
  if (digits > 0 && title[--digits] == ')')
    while (digits > 0 && title[digits - 1] >= '0' && title[digits - 1] <= '9') --digits;
  if (digits == 0 || digits + 1 >= title.size() || title[digits - 1] != '(')
    line.fail(title, lamina::text("expected a title that ends in its year, '(1995)', found ")
                         << in_quotes(title));
  title = title.substr(0, digits - 1);
  return fields;
}

std::string source::data::in_lower_case(std::string_view word) {
  std::string all(word);
  for (char& c : all) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 'A' && byte <= 'Z') || (byte >= 0xC0 && byte <= 0xDE && byte != 0xD7))
      c = static_cast<char>(byte + 32);
  }
  return utf8_of_latin1(all);
}

void source::data::check_latin1(const text_member& from) {
  bool is_ascii = true;
  for (std::size_t i = 0; i < from.bytes.size(); ++i) {
    const unsigned byte = static_cast<unsigned char>(from.bytes[i]);
    if (byte == 0 || (byte >= 128 && byte < 160))
      from.fail(i, lamina::text("expected Latin-1, found the byte ") << byte);
    is_ascii = is_ascii && byte < 128;
  }
  if (!is_ascii && utf8_end(from.bytes) == from.bytes.size())
    from.fail(0, "expected Latin-1, found UTF-8");
}

vocabulary source::data::words_of(const archive_members& files, bool of_categories) {
  const text_member& from = files.at(movies_name);
  check_latin1(from);
  std::set<std::string> all;
  for_each_line(from, [&](const text_line& line) {
    const auto [id, title, of_film] = movie_of(line);
    if (of_categories)
      for_each_category(line, of_film, [&](std::string_view c) { all.insert(utf8_of_latin1(c)); });
    else
      for_each_word(title, [&](std::string_view word) { all.insert(in_lower_case(word)); });
  });
  if (all.empty()) from.fail(0, "expected titles with words, found none");
  return {{all.begin(), all.end()}, 0};
}

void source::data::read_movies(const text_member& from) {
  for_each_line(from, [&](const text_line& line) {
    const auto [id, title, of_film] = movie_of(line);
    movie film{utf8_of_latin1(trimmed(title)), {}, {}};
    for_each_category(line, of_film, [&](std::string_view c) {
      film.category_ids.push_back(categories.id(utf8_of_latin1(c)));
    });
    for_each_word(title, [&](std::string_view word) {
      film.title_ids.push_back(title_words.id(in_lower_case(word)));
    });
    const std::int64_t key = whole_number(line, id, "the id of a film", 0, largest_id);
    if (!movies.emplace(key, std::move(film)).second)
      line.fail(id, lamina::text("expected each film once, found ") << key << " again");
  });
}

void source::data::read_users(const text_member& from) {
  for_each_line(from, [&](const text_line& line) {
    const auto [id, gender, age, job, zip] = fields_of<5>(line, "::");
    if (gender != "M" && gender != "F")
      line.fail(gender, lamina::text("expected M or F, found ") << in_quotes(gender));
    const std::int64_t years = whole_number(line, age, "an age", 0, largest_id);
    std::size_t group = 0;
    while (group < age_table.size() && age_table[group] != years) ++group;
    if (group == age_table.size())
      line.fail(age, lamina::text("expected an age of ").list(age_table) << ", found " << years);
    const std::int64_t key = whole_number(line, id, "the id of a user", 0, largest_id);
    const user who{gender == "M" ? 0 : 1, static_cast<std::int64_t>(group),
                   whole_number(line, job, "the id of a job", 0, largest_id)};
    if (!users.emplace(key, who).second)
      line.fail(id, lamina::text("expected each user once, found ") << key << " again");
  });
}

void source::data::read_ratings(const text_member& from, const options& how) {
  std::vector<rating> test;
  python_random random(how.rand_seed);
  for_each_line(from, [&](const text_line& line) {
    const bool is_test = random() < how.test_ratio;
    const auto [by, of, stars, time] = fields_of<4>(line, "::");
    const auto who = users.find(whole_number(line, by, "the id of a user", 0, largest_id));
    if (who == users.end())
      line.fail(by, lamina::text("expected a user of '")
                        << users_name << "', found " << in_quotes(by));
    const auto what = movies.find(whole_number(line, of, "the id of a film", 0, largest_id));
    if (what == movies.end())
      line.fail(of, lamina::text("expected a film of '")
                        << movies_name << "', found " << in_quotes(of));
    double value = -1;
    const auto [end, failure] = std::from_chars(stars.data(), stars.data() + stars.size(), value);
    if (failure != std::errc() || end != stars.data() + stars.size() || !(value >= 0 && value <= 5))
      line.fail(stars, lamina::text("expected a rating from 0 to 5, found ") << in_quotes(stars));
    (is_test ? test : ratings).push_back({&*who, &*what, static_cast<float>(value * 2 - 5)});
  });
  train_count = ratings.size();
  ratings.insert(ratings.end(), test.begin(), test.end());
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::movielens
