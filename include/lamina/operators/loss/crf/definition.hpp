// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/crf/definition.hpp - conditional random fields over sequences of tags.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// A path y of a sequence with n rows of Emission x [rows, D] has the score start[y_1] + sum_k x[k,
/// y_k] + sum_k>1 w[y_{k-1}, y_k] + end[y_n]. Row 0 of Transition [D + 2, D] is start, row 1 is
/// end, the other rows are w. LogLikelihood [sequences, 1] is the cost -log P(Label) = log(sum over
/// all paths of e^score) - score(Label), or 0 for a sequence without rows. Alpha: the forward
/// variables, each row scaled to a sum of 1. EmissionExps = e^(x - max of the row), TransitionExps
/// = e^Transition. Source: Lafferty et al. 2001. Fluid: linear_chain_crf.
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

/// ViterbiPath [rows, 1] = the tags of the path with the highest score; among equal paths, the one
/// with the lower last tag. With Label, ViterbiPath is instead 1 for each tag that equals the
/// label, else 0. There is no gradient. Fluid: crf_decoding.
struct crf_decoding : operator_definition {
  static constexpr const char* type = "crf_decoding";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"Emission"}, {"Transition"}, {"Label", false, true}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"ViterbiPath"}}};
};

using loss_crf_operators = operator_list<linear_chain_crf, crf_decoding>;

}}}  // namespace lamina::operators
