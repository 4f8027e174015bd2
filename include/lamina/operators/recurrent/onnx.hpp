// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/onnx.hpp - operators of the family recurrent, as ONNX nodes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_functions.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/operators/sequence/onnx.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

// Fluid's lstm and gru take the product of their input and a matrix; ONNX's operators compute this
// product themselves. So the ONNX operators get a matrix that only reorders the gates.

/// ONNX's name for the activation function of a gate.
inline std::string function_named(onnx_operator& op, const char* attribute, const char* otherwise) {
  const std::string& name = op.string(attribute, otherwise);
  for (const auto& [ours, theirs] :
       {std::pair{"sigmoid", "Sigmoid"}, {"tanh", "Tanh"}, {"relu", "Relu"}})
    if (name == ours) return theirs;
  op.fail("expected sigmoid, tanh or relu as " + std::string(attribute) + ", found " + name);
}

/// A matrix [parts * size, parts * size] that reorders slices: slice k of the result is slice
/// from[k] of the input, times sign[k]. It is a value [1, ...] of the input's type.
inline std::string part_order(onnx_operator& op, std::int64_t size,
                              const std::vector<std::int64_t>& from,
                              const std::vector<float>& sign) {
  const std::size_t d = static_cast<std::size_t>(size), n = from.size() * d;
  std::vector<float> w(n * n, 0.F);
  for (std::size_t k = 0; k < from.size(); ++k)
    for (std::size_t i = 0; i < d; ++i)
      w[(k * d + i) * n + static_cast<std::size_t>(from[k]) * d + i] = sign[k];
  return op.program().graph.constant(tensor({1, n, n}, w).cast(op.type_of("Input")));
}
/// Zeros [1, size] of the input's type: the bias of the recurrent product, which Fluid lacks.
inline std::string no_bias(onnx_operator& op, std::int64_t size) {
  return op.program().graph.constant(
      tensor::zeros(op.type_of("Input"), {1, static_cast<std::size_t>(size)}));
}
/// The columns [first, end) of a matrix.
inline const std::string& columns(onnx_operator& op, const std::string& x, std::int64_t first,
                                  std::int64_t end) {
  return op.node("Slice", {x, op.list({first}), op.list({end}), op.list({1})});
}
/// Reorders blocks of `size` columns.
inline const std::string& blocks_of(onnx_operator& op, const std::string& x, std::int64_t size,
                                    const std::vector<std::int64_t>& from,
                                    const std::vector<float>& sign) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const std::string& part = columns(op, x, from[k] * size, (from[k] + 1) * size);
    parts.push_back(sign[k] < 0 ? op.node("Neg", {part}) : part);
  }
  return op.node("Concat", parts, {{"axis", 1}});
}
/// Transposes a weight [D, parts * D] to ONNX's layout [1, parts * D, D].
inline const std::string& recurrent_weight(onnx_operator& op, const std::string& x) {
  return op.node(
      "Unsqueeze",
      {op.node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}}), op.list({0})});
}
inline std::string with_direction(onnx_operator& op, const char* slot) {
  return op.has(slot) ? op.node("Unsqueeze", {op.in(slot), op.list({0})}) : std::string();
}

/// Runs an ONNX operator over padded steps [steps, sequences, ...], and copies the rows of its
/// result back to the rows of sequences.
class padded_steps {
 public:
  explicit padded_steps(onnx_operator& op)
      : op_(op), at_(positions_in(op, "Input")), steps_(longest(op, at_.lengths)) {}

