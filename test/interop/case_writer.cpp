// SPDX-License-Identifier: Apache-2.0
// Programs with inputs and results into files.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <interop/case_writer.hpp>
#include <interop/minibatches.hpp>

#include <lamina/core/numbers/random.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_json.hpp>

namespace interop {
namespace {

/// Lengths of sequences: 2, 1, 3, 2, 1, 3 ...
lamina::lod::level some_lengths(std::size_t sequences) {
  lamina::lod::level lengths;
  for (std::size_t i = 0; i < sequences; ++i)
    lengths.push_back(i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 3);
  return lengths;
}

tensor random_value(const lamina::program_view& p, int v, std::size_t rows,
                    const case_options& options) {
  const lamina::variable_desc& d = p.variables[v];
  lamina::tensor_shape shape;
  for (int i = 0; i < d.rank; ++i) {
    const int extent = p.dims[d.dims + i];
    shape.push_back(extent < 0 ? rows : static_cast<std::size_t>(extent));
  }
  const std::size_t n = lamina::size_of(shape);
  const std::uint64_t stream = static_cast<std::uint64_t>(v) + 1;
  if (lamina::is_floating(d.type)) {
    std::vector<float> values;
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(lamina::random_uniform_at(7, stream, i, options.low, options.high));
    return tensor(shape, values).cast(d.type);
  }
  std::vector<integer> values;
  for (std::size_t i = 0; i < n; ++i)
    values.push_back(static_cast<integer>(lamina::random_uniform_at(
        7, stream, i, 0.f, static_cast<float>(options.integers) - 0.001f)));
  return tensor(shape, values).cast(d.type);
}

tensor repeated(const tensor& few, std::size_t rows) {
  return few.visit([&]<class T>(const xt::xarray<T>& from) {
    lamina::tensor_shape shape(from.shape().begin(), from.shape().end());
    shape[0] = rows;
    std::vector<T> values;
    for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
      values.push_back(from.flat(i % from.size()));
    xt::xarray<T> to = xt::xarray<T>::from_shape(shape);
    std::copy(values.begin(), values.end(), to.begin());
    return tensor(std::move(to));
  });
}

// The inputs that are given, as often as needed for so many rows, and random ones.
lamina::feed_map feed_of(const lamina::program_view& p, const case_options& options,
                         std::size_t rows) {
  lamina::feed_map feed;
  for (int i = 0; i < p.count.data; ++i) {
    const int v = p.data[i];
    const std::string name = lamina::variable_name(p, v);
    if (const auto given = options.feed.find(name); given != options.feed.end()) {
      feed[name] = rows == options.rows ? given->second : lod_tensor(repeated(given->second, rows));
      if (p.variables[v].type == lamina::dtype::float64)
        feed[name] = lod_tensor(feed[name].cast(lamina::dtype::float64), feed[name].lod());
      continue;
    }
    const int levels = lamina::lod_level_of(p, p.variables[v].rows);
    if (levels == 0) {
      feed[name] = random_value(p, v, rows, options);
      continue;
    }
    lamina::lod sequences = lamina::lod::from_lengths({some_lengths(rows)});
    for (int l = 1; l < levels; ++l) sequences = sequences.below(some_lengths(sequences.rows()));
    feed[name] = lod_tensor(random_value(p, v, sequences.rows(), options), sequences);
  }
  return feed;
}
// Whether parameters or inputs are double.
bool is_double(const lamina::program_view& p) {
  const auto is = [&](int v) { return p.variables[v].type == lamina::dtype::float64; };
  for (int i = 0; i < p.count.parameters; ++i)
    if (is(p.parameters[i].variable)) return true;
  for (int i = 0; i < p.count.data; ++i)
    if (is(p.data[i])) return true;
  return false;
}

// A real input with edge values in as many rows; `number` counts such inputs.
tensor edge_value(const tensor& ordinary, edge_kind kind, int number, bool pairs) {
  const lamina::tensor_shape shape = ordinary.shape();
  const bool in_double = ordinary.type() == lamina::dtype::float64;
  const auto random = ordinary.cast<double>();
  const std::vector<double> all = pairs ? edge_pairs() : edge_numbers(in_double);
  const std::size_t n = all.size(), width = random.size() / std::max<std::size_t>(shape[0], 1);
  std::vector<double> values;
  for (std::size_t i = 0; i < random.size(); ++i) {
    if (kind == edge_kind::rows)
      values.push_back(edge_in_row(i / width, i % width, width, random.flat(i)));
    else
      values.push_back(all[number == 0 ? i % n : number == 1 ? i / n % n : (5 * i + 3) % n]);
  }
  return tensor(shape, values).cast(ordinary.type());
}

// Edge values in all real inputs but those that are given; x has them all the same.
lamina::feed_map edge_feed_of(const lamina::program_view& p, const case_options& options,
                              edge_kind kind) {
  std::vector<int> real;
  for (int i = 0; i < p.count.data; ++i) {
    const std::string name = lamina::variable_name(p, p.data[i]);
    if (lamina::is_floating(p.variables[p.data[i]].type) &&
        (name == "x" || options.feed.count(name) == 0))
      real.push_back(p.data[i]);
  }
  if (real.empty()) return {};
  const bool pairs = real.size() > 1;
  std::size_t rows = edge_rows;
  if (kind == edge_kind::values) {
    const lamina::variable_desc& d = p.variables[real[0]];
    const std::size_t n = pairs ? edge_pairs().size() : edge_numbers(false).size();
    std::size_t width = 1;
    for (int i = 1; i < d.rank; ++i) width *= static_cast<std::size_t>(p.dims[d.dims + i]);
    const std::size_t wanted = n * (pairs ? n : options.feed.empty() ? 1 : 12);
    rows = (wanted + width - 1) / width;
  }
  lamina::feed_map feed = feed_of(p, options, rows);
  for (std::size_t i = 0; i < real.size(); ++i) {
    lod_tensor& value = feed[lamina::variable_name(p, real[i])];
    value = lod_tensor(edge_value(value, kind, static_cast<int>(i), pairs), value.lod());
  }
  return feed;
}

void write_program(const std::string& to, const lamina::program_message& program) {
  lamina::write_file(to + "/__model__", lamina::to_proto(program));
  lamina::write_file(to + "/program.json", lamina::to_json(program).dump(1));
}

// Floats are the same bit for bit; of doubles files keep attributes as floats.
void require_same(const std::string& what, const lod_tensor& x, const lod_tensor& y) {
  bool same = x.type() == y.type() && x.shape() == y.shape() && x.lod() == y.lod();
  if (same && x.type() == lamina::dtype::float64) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double a = x.as<double>().flat(k), b = y.as<double>().flat(k);
      same = same && std::abs(a - b) <= 1e-6 * (1 + std::abs(a));
    }
  } else if (same) {
    const std::size_t bytes = x.size() * static_cast<std::size_t>(lamina::size_of(x.type()));
    same = std::memcmp(x.data(), y.data(), bytes) == 0;
  }
  if (!same) throw lamina::error(what + " is another value when it was read");
}

