// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/conll05.hpp - semantic role labelling: sentences with the roles of their words
// (who did what to whom). This is the test part of CoNLL-2005, conll05st-tests.tar.gz. Source:
// Carreras and Marquez, "Introduction to the CoNLL-2005 shared task".
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/table.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/dataset/vocabulary.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset::conll05 {

/// A sentence and one of its predicates. Each field has one element per word of the sentence. In
/// the fields of the context and of the predicate, all elements are the same.
struct sample {
  std::vector<std::int64_t> word;
  std::vector<std::int64_t> ctx_n2, ctx_n1;  ///< the two words before the predicate, or "bos"
  std::vector<std::int64_t> ctx_0;           ///< the word that is the predicate
  std::vector<std::int64_t> ctx_p1, ctx_p2;  ///< the two words after the predicate, or "eos"
  std::vector<std::int64_t> verb;            ///< the base form of the predicate
  /// 1 if the word is one of the five words of the context, otherwise 0.
  std::vector<std::int64_t> mark;
  std::vector<std::int64_t> target;  ///< the label of the word: B-ROLE, I-ROLE or O
};

/// The dictionaries of the words, the predicates and the labels.
struct dictionaries {
  vocabulary words, verbs;
  /// Id 2 * k is B-ROLE of role k, id 2 * k + 1 is I-ROLE of role k, and the last id is O.
  vocabulary labels;
};

namespace detail {

/// Reads a dictionary with one word per line. The id of a word is the number of its line, counted
/// from 0. Unknown words have the id 0.
LAMINA_API_COLD vocabulary dictionary_of(const text_member& from);

/// Reads the roles from a text that has "B-ROLE" or "I-ROLE" on each line, and makes the labels of
/// these roles, in the order of the text.
LAMINA_API_COLD vocabulary labels_of(const text_member& from);

/// Reads a text file, and decompresses it if it is gzip.
LAMINA_COLD inline text_member file_of(const std::string& path) {
  return {path, {}, dataset::read_bytes(path)};
}

#if LAMINA_DEFINES

vocabulary dictionary_of(const text_member& from) {
  from.check_utf8();
  std::vector<std::string> words;
  for_each_line(from, [&](const text_line& line) {
    const std::string_view word = trimmed(line.text);
    if (word.empty()) line.fail("expected a word, found an empty line");
    words.emplace_back(word);
  });
  if (words.empty()) from.fail(0, "expected at least one word, found none");
  return {std::move(words), 0};
}

vocabulary labels_of(const text_member& from) {
  from.check_utf8();
  std::vector<std::string> labels;
  word_map<bool> known;
  for_each_line(from, [&](const text_line& line) {
    const std::string_view label = trimmed(line.text);
    if (label == "O") return;
    if (label.size() < 3 || (!label.starts_with("B-") && !label.starts_with("I-")))
      line.fail(lamina::text("expected B-ROLE, I-ROLE or O, found ")
                << (label.empty() ? "an empty line" : in_quotes(label)));
    const std::string role(label.substr(2));
    if (!known.emplace(role, true).second) return;
    labels.push_back("B-" + role);
    labels.push_back("I-" + role);
  });
  if (labels.empty()) from.fail(0, "expected at least one role, found none");
  labels.emplace_back("O");
  const auto outside = static_cast<std::int64_t>(labels.size()) - 1;
  return {std::move(labels), outside};
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// The predicates of all sentences, and the dictionaries. All tables of a source share them.
class source {
 public:
  static constexpr std::string_view words_name =
      "conll05st-release/test.wsj/words/test.wsj.words.gz";
  static constexpr std::string_view props_name =
      "conll05st-release/test.wsj/props/test.wsj.props.gz";

  /// `words` and `props` are the texts of words_name and props_name, decompressed.
  LAMINA_COLD source(const text_member& words, const text_member& props, dictionaries known)
      : data_(std::make_shared<const data>(words, props, std::move(known))) {}

  LAMINA_API sample at(std::size_t row) const;

  /// Returns a sample for each predicate of each sentence. Fluid: dataset.conll05.test.
  table<source> test() const { return {*this, 0, data_->propositions.size()}; }

  /// Fluid: dataset.conll05.get_dict.
  const vocabulary& word_dict() const { return data_->known.words; }
  const vocabulary& verb_dict() const { return data_->known.verbs; }
  const vocabulary& label_dict() const { return data_->known.labels; }

 private:
  struct proposition {
    std::size_t sentence, labels, length;  // offsets of words and labels, and their number
    std::size_t position;                  // the position of the predicate
    std::int64_t verb;
  };

  struct data {
    LAMINA_API data(const text_member& words_text, const text_member& props_text, dictionaries all);

    dictionaries known;
    std::vector<std::int32_t> words, labels;
    std::vector<proposition> propositions;

   private:
    /// A word, and its line of the other text: the base form if the word is a predicate, otherwise
    /// "-", and then a label for each predicate of the sentence.
    struct row {
      text_line word, line;
      std::vector<std::string_view> fields;
    };

    LAMINA_API void add_sentence(const std::vector<row>& rows);
    /// Appends the labels of a column; returns the position of the label B-V. In the text, a role
    /// begins with "(ROLE*" on its first line, continues with "*" and ends with "*)" on its last
    /// line; a role of a single word is "(ROLE*)".
    LAMINA_API std::size_t add_labels(const std::vector<row>& rows, std::size_t column);
  };
  std::shared_ptr<const data> data_;
};

namespace detail {
inline bool is_part(std::string_view name) {
  return name == source::words_name || name == source::props_name;
}
LAMINA_COLD inline source source_of(const archive_members& files, dictionaries known) {
  return {unpack_member(files.at(source::words_name)), unpack_member(files.at(source::props_name)),
          std::move(known)};
}
}  // namespace detail

/// Reads the dictionaries of three texts.
LAMINA_COLD inline dictionaries dictionaries_of(const text_member& words, const text_member& verbs,
                                                const text_member& targets) {
  return {detail::dictionary_of(words), detail::dictionary_of(verbs), detail::labels_of(targets)};
}

/// Reads conll05st-tests.tar.gz, wordDict.txt, verbDict.txt and targetDict.txt of a directory. The
/// archive contains two texts, each compressed with gzip. One text has a word per line. The same
/// line of the other text has the base form of the word if it is a predicate, and then a label for
/// each predicate of the sentence. An empty line ends a sentence. Roles have the order of
/// targetDict.txt (PaddlePaddle: the order of Python's sets). Throws lamina::error for a missing
/// file. Throws format_error for a damaged archive; a missing member; text that is not UTF-8; an
/// empty line in a dictionary, or where a sentence should begin; texts of different lengths; lines
/// of one sentence with different numbers of fields; a predicate or a label that is not in the
/// dictionaries; and a role that is not begun or not ended.
LAMINA_API_COLD source read(const std::string& directory);

/// Reads the file emb, which has a vector of `width` numbers, trained on Wikipedia, for each word
/// of wordDict.txt. The file has a header of 16 bytes (0, 4, the number of floats), and then the
/// floats. Throws format_error for another header, and if the number of floats is not rows * width.
LAMINA_API_COLD std::vector<float> read_embedding(const std::string& path, std::int64_t rows,
                                                  std::int64_t width);

#if LAMINA_DEFINES

sample source::at(std::size_t row) const {
  const proposition& p = data_->propositions[row];
  const std::int32_t* words = data_->words.data() + p.sentence;
  const std::int32_t* labels = data_->labels.data() + p.labels;
  const std::int64_t bos = data_->known.words.id("bos"), eos = data_->known.words.id("eos");
  const std::size_t at = p.position;
  const auto repeated = [&](std::int64_t id) { return std::vector<std::int64_t>(p.length, id); };
  sample s{{words, words + p.length},
           repeated(at > 1 ? words[at - 2] : bos),
           repeated(at > 0 ? words[at - 1] : bos),
           repeated(words[at]),
           repeated(at + 1 < p.length ? words[at + 1] : eos),
           repeated(at + 2 < p.length ? words[at + 2] : eos),
           repeated(p.verb),
           repeated(0),
           {labels, labels + p.length}};
  for (std::size_t i = at < 2 ? 0 : at - 2; i < p.length && i <= at + 2; ++i) s.mark[i] = 1;
  return s;
}

source::data::data(const text_member& words_text, const text_member& props_text, dictionaries all)
    : known(std::move(all)) {
  words_text.check_utf8();
  props_text.check_utf8();
  std::vector<text_line> word_lines;
  for_each_line(words_text, [&](const text_line& line) { word_lines.push_back(line); });
  std::vector<row> sentence;
  std::size_t count = 0;
  for_each_line(props_text, [&](const text_line& line) {
    if (count == word_lines.size())
      line.fail(lamina::text("expected ")
                << count << " lines, as '" << words_text.name << "' has, found more");
    const text_line& word = word_lines[count++];
    row r{word, line, {}};
    for_each_word(line.text, [&](std::string_view field) { r.fields.push_back(field); });
    if (trimmed(word.text).empty() != r.fields.empty())
      line.fail(lamina::text("expected empty lines where '")
                << words_text.name << "' has them, found others");
    if (!r.fields.empty()) {
      sentence.push_back(std::move(r));
      return;
    }
    if (sentence.empty()) line.fail("expected a sentence, found an empty line");
    add_sentence(sentence);
    sentence.clear();
  });
  if (count != word_lines.size())
    props_text.fail(props_text.bytes.size(), lamina::text("expected ")
                                                 << word_lines.size() << " lines, as '"
                                                 << words_text.name << "' has, found " << count);
  if (!sentence.empty())
    props_text.fail(props_text.bytes.size(),
                    "expected an empty line after the last sentence, found the end");
}

void source::data::add_sentence(const std::vector<row>& rows) {
  const std::size_t begin = words.size();
  std::vector<const row*> predicates;
  for (const row& r : rows) {
    if (r.fields.size() != rows[0].fields.size())
      r.line.fail(lamina::text("expected ") << rows[0].fields.size()
                                            << " fields as on the first line of the sentence, "
                                               "found "
                                            << r.fields.size());
    words.push_back(static_cast<std::int32_t>(known.words.id(trimmed(r.word.text))));
    if (r.fields[0] != "-") predicates.push_back(&r);
  }
  if (predicates.size() + 1 != rows[0].fields.size())
    rows[0].line.fail(lamina::text("expected a column of labels for each of ")
                      << predicates.size() << " predicates, found " << rows[0].fields.size() - 1
                      << " columns");
  for (std::size_t column = 1; column <= predicates.size(); ++column) {
    const row& predicate = *predicates[column - 1];
    const std::string_view verb = predicate.fields[0];
    if (!known.verbs.contains(verb))
      predicate.line.fail(verb, lamina::text("expected a predicate of the dictionary, found ")
                                    << in_quotes(verb));
    const std::size_t first = labels.size();
    propositions.push_back(
        {begin, first, rows.size(), add_labels(rows, column), known.verbs.id(verb)});
  }
}

std::size_t source::data::add_labels(const std::vector<row>& rows, std::size_t column) {
  std::string role = "O";
  bool is_inside = false;
  std::size_t position = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view field = rows[i].fields[column];
    std::string label = "O";
    if (field == "*" || field == "*)") {
      if (is_inside || field == "*)") label = "I-" + role;
      if (field == "*)") is_inside = false;
    } else {
      const std::size_t star = field.find('*');
      const std::string_view end = star == field.npos ? field : field.substr(star);
      if (field[0] != '(' || star < 2 || (end != "*" && end != "*)"))
        rows[i].line.fail(field, lamina::text("expected '(ROLE*', '(ROLE*)', '*' or '*)', "
                                              "found ")
                                     << in_quotes(field));
      role = field.substr(1, star - 1);
      is_inside = end == "*";
      label = "B-" + role;
      if (role == "V" && position == rows.size()) position = i;
    }
    if (!known.labels.contains(label))
      rows[i].line.fail(field, lamina::text("expected a label of the dictionary, found ")
                                   << in_quotes(label));
    labels.push_back(static_cast<std::int32_t>(known.labels.id(label)));
  }
  const text_line& last = rows.back().line;
  if (is_inside)
    last.fail(lamina::text("expected '*)' at the end of ") << in_quotes(role) << ", found none");
  if (position == rows.size())
    last.fail(lamina::text("expected '(V*)' in column ") << column << ", found none");
  return position;
}

source read(const std::string& directory) {
  dictionaries known = dictionaries_of(detail::file_of(directory + "/wordDict.txt"),
                                       detail::file_of(directory + "/verbDict.txt"),
                                       detail::file_of(directory + "/targetDict.txt"));
  return detail::source_of(read_tar_members(directory + "/conll05st-tests.tar.gz", detail::is_part),
                           std::move(known));
}

std::vector<float> read_embedding(const std::string& path, std::int64_t rows, std::int64_t width) {
  binary_reader from(path);
  const auto version = from.number<std::int32_t>("the header"),
             bytes = from.number<std::int32_t>("the header");
  const auto count = from.number<std::uint64_t>("the header");
  if (version != 0 || bytes != 4)
    from.fail_at(0, lamina::text("expected the header 0, 4, found ") << version << ", " << bytes);
  if (count != static_cast<std::uint64_t>(rows * width) || from.left() != 4 * count)
    from.fail_at(8, lamina::text("expected ") << rows << " * " << width << " numbers, found "
                                              << count << " in " << from.left() << " bytes");
  std::vector<float> all(count);
  from.numbers(all.data(), count, "numbers");
  return all;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset::conll05
