// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/definition.hpp - evaluation of predicted sequences: edit
// distance, chunks.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[i] = the minimal number of insertions, deletions and substitutions that turn sequence i of
/// Hyps into sequence i of Refs; with `normalized`, divided by the length of the sequence of Refs.
/// SequenceNum = the number of sequences. There is no gradient. Source: Levenshtein 1966. Fluid:
/// edit_distance.
struct edit_distance : operator_definition {
  static constexpr const char* type = "edit_distance";
  static constexpr std::array<slot_desc, 2> inputs{{{"Hyps"}, {"Refs"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"SequenceNum"}, {"Out"}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"normalized", attribute_type::boolean, 0}}};
  static constexpr bool accepts_any_rows = true;
  static constexpr auto reduces = row_reduction::sum;
};

/// Counts the chunks in the tags Inference (inferred), in the tags Label (labelled), and in both
/// (correct). Precision = correct / inferred, Recall = correct / labelled, F1-Score = their
/// harmonic mean; each is 0 if there are no chunks. A tag is chunk type * number of tags in the
/// scheme + tag in the scheme. Schemes: IOB (begin, inside), IOE (inside, end), IOBES (begin,
/// inside, end, single), plain (one tag). The next tag after these marks elements outside of
/// chunks. Types in excluded_chunk_types are not counted. There is no gradient. Fluid: chunk_eval.
struct chunk_eval : operator_definition {
  static constexpr const char* type = "chunk_eval";
  static constexpr std::array<slot_desc, 2> inputs{{{"Inference"}, {"Label"}}};
  static constexpr std::array<slot_desc, 6> outputs{{{"Precision"},
                                                     {"Recall"},
                                                     {"F1-Score"},
                                                     {"NumInferChunks"},
                                                     {"NumLabelChunks"},
                                                     {"NumCorrectChunks"}}};
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"num_chunk_types", attribute_type::integer, 1},
       {"chunk_scheme", attribute_type::string, 0, "IOB"},
       {"excluded_chunk_types", attribute_type::integers}}};
  static constexpr auto reduces = row_reduction::sum;
  static constexpr std::uint32_t reduced_outputs = 0b111000;
};

using metric_sequence_operators = operator_list<edit_distance, chunk_eval>;

}}}  // namespace lamina::operators