void save_values(const std::string& to, const lamina::feed_map& feed,
                 const std::vector<std::string>& fetches, const std::vector<lod_tensor>& found) {
  lamina::scope inputs, results;
  for (const auto& [key, value] : feed) inputs.var(key) = value;
  lamina::save_variables(to + "/feed", inputs, inputs.names());
  for (std::size_t i = 0; i < fetches.size(); ++i) results.var(fetches[i]) = found[i];
  lamina::save_variables(to + "/fetch", results, results.names());
}

}  // namespace

template <class Program>
std::vector<lod_tensor> case_writer::run(bool in_double, const Program& p, lamina::scope& variables,
                                         const lamina::feed_map& feed,
                                         const std::vector<std::string>& fetches) {
  return in_double ? run_with_minibatches(in_double_, p, variables, feed, fetches)
                   : run_with_minibatches(executor_, p, variables, feed, fetches);
}

void case_writer::write_step(const std::string& name, const lamina::program_view& p,
                             lamina::training_messages messages, const case_options& options) {
  const bool in_double = is_double(p);
  lamina::scope scope;
  run(in_double, lamina::loaded_program(messages.startup, name), scope, {}, {});
  for (int i = 0; i < p.count.parameters; ++i) {
    const int v = p.parameters[i].variable;
    scope.var(lamina::variable_name(p, v)) = random_value(p, v, 1, options);
  }
  if (options.step > 0)
    scope.var("@LR_DECAY_COUNTER@") = tensor({1}, std::vector<integer>{options.step - 1});
  for (const std::string& kept : scope.names())
    if (options.late && kept.find("_pow_acc_") != std::string::npos)
      scope.var(kept) = tensor({1}, std::vector<float>{0}).cast(scope.get(kept).type());
  const std::string to = folder_ + "/" + name;
  lamina::save_variables(to + "/parameters", scope, scope.names());
  const lamina::feed_map feed = feed_of(p, options, options.rows);
  std::vector<std::string> feeds, fetches;
  for (int i = 0; i < p.count.data; ++i) feeds.push_back(lamina::variable_name(p, p.data[i]));
  for (const lamina::variable_message& v : messages.main.blocks.at(0).variables)
    if (v.persistable) fetches.push_back(v.name);
  const std::vector<lod_tensor> found =
      run(in_double, lamina::loaded_program(messages.main, name), scope, feed, fetches);
  save_values(to, feed, fetches, found);
  lamina::add_feed_and_fetch(messages.main, feeds, fetches);
  write_program(to, messages.main);
  ++count_;
}

