// SPDX-License-Identifier: Apache-2.0
// lamina/v2/dataset.hpp - the data sets of PaddlePaddle v2 under their names there. They are read
// from the files that PaddlePaddle has downloaded.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/files/md5.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/dataset/cifar.hpp>
#include <lamina/dataset/conll05.hpp>
#include <lamina/dataset/housing.hpp>
#include <lamina/dataset/imdb.hpp>
#include <lamina/dataset/imikolov.hpp>
#include <lamina/dataset/mnist.hpp>
#include <lamina/dataset/movielens.hpp>
#include <lamina/dataset/mq2007.hpp>
#include <lamina/dataset/sentiment.hpp>
#include <lamina/dataset/wmt14.hpp>
#include <lamina/dataset/wmt16.hpp>
#include <lamina/model/feeding/sample_files.hpp>
#include <lamina/v2/data_home.hpp>

// A function without a path reads the file that PaddlePaddle has downloaded to common::DATA_HOME();
// common::download (lamina/v2/download.hpp) downloads a file there. In v2, programs pass
// dictionaries from one function to the next, for example the word_dict of imdb. Here, such
// functions return the whole data set, so that its file is read only once. Malformed lines of wmt14
// and wmt16 are skipped, as in v2. Errors are those of lamina::dataset. flowers and voc2012, which
// need libjpeg and libpng, are in lamina/v2/image_dataset.hpp.
namespace lamina { inline namespace LAMINA_ABI { namespace v2::dataset {

namespace common {

using lamina::cluster_files_reader;
using lamina::convert;
using lamina::md5file;
/// Writes the samples of a reader to files of `line_count` samples each: split(reader, 1000,
/// "train-%05d.recordio"). v2: dataset.common.split.
template <class R, class... More>
std::size_t split(R&& reader, std::int64_t line_count, More&&... more) {
  return lamina::split_files(std::forward<R>(reader), line_count, std::forward<More>(more)...);
}

}  // namespace common

namespace mnist {
using lamina::dataset::mnist::test;
using lamina::dataset::mnist::train;
inline auto train() { return train(common::DATA_HOME() + "/mnist"); }
inline auto test() { return test(common::DATA_HOME() + "/mnist"); }
}  // namespace mnist

namespace uci_housing {
/// Read housing data; `path` is UCI's housing.data, or a file with commas.
inline auto train(const std::string& path) { return lamina::dataset::housing::train(path); }
inline auto test(const std::string& path) { return lamina::dataset::housing::test(path); }
inline auto train() { return train(common::DATA_HOME() + "/uci_housing/housing.data"); }
inline auto test() { return test(common::DATA_HOME() + "/uci_housing/housing.data"); }
}  // namespace uci_housing

/// CIFAR-10 and CIFAR-100; `path` is the archive of the Python version, or a folder with the binary
/// version.
namespace cifar {
using lamina::dataset::cifar::test10;
using lamina::dataset::cifar::test100;
using lamina::dataset::cifar::train10;
using lamina::dataset::cifar::train100;
inline auto train10() { return train10(common::DATA_HOME() + "/cifar/cifar-10-python.tar.gz"); }
inline auto test10() { return test10(common::DATA_HOME() + "/cifar/cifar-10-python.tar.gz"); }
inline auto train100() { return train100(common::DATA_HOME() + "/cifar/cifar-100-python.tar.gz"); }
inline auto test100() { return test100(common::DATA_HOME() + "/cifar/cifar-100-python.tar.gz"); }
}  // namespace cifar

namespace imdb {
/// Reads the data set. Its dictionary has the words that occur more than `cutoff` times. v2:
/// imdb.word_dict, build_dict.
inline auto word_dict(const std::string& path, std::int64_t cutoff = 150) {
  return lamina::dataset::imdb::read(path, {.cutoff = cutoff});
}
inline auto word_dict() { return word_dict(common::DATA_HOME() + "/imdb/aclImdb_v1.tar.gz"); }
inline auto train(const lamina::dataset::imdb::source& word_idx) { return word_idx.train(); }
inline auto test(const lamina::dataset::imdb::source& word_idx) { return word_idx.test(); }
}  // namespace imdb

namespace imikolov {
/// Reads the data set. Its dictionary has the words that occur more than `min_word_freq` times. v2:
/// imikolov.build_dict(min_word_freq).
inline auto build_dict(const std::string& path, std::int64_t min_word_freq = 50) {
  return lamina::dataset::imikolov::read(path, {.min_word_freq = min_word_freq});
}
inline auto build_dict(std::int64_t min_word_freq = 50) {
  return build_dict(common::DATA_HOME() + "/imikolov/simple-examples.tgz", min_word_freq);
}
/// Returns all groups of N consecutive words: `train<5>(word_idx)`. v2: imikolov.train(word_idx,
/// n).
template <int N>
auto train(const lamina::dataset::imikolov::source& word_idx) {
  return word_idx.template train<N>();
}
template <int N>
auto test(const lamina::dataset::imikolov::source& word_idx) {
  return word_idx.template test<N>();
}
}  // namespace imikolov

namespace movielens {
/// Reads the data set. The result has member functions such as max_user_id() and
/// movie_categories().
inline auto read(const std::string& path) { return lamina::dataset::movielens::read(path); }
inline auto read() { return read(common::DATA_HOME() + "/movielens/ml-1m.zip"); }
inline auto train() { return read().train(); }
inline auto test() { return read().test(); }
}  // namespace movielens

namespace conll05 {
/// Reads the data set from a folder. The result has word_dict(), verb_dict(), label_dict() and the
/// sentences. v2: conll05.get_dict.
inline auto get_dict(const std::string& folder) { return lamina::dataset::conll05::read(folder); }
inline auto get_dict() { return get_dict(common::DATA_HOME() + "/conll05st"); }
inline auto test() { return get_dict().test(); }
/// Returns the numbers of the embedding, row by row. v2: conll05.get_embedding, which returns the
/// path of the file.
inline std::vector<float> get_embedding(std::int64_t rows, std::int64_t width = 32) {
  return lamina::dataset::conll05::read_embedding(common::DATA_HOME() + "/conll05st/emb", rows,
                                                  width);
}
}  // namespace conll05

namespace mq2007 {
/// The kind of samples. v2: the argument `format`.
enum class format { pointwise, pairwise, listwise };
/// Returns the samples of the kind F: `train<format::listwise>()`. v2: mq2007.train(format=...).
template <format F = format::pairwise>
auto samples_of(const lamina::dataset::mq2007::source& all) {
  if constexpr (F == format::pointwise)
    return all.pointwise();
  else if constexpr (F == format::pairwise)
    return all.pairwise();
  else
    return all.listwise();
}
/// Read the samples for training and for test. `folder` must contain Fold1; it is a folder of the
/// unpacked archive MQ2007.rar.
template <format F = format::pairwise>
auto train(const std::string& folder) {
  return samples_of<F>(lamina::dataset::mq2007::train(folder));
}
template <format F = format::pairwise>
auto test(const std::string& folder) {
  return samples_of<F>(lamina::dataset::mq2007::test(folder));
}
template <format F = format::pairwise>
auto train() {
  return train<F>(common::DATA_HOME() + "/MQ2007/MQ2007/MQ2007");
}
template <format F = format::pairwise>
auto test() {
  return test<F>(common::DATA_HOME() + "/MQ2007/MQ2007/MQ2007");
}
}  // namespace mq2007

namespace sentiment {
/// Reads the data set. The result has word_dict() and the reviews. v2: sentiment.get_word_dict.
inline auto get_word_dict(const std::string& path) {
  return lamina::dataset::sentiment::read(path);
}
inline auto get_word_dict() {
  return get_word_dict(common::DATA_HOME() + "/corpora/movie_reviews.zip");
}
inline auto train() { return get_word_dict().train(); }
inline auto test() { return get_word_dict().test(); }
}  // namespace sentiment

namespace wmt14 {
/// Reads the data set. The result has src_dict(), trg_dict() and the sentences. v2:
/// wmt14.get_dict(dict_size).
inline auto get_dict(std::int64_t dict_size, const std::string& path) {
  return lamina::dataset::wmt14::read(path, {.dict_size = dict_size, .skip_malformed = true});
}
inline auto get_dict(std::int64_t dict_size) {
  return get_dict(dict_size, common::DATA_HOME() + "/wmt14/wmt14.tgz");
}
inline auto train(std::int64_t dict_size) { return get_dict(dict_size).train(); }
inline auto test(std::int64_t dict_size) { return get_dict(dict_size).test(); }
}  // namespace wmt14

namespace wmt16 {
/// Reads the data set. The result has src_dict(), trg_dict() and the sentences.
inline auto get_dict(std::int64_t src_dict_size, std::int64_t trg_dict_size,
                     const std::string& path) {
  return lamina::dataset::wmt16::read(
      path,
      {.src_dict_size = src_dict_size, .trg_dict_size = trg_dict_size, .skip_malformed = true});
}
inline auto get_dict(std::int64_t src_dict_size, std::int64_t trg_dict_size) {
  return get_dict(src_dict_size, trg_dict_size, common::DATA_HOME() + "/wmt16/wmt16.tar.gz");
}
inline auto train(std::int64_t src_dict_size, std::int64_t trg_dict_size) {
  return get_dict(src_dict_size, trg_dict_size).train();
}
inline auto test(std::int64_t src_dict_size, std::int64_t trg_dict_size) {
  return get_dict(src_dict_size, trg_dict_size).test();
}
inline auto validation(std::int64_t src_dict_size, std::int64_t trg_dict_size) {
  return get_dict(src_dict_size, trg_dict_size).validation();
}
}  // namespace wmt16

}}}  // namespace lamina::v2::dataset
