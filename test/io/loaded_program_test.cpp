// SPDX-License-Identifier: Apache-2.0
// Programs that were read at run time.
#include <sstream>

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/transform/append_backward.hpp>

using Catch::Contains;
using lamina::loaded_program;
using lamina::lod_tensor;
using lamina::program_message;
using lamina::tensor;

namespace {

template <class P>
loaded_program reread(P program) {
  return loaded_program(lamina::from_proto(lamina::to_proto(program)), "again");
}

std::vector<float> values(const lod_tensor& t) {
  const auto& a = t.as<float>();
  return {a.begin(), a.end()};
}

lamina::feed_map samples_of_x(std::size_t rows, std::size_t width) {
  std::vector<float> x;
  for (std::size_t i = 0; i < rows * width; ++i) x.push_back(0.1f * static_cast<float>(i) - 0.4f);
  return {{"x", tensor({rows, width}, x)}};
}

/// A program of one operator on x and y, for mistakes.
program_message one_operator() {
  program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  for (const char* name : {"x", "y"}) {
    lamina::variable_message& v = b.variables.emplace_back();
    v.name = name;
    v.dims = {-1, 3};
    v.offset = 10;
  }
  lamina::operator_message& op = b.operators.emplace_back();
  op.type = "scale";
  op.offset = 20;
  op.inputs.push_back({"X", {"x"}});
  op.outputs.push_back({"Out", {"y"}});
  return p;
}

void check_refused(const program_message& p, const std::string& message) {
  INFO(message);
  CHECK_THROWS_WITH(loaded_program(p, "file"), Contains(message));
  CHECK_THROWS_AS(loaded_program(p, "file"), lamina::format_error);
}

}  // namespace

TEST_CASE("loaded program: gradients, a fetch by name and the startup program give the same bits") {
  constexpr auto training = lamina::with_backward<std::decay_t<decltype(samples::perceptron)>>{};
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(training.view(), scope, 5);

  lamina::scope again;
  const loaded_program startup(
      lamina::from_proto(lamina::to_proto(lamina::to_startup_message(training.view()))));
  lamina::run_options options;
  options.seed = 5;
  executor.run(startup, again, {}, std::vector<std::string>{}, options);
  REQUIRE(scope.names() == again.names());
  for (const std::string& name : scope.names())
    CHECK(values(scope.get(name)) == values(again.get(name)));

  lamina::feed_map feed = samples_of_x(3, 4);
  feed["y"] = tensor({3, 1}, std::vector<std::int64_t>{0, 2, 1});
  const loaded_program read = reread(training);
  CHECK(read.feed_names() == std::vector<std::string>{"x", "y"});
  CHECK(read.persistable_names() ==
        std::vector<std::string>{"fc_0.w_0", "fc_0.b_0", "logits.w_0", "logits.b_0"});
  const std::vector<std::string> fetch{"p", "accuracy", "fc_0.w_0@GRAD", "logits.b_0@GRAD"};
  std::vector<std::string> names;
  for (const std::string& name : fetch)
    names.push_back(read.find(name) != nullptr ? name : name + ".tmp_0");
  for (std::uint64_t step = 0; step < 3; ++step) {
    options.step = step;
    const auto a = executor.run(training.view(), scope, feed, names, options);
    const auto b = executor.run(read, again, feed, names, options);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(values(a[i]) == values(b[i]));
  }
}

TEST_CASE("loaded program: a loop, sequences, and programs that move") {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(samples::loop.view(), scope, 2);
  std::vector<loaded_program> all;
  all.push_back(reread(samples::loop));
  all.push_back(reread(samples::sentence));
  const auto h = lamina::variable_name(samples::loop.view(), samples::loop.view().outputs[1]);
  CHECK(values(executor.run(samples::loop.view(), scope, samples_of_x(5, 3)).at(1)) ==
        values(executor.run(all[0], scope, samples_of_x(5, 3), {h}).at(0)));

  lamina::scope embeddings;
  executor.run_startup(samples::sentence.view(), embeddings, 3);
  const lamina::feed_map words{
      {"words", lamina::sequences<std::int64_t>({{3, 1}, {7}, {4, 19, 0}})}};
  const lamina::program_view p = samples::sentence.view();
  const auto a = executor.run(p, embeddings, words);
  const auto b = executor.run(
      all[1], embeddings, words,
      {lamina::variable_name(p, p.outputs[0]), lamina::variable_name(p, p.outputs[1])});
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(values(a[i]) == values(b[i]));
    CHECK(a[i].lod() == b[i].lod());
  }
  CHECK_THROWS_WITH(
      executor.run(all[1], embeddings,
                   {{"words", tensor({2, 1}, std::vector<std::int64_t>{1, 2})}}),
      Contains("expected sequences of 1 levels to be fed to variable 'words', found 0"));
  CHECK_THROWS_WITH(executor.run(all[1], embeddings, {{"word", words.at("words")}}),
                    Contains("expected feeds for the data variables 'words', found 'word'"));
}

