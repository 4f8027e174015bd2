// SPDX-License-Identifier: Apache-2.0
// show_program - what a program looks like: a listing, and pictures by Graphviz
//
//   show_program              the listing of a residual net, and what can be drawn
//   show_program NET          its listing; then the groups that its operators are fused into, what
//                             each costs for 64 rows and where in memory it reads and writes
//   show_program NET FILE     writes FILE: .dot as it is, .svg or .png by `dot` where installed
//
// NET is residual, residual_gradients, while or while_gradients.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <lamina/core/files/file.hpp>
#include <lamina/inspect/program_text.hpp>
#include <lamina/inspect/report.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/program/program.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using lamina::block;

namespace {

constexpr auto residual = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 32>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<16>(x, {.act = lamina::activation::relu});
  for (int i = 0; i < 2; ++i)
    h = layer::relu(h + layer::fc<16>(layer::fc<16>(h, {.act = lamina::activation::relu})));
  auto logits = layer::fc<10>(h, {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

constexpr auto loop = lamina::program([](block& main) {
  auto h = layer::data<"x", float, 8>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 10);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    h = layer::tanh(layer::fc<8>(h));
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(h);
});

/// A net by its name, as a message and as groups.
struct shown {
  lamina::program_message program;
  std::string groups;
};
template <lamina::program_type P>
shown all_of(P net) {
  return {lamina::to_program_message(net),
          lamina::report(net, {.rows = 64, .iterations = 10}).text()};
}

shown net_of(const std::string& name) {
  if (name == "residual") return all_of(residual);
  if (name == "residual_gradients") return all_of(lamina::transform::append_backward(residual));
  if (name == "while") return all_of(loop);
  if (name == "while_gradients") return all_of(lamina::transform::append_backward(loop));
  throw lamina::error("expected residual, residual_gradients, while or while_gradients, found '" +
                      name + "'");
}

void draw(const lamina::program_message& net, const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string kind = dot == std::string::npos ? "" : path.substr(dot + 1);
  if (kind == "dot") return lamina::write_file(path, lamina::to_dot(net));
  if ((kind != "svg" && kind != "png") || path.find('\'') != std::string::npos)
    throw lamina::error("expected a file .dot, .svg or .png, found '" + path + "'");
  const std::string source = path + ".dot";
  lamina::write_file(source, lamina::to_dot(net));
  if (std::system(("dot -T" + kind + " -o '" + path + "' '" + source + "'").c_str()) != 0)
    throw lamina::error("dot could not draw " + source + ": is Graphviz installed?");
  lamina::remove_file(source);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string name = argc > 1 ? argv[1] : "residual";
    const shown net = net_of(name);
    if (argc > 2)
      draw(net.program, argv[2]);
    else
      std::printf("%s\ngroups\n%s", lamina::to_string(net.program).c_str(), net.groups.c_str());
    if (argc == 1)
      std::puts(
          "\nshow_program NET FILE.svg draws residual, residual_gradients, while, while_gradients");
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "show_program: %s\n", e.what());
    return 1;
  }
}