  /// The input in the layout of ONNX, with zeros after the end of each sequence, and the lengths of
  /// sequences.
  std::string input() {
    const auto [row, holds] = padded_positions(op_, at_, steps_);
    const std::string& x = gathered(op_, op_.in("Input"), row);
    const std::string& zero =
        op_.node("Where", {column(op_, holds), x, op_.number(0, op_.type_of("Input"))});
    return op_.node("Transpose", {zero}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  }
  std::string lengths() { return op_.cast(at_.lengths, dtype::int32); }
  /// Converts Y [steps, 1, sequences, size] to rows.
  void give(const char* slot, const std::string& y) {
    const std::string& position =
        op_.node("Concat", {column(op_, at_.position), column(op_, at_.id)}, {{"axis", 1}});
    op_.out(slot, "GatherND", {op_.node("Squeeze", {y, op_.list({1})}), position});
  }

 private:
  onnx_operator& op_;
  sequence_positions at_;
  std::string steps_;
};
inline const char* direction_of(const onnx_operator& op) {
  return op.flag("is_reverse") ? "reverse" : "forward";
}

/// Splits the weight of Fluid's gru and gru_unit, which stores a matrix [D, 2D] followed by a
/// matrix [D, D].
inline std::pair<std::string, std::string> gru_weights(onnx_operator& op, std::int64_t d) {
  const std::string &flat = op.reshape(op.in("Weight"), {-1}), &first = op.list({0});
  const std::string& gates = op.node("Slice", {flat, op.list({0}), op.list({2 * d * d}), first});
  const std::string& candidate =
      op.node("Slice", {flat, op.list({2 * d * d}), op.list({3 * d * d}), first});
  return {op.reshape(gates, {d, 2 * d}), op.reshape(candidate, {d, d})};
}

/// h = (1 - u) h' + u c equals ONNX's h = (1 - z) c + z h' with z = 1 - u. For a sigmoid, z is the
/// gate of the negated argument of u. With origin_mode, z is u.
inline void lower_gru(onnx_operator& op) {
  const std::int64_t d = op.extent("Weight", 0);
  const std::string &gate = function_named(op, "gate_activation", "sigmoid"),
                    &candidate = function_named(op, "activation", "tanh");
  const bool negates = !op.flag("origin_mode");
  if (negates && gate != "Sigmoid")
    op.fail("expected the gate sigmoid without origin_mode, found " + gate);
  const std::vector<std::int64_t> order{0, 1, 2};
  const std::vector<float> signs{negates ? -1.F : 1.F, 1, 1};
  padded_steps steps(op);
  const auto [gates, inner] = gru_weights(op, d);
  const std::string& weight = op.node("Concat", {gates, inner}, {{"axis", 1}});
  std::string bias;
  if (op.has("Bias"))
    bias = op.node("Concat", {blocks_of(op, op.in("Bias"), d, order, signs), no_bias(op, 3 * d)},
                   {{"axis", 1}});
  const std::string& y = op.node("GRU",
                                 {steps.input(), part_order(op, d, order, signs),
                                  recurrent_weight(op, blocks_of(op, weight, d, order, signs)),
                                  bias, steps.lengths(), with_direction(op, "H0")},
                                 {{"hidden_size", d},
                                  {"direction", direction_of(op)},
                                  {"activations", std::vector<std::string>{gate, candidate}}});
  steps.give("Hidden", y);
}

/// An LSTM, GRU or RNN node, unrolled: the operators of each step, one after the other.
class raised_recurrence {
 public:
  explicit raised_recurrence(onnx_import_node& n)
      : n_(n),
        x_(n.flag("layout") ? n.transpose(n.in(0), {1, 0, 2}) : n.in(0)),
        names_(n.texts("activations")),
        gates_(n.type() == "LSTM"  ? 4
               : n.type() == "GRU" ? 3
                                   : 1),
        length_(n.extent(x_, 0)),
        hidden_(n.extent(n.in(2), 2)) {
    n.require_rank(x_, 3, 3);
    if (length_ < 1 || length_ > longest)
      n.fail(text("expected 1 to ") << longest << " steps, found " << length_);
    if (n.extent(n.in(1), 1) != gates_ * hidden_ || n.extent(n.in(2), 1) != gates_ * hidden_)
      n.fail("expected weights for the gates of hidden_size units");
    if (n.has_attribute("clip") && n.real("clip") != 0) n.fail("expected no clip, found one");
    if (n.flag("input_forget")) n.fail("expected input_forget 0, found 1");
    const std::size_t per_direction = gates_ == 4 ? 3 : gates_ == 3 ? 2 : 1;
    const char* const usual[] = {gates_ == 1 ? "Tanh" : "Sigmoid", "Tanh", "Tanh"};
    while (names_.size() < per_direction * directions())
      names_.push_back(usual[names_.size() % per_direction]);
    each_ = per_direction;
  }