TEST_CASE("loaded program: lod_reset gives the rows of its second operand, or new ones") {
  constexpr auto reset = lamina::program([](lamina::block& main) {
    auto x = lamina::layer::sequence<"x", float, 2>(main);
    auto y = lamina::layer::sequence<"y", std::int64_t>(main);
    auto offsets = lamina::layer::data<"offsets", std::int64_t>(main);
    return std::tuple{lamina::layer::sequence_reverse(x), lamina::layer::lod_reset(x, y),
                      lamina::layer::lod_reset<"groups">(x, offsets),
                      lamina::layer::lod_reset<"fixed", 0, 2, 3>(x)};
  });
  const loaded_program read = reread(reset);
  const lamina::program_view p = read.view();
  const auto rows_of = [&p](const std::string& name) {
    for (int v = 0; v < p.count.variables; ++v)
      if (lamina::variable_name(p, v) == name) return p.variables[v].rows;
    FAIL("no variable " << name);
    return 0;
  };
  std::vector<int> rows;
  for (int i = 0; i < 4; ++i)
    rows.push_back(rows_of(lamina::variable_name(reset.view(), reset.view().outputs[i])));
  const int x = rows_of("x"), y = rows_of("y");
  CHECK(x != y);
  CHECK(rows[0] == x);
  CHECK(rows[1] == y);
  for (int i = 2; i < 4; ++i)
    for (const int other : {x, y, rows_of("offsets"), rows[5 - i]}) CHECK(rows[i] != other);
}

// Each lies where the one before it lay, so that it has operators at the same places in memory.
TEST_CASE("loaded program: an executor takes none for another that is gone") {
  namespace layer = lamina::layer;
  constexpr auto draws_thrice = lamina::program([](lamina::block& main) {
    auto x = layer::scale(layer::data<"x", float, 4>(main), 2);
    return layer::dropout(layer::dropout(layer::dropout(x, 0.5f), 0.25f), 0.25f);
  });
  constexpr auto draws_once = lamina::program([](lamina::block& main) {
    auto x = layer::scale(layer::data<"x", float, 4>(main), 2);
    return layer::dropout(layer::tanh(layer::sigmoid(x)), 0.25f);
  });
  constexpr auto prints = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    return layer::print(layer::scale(x, 1), {.first_n = 1});
  });
  const lamina::feed_map feed = samples_of_x(6, 4);
  lamina::executor one_for_all;
  lamina::scope scope;
  std::ostringstream printed;
  const auto result = [&](lamina::executor& executor, auto program) {
    const loaded_program read = reread(program);
    const std::string returned = variable_name(program.view(), program.view().outputs[0]);
    return values(executor.run(read, scope, feed, {returned}, {.print_to = &printed}).at(0));
  };
  lamina::executor another, third;
  const std::vector<float> thrice = result(another, draws_thrice), once = result(third, draws_once);
  std::vector<loaded_program> kept;  // so that others lie elsewhere in each turn
  for (int turn = 0; turn < 8; ++turn, kept.push_back(reread(draws_once))) {
    CHECK(result(one_for_all, draws_thrice) == thrice);
    CHECK(result(one_for_all, draws_once) == once);
    printed.str("");
    result(one_for_all, prints);
    CHECK_THAT(printed.str(), Contains("data: "));
  }
}

TEST_CASE("loaded program: gradients of rows stay gradients of rows") {
  namespace layer = lamina::layer;
  constexpr auto net = lamina::program([](lamina::block& main) {
    auto id = layer::data<"id", std::int64_t>(main);
    const auto look_up = [&] {
      return layer::embedding<6, 2>(id, {.param = {.name = "table"}, .is_sparse = true});
    };
    return layer::mean(look_up() * layer::tanh(look_up()));
  });
  constexpr auto training = decltype(lamina::transform::minimize(net, lamina::optimizer::adam{})){};
  const program_message message = lamina::from_proto(lamina::to_proto(training));
  for (const char* name : {"table@GRAD@RENAME@0", "table@GRAD@RENAME@1", "table@GRAD"}) {
    const lamina::variable_message* const v = message.blocks[0].find(name);
    REQUIRE(v != nullptr);
    CHECK(v->kind == lamina::variable_class::selected_rows);
    CHECK(static_cast<int>(v->kind) == 8);
    CHECK(v->dims == std::vector<std::int64_t>{6, 2});
  }
  const loaded_program again(message, "again");
  lamina::run_options options;
  options.update_numbers = {{0.1f, 1, -9, 9, 0, 0, 0.9f, 0.99f, 1e-8f, 1}};
  std::vector<float> tables[2];
  for (int i = 0; i < 2; ++i) {
    lamina::executor executor;
    lamina::scope scope;
    executor.run_startup(training.view(), scope, 3);
    for (const std::int64_t id : {2, 5}) {
      const lamina::feed_map feed{{"id", tensor({2, 1}, std::vector<std::int64_t>{id, id})}};
      if (i == 0)
        executor.run(training.view(), scope, feed, options);
      else
        executor.run(again, scope, feed, {"table"}, options);
    }
    tables[i] = values(scope.get("table"));
  }
  CHECK(tables[0] == tables[1]);
}

