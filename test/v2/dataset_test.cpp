// SPDX-License-Identifier: Apache-2.0
// Data sets by v2's names: those of lamina, read from the folders where PaddlePaddle keeps files.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "dataset/data_archives.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/v2/dataset.hpp>

namespace dataset = lamina::v2::dataset;

namespace {

/// A home whose cache of PaddlePaddle has the archives of the tests.
class home {
 public:
  home() {
    const char* const before = std::getenv("HOME");
    if (before != nullptr) before_ = before;
    ::setenv("HOME", folder_.path().c_str(), 1);
  }
  home(const home&) = delete;
  home& operator=(const home&) = delete;
  ~home() { ::setenv("HOME", before_.c_str(), 1); }

  void add(const std::string& module, const std::string& file) const {
    std::filesystem::create_directories(dataset::common::DATA_HOME() + "/" + module);
    std::filesystem::copy(test::data_archive(file), dataset::common::DATA_HOME() + "/" + module +
                                                        "/" + file.substr(file.rfind('/') + 1));
  }

 private:
  temporary_folder folder_;
  std::string before_;
};

}  // namespace

TEST_CASE("data sets of v2 are found in PaddlePaddle's cache", "[dataset]") {
  const home here;
  CHECK(dataset::common::DATA_HOME() ==
        std::string(std::getenv("HOME")) + "/.cache/paddle/dataset");
  here.add("movielens", "ml-1m.zip");
  here.add("wmt14", "wmt14.tgz");
  here.add("wmt16", "wmt16.tar.gz");
  for (const char* file :
       {"conll05st-tests.tar.gz", "wordDict.txt", "verbDict.txt", "targetDict.txt"})
    here.add("conll05st", file);

  const auto films = lamina::dataset::movielens::read(test::data_archive("ml-1m.zip"));
  CHECK(dataset::movielens::train().size() == films.train().size());
  CHECK(dataset::movielens::test().size() == films.test().size());
  const auto pairs = lamina::dataset::wmt14::read(test::data_archive("wmt14.tgz"),
                                                  {.dict_size = 9, .skip_malformed = true});
  CHECK(dataset::wmt14::train(9).size() == pairs.train().size());
  CHECK(dataset::wmt14::get_dict(9).src_dict().size() == pairs.src_dict().size());
  const auto more = lamina::dataset::wmt16::read(
      test::data_archive("wmt16.tar.gz"),
      {.src_dict_size = 8, .trg_dict_size = 7, .skip_malformed = true});
  CHECK(dataset::wmt16::train(8, 7).size() == more.train().size());
  CHECK(dataset::wmt16::validation(8, 7).size() == more.validation().size());
  CHECK(dataset::wmt16::get_dict(8, 7).trg_dict().size() == more.trg_dict().size());
  CHECK(dataset::conll05::test().size() ==
        lamina::dataset::conll05::read(std::string(LAMINA_TEST_DIR) + "/dataset/archives")
            .test()
            .size());
  CHECK(dataset::conll05::test().size() > 0);
}

TEST_CASE("data sets of v2 for Python, of LETOR and of NLTK", "[dataset]") {
  const home here;
  here.add("cifar", "cifar-10-python.tar.gz");
  here.add("cifar", "cifar-100-python.tar.gz");
  CHECK(dataset::cifar::train10().size() == 5);
  CHECK(dataset::cifar::test10()[0].label == 3);
  CHECK(dataset::cifar::train100()[1].label == 57);
  CHECK(dataset::cifar::test100()[0].label == 99);
  here.add("MQ2007/MQ2007/MQ2007/Fold1", "Fold1/train.txt");
  here.add("MQ2007/MQ2007/MQ2007/Fold1", "Fold1/test.txt");
  using dataset::mq2007::format;
  CHECK(dataset::mq2007::train()[0].label == 1);
  CHECK(dataset::mq2007::train<format::listwise>()[0].labels.size() == 5);
  CHECK(dataset::mq2007::test<format::pointwise>().size() == 5);
  here.add("corpora", "movie_reviews.zip");
  CHECK_THROWS_WITH(dataset::sentiment::train(),
                    Catch::Contains("/corpora/movie_reviews.zip") &&
                        Catch::Contains("at least 1600 reviews, found 4"));
}

TEST_CASE("dataset.common of v2", "[dataset]") {
  const temporary_folder folder;
  const auto archive = test::data_archive("cifar-10-python.tar.gz");
  CHECK(dataset::common::md5file(archive).size() == 32);
  const auto samples = dataset::cifar::train10(archive);
  CHECK(dataset::common::split(samples, 2, folder.path() + "/%d.recordio") == 3);
  using sample = lamina::dataset::cifar::sample;
  const auto own = dataset::common::cluster_files_reader<sample>(folder.path() + "/*", 2, 0);
  std::vector<std::int64_t> labels;
  for (const sample& s : own()) labels.push_back(s.label);
  CHECK(labels == std::vector<std::int64_t>{6, 9, 5});
  CHECK(dataset::common::convert(folder.path(), samples, 100, "all") == 1);
}

TEST_CASE("a dictionary of v2 is the data set that has it", "[dataset]") {
  const auto word_dict = dataset::imdb::word_dict(test::data_archive("aclImdb_v1.tar.gz"), 1);
  const auto same =
      lamina::dataset::imdb::read(test::data_archive("aclImdb_v1.tar.gz"), {.cutoff = 1});
  CHECK(word_dict.word_dict().size() == same.word_dict().size());
  CHECK(dataset::imdb::train(word_dict).size() == same.train().size());
  CHECK(dataset::imdb::test(word_dict)[0].words == same.test()[0].words);
  const auto word_idx = dataset::imikolov::build_dict(test::data_archive("simple-examples.tgz"), 1);
  const auto again = lamina::dataset::imikolov::read(test::data_archive("simple-examples.tgz"),
                                                     {.min_word_freq = 1});
  CHECK(dataset::imikolov::train<5>(word_idx).size() == again.train<5>().size());
  CHECK(dataset::imikolov::test<3>(word_idx)[0] == again.test<3>()[0]);
}

TEST_CASE("a file that is not in the cache is an error that names it", "[dataset]") {
  const home here;
  const auto names = [](const char* file) { return Catch::Contains(file); };
  CHECK_THROWS_WITH(dataset::uci_housing::train(), names("/uci_housing/housing.data"));
  CHECK_THROWS_WITH(dataset::mnist::test(), names("t10k-images-idx3-ubyte"));
  CHECK_THROWS_WITH(dataset::imdb::word_dict(), names("/imdb/aclImdb_v1.tar.gz"));
  CHECK_THROWS_WITH(dataset::imikolov::build_dict(), names("/imikolov/simple-examples.tgz"));
  ::unsetenv("HOME");
  CHECK_THROWS_WITH(
      dataset::mnist::train(),
      "lamina: v2: dataset: expected the variable HOME of the environment, found none");
}
