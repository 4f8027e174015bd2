// SPDX-License-Identifier: Apache-2.0
// lamina/operators/decode/beam_search/definition.hpp - the best continuations of the hypotheses of
// each sentence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina::inline LAMINA_ABI {

/// One step of a beam search. Row r of pre_ids and pre_scores is a partial hypothesis: its last id
/// and its score; row r of ids and scores [rows, K] are its candidates, ids 0 to K - 1 where slot
/// ids is empty. The sequences of level `level` of scores are the sources. The beam_size candidates
/// with the highest scores of each source are kept. Among equal scores the later hypothesis comes
/// first, and a candidate equal to the last kept one replaces it. A hypothesis whose last id is
/// end_id has one candidate, end_id with its score; a source whose candidates all continue such
/// hypotheses gets none. Unless is_accumulated, scores are probabilities: pre_scores + log(scores)
/// count. selected_ids and selected_scores [selected, 1] have two levels: hypotheses of each
/// source, selected ones of each hypothesis, by descending score. parent_idx [selected] = the row
/// of pre_ids that each continues. Has no gradient. Fluid: beam_search.
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

/// The hypotheses that the steps of a beam search found: Ids and Scores are the arrays of their
/// selected_ids and selected_scores, starting with the first ids. The operator reads a hypothesis
/// of a source backwards from its last step, along the sequences, and keeps only the first of its
/// end_id. SentenceIds and SentenceScores [tokens, 1] have two levels: hypotheses of each source,
/// those with the highest last score first, and tokens of each hypothesis. Has no gradient. Fluid:
/// beam_search_decode; unlike there, no empty hypotheses fill up beam_size.
struct beam_search_decode : operator_definition {
  static constexpr const char* type = "beam_search_decode";
  static constexpr std::array<slot_desc, 2> inputs{{{"Ids"}, {"Scores"}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"SentenceIds"}, {"SentenceScores"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"beam_size", attribute_type::integer, 1}, {"end_id", attribute_type::integer, 0}}};
  static constexpr int made_levels = 2;
};

using decode_beam_search_operators = operator_list<beam_search, beam_search_decode>;

}  // namespace lamina::inline LAMINA_ABI
