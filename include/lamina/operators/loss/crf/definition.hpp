// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/crf/definition.hpp - conditional random fields over sequences of tags.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// A path y chooses one of D tags for each of the n rows of a sequence. With Emission x [rows, D],
/// its score is start[y_1] + sum_k x[k, y_k] + sum_k>1 w[y_{k-1}, y_k] + end[y_n], where row 0 of
/// Transition [D + 2, D] is start, row 1 is end, and the other D rows are w. LogLikelihood
/// [sequences, 1] is the cost -log P(Label) = log(sum over all paths of e^score) - score(Label), or
/// 0 for a sequence without rows. Alpha [rows, D] holds the forward variables (the sums of e^score
/// over all paths up to a row that end with each tag), each row divided by its sum. EmissionExps =
/// e^(x - max of the row), TransitionExps = e^Transition. Source: Lafferty et al. 2001. Fluid:
/// linear_chain_crf.
struct linear_chain_crf : operator_definition {
  static constexpr const char* type = "linear_chain_crf";
  static constexpr std::array<slot_desc, 3> inputs{{{"Emission"}, {"Transition"}, {"Label"}}};
  static constexpr std::array<slot_desc, 4> outputs{{{"Alpha", false, false, true},
                                                     {"EmissionExps", false, false, true},
                                                     {"TransitionExps", false, false, true},
                                                     {"LogLikelihood"}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 7;
  static constexpr std::uint32_t gradient_outputs = 7;
  static constexpr std::uint32_t gradient_of_outputs = 8;
};

/// ViterbiPath [rows, 1] = the tags of the path with the highest score; linear_chain_crf defines
/// scores. Among paths with equal scores, the path with the lower last tag is taken. With Label,
/// ViterbiPath is instead 1 in each row whose tag equals the label, else 0. There is no gradient.
/// Fluid: crf_decoding.
struct crf_decoding : operator_definition {
  static constexpr const char* type = "crf_decoding";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"Emission"}, {"Transition"}, {"Label", false, true}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"ViterbiPath"}}};
};

using loss_crf_operators = operator_list<linear_chain_crf, crf_decoding>;

}}}  // namespace lamina::operators
