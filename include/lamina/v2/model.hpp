// SPDX-License-Identifier: Apache-2.0
// lamina/v2/model.hpp - model, evaluator and train under their names in the design document of
// PaddlePaddle.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/core/files/file.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>
#include <lamina/train/train.hpp>
#include <lamina/v2/init.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

namespace model {

/// Makes a model of the program `output`; initial values are drawn with the seed of init(). If one
/// of `parameter_models` has a parameter with the same name, the models share this parameter, so
/// training one changes both. The design document of PaddlePaddle: model.create, parameter_model.
template <program_type P, program_type... Q>
lamina::model<P> create(P output, const lamina::model<Q>&... parameter_models) {
  return lamina::model<P>(output, share_parameters_of(parameter_models)..., current().seed);
}

/// Makes a model of the program `output`, with the parameters in a file that model::save wrote.
/// Throws format_error for a damaged file, and lamina::error for a file of another program. The
/// design document of PaddlePaddle: model.load.
template <program_type P>
lamina::model<P> load(P output, const file_path& path) {
  lamina::model<P> made(output);
  made.load(path);
  return made;
}

}  // namespace model

namespace evaluator {

/// Makes an evaluator of a model, which must outlive the evaluator. Only one thread at a time may
/// use an evaluator. The design document of PaddlePaddle: evaluator.create.
template <program_type P>
lamina::evaluator<P> create(const lamina::model<P>& of) {
  return lamina::evaluator<P>(of);
}
template <program_type P>
void create(lamina::model<P>&&) = delete;  // expects a model with a name, which outlives it

}  // namespace evaluator

/// Trains a model on a reader of mini-batches with optimizer::Default. The design document of
/// PaddlePaddle: paddle.train.
template <program_type P, class Reader>
train_result train(lamina::model<P>& m, Reader&& data_provider, const train_options& options = {}) {
  return lamina::train(m, std::forward<Reader>(data_provider), options);
}

}}}  // namespace lamina::v2
