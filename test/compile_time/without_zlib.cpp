// SPDX-License-Identifier: Apache-2.0
// Every header that reads or writes compressed files, in a build without zlib.
#undef LAMINA_HAS_ZLIB
#define LAMINA_HAS_ZLIB 0
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/cifar.hpp>
#include <lamina/dataset/conll05.hpp>
#include <lamina/dataset/mat_file.hpp>
#include <lamina/dataset/mnist.hpp>
#include <lamina/io/archive/gzip.hpp>
#include <lamina/io/archive/zip_reader.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/lamina.hpp>
