// SPDX-License-Identifier: Apache-2.0
// Programs with inputs and results into files.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <interop/case_writer.hpp>

#include <lamina/core/random.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_json.hpp>

namespace interop {
namespace {

/// Lengths of sequences: 2, 1, 3, 2, 1, 3 ...
std::vector<lamina::lod::level> some_lengths(std::size_t sequences) {
  lamina::lod::level lengths;
  for (std::size_t i = 0; i < sequences; ++i)
    lengths.push_back(i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 3);
  return {lengths};
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
    const std::string name = lamina::name_of(p, v);
    if (const auto given = options.feed.find(name); given != options.feed.end()) {
      feed[name] = rows == options.rows ? given->second : lod_tensor(repeated(given->second, rows));
      if (p.variables[v].type == lamina::dtype::float64)
        feed[name] = lod_tensor(feed[name].cast(lamina::dtype::float64), feed[name].lod());
      continue;
    }
    const bool ragged = lamina::lod_level_of(p, p.variables[v].rows) == 1;
    if (!ragged) {
      feed[name] = random_value(p, v, rows, options);
      continue;
    }
    const lamina::lod sequences = lamina::lod::from_lengths(some_lengths(rows));
    feed[name] = lod_tensor(random_value(p, v, sequences.rows(), options), sequences);
  }
  return feed;
}
void write_program(const std::string& to, const lamina::program_message& program) {
  lamina::write_file(to + "/__model__", lamina::to_proto(program));
  lamina::write_file(to + "/program.json", lamina::to_json(program).dump(1));
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
std::vector<lod_tensor> case_writer::run(const Program& p, lamina::scope& variables,
                                         const lamina::feed_map& feed,
                                         const std::vector<std::string>& fetches) {
  bool in_double = false;
  for (const auto& [name, value] : feed)
    in_double = in_double || value.type() == lamina::dtype::float64;
  return in_double ? in_double_.run(p, variables, feed, fetches)
                   : executor_.run(p, variables, feed, fetches);
}

void case_writer::write_step(const std::string& name, const lamina::program_view& p,
                             lamina::training_messages messages, const case_options& options) {
  lamina::scope scope;
  executor_.run(lamina::loaded_program(messages.startup, name), scope, {},
                std::vector<std::string>{});
  for (int i = 0; i < p.count.parameters; ++i) {
    const int v = p.parameters[i].variable;
    scope.var(lamina::name_of(p, v)) = random_value(p, v, 1, options);
  }
  if (options.step > 0)
    scope.var("@LR_DECAY_COUNTER@") = tensor({1}, std::vector<integer>{options.step - 1});
  for (const std::string& kept : scope.names())
    if (options.late && kept.find("_pow_acc_") != std::string::npos)
      scope.var(kept) = tensor({1}, std::vector<float>{0});
  const std::string to = folder_ + "/" + name;
  lamina::save_variables(to + "/parameters", scope, scope.names());
  const lamina::feed_map feed = feed_of(p, options, options.rows);
  std::vector<std::string> feeds, fetches;
  for (int i = 0; i < p.count.data; ++i) feeds.push_back(lamina::name_of(p, p.data[i]));
  for (const lamina::variable_message& v : messages.main.blocks.at(0).variables)
    if (v.persistable) fetches.push_back(v.name);
  const std::vector<lod_tensor> found =
      executor_.run(lamina::loaded_program(messages.main, name), scope, feed, fetches);
  save_values(to, feed, fetches, found);
  lamina::add_feed_and_fetch(messages.main, feeds, fetches);
  write_program(to, messages.main);
  ++count_;
}

void case_writer::write_view(const std::string& name, const lamina::program_view& p,
                             const case_options& options, bool gradients) {
  lamina::scope scope;
  executor_.run_startup(p, scope, 1);
  for (int i = 0; i < p.count.parameters; ++i) {
    const int v = p.parameters[i].variable;
    scope.var(lamina::name_of(p, v)) = random_value(p, v, 1, options);
  }
  const lamina::feed_map feed = feed_of(p, options, options.rows);
  std::vector<std::string> feeds, fetches;
  for (int i = 0; i < p.count.data; ++i) feeds.push_back(lamina::name_of(p, p.data[i]));
  for (int i = 0; i < p.count.outputs; ++i) fetches.push_back(lamina::name_of(p, p.outputs[i]));
  if (gradients) {
    fetches.clear();
    for (int v = 0; v < p.count.variables; ++v) {
      const lamina::variable_desc& d = p.variables[v];
      if (d.of < 0 || d.block != 0 || d.number >= 0) continue;
      const lamina::variable_kind kind = p.variables[d.of].kind;
      if (kind == lamina::variable_kind::parameter || kind == lamina::variable_kind::data)
        fetches.push_back(lamina::name_of(p, v));
    }
  }
  const std::string to = folder_ + "/" + name;
  lamina::save_variables(to + "/parameters", scope, scope.names());  // a run may change them
  const std::vector<lod_tensor> found = run(p, scope, feed, fetches);
  lamina::program_message program = lamina::message_of(p);
  lamina::add_feed_and_fetch(program, feeds, fetches);
  save_values(to, feed, fetches, found);
  write_program(to, program);
  require_same_when_read(to, feed, fetches, found);
  if (!gradients) write_onnx(to + "/onnx", p, options, scope, fetches);
  ++count_;
}

// What others are to run, lamina reads and runs too, bit for bit.
void case_writer::require_same_when_read(const std::string& folder, const lamina::feed_map& feed,
                                         const std::vector<std::string>& fetches,
                                         const std::vector<lod_tensor>& found) {
  const lamina::loaded_program program = lamina::load_program_desc(folder + "/__model__");
  lamina::scope variables;
  lamina::load_variables(folder + "/parameters", variables, program.persistable_names());
  const std::vector<lod_tensor> again = run(program, variables, feed, fetches);
  for (std::size_t i = 0; i < fetches.size(); ++i) {
    const lod_tensor &x = found[i], &y = again[i];
    if (x.type() == lamina::dtype::float64 && y.type() == x.type() && x.shape() == y.shape()) {
      // Files keep attributes as floats.
      for (std::size_t k = 0; k < x.size(); ++k) {
        const double a = x.as<double>().flat(k), b = y.as<double>().flat(k);
        if (!(std::abs(a - b) <= 1e-6 * (1 + std::abs(a))))
          throw lamina::error(folder + ": '" + fetches[i] + "' is another value when it was read");
      }
      continue;
    }
    const std::size_t bytes = x.size() * static_cast<std::size_t>(lamina::size_of(x.type()));
    if (x.type() != y.type() || x.shape() != y.shape() || x.lod() != y.lod() ||
        std::memcmp(x.data(), y.data(), bytes) != 0)
      throw lamina::error(folder + ": '" + fetches[i] + "' is another value when it was read");
  }
}

// One file for all batches.
void case_writer::write_onnx(const std::string& to, const lamina::program_view& p,
                             const case_options& options, lamina::scope& scope,
                             const std::vector<std::string>& fetches) {
  lamina::make_directories(to);
  try {
    lamina::write_file(to + "/model.onnx", lamina::to_onnx(p, scope));
  } catch (const lamina::error& e) {
    lamina::write_file(to + "/refused", e.what());
    return;
  }
  std::vector<std::size_t> batches{options.rows};
  if (options.any_rows) batches = {1, 7, 64};
  for (const std::size_t rows : batches) {
    lamina::feed_map feed = feed_of(p, options, rows);
    const std::vector<lod_tensor> found = run(p, scope, feed, fetches);
    for (int i = 0; i < p.count.data; ++i) {  // sequences need their lengths
      const std::string name = lamina::name_of(p, p.data[i]);
      const lamina::lod sequences = feed.at(name).lod();
      if (sequences.empty()) continue;
      std::vector<integer> lengths;
      const std::vector<lamina::lod::level> levels = sequences.recursive_sequence_lengths();
      for (const std::size_t n : levels.at(0)) lengths.push_back(static_cast<integer>(n));
      feed[name + "@LENGTHS"] = tensor({lengths.size()}, lengths);
    }
    save_values(to + "/" + std::to_string(rows), feed, fetches, found);
  }
}

}  // namespace interop
