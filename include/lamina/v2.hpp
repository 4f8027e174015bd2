// SPDX-License-Identifier: Apache-2.0
// lamina/v2.hpp - the names of PaddlePaddle v2 and of its design documents over lamina's own
// objects, so that programs for them can be translated line by line: `namespace paddle =
// lamina::v2;`.
// Not included, because they cost compile time: data sets that read files (lamina/v2/dataset.hpp,
// lamina/v2/image_dataset.hpp) or bring them (lamina/v2/download.hpp), records
// (lamina/v2/recordio.hpp) and archives of parameters
// (lamina/v2/parameter_tar.hpp).
#pragma once

#include <lamina/core/config.hpp>

// As in lamina.hpp.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

#include <lamina/lamina.hpp>
#include <lamina/v2/creator.hpp>
#include <lamina/v2/data_provider.hpp>
#include <lamina/v2/event.hpp>
#include <lamina/v2/feeding.hpp>
#include <lamina/v2/inference.hpp>
#include <lamina/v2/init.hpp>
#include <lamina/v2/layers/activation.hpp>
#include <lamina/v2/layers/data_type.hpp>
#include <lamina/v2/layers/evaluator.hpp>
#include <lamina/v2/layers/layer.hpp>
#include <lamina/v2/layers/trainer_config_helpers.hpp>
#include <lamina/v2/model.hpp>
#include <lamina/v2/optimizer.hpp>
#include <lamina/v2/parameters.hpp>
#include <lamina/v2/reader.hpp>
#include <lamina/v2/trainer.hpp>

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
#endif
