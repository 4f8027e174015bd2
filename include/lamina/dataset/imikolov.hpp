// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/imikolov.hpp - the Penn Treebank as Mikolov prepared it, for language models:
// simple-examples.tgz.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/dataset/vocabulary.hpp>
#include <lamina/dataset/word_counter.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::imikolov {

/// The words of a sentence, and for each word the word that follows it. Fluid: DataType.SEQ.
struct sample {
  std::vector<std::int64_t> words;  ///< "<s>", then the sentence
  std::vector<std::int64_t> next;   ///< the sentence, then "<e>"
};

/// The options of reading the archive.
struct options {
  std::int64_t min_word_freq = 50;  ///< a word that occurs at most so often becomes "<unk>"
};

namespace detail {
/// Sentences, each with "<s>" before it and "<e>" after it. Sentence i is ids[begins[i], begins[i +
/// 1]).
struct sentences {
  std::vector<std::int32_t> ids;
  std::vector<std::size_t> begins{0};
};
}  // namespace detail

/// Samples of N consecutive words of a sentence; "<s>" and "<e>" count as words. Fluid:
/// DataType.NGRAM.
template <int N>
class ngrams {
 public:
  explicit ngrams(std::shared_ptr<const detail::sentences> from) : from_(std::move(from)) {
    auto begins = std::make_shared<std::vector<std::size_t>>();
    for (std::size_t i = 0; i + 1 < from_->begins.size(); ++i)
      for (std::size_t at = from_->begins[i]; at + N <= from_->begins[i + 1]; ++at)
        begins->push_back(at);
    begins_ = std::move(begins);
  }
  std::array<std::int64_t, bound(N)> at(std::size_t row) const {
    std::array<std::int64_t, bound(N)> words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = from_->ids[(*begins_)[row] + i];
    return words;
  }
  std::size_t size() const { return begins_->size(); }

 private:
  std::shared_ptr<const detail::sentences> from_;
  std::shared_ptr<const std::vector<std::size_t>> begins_;
};

/// Samples of whole sentences.
class sequences {
 public:
  /// Selects the sentences of at most `longest` words, including "<s>"; all sentences if `longest`
  /// is 0.
  LAMINA_API LAMINA_COLD sequences(std::shared_ptr<const detail::sentences> from,
                                   std::size_t longest);
  sample at(std::size_t row) const {
    const std::int32_t* begin = from_->ids.data() + from_->begins[(*chosen_)[row]];
    const std::int32_t* end = from_->ids.data() + from_->begins[(*chosen_)[row] + 1];
    return {{begin, end - 1}, {begin + 1, end}};
  }
  std::size_t size() const { return chosen_->size(); }

 private:
  std::shared_ptr<const detail::sentences> from_;
  std::shared_ptr<const std::vector<std::size_t>> chosen_;
};

/// The texts as ids of words, and the dictionary. All tables of a source share them.
class source {
 public:
  static constexpr std::string_view train_name = "simple-examples/data/ptb.train.txt";
  static constexpr std::string_view test_name = "simple-examples/data/ptb.valid.txt";

  /// `files` must have the members train_name and test_name.
  LAMINA_COLD explicit source(const archive_members& files, const options& how = {})
      : words_(std::make_shared<const vocabulary>(dictionary_of(files, how))),
        train_(ids_of(files.at(train_name))),
        test_(ids_of(files.at(test_name))) {}

  /// Returns the frequent words of both texts, including "<s>" and "<e>", the most frequent first;
  /// equally frequent words are sorted by their bytes. The last word is "<unk>". Fluid:
  /// dataset.imikolov.build_dict.
  const vocabulary& word_dict() const { return *words_; }

  /// Return all groups of N consecutive words. Fluid: dataset.imikolov.train(word_idx, N),
  /// test(word_idx, N).
  template <int N>
  requires(N >= 1) table<ngrams<N>> train()
  const { return whole(ngrams<N>(train_)); }
  template <int N>
  requires(N >= 1) table<ngrams<N>> test()
  const { return whole(ngrams<N>(test_)); }

  /// Returns all sentences of at most `longest` words, including "<s>"; all sentences if `longest`
  /// is 0. Throws lamina::error if min_word_freq is so large that "<s>" is not in the dictionary.
  /// Fluid: train(word_idx, n, DataType.SEQ).
  LAMINA_COLD table<sequences> train_sequences(std::size_t longest = 0) const {
    return marked(train_, longest);
  }
  LAMINA_COLD table<sequences> test_sequences(std::size_t longest = 0) const {
    return marked(test_, longest);
  }

 private:
  LAMINA_API static vocabulary dictionary_of(const archive_members& files, const options& how);
  LAMINA_API std::shared_ptr<const detail::sentences> ids_of(const text_member& from) const;
  template <class Rows>
  static table<Rows> whole(Rows rows) {
    const std::size_t size = rows.size();
    return {std::move(rows), 0, size};
  }
  LAMINA_API table<sequences> marked(const std::shared_ptr<const detail::sentences>& from,
                                     std::size_t longest) const;

  std::shared_ptr<const vocabulary> words_;
  std::shared_ptr<const detail::sentences> train_, test_;
};

/// Reads simple-examples.tgz. Its texts have a sentence per line, and blanks separate the words.
/// Throws format_error for a damaged archive, a missing member, an empty line or text that is not
/// UTF-8, and if no word is frequent enough.
LAMINA_API_COLD source read(const std::string& path, const options& how = {});

#if LAMINA_DEFINES

sequences::sequences(std::shared_ptr<const detail::sentences> from, std::size_t longest)
    : from_(std::move(from)) {
  auto chosen = std::make_shared<std::vector<std::size_t>>();
  for (std::size_t i = 0; i + 1 < from_->begins.size(); ++i)
    if (longest == 0 || from_->begins[i + 1] - from_->begins[i] <= longest + 1)
      chosen->push_back(i);
  chosen_ = std::move(chosen);
}

vocabulary source::dictionary_of(const archive_members& files, const options& how) {
  word_counter counts;
  for (const std::string_view name : {train_name, test_name}) {
    const text_member& from = files.at(name);
    from.check_utf8();
    for_each_line(from, [&](const text_line& line) {
      if (trimmed(line.text).empty())
        line.fail("expected a sentence on every line, found an empty line");
      for_each_word(line.text, [&](std::string_view word) { counts.add(word); });
      counts.add("<s>");
      counts.add("<e>");
    });
  }
  return frequent_words(counts, how.min_word_freq, files.path);
}

std::shared_ptr<const detail::sentences> source::ids_of(const text_member& from) const {
  auto made = std::make_shared<detail::sentences>();
  const auto add = [&](std::string_view word) {
    made->ids.push_back(static_cast<std::int32_t>(words_->id(word)));
  };
  for_each_line(from, [&](const text_line& line) {
    add("<s>");
    for_each_word(line.text, add);
    add("<e>");
    made->begins.push_back(made->ids.size());
  });
  return made;
}

table<sequences> source::marked(const std::shared_ptr<const detail::sentences>& from,
                                std::size_t longest) const {
  for (const std::string_view mark : {"<s>", "<e>"})
    if (!words_->contains(mark))
      throw error(lamina::text("lamina: dataset::imikolov: expected ")
                  << in_quotes(mark)
                  << " in the dictionary, found a min_word_freq that leaves it out");
  return whole(sequences(from, longest));
}

source read(const std::string& path, const options& how) {
  const auto wanted = [](std::string_view name) {
    return name == source::train_name || name == source::test_name;
  };
  return source(read_tar_members(path, wanted), how);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::imikolov
