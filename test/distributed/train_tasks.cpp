// SPDX-License-Identifier: Apache-2.0
// train_tasks [OPTION=VALUE]... - trains a net on chunks of a task queue, with all processes that
// the launcher started. Options: chunks, passes, pause (milliseconds in each mini-batch), slow (a
// rank that alone makes this pause), checkpoint (a directory, from which it goes on), log (a
// directory: rank R writes the pass and the number of each chunk that it opens to the file R,
// and its process to R.pid), fail (a chunk that cannot be read), differ (a rank with one chunk
// more), hang (a rank that does nothing more after its third mini-batch), patience (seconds),
// servers and staleness (options of the session). show=DIRECTORY instead prints pass, mini-batch
// and finished chunks of the newest checkpoint there. Exit code 0, or 1 with a message.

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include <unistd.h>

#include <lamina/distributed/session.hpp>
#include <lamina/distributed/task_queue.hpp>
#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float>(main);
  return layer::mean(layer::square_error_cost(layer::fc<1>(x), y));
});
using sample = std::tuple<std::array<float, 2>, float>;

void show(const std::string& directory) {
  std::string path, finished = "-";
  const auto entries = lamina::detail::newest_whole_checkpoint(
      directory, path, [](const std::string& p) { return lamina::read_tensor_file(p); });
  long long pass = -1, batch = -1;
  for (const auto& e : entries) {
    if (e.name == "@pass@") pass = static_cast<long long>(e.as_number());
    if (e.name == "@batch@") batch = static_cast<long long>(e.as_number());
    if (e.name == "@finished@") finished = e.bytes.view();
  }
  std::printf("%lld %lld %s\n", pass, batch, finished.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string, std::less<>> given;
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const std::size_t equals = word.find('=');
      if (equals != word.npos) given[word.substr(0, equals)] = word.substr(equals + 1);
    }
    const auto number = [&](std::string_view name, int otherwise) {
      const auto found = given.find(name);
      return found == given.end() ? otherwise : std::atoi(found->second.c_str());
    };
    if (given.contains("show")) {
      show(given["show"]);
      return 0;
    }
    lamina::distributed::session world{argc,
                                       argv,
                                       {.patience = static_cast<double>(number("patience", 600)),
                                        .parameter_servers = number("servers", -1),
                                        .staleness = number("staleness", 0)}};
    const std::string log = given["log"] + "/" + std::to_string(world.rank());
    std::ofstream(log + ".pid") << ::getpid() << std::flush;
    std::ofstream opened(log, std::ios::app);
    int pass = 0, batches = 0;

    std::vector<std::string> chunks;
    for (int c = 0; c < number("chunks", 10) + (number("differ", -1) == world.rank() ? 1 : 0); ++c)
      chunks.push_back(std::to_string(c));
    lamina::distributed::task_queue queue{world, chunks, {.seed = 3}};
    const auto source = reader::tasks(queue, [&](const std::string& chunk) {
      opened << pass << ' ' << chunk << std::endl;
      const int c = std::atoi(chunk.c_str());
      if (number("fail", -1) == c) throw std::runtime_error("no such file");
      std::vector<sample> all;
      for (int i = 0; i < 5 + c % 3; ++i) {
        const float v = static_cast<float>(c * 10 + i) / 1000;
        all.push_back({{v, 1 - v}, v / 3});
      }
      return all;
    });
    lamina::train_options options{.passes = number("passes", 3)};
    options.on_event = [&](const lamina::event& e) {
      if (e.kind == lamina::event_kind::begin_pass) pass = e.pass;
      if (e.kind != lamina::event_kind::begin_iteration) return;
      if (number("slow", world.rank()) == world.rank())
        std::this_thread::sleep_for(std::chrono::milliseconds(number("pause", 0)));
      ++batches;
      while (number("hang", -1) == world.rank() && batches > 3)
        std::this_thread::sleep_for(std::chrono::seconds(1));
    };
    if (given.contains("checkpoint")) {
      options.checkpoint.directory = given["checkpoint"];
      options.checkpoint.every_batches = number("staleness", 0) > 0 ? 0 : 2;
      options.checkpoint.resume = true;
    }
    options.world = &world;
    options.reads_shard = true;
    options.tasks = &queue;
    lamina::model m{net};
    lamina::optimizer::sgd{.learning_rate = 0.001f}.train(
        m, source | reader::shuffle(4) | reader::batch(2), options);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