TEST_CASE("loaded program: feed and fetch operators name what is fed and fetched") {
  program_message p = one_operator();
  lamina::block_message& b = p.blocks[0];
  b.variables.emplace_back().name = "feed";
  b.variables.back().kind = lamina::variable_class::feed_minibatch;
  b.variables.emplace_back().name = "fetch";
  b.variables.back().kind = lamina::variable_class::fetch_list;
  lamina::operator_message feed, fetch;
  feed.type = "feed";
  feed.inputs.push_back({"X", {"feed"}});
  feed.outputs.push_back({"Out", {"x"}});
  fetch.type = "fetch";
  fetch.inputs.push_back({"X", {"y"}});
  fetch.outputs.push_back({"Out", {"fetch"}});
  b.operators.insert(b.operators.begin(), feed);
  b.operators.push_back(fetch);
  b.operators[1].attributes.emplace_back().name = "scale";
  b.operators[1].attributes.back().type = lamina::attribute_type::real;
  b.operators[1].attributes.back().real = 3;
  const loaded_program read(p);
  CHECK(read.feed_names() == std::vector<std::string>{"x"});
  CHECK(read.fetch_names() == std::vector<std::string>{"y"});
  lamina::executor executor;
  lamina::scope scope;
  const auto found =
      executor.run(read, scope, {{"x", tensor({1, 3}, std::vector<float>{1, 2, -3})}});
  CHECK(values(found.at(0)) == std::vector<float>{3, 6, -9});
}

TEST_CASE("loaded program: what is wrong is said with its place") {
  const auto changed = [](auto change) {
    program_message p = one_operator();
    change(p);
    return p;
  };
  check_refused({}, "lamina: file, offset 0: expected at least one block, found none");
  check_refused(changed([](auto& p) { p.blocks[0].index = 1; }), "expected block 0, found idx 1");
  check_refused(changed([](auto& p) {
                  p.blocks.emplace_back().index = 1;
                  p.blocks[1].parent = 1;
                }),
                "expected a parent_idx below 1 in block 1, found 1");
  check_refused(changed([](auto& p) { p.blocks[0].forward_block = 7; }),
                "expected the forward_block_idx of block 0 to be one of 1 blocks, found 7");
  check_refused(changed([](auto& p) { p.blocks[0].variables[1].name = "x"; }),
                "file, offset 10: expected one variable 'x' in block 0, found a second one");
  check_refused(changed([](auto& p) { p.blocks[0].variables[1].dims = {-2}; }),
                "expected dimensions from -1 to 2147483647 of variable 'y', found -2");
  check_refused(changed([](auto& p) { p.blocks[0].variables[1].dims = {std::int64_t{1} << 31}; }),
                "found 2147483648");
  check_refused(changed([](auto& p) { p.blocks[0].variables[1].dims.assign(17, 1); }),
                "expected at most 16 dimensions of variable 'y', found 17");
  check_refused(changed([](auto& p) { p.blocks[0].operators[0].type = "frobnicate"; }),
                "file, offset 20: expected an operator that lamina knows, found 'frobnicate'");
  check_refused(changed([](auto& p) { p.blocks[0].operators[0].inputs[0].arguments = {"z"}; }),
                "expected a variable of block 0 or the blocks around it in operator 'scale', found "
                "'z', which none declares");
  check_refused(changed([](auto& p) {
                  p.blocks[0].operators[0].inputs[0].arguments = {"x", "y"};
                }),
                "expected one variable in slot 'X' of operator 'scale', found 2");
  check_refused(
      changed([](auto& p) {
        p.blocks[0].operators[0].inputs.push_back({"Z", {"x"}});
      }),
      "expected the slots that lamina knows of operator 'scale', found the input slot 'Z'");
  const auto with_attribute = [&](lamina::attribute_message a) {
    return changed([&](auto& p) { p.blocks[0].operators[0].attributes.push_back(a); });
  };
  lamina::attribute_message a;
  a.name = "scale";
  a.type = lamina::attribute_type::string;
  check_refused(with_attribute(a),
                "expected type 1, found type 2 in attribute 'scale' of operator 'scale'");
  a.name = "sub_block";
  a.type = lamina::attribute_type::block;
  for (const int block : {0, 1, -1}) {
    a.integer = block;
    check_refused(with_attribute(a), "to be a later block of 1, found " + std::to_string(block));
  }
}
