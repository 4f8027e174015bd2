// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/definition.hpp - beam search: one step, and the hypotheses
// that all steps have found.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Computes one step of a beam search. Row r of pre_ids and pre_scores is a partial hypothesis: its
/// last id and its score. Row r of ids and scores [rows, K] has the K candidates by which the
/// hypothesis may continue; if the slot ids is empty, their ids are 0 to K - 1. The sequences of
/// LoD level `level` of scores are the sources, each of which is decoded separately. For each
/// source, the operator selects the beam_size candidates with the highest scores. Among equal
/// scores, the candidate of the later hypothesis comes first, and a candidate that is equal to the
/// last selected one replaces it. A hypothesis whose last id is end_id has ended; its only
/// candidate is end_id with the score of the hypothesis. If all selected candidates of a source
/// continue ended hypotheses, the source is finished and gets no candidates. If is_accumulated is
/// false, scores are probabilities, and the score of a candidate is pre_scores + log(scores).
/// selected_ids and selected_scores [selected, 1] have two LoD levels: the hypotheses of each
/// source, and the selected candidates of each hypothesis by descending score. parent_idx
/// [selected] = the row of pre_ids that each candidate continues. There is no gradient. Fluid:
/// beam_search.
struct beam_search : operator_definition {
  static constexpr const char* type = "beam_search";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"pre_ids"}, {"pre_scores"}, {"ids", false, true}, {"scores"}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"selected_ids"}, {"selected_scores"}, {"parent_idx", false, true}}};
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"level", attribute_type::integer, 0},
       {"beam_size", attribute_type::integer, 1},
       {"end_id", attribute_type::integer, 0},
       {"is_accumulated", attribute_type::boolean, 1}}};
  static constexpr int made_levels = 2;
};

/// Builds the whole hypotheses of a beam search. Ids and Scores are arrays: slot 0 has the first
/// ids and their scores, the other slots have selected_ids and selected_scores of all steps. The
/// operator starts from the hypotheses of the last step in which a source has any, and goes back
/// from step to step; the LoD of a slot tells which hypothesis of the previous slot a row
/// continues. A hypothesis that has ended has end_id in all later steps; the operator keeps only
/// the first end_id. SentenceIds and SentenceScores [tokens, 1] have two LoD levels: the hypotheses
/// of each source, highest last score first, and the tokens of each hypothesis. There is no
/// gradient. Fluid: beam_search_decode; there, empty hypotheses are added until each source has
/// beam_size hypotheses.
struct beam_search_decode : operator_definition {
  static constexpr const char* type = "beam_search_decode";
  static constexpr std::array<slot_desc, 2> inputs{{{"Ids"}, {"Scores"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"SentenceIds"}, {"SentenceScores"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"beam_size", attribute_type::integer, 1}, {"end_id", attribute_type::integer, 0}}};
  static constexpr int made_levels = 2;
};

using decode_beam_search_operators = operator_list<beam_search, beam_search_decode>;

}}}  // namespace lamina::operators
