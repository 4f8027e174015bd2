// SPDX-License-Identifier: Apache-2.0
// lamina::compiled, part data: what depends on no program (docs/building.md).
// Generated: test/structure/compiled_sources.py --update writes this list.

// Declared only: other parts have the bodies.
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/files/file_mapping.hpp>
#include <lamina/core/files/left_files.hpp>
#include <lamina/core/files/open_file.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/system/memory.hpp>
#include <lamina/core/system/memory_functions.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/core/system/system_functions.hpp>

#include <lamina/core/compiles.hpp>

#include <lamina/dataset/archive_members.hpp>
#include <lamina/dataset/byte_source.hpp>
#include <lamina/dataset/cifar.hpp>
#include <lamina/dataset/column_encoding.hpp>
#include <lamina/dataset/conll05.hpp>
#include <lamina/dataset/csv.hpp>
#include <lamina/dataset/csv_parser.hpp>
#include <lamina/dataset/csv_rows.hpp>
#include <lamina/dataset/dictionary.hpp>
#include <lamina/dataset/digits.hpp>
#include <lamina/dataset/flowers.hpp>
#include <lamina/dataset/housing.hpp>
#include <lamina/dataset/idx.hpp>
#include <lamina/dataset/imdb.hpp>
#include <lamina/dataset/imikolov.hpp>
#include <lamina/dataset/mat_file.hpp>
#include <lamina/dataset/mnist.hpp>
#include <lamina/dataset/movie_reviews.hpp>
#include <lamina/dataset/movielens.hpp>
#include <lamina/dataset/mq2007.hpp>
#include <lamina/dataset/pickle.hpp>
#include <lamina/dataset/python_random.hpp>
#include <lamina/dataset/sentiment.hpp>
#include <lamina/dataset/stored_members.hpp>
#include <lamina/dataset/text.hpp>
#include <lamina/dataset/text_member.hpp>
#include <lamina/dataset/translation.hpp>
#include <lamina/dataset/utf8.hpp>
#include <lamina/dataset/voc2012.hpp>
#include <lamina/dataset/vocabulary.hpp>
#include <lamina/dataset/wmt14.hpp>
#include <lamina/dataset/wmt16.hpp>
#include <lamina/dataset/word_counter.hpp>
