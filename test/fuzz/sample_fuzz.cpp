// SPDX-License-Identifier: Apache-2.0
// Files of samples that are no text: pickles, MAT files, RecordIO, and lists of files in an
// archive; and the text of LETOR and of NLTK.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuzz/tar_checksums.hpp>
#include <fuzz/targets.hpp>

#include <lamina/core/files/file.hpp>
#include <lamina/dataset/cifar.hpp>
#include <lamina/dataset/mat_file.hpp>
#include <lamina/dataset/mq2007.hpp>
#include <lamina/dataset/sentiment.hpp>
#include <lamina/dataset/voc2012.hpp>
#include <lamina/io/archive/recordio.hpp>

using lamina::dataset::mat_file;
using lamina::dataset::mat_matrix;
using lamina::dataset::text_member;

void fuzz::cifar(std::string_view bytes) {
  // As an archive, and as a batch of one.
  for (const std::string& all : {std::string(bytes), with_checksums(bytes)})
    accepts(all, [&] {
      lamina::binary_reader from(all, "fuzz.tar");
      for (const auto& s : lamina::dataset::cifar::detail::read_archive(from, "data_batch", 10))
        require(s.label >= 0 && s.label < 10, "a label is known");
    });
  accepts(bytes, [&] {
    const text_member m{"fuzz.pickle", {}, std::string(bytes)};
    std::vector<std::uint8_t> records;
    lamina::dataset::cifar::detail::read_batch(m, 10, records);
    require(records.size() % 3073 == 0, "a record is a label and an image");
  });
}

void fuzz::mq2007(std::string_view bytes) {
  accepts(bytes, [&] {
    const lamina::dataset::mq2007::source all({"fuzz.txt", {}, std::string(bytes)});
    for (const auto& d : all.pointwise())
      for (const float x : d.vector) require(std::isfinite(x), "a feature is a number");
    std::size_t pairs = 0, expected = 0;
    for (const auto& p : all.pairwise()) pairs += p.label == 1;
    for (const auto& q : all.listwise()) {
      require(q.labels.size() == q.vectors.size() && q.labels[0] > 0, "a document answers");
      for (std::size_t i = 0; i < q.labels.size(); ++i)
        for (std::size_t j = i + 1; j < q.labels.size(); ++j) {
          require(q.labels[i] >= q.labels[j], "the better documents come first");
          expected += q.labels[i] > q.labels[j];
        }
    }
    require(pairs == expected, "documents with different labels are pairs");
  });
}

void fuzz::sentiment(std::string_view bytes) {
  for (const bool checked : {true, false})
    accepts(bytes, [&] {
      lamina::binary_reader from(bytes, "fuzz.zip");
      const lamina::dataset::sentiment::source all(
          lamina::dataset::read_zip_members(from, lamina::dataset::sentiment::detail::is_review,
                                            checked),
          {.train_samples = 1});
      for (const auto& part : {all.train(), all.test()})
        for (const auto& s : part)
          for (const auto id : s.words)
            require(id >= 0 && id < all.word_dict().size(), "an id is one of the dictionary");
    });
}

void fuzz::flowers(std::string_view bytes) {
  accepts(bytes, [&] {
    const mat_file file("fuzz.mat", bytes);
    for (const mat_matrix& m : file.matrices()) {
      std::int64_t size = 1;
      for (const std::int64_t n : m.shape) size *= n;
      require(m.values.size() == static_cast<std::size_t>(size), "a matrix has all its numbers");
    }
  });
}

void fuzz::voc2012(std::string_view bytes) {
  const std::string path = folder() + "/voc.tar";
  for (const std::string& all : {std::string(bytes), with_checksums(bytes)}) {
    lamina::write_file(path, all);
    accepts(all, [&] {
      const lamina::dataset::voc2012::data photographs(path);
      for (const auto& part : {photographs.train(), photographs.test(), photographs.val()})
        for (const auto& s : part)
          require(s.bytes.size() + s.mask.size() <= all.size(), "files lie in the archive");
    });
  }
  lamina::remove_file(path);
}

void fuzz::recordio(std::string_view bytes) {
  // Damage seldom has the right checksum: also the bytes of one chunk with it.
  std::string chunk;
  for (const std::uint32_t n :
       {0x01020304u, 2u, lamina::crc32_of(bytes.data(), bytes.size()),
        static_cast<std::uint32_t>(bytes.size() % 3), static_cast<std::uint32_t>(bytes.size())})
    for (int i = 0; i < 4; ++i) chunk += static_cast<char>(n >> (8 * i));
  chunk += bytes;
  for (const std::string& all : {std::string(bytes), chunk})
    accepts(all, [&] {
      lamina::binary_reader file(all, "fuzz.recordio");
      lamina::recordio_reader from(file);
      for (std::string_view record; from.next(record);)
        require(from.offset() < all.size(), "a chunk lies in the file");
    });
}
