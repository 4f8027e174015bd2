// SPDX-License-Identifier: Apache-2.0
// Ratings of MovieLens 1M: as PaddlePaddle reads them, and damaged.
#include <array>
#include <string>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/movielens.hpp>
#include <lamina/io/archive/zip_writer.hpp>

namespace movielens = lamina::dataset::movielens;

namespace {

const std::string movies(movielens::source::movies_name), users(movielens::source::users_name),
    ratings(movielens::source::ratings_name);

lamina::dataset::archive_members texts() {
  lamina::dataset::archive_members files{"made up"};
  files.add(movies, "1::Toy Story (1995)::Animation|Comedy\n3::Caf\xe9 (2000)::Drama\n");
  files.add(users, "1::F::1::10::48067\n4::M::56::16::70072\n");
  files.add(ratings, "1::3::5::978300760\n4::1::1.5::978302109\n");
  return files;
}
template <class Words, class Ids>
std::string words_of(const Words& words, const Ids& ids) {
  std::string all;
  for (const auto id : ids) (all += all.empty() ? "" : " ") += words.word(id);
  return all;
}
std::string zip_bytes(const lamina::dataset::archive_members& files) {
  const test::temporary_directory folder;
  const std::string path = folder.path() + "/archive.zip";
  lamina::binary_writer to(path);
  lamina::zip_writer archive(to);
  for (const auto& m : files.all) archive.add(m.name, m.bytes, nullptr, 0);
  archive.finish();
  to.finish();
  return lamina::read_file(path);
}

}  // namespace

TEST_CASE("MovieLens is read as PaddlePaddle does") {
  const auto all = movielens::read(test::data_archive("ml-1m.zip"));
  test::report found;
  found.line(test::spelled(std::array{all.max_user_id(), all.max_movie_id(), all.max_job_id()}));
  for (const auto& part : {all.train(), all.test()}) {
    found.line("ratings");
    for (const auto& s : part)
      found.line(test::spelled(std::array{s.user_id, s.gender_id, s.age_id, s.job_id, s.movie_id}) +
                 " | " + words_of(all.movie_categories(), s.category_ids) + " | " +
                 words_of(all.movie_title_dict(), s.title_ids) + " | " +
                 std::to_string(static_cast<int>(s.score)));
  }
  found.line(test::spelled(all.movie_categories()));
  found.line(test::spelled(all.movie_title_dict()));
  found.check("movielens");
}

TEST_CASE("users and films of MovieLens") {
  const movielens::source all(texts(), {.test_ratio = 0});
  CHECK(all.user_info().size() == 2);
  CHECK(all.user_info().at(4).age_id == 6);
  CHECK(all.movie_info().at(3).title == "Caf\xc3\xa9");
  CHECK(all.train().size() == 2);
  CHECK(all.test().empty());
  CHECK(all.train()[1].score == -2);
  CHECK(movielens::source(texts(), {.test_ratio = 1}).train().empty());
}

TEST_CASE("damaged texts of MovieLens are refused") {
  const auto read = [](const lamina::dataset::archive_members& files) {
    movielens::source s(files);
  };
  read(texts());
  const auto refused = [&](const std::string& name, const std::string& bytes,
                           std::uint64_t position, const std::string& reason) {
    test::check_refused(texts(), name, bytes, position, reason, read);
  };
  refused(movies, "1::Toy Story (1995)\n", 0, "expected 3 fields with '::' between them, found 2");
  refused(movies, "1::Toy Story::Drama\n", 3, "expected a title that ends in its year");
  refused(movies, "1::Toy Story 1995)::Drama\n", 3, "ends in its year");
  refused(movies, "1::Toy Story ()::Drama\n", 3, "ends in its year");
  refused(movies, "1::)::Drama\n", 3, "ends in its year");
  refused(movies, "1::::Drama\n", 3, "ends in its year");
  refused(movies, "1::A (1)::Drama||Comedy\n", 10, "categories with a '|' between them");
  refused(movies, "1::A (1)::\n", 10, "categories with a '|' between them");
  refused(movies, "x::A (1)::Drama\n", 0, "the id of a film from 0 to 2147483647, found 'x'");
  refused(movies, "1::A (1)::Drama\n1::B (2)::Drama\n", 16, "each film once, found 1 again");
  refused(movies, "1::A (1)::Drama\n\n", 16, "line 2: expected 3 fields, found an empty line");
  refused(movies, "1::Caf\xc3\xa9 (1)::Drama\n", 0, "expected Latin-1, found UTF-8");
  refused(movies, "1::\xc3\x89tude \xe9 (1)::Drama\n", 4, "found the byte 137");
  refused(movies, std::string("1\0::A", 5), 1, "found the byte 0");
  refused(movies, "1::(1)::Drama\n", 0, "expected titles with words, found none");
  refused(movies, "", 0, "found an empty member");
  refused(users, "1::F::1::10\n", 0, "expected 5 fields");
  refused(users, "1::X::1::10::4\n", 3, "expected M or F, found 'X'");
  refused(users, "1::F::2::10::4\n", 6, "expected an age of [1, 18, 25, 35, 45, 50, 56], found 2");
  refused(users, "1::F::1::-1::4\n", 9, "the id of a job");
  refused(users, "1::F::1::1::4\n1::F::1::1::4\n", 14, "each user once");
  refused(users, "", 0, "found an empty member");
  refused(ratings, "1::3::5\n", 0, "expected 4 fields");
  refused(ratings, "2::3::5::0\n", 0, "expected a user of 'ml-1m/users.dat', found '2'");
  refused(ratings, "1::2::5::0\n", 3, "expected a film of 'ml-1m/movies.dat', found '2'");
  for (const std::string stars : {"6", "-1", "nan", "inf", "", "5x", "1e400"})
    refused(ratings, "1::3::" + stars + "::0\n", 6, "a rating from 0 to 5, found '" + stars + "'");
  refused(ratings, "\n", 0, "found an empty line");
  refused(ratings, "", 0, "found an empty member");
  CHECK_THAT(test::message_of([] { movielens::source s(texts(), {.test_ratio = 1.5}); }),
             Catch::Contains("a test_ratio from 0 to 1, found 1.5"));
  for (const std::string& name : {movies, users, ratings}) {
    auto files = texts();
    std::erase_if(files.all, [&](const auto& m) { return m.name == name; });
    CHECK_THAT(test::message_of([&] { read(files); }),
               Catch::Contains("expected the member '" + name + "', found none"));
  }
}

TEST_CASE("damaged archives of MovieLens") {
  const auto read = [](const std::string& path) {
    const auto all = movielens::read(path);
    for (const auto& s : all.train()) CHECK(s.age_id < 7);
  };
  test::damage(zip_bytes(texts()), 7, read);
  test::damage(lamina::read_file(test::data_archive("ml-1m.zip")), 13, read);
}