  void run() {
    std::vector<onnx_imported> all, last, cells;
    for (std::size_t d = 0; d < directions(); ++d) {
      direction(d);
      all.push_back(n_.unsqueeze(stacked(steps_), {1}));
      last.push_back(n_.unsqueeze(h_, {0}));
      if (gates_ == 4) cells.push_back(n_.unsqueeze(c_, {0}));
    }
    const bool batch_first = n_.flag("layout");
    n_.out(0, turned(n_.concat(all, 1), batch_first, {2, 0, 1, 3}));
    n_.out(1, turned(n_.concat(last, 0), batch_first, {1, 0, 2}));
    if (gates_ == 4) n_.out(2, turned(n_.concat(cells, 0), batch_first, {1, 0, 2}));
  }

 private:
  static constexpr std::int64_t longest = 4096;

  std::size_t directions() const {
    return n_.string("direction", "forward") == "bidirectional" ? 2 : 1;
  }
  onnx_imported turned(const onnx_imported& y, bool wanted,
                       const std::vector<std::int64_t>& order) {
    return wanted ? n_.transpose(y, order) : y;
  }
  onnx_imported row_of(std::size_t i, std::size_t d) {
    return n_.squeeze(
        n_.slice(n_.in(i), 0, static_cast<std::int64_t>(d), static_cast<std::int64_t>(d) + 1), {0});
  }
  // A state before the first step: an input, or zeros.
  onnx_imported first(std::size_t i, std::size_t d) {
    if (n_.has(i)) {
      const onnx_imported all = n_.flag("layout") ? n_.transpose(n_.in(i), {1, 0, 2}) : n_.in(i);
      return n_.squeeze(
          n_.slice(all, 0, static_cast<std::int64_t>(d), static_cast<std::int64_t>(d) + 1), {0});
    }
    const std::int64_t batch = x_.dims[1];
    if (batch >= 0) return n_.filled(0, x_.type, {batch, hidden_});
    const onnx_imported zero =
        n_.reduce("reduce_sum", n_.unary("fill_zeros_like", n_.squeeze(n_.slice(x_, 0, 0, 1), {0})),
                  {1}, true);
    return n_.add(zero, n_.filled(0, x_.type, {1, hidden_}));
  }
  onnx_imported part(const onnx_imported& of, std::int64_t k) {
    return n_.slice(of, of.rank() - 1, k * hidden_, (k + 1) * hidden_);
  }
  // Parts of the last dimension, each of some multiple of the units.
  std::vector<onnx_imported> parts(const onnx_imported& of, std::vector<std::int64_t> sections) {
    std::vector<onnx_result> results;
    for (std::int64_t& s : sections) {
      s *= hidden_;
      results.push_back({"Out", of.type, of.dims});
      results.back().dims.back() = s;
    }
    return n_.make_all("split", {{"X", of}},
                       {{"sections", sections}, {"axis", static_cast<int>(of.rank()) - 1}},
                       results);
  }
  // The slices of the first dimension, one per step.
  std::vector<onnx_imported> steps_of(const onnx_imported& x) {
    const std::vector<onnx_result> results(static_cast<std::size_t>(length_),
                                           {"Y", x.type, {x.dims.begin() + 1, x.dims.end()}});
    return n_.make_all("unstack", {{"X", x}}, {{"axis", 0}, {"num", static_cast<int>(length_)}},
                       results);
  }
  // The inverse of steps_of().
  onnx_imported stacked(const std::vector<onnx_imported>& steps) {
    std::vector<std::int64_t> dims = steps.at(0).dims;
    dims.insert(dims.begin(), static_cast<std::int64_t>(steps.size()));
    return n_.make("stack", {onnx_slot("X", steps)}, {{"axis", 0}}, steps[0].type, dims, "Y");
  }
  // Applies activation f, g or h (0, 1 or 2) of a direction.
  onnx_imported applied(std::size_t d, std::size_t k, const onnx_imported& x) {
    const std::string& name = names_[d * each_ + k];
    for (const auto& [node, type] : {std::pair{"Sigmoid", "sigmoid"},
                                     {"Tanh", "tanh"},
                                     {"Relu", "relu"},
                                     {"Softsign", "softsign"},
                                     {"Softplus", "softplus"}})
      if (name == node) return n_.unary(type, x);
    n_.fail("expected activations Sigmoid, Tanh, Relu, Softsign or Softplus, found " + name);
  }

