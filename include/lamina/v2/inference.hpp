// SPDX-License-Identifier: Apache-2.0
// lamina/v2/inference.hpp - computes the results of a program for given samples.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/evaluation/activation_view.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/feeding/feeder.hpp>
#include <lamina/model/feeding/minibatch_position.hpp>
#include <lamina/tensor/array.hpp>
#include <lamina/v2/parameters.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

/// Selects what infer returns for each variable that the program returns: the values of the
/// variable, or, for each row, the position of its largest value.
enum class field : std::uint8_t { value, id };

namespace inference {

/// Computes the variables that a program returns, with parameters that other programs have trained:
/// `Inference of(output_layer, parameters)`. `output_layer` is a program that returns one or
/// several variables. Its parameters are those with the same names in `parameters`. All calls of
/// infer use the same memory, so only one thread at a time may use an Inference. v2:
/// inference.Inference.
template <program_type P>
class Inference {
  static constexpr int outputs = counts_of<P>.outputs;
  static_assert(check<(outputs > 0)>, "lamina: v2: infer: the program returns no variable");

 public:
  /// Throws lamina::error if `from` does not have all parameters of the program.
  template <program_type... All>
  Inference(P output_layer, const parameters::Parameters<All...>& from)
      : model_(from.apply([&](const auto&... m) {
          return lamina::model<P>(output_layer, share_parameters_of(m)...);
        })),
        evaluator_(model_) {
    for (int i = 0; i < counts_of<P>.parameters; ++i)
      if (const std::string name = model_.describe(i).name; !from.has_key(name))
        throw error(text() << "lamina: v2: infer: expected parameters of the output layer, found "
                              "none of name '"
                           << name << "'");
  }
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  /// Computes the returned variables for a range of samples; a sample has one field for each data
  /// layer of the program. Returns an array with a row per sample, or per element of sequences; if
  /// the program returns several variables, returns a tuple of arrays. Throws lamina::error for
  /// samples that do not fit, and if there are no samples.
  template <v2::field Field = v2::field::value, class Samples>
  auto infer(const Samples& input) {
    feeder_.fill(input);
    if (feeder_.rows() == 0)
      throw error("lamina: v2: infer: expected at least one sample, found none");
    feeder_.view().feed_to(evaluator_.machine());
    evaluator_.machine().run(~0ull, 0, 0);
    return [this]<std::size_t... Index>(std::index_sequence<Index...>) {
      if constexpr (outputs == 1)
        return this->template result<Field, P::desc.outputs[0]>();
      else
        return std::make_tuple(this->template result<Field, P::desc.outputs[Index]>()...);
    }
    (std::make_index_sequence<static_cast<std::size_t>(outputs)>());
  }

 private:
  template <v2::field Field, int V>
  auto result() {
    const auto view = activation_view<for_test<P>, V>(evaluator_.machine());
    using number = typename lamina::detail::cpp_type_of<P::desc.variables[V].type>::type;
    const array<number> values(view);
    if constexpr (Field == v2::field::value) {
      return values;
    } else {
      const std::size_t rows = values.dimension() == 0 ? 1 : values.shape(0);
      const std::size_t width = rows == 0 ? 0 : values.size() / rows;
      std::vector<std::int64_t> largest(rows);
      for (std::size_t r = 0; r < rows; ++r) {
        const number* const row = values.data() + r * width;
        largest[r] = std::max_element(row, row + width) - row;
      }
      return largest;
    }
  }

  lamina::model<P> model_;
  lamina::evaluator<P> evaluator_;
  feeder<P> feeder_;
};

}  // namespace inference

/// Computes the variables that `output_layer` returns for samples: `infer(predict, parameters,
/// samples)`. Each call makes an Inference; for many calls, one Inference that the caller makes is
/// faster. v2: paddle.infer.
template <field Field = field::value, program_type P, program_type... All, class Samples>
auto infer(P output_layer, const parameters::Parameters<All...>& parameters, const Samples& input) {
  return inference::Inference<P>(output_layer, parameters).template infer<Field>(input);
}

}}}  // namespace lamina::v2
