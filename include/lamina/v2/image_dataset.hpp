// SPDX-License-Identifier: Apache-2.0
// lamina/v2/image_dataset.hpp - the data sets of photographs of PaddlePaddle v2, under their names
// there. Programs must link libjpeg and libpng.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/dataset/flowers.hpp>
#include <lamina/dataset/voc2012.hpp>
#include <lamina/image/segmented.hpp>
#include <lamina/image/simple_transform.hpp>
#include <lamina/reader/map.hpp>
#include <lamina/reader/xmap.hpp>
#include <lamina/v2/dataset.hpp>
#include <lamina/v2/init.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::dataset {

namespace flowers {

namespace detail {
/// Returns a reader that decodes images as v2's default mapper does, with four threads, in the
/// order of the archive.
template <class Table>
auto images(Table&& table, bool is_train) {
  return table | lamina::reader::xmap(lamina::image::simple_transform{.is_train = is_train},
                                      {.threads = 4, .seed = current().seed});
}
}  // namespace detail

/// Opens the data set in a folder with 102flowers.tgz, imagelabels.mat and setid.mat. Its samples
/// are files that are not decoded.
inline auto read(const std::string& folder) { return lamina::dataset::flowers::read(folder); }
inline auto read() { return read(common::DATA_HOME() + "/flowers"); }
/// Returns a reader of images of 3 * 224 * 224 floats, which are cut out at random positions, and
/// their labels, 0 to 101. v2: flowers.train.
inline auto train(const std::string& folder) { return detail::images(read(folder).train(), true); }
inline auto train() { return train(common::DATA_HOME() + "/flowers"); }
/// Return readers of images of 3 * 224 * 224 floats, which are cut out in the middle, and their
/// labels. v2: flowers.test, flowers.valid.
inline auto test(const std::string& folder) { return detail::images(read(folder).test(), false); }
inline auto test() { return test(common::DATA_HOME() + "/flowers"); }
inline auto valid(const std::string& folder) { return detail::images(read(folder).valid(), false); }
inline auto valid() { return valid(common::DATA_HOME() + "/flowers"); }

}  // namespace flowers

namespace voc2012 {

/// Opens the data set in an archive. Its samples are the files of photographs and masks, which are
/// not decoded.
inline auto read(const std::string& path) { return lamina::dataset::voc2012::read(path); }
inline auto read() { return read(common::DATA_HOME() + "/voc2012/VOCtrainval_11-May-2012.tar"); }
/// Return readers of decoded images, each in its own size, and the classes of their pixels. v2:
/// voc2012.train, test and val.
inline auto train() {
  return read().train() | lamina::reader::map(&lamina::image::decode_segmented);
}
inline auto test() { return read().test() | lamina::reader::map(&lamina::image::decode_segmented); }
inline auto val() { return read().val() | lamina::reader::map(&lamina::image::decode_segmented); }

}  // namespace voc2012

}}}  // namespace lamina::v2::dataset