  void direction(std::size_t d) {
    const onnx_imported w = row_of(1, d), r = row_of(2, d);
    onnx_imported bias_x, bias_h;
    if (n_.has(3)) {
      const onnx_imported b = row_of(3, d);
      bias_x = n_.slice(b, 0, 0, gates_ * hidden_);
      bias_h = n_.slice(b, 0, gates_ * hidden_, 2 * gates_ * hidden_);
    }
    onnx_imported of_x = n_.matmul(x_, w, false, true);
    if (bias_x.has_value()) of_x = n_.add(of_x, bias_x);
    h_ = first(5, d);
    if (gates_ == 4) c_ = first(6, d);
    steps_.assign(static_cast<std::size_t>(length_), {});
    // A gru adds its own parts to the gates and to the candidate.
    std::vector<onnx_imported> inputs, candidates;
    weights_of_gru of_gates{}, of_candidate{};
    if (gates_ == 3) {
      const std::vector<onnx_imported> both = parts(of_x, {2, 1});
      inputs = steps_of(both[0]);
      candidates = steps_of(both[1]);
      of_gates = {n_.slice(r, 0, 0, 2 * hidden_),
                  bias_h.has_value() ? n_.slice(bias_h, 0, 0, 2 * hidden_) : bias_h};
      of_candidate = {n_.slice(r, 0, 2 * hidden_, 3 * hidden_),
                      bias_h.has_value() ? n_.slice(bias_h, 0, 2 * hidden_, 3 * hidden_) : bias_h};
    } else {
      inputs = steps_of(of_x);
    }
    const bool back = d == 1 || n_.string("direction", "forward") == "reverse";
    if (n_.has(4) && back) n_.fail("expected no sequence_lens of a reverse direction, found some");
    for (std::int64_t i = 0; i < length_; ++i) {
      const std::int64_t t = back ? length_ - 1 - i : i;
      const onnx_imported& now = inputs[static_cast<std::size_t>(t)];
      const onnx_imported h = h_, c = c_;
      if (gates_ == 4)
        lstm(d, now, r, bias_h);
      else if (gates_ == 3)
        gru(d, now, candidates[static_cast<std::size_t>(t)], of_gates, of_candidate);
      else
        h_ = applied(d, 0, n_.add(now, recurrent(h_, r, bias_h)));
      onnx_imported shown = h_;
      if (n_.has(4)) {  // after the end of its sequence, a row keeps its state, and its result is 0
        const onnx_imported length = n_.unsqueeze(n_.cast(n_.in(4), dtype::int64), {1});
        const onnx_imported runs =
            n_.binary("greater_than", length, n_.number(static_cast<double>(t), dtype::int64),
                      dtype::boolean);
        shown = n_.kept(h_, runs);
        h_ = n_.where(runs, h_, h);
        if (gates_ == 4) c_ = n_.where(runs, c_, c);
      }
      steps_[static_cast<std::size_t>(t)] = shown;
    }
  }
  onnx_imported recurrent(const onnx_imported& h, const onnx_imported& r,
                          const onnx_imported& bias) {
    const onnx_imported y = n_.matmul(h, r, false, true);
    return bias.has_value() ? n_.add(y, bias) : y;
  }
  // The gates are i, o, f and c; peepholes i, o and f.
  void lstm(std::size_t d, const onnx_imported& now, const onnx_imported& r,
            const onnx_imported& bias) {
    const std::vector<onnx_imported> sums =
        parts(n_.add(now, recurrent(h_, r, bias)), {1, 1, 1, 1});
    const auto gate = [&](std::int64_t k, const onnx_imported& cell) {
      const onnx_imported& sum = sums[static_cast<std::size_t>(k)];
      return applied(d, 0, n_.has(7) ? n_.add(sum, n_.mul(cell, part(row_of(7, d), k))) : sum);
    };
    const onnx_imported in = gate(0, c_), forget = gate(2, c_), fresh = applied(d, 1, sums[3]);
    c_ = n_.add(n_.mul(forget, c_), n_.mul(in, fresh));
    h_ = n_.mul(gate(1, c_), applied(d, 2, c_));
  }
  // The recurrent weights of the gates z and r, or of the candidate, and their bias.
  struct weights_of_gru {
    onnx_imported weights{}, bias{};
  };
  // `now` and `candidate` are what the input adds to the gates and to the candidate.
  void gru(std::size_t d, const onnx_imported& now, const onnx_imported& candidate,
           const weights_of_gru& of_gates, const weights_of_gru& of_candidate) {
    const std::vector<onnx_imported> gates =
        parts(applied(d, 0, n_.add(now, recurrent(h_, of_gates.weights, of_gates.bias))), {1, 1});
    const onnx_imported &update = gates[0], &reset = gates[1];
    const onnx_imported kept =
        n_.flag("linear_before_reset")
            ? n_.mul(reset, recurrent(h_, of_candidate.weights, of_candidate.bias))
            : recurrent(n_.mul(reset, h_), of_candidate.weights, of_candidate.bias);
    const onnx_imported fresh = applied(d, 1, n_.add(candidate, kept));
    h_ = n_.add(n_.mul(n_.affine(update, -1, 1), fresh), n_.mul(update, h_));
  }

