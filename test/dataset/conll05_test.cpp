// SPDX-License-Identifier: Apache-2.0
// Semantic roles of CoNLL-2005: as PaddlePaddle reads them, and damaged.
#include <cstring>
#include <filesystem>
#include <string>

#include "dataset/data_archives.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/conll05.hpp>

namespace conll05 = lamina::dataset::conll05;
using lamina::dataset::text_member;

namespace {

conll05::dictionaries known() {
  return conll05::dictionaries_of({"words", "", "<unk>\nbos\neos\nShe\nsings\n"},
                                  {"verbs", "", "sing\n"}, {"targets", "", "B-V\nI-V\nB-A0\nO\n"});
}
/// A message for two texts, or "none".
std::string message_of(const std::string& words, const std::string& props) {
  return test::message_of([&] {
    conll05::source s({"a.tar", "words", words}, {"a.tar", "props", props}, known());
    for (const auto& sample : s.test()) CHECK(sample.mark.size() == sample.target.size());
  });
}

}  // namespace

TEST_CASE("semantic roles are read as PaddlePaddle does") {
  const auto all =
      conll05::read(test::data_archive("").substr(0, test::data_archive("").size() - 1));
  test::report found;
  found.line(test::spelled(all.word_dict()));
  found.line(test::spelled(all.verb_dict()));
  for (const auto& s : all.test()) {
    std::string labels;
    for (const auto id : s.target)
      (labels += labels.empty() ? "" : " ") += all.label_dict().word(id);
    std::string line;
    for (const auto* field :
         {&s.word, &s.ctx_n2, &s.ctx_n1, &s.ctx_0, &s.ctx_p1, &s.ctx_p2, &s.verb, &s.mark})
      line += test::spelled(*field) + " | ";
    found.line(line + labels);
  }
  found.check("conll05");
  // IOB: two labels per role, and O behind them, as chunk_eval wants them.
  CHECK(test::spelled(all.label_dict()) ==
        "B-A0 I-A0 B-A1 I-A1 B-V I-V B-AM-MNR I-AM-MNR B-A4 I-A4 B-C-V I-C-V O");
}

TEST_CASE("damaged texts of semantic roles are refused") {
  const std::string words = "She\nsings\n\n", props = "- (A0*)\nsing (V*)\n\n";
  CHECK(message_of(words, props) == "none");
  const auto refused = [&](const std::string& changed, const std::string& reason) {
    INFO(changed);
    CHECK_THAT(message_of(words, changed), Catch::Contains("'props': ") && Catch::Contains(reason));
  };
  refused("- (A0*)\nsing (V*)\n", "offset 18: 'props': expected 3 lines, as 'words' has, found 2");
  refused(props + "\n", "line 4: expected 3 lines, as 'words' has, found more");
  refused("- (A0*)\n\nsing (V*)\n", "line 2: expected empty lines where 'words' has them");
  refused("- (A0*)\nsing (V*) *\n\n",
          "offset 8: 'props': line 2: expected 2 fields as on the first line");
  refused("- (A0*) *\nsing (V*) *\n\n", "a column of labels for each of 1 predicates, found 2");
  refused("- (A0*)\nfly (V*)\n\n",
          "offset 8: 'props': line 2: expected a predicate of the dictionary, found 'fly'");
  refused("- (A1*)\nsing (V*)\n\n", "expected a label of the dictionary, found 'B-A1'");
  refused("- *)\nsing (V*)\n\n", "found 'I-O'");
  refused("- *\nsing (V*\n\n", "expected '*)' at the end of 'V', found none");
  refused("- *\nsing (A0*)\n\n", "expected '(V*)' in column 1, found none");
  for (const std::string label : {"(*)", "V*", "(V)", "(V*)x", "(V", "()", "O"})
    refused("- " + label + "\nsing (V*)\n\n",
            "expected '(ROLE*', '(ROLE*)', '*' or '*)', found '" + label + "'");
  CHECK_THAT(message_of("\nShe\n\n", "\n- \n\n"),
             Catch::Contains("expected a sentence, found an empty line"));
  CHECK_THAT(message_of("She\nsings", "- (A0*)\nsing (V*)"),
             Catch::Contains("expected an empty line after the last sentence"));
  CHECK_THAT(message_of("She\nsings\n\n", "- (A0*)\nsing (V*)\n\xe9\n"),
             Catch::Contains("expected UTF-8"));
  CHECK_THAT(message_of("Sh\xe9\nsings\n\n", props), Catch::Contains("'words': expected UTF-8"));
}

