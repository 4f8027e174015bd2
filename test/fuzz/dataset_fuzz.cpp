// SPDX-License-Identifier: Apache-2.0
// Archives of data sets. What is read obeys the rules of the samples, whatever the archive says.
#include <algorithm>
#include <cstdint>

#include <fuzz/tar_checksums.hpp>
#include <fuzz/targets.hpp>

#include <lamina/dataset/conll05.hpp>
#include <lamina/dataset/imdb.hpp>
#include <lamina/dataset/imikolov.hpp>
#include <lamina/dataset/movielens.hpp>
#include <lamina/dataset/wmt14.hpp>
#include <lamina/dataset/wmt16.hpp>

using namespace lamina::dataset;

namespace {

template <class Ids>
void require_ids(const Ids& ids, const vocabulary& words) {
  for (const std::int64_t id : ids)
    fuzz::require(id >= 0 && id < words.size(), "an id is one of the dictionary");
}

/// Calls `read(members)` with the members of a tar archive as it is, and with right checksums.
template <class Wanted, class Read>
void of_tar(std::string_view bytes, Wanted wanted, Read read) {
  for (const std::string& all : {std::string(bytes), fuzz::with_checksums(bytes)})
    fuzz::accepts(all, [&] {
      lamina::binary_reader from(all, "fuzz.tar");
      read(read_tar_members(from, wanted));
    });
}

void require_pairs(const table<translation::pairs>& pairs, const vocabulary& source_words,
                   const vocabulary& target_words) {
  for (const auto& [source, target, next] : pairs) {
    require_ids(source, source_words);
    require_ids(target, target_words);
    fuzz::require(source.size() >= 2 && source.front() == translation::start_id &&
                      source.back() == translation::end_id,
                  "a source has its marks");
    fuzz::require(target.size() == next.size() && target.front() == translation::start_id &&
                      next.back() == translation::end_id &&
                      std::equal(target.begin() + 1, target.end(), next.begin()),
                  "a target is followed by its next words");
  }
}

}  // namespace

void fuzz::imikolov(std::string_view bytes) {
  const auto wanted = [](std::string_view name) {
    return name == imikolov::source::train_name || name == imikolov::source::test_name;
  };
  of_tar(bytes, wanted, [](const archive_members& files) {
    const imikolov::source ptb(files, {.min_word_freq = 0});
    for (const auto& words : ptb.train<4>()) require_ids(words, ptb.word_dict());
    for (const auto& [words, next] : ptb.test_sequences()) {
      require_ids(words, ptb.word_dict());
      require(
          words.size() == next.size() && std::equal(words.begin() + 1, words.end(), next.begin()),
          "words are followed by the next ones");
    }
  });
}

void fuzz::imdb(std::string_view bytes) {
  of_tar(bytes, imdb::detail::is_review, [](const archive_members& files) {
    const imdb::source reviews(files, {.cutoff = 0});
    for (const auto& part : {reviews.train(), reviews.test()})
      for (const auto& [words, label] : part) {
        require_ids(words, reviews.word_dict());
        require(label == 0 || label == 1, "a review praises or blames");
      }
  });
}

void fuzz::wmt14(std::string_view bytes) {
  for (const bool skip : {false, true})
    of_tar(bytes, wmt14::detail::is_part, [&](const archive_members& files) {
      const wmt14::source all(files, {.skip_malformed = skip});
      require_pairs(all.train(), all.src_dict(), all.trg_dict());
    });
}

void fuzz::wmt16(std::string_view bytes) {
  for (const bool skip : {false, true})
    of_tar(bytes, wmt16::detail::is_part, [&](const archive_members& files) {
      const wmt16::source all(files, {.skip_malformed = skip});
      for (const auto& part : {all.train(), all.test(), all.validation()})
        require_pairs(part, all.src_dict(), all.trg_dict());
    });
}

void fuzz::movielens(std::string_view bytes) {
  // Damage seldom has the right checksum: once without looking at it.
  for (const bool checked : {true, false})
    accepts(bytes, [&] {
      lamina::binary_reader from(bytes, "fuzz.zip");
      const movielens::source all(read_zip_members(from, movielens::detail::is_part, checked));
      for (const auto& part : {all.train(), all.test()})
        for (const auto& s : part) {
          require_ids(s.category_ids, all.movie_categories());
          require_ids(s.title_ids, all.movie_title_dict());
          require(s.user_id <= all.max_user_id() && s.movie_id <= all.max_movie_id() &&
                      s.job_id <= all.max_job_id(),
                  "ids are not larger than the largest");
          require(!s.category_ids.empty() && s.score >= -5 && s.score <= 5,
                  "a film has a category and a rating");
        }
    });
}

void fuzz::conll05(std::string_view bytes) {
  const auto wanted = [](std::string_view name) {
    return conll05::detail::is_part(name) || name.ends_with("Dict.txt");
  };
  of_tar(bytes, wanted, [](const archive_members& files) {
    const conll05::source all(
        files.at(conll05::source::words_name), files.at(conll05::source::props_name),
        conll05::dictionaries_of(files.at("wordDict.txt"), files.at("verbDict.txt"),
                                 files.at("targetDict.txt")));
    for (const auto& s : all.test()) {
      for (const auto* words : {&s.word, &s.ctx_n2, &s.ctx_n1, &s.ctx_0, &s.ctx_p1, &s.ctx_p2}) {
        require_ids(*words, all.word_dict());
        require(words->size() == s.word.size(), "each word has all fields");
      }
      require_ids(s.verb, all.verb_dict());
      require_ids(s.target, all.label_dict());
      const auto marked = std::count(s.mark.begin(), s.mark.end(), 1);
      require(s.verb.size() == s.word.size() && s.mark.size() == s.word.size() &&
                  s.target.size() == s.word.size() && marked >= 1 && marked <= 5,
              "a predicate marks up to five words");
    }
  });
}