void case_writer::write_view(const std::string& name, const lamina::program_view& p,
                             const std::optional<lamina::program_view>& inference,
                             const case_options& options, fetched what) {
  const bool in_double = is_double(p);
  lamina::scope scope;
  executor_.run_startup(p, scope, 1);
  for (int i = 0; i < p.count.parameters && !trains(p); ++i) {
    const int v = p.parameters[i].variable;
    scope.var(lamina::variable_name(p, v)) = random_value(p, v, 1, options);
  }
  std::vector<std::string> feeds, fetches;
  for (int i = 0; i < p.count.data; ++i) feeds.push_back(lamina::variable_name(p, p.data[i]));
  const std::vector<std::string> fields = fields_of(p);
  for (const std::string& field : fields) std::erase(feeds, field);
  for (int i = 0; i < p.count.outputs && what.outputs; ++i)
    fetches.push_back(lamina::variable_name(p, p.outputs[i]));
  for (int v = 0; v < p.count.variables && what.gradients; ++v) {
    const lamina::variable_desc& d = p.variables[v];
    if (d.of < 0 || d.block != 0 || d.number >= 0) continue;
    const lamina::variable_kind kind = p.variables[d.of].kind;
    if (kind == lamina::variable_kind::parameter || kind == lamina::variable_kind::data)
      fetches.push_back(lamina::variable_name(p, v));
  }
  const std::string to = folder_ + "/" + name;
  lamina::save_variables(to + "/parameters", scope, scope.names());  // a run may change them
  if (inference && !trains(p)) write_onnx(to + "/onnx", *inference, options, scope);
  lamina::program_message program = lamina::to_program_message(p);
  lamina::add_feed_and_fetch(program, feeds, fetches);
  write_program(to, program);
  const std::size_t rows =
      fields.empty() ? options.rows : different_minibatches * rows_of_minibatch;
  const lamina::feed_map feed = feed_of(p, options, rows);
  lamina::scope as_read, at_edges, before;
  const std::vector<lod_tensor> read = run_as_read(to, in_double, feed, fetches, as_read);
  save_values(to, feed, fetches, read);
  for (const std::string& kept : scope.names()) before.var(kept) = scope.get(kept);
  const std::vector<lod_tensor> found = run(in_double, p, scope, feed, fetches);
  for (std::size_t i = 0; i < fetches.size(); ++i)
    require_same(to + ": '" + fetches[i] + "'", found[i], read[i]);
  for (const std::string& kept : before.names())
    require_same(to + ": '" + kept + "' after the run", scope.get(kept), as_read.get(kept));
  if (trains(p) && differing(before, scope, before.names()).empty())
    throw lamina::error(to + ": no parameter is another value after training");
  const lamina::feed_map edges = has_edges(options) && what.outputs
                                     ? edge_feed_of(p, options, options.edges)
                                     : lamina::feed_map{};
  if (!edges.empty())
    save_values(to + "/edges", edges, fetches,
                run_as_read(to, in_double, edges, fetches, at_edges));
  ++count_;
}

// What others are to run, lamina reads and runs too.
std::vector<lod_tensor> case_writer::run_as_read(const std::string& folder, bool in_double,
                                                 const lamina::feed_map& feed,
                                                 const std::vector<std::string>& fetches,
                                                 lamina::scope& variables) {
  const lamina::loaded_program program = lamina::load_program_desc(folder + "/__model__");
  lamina::load_variables(folder + "/parameters", variables, program.persistable_names());
  return run(in_double, program, variables, feed, fetches);
}

void case_writer::remove(const std::string& name) const {
  std::filesystem::remove_all(folder_ + "/" + name);
}

// One file for all batches.
void case_writer::write_onnx(const std::string& to, const lamina::program_view& p,
                             const case_options& options, lamina::scope& scope) {
  lamina::make_directories(to);
  try {
    lamina::write_file(to + "/model.onnx", lamina::to_onnx(p, scope));
  } catch (const lamina::error& e) {
    lamina::write_file(to + "/refused", e.what());
    return;
  }
  std::vector<std::string> fetches;
  for (int i = 0; i < p.count.outputs; ++i)
    fetches.push_back(lamina::variable_name(p, p.outputs[i]));
  const auto write_batch = [&](const std::string& batch, lamina::feed_map feed) {
    if (feed.empty() && p.count.data > 0) return;
    lamina::scope variables;  // a run may change them
    for (const std::string& name : scope.names()) variables.var(name) = scope.get(name);
    const std::vector<lod_tensor> found = run(is_double(p), p, variables, feed, fetches);
    for (int i = 0; i < p.count.data; ++i) {  // sequences need their lengths
      const std::string name = lamina::variable_name(p, p.data[i]);
      const lamina::lod sequences = feed.at(name).lod();
      if (sequences.empty()) continue;
      std::vector<integer> lengths;
      const std::vector<lamina::lod::level> levels = sequences.recursive_sequence_lengths();
      for (const std::size_t n : levels.at(0)) lengths.push_back(static_cast<integer>(n));
      feed[name + "@LENGTHS"] = tensor({lengths.size()}, lengths);
    }
    save_values(to + "/" + batch, feed, fetches, found);
  };
  std::vector<std::size_t> batches{options.rows};
  if (options.any_rows) batches = {1, 7, 64};
  for (const std::size_t rows : batches)
    write_batch(std::to_string(rows), feed_of(p, options, rows));
  if (has_edges(options)) write_batch("edges", edge_feed_of(p, options, options.edges));
}

}  // namespace interop