TEST_CASE("damaged dictionaries of semantic roles are refused") {
  const text_member words{"words", "", "<unk>\n"}, targets{"targets", "", "B-V\n"};
  const auto message = [](const text_member& a, const text_member& b, const text_member& c) {
    return test::message_of([&] { conll05::dictionaries_of(a, b, c); });
  };
  CHECK(message(words, words, targets) == "none");
  CHECK(message({"words", "", "a\n\nb\n"}, words, targets) ==
        "lamina: words, offset 2: line 2: expected a word, found an empty line");
  CHECK_THAT(message(words, {"verbs", "", ""}, targets),
             Catch::Contains("verbs, offset 0: expected at least one word"));
  CHECK_THAT(message(words, words, {"targets", "", "O\n"}), Catch::Contains("at least one role"));
  CHECK_THAT(message(words, words, {"targets", "", "B-V\nV\n"}),
             Catch::Contains("line 2: expected B-ROLE, I-ROLE or O, found 'V'"));
  CHECK_THAT(message(words, words, {"targets", "", "B-V\nB-\n"}), Catch::Contains("found 'B-'"));
  CHECK_THAT(message(words, words, {"targets", "", "\n"}), Catch::Contains("found an empty line"));
}

TEST_CASE("damaged archives of semantic roles") {
  const test::temporary_directory folder;
  const std::string from = test::data_archive(""), name = "conll05st-tests.tar.gz";
  for (const char* dictionary : {"wordDict.txt", "verbDict.txt", "targetDict.txt"})
    folder.write(dictionary, lamina::read_file(from + dictionary));
  CHECK_THAT(test::message_of([&] { conll05::read(folder.path()); }),
             Catch::Contains("cannot be opened"));
  lamina::binary_reader whole(from + name, lamina::detail::unpack_gzip);
  const std::string bytes = whole.bytes(whole.left(), "all");
  std::size_t refused = 0;
  for (std::size_t n = 0; n < bytes.size(); n += 61) {
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 4);
    for (const std::string& damaged : {changed, bytes.substr(0, n)}) {
      const std::string path = folder.write(name, damaged);
      try {
        for (const auto& s : conll05::read(folder.path()).test()) CHECK(s.word.size() > 0);
      } catch (const lamina::format_error& e) {
        ++refused;
        CHECK_THAT(e.file(), Catch::StartsWith(path));
      }
    }
  }
  CHECK(refused > 20);
  std::filesystem::remove(folder.path() + "/verbDict.txt");
  CHECK_THAT(test::message_of([&] { conll05::read(folder.path()); }),
             Catch::Contains("verbDict.txt: cannot be opened"));
}

TEST_CASE("vectors of words of Wikipedia") {
  const test::temporary_directory folder;
  const float values[6] = {1, 2, 3, 4, 5, 6};
  std::string bytes(16, '\0');
  bytes[4] = 4;
  bytes[8] = 6;
  bytes.append(reinterpret_cast<const char*>(values), sizeof values);
  const auto read = [&](const std::string& changed, std::int64_t rows) {
    return conll05::read_embedding(folder.write("emb", changed), rows, 3);
  };
  CHECK(read(bytes, 2) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK_THAT(test::message_of([&] { read(bytes, 3); }),
             Catch::Contains("expected 3 * 3 numbers, found 6 in 24 bytes"));
  CHECK_THROWS_AS(read(bytes.substr(0, 39), 2), lamina::format_error);
  CHECK_THROWS_AS(read(bytes + "x", 2), lamina::format_error);
  CHECK_THROWS_AS(read(bytes.substr(0, 15), 2), lamina::format_error);
  bytes[4] = 8;
  CHECK_THAT(test::message_of([&] { read(bytes, 2); }),
             Catch::Contains("expected the header 0, 4, found 0, 8"));
}
