// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/definition.hpp - edit_distance and chunk_eval, which evaluate
// predicted sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[i] = the minimal number of insertions, deletions and substitutions that turn sequence i of
/// Hyps into sequence i of Refs; with `normalized`, this number divided by the length of the
/// sequence of Refs. SequenceNum = the number of sequences. There is no gradient. Source:
/// Levenshtein 1966. Fluid: edit_distance.
struct edit_distance : operator_definition {
  static constexpr const char* type = "edit_distance";
  static constexpr std::array<slot_desc, 2> inputs{{{"Hyps"}, {"Refs"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"SequenceNum"}, {"Out"}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"normalized", attribute_type::boolean, 0}}};
  static constexpr bool accepts_any_rows = true;
  static constexpr auto reduces = row_reduction::sum;
};

/// Counts the chunks of a predicted tag sequence, Inference ("inferred" chunks), of the expected
/// tag sequence, Label ("labelled"), and the chunks that both have ("correct"). Precision = correct
/// / inferred, Recall = correct / labelled, F1-Score = the harmonic mean of both; each of the three
/// is 0 if its divisor is 0. A chunk is a run of rows with one type, such as the words of a name.
/// With n tags in the scheme, the number of a tag is type * n + the tag's position in the scheme.
/// The schemes are IOB (begin, inside), IOE (inside, end), IOBES (begin, inside, end, single) and
/// plain (one tag). The tag num_chunk_types * n marks rows outside of chunks. Chunks of the types
/// in excluded_chunk_types are not counted. There is no gradient. Fluid: chunk_eval.
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