  onnx_import_node& n_;
  onnx_imported x_;
  std::vector<std::string> names_;
  std::int64_t gates_, length_, hidden_;
  std::size_t each_ = 1;
  onnx_imported h_{}, c_{};
  std::vector<onnx_imported> steps_{};
};
inline void raise_recurrence(onnx_import_node& n) { raised_recurrence(n).run(); }

inline void add_recurrent_gru(onnx_operators& to) {
  to.add("gru", lower_gru);
  to.add_node("GRU", raise_recurrence);
  to.add_node("RNN", raise_recurrence);
}

/// Applies the activation function with gru_unit's number for it.
inline const std::string& apply_numbered(onnx_operator& op, std::int64_t function,
                                         const std::string& x) {
  const char* names[] = {"Identity", "Sigmoid", "Tanh", "Relu"};
  if (function < 0 || function > 3)
    op.fail("expected a function from 0 to 3, found " + std::to_string(function));
  return op.node(names[function], {x});
}
inline void lower_gru_unit(onnx_operator& op) {
  const std::int64_t d = op.extent("Weight", 0), function = op.integer("gate_activation", 1);
  const auto [gates, inner] = gru_weights(op, d);
  const std::string& before = op.in("HiddenPrev");
  std::string x = op.in("Input");
  if (op.has("Bias")) x = op.node("Add", {x, op.in("Bias")});
  const std::string& sums =
      op.node("Add", {columns(op, x, 0, 2 * d), op.node("MatMul", {before, gates})});
  const std::string& u = apply_numbered(op, function, columns(op, sums, 0, d));
  const std::string& r = apply_numbered(op, function, columns(op, sums, d, 2 * d));
  const std::string& reset = op.node("Mul", {r, before});
  const std::string& c = apply_numbered(
      op, op.integer("activation", 2),
      op.node("Add", {columns(op, x, 2 * d, 3 * d), op.node("MatMul", {reset, inner})}));
  if (op.wants("Gate")) op.out("Gate", "Concat", {u, r, c}, {{"axis", 1}});
  if (op.wants("ResetHiddenPrev")) op.out("ResetHiddenPrev", reset);
  const bool origin = op.flag("origin_mode");
  const std::string& rest = op.node("Sub", {op.number(1), u});
  op.out("Hidden", "Add",
         {op.node("Mul", {origin ? u : rest, before}), op.node("Mul", {origin ? rest : u, c})});
}

inline void add_recurrent_gru_unit(onnx_operators& to) { to.add("gru_unit", lower_gru_unit); }

/// Reorders the gates: Fluid stores n, i, f, o, ONNX i, o, f, n. Peepholes are i, f, o in Fluid and
/// i, o, f in ONNX.
inline void lower_lstm(onnx_operator& op) {
  if (op.wants("Cell"))
    op.fail("expected that nothing reads the cells of all steps, of which ONNX gives the last one");
  const std::int64_t d = op.extent("Weight", 0);
  const std::vector<std::int64_t> order{1, 3, 2, 0};
  const std::vector<float> signs(4, 1.F);
  const std::string &gate = function_named(op, "gate_activation", "sigmoid"),
                    &candidate = function_named(op, "candidate_activation", "tanh"),
                    &cell = function_named(op, "cell_activation", "tanh");
  padded_steps steps(op);
  const std::string& bias = op.node(
      "Concat", {blocks_of(op, op.in("Bias"), d, order, signs), no_bias(op, 4 * d)}, {{"axis", 1}});
  std::string peepholes;
  if (op.flag("use_peepholes", true))
    peepholes = blocks_of(op, columns(op, op.in("Bias"), 4 * d, 7 * d), d, {0, 2, 1}, {1, 1, 1});
  const std::string& y =
      op.node("LSTM",
              {steps.input(), part_order(op, d, order, signs),
               recurrent_weight(op, blocks_of(op, op.in("Weight"), d, order, signs)), bias,
               steps.lengths(), with_direction(op, "H0"), with_direction(op, "C0"), peepholes},
              {{"hidden_size", d},
               {"direction", direction_of(op)},
               {"activations", std::vector<std::string>{gate, candidate, cell}}});
  steps.give("Hidden", y);
}

inline void add_recurrent_lstm(onnx_operators& to) {
  to.add("lstm", lower_lstm);
  to.add_node("LSTM", raise_recurrence);
}

inline void lower_lstm_unit(onnx_operator& op) {
  const std::int64_t d = op.extent("C_prev", 1);
  const auto part = [&](std::int64_t k) { return columns(op, op.in("X"), k * d, (k + 1) * d); };
  const std::string& i = op.node("Sigmoid", {part(0)});
  const std::string& f = op.node("Sigmoid", {affine(op, part(1), 1, op.real("forget_bias"))});
  const std::string &o = op.node("Sigmoid", {part(2)}), &g = op.node("Tanh", {part(3)});
  const std::string& c =
      op.node("Add", {op.node("Mul", {op.in("C_prev"), f}), op.node("Mul", {i, g})});
  op.out("C", c);
  op.out("H", "Mul", {op.node("Tanh", {c}), o});
}

inline void add_recurrent_lstm_unit(onnx_operators& to) { to.add("lstm_unit", lower_lstm_unit); }

}}}  // namespace lamina::onnx
