// SPDX-License-Identifier: Apache-2.0
// train_nets [OPTION=VALUE]... NET/OPTIMIZER... - trains nets with all processes that the launcher
// started and prints what one rank has reached, one line each. Options: threads, passes, seed,
// pause (milliseconds in each mini-batch), checkpoint (a directory, from which it goes on),
// patience (seconds), memory (each rank reports the bytes that it took), fail (a rank that throws
// in its third mini-batch), stop (a rank that does nothing more there), break and hang (the same in
// the middle of a backward pass), differ (a rank with another seed), bucket (bytes), say (the rank
// that prints, 0 unless told), servers and staleness (options of the session), shard (each trainer
// reads its shard), accumulate (mini-batches per update), sync (sync_batch_norm), thread
// (communication_thread). Exit code 0, or 1 with a message.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "distributed/failing_world.hpp"
#include "distributed/nets.hpp"

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/session.hpp>
#include <lamina/optimizer/event.hpp>
#include <lamina/train/checkpoints/checkpoint.hpp>

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string, std::less<>> given;
    std::vector<std::string> wanted;
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const std::size_t equals = word.find('=');
      if (equals == word.npos)
        wanted.push_back(word);
      else
        given[word.substr(0, equals)] = word.substr(equals + 1);
    }
    const auto number = [&](std::string_view name, int otherwise) {
      const auto found = given.find(name);
      return found == given.end() ? otherwise : std::atoi(found->second.c_str());
    };
    lamina::distributed::session world{
        argc,
        argv,
        {.patience = static_cast<double>(number("patience", 600)),
         .bucket_bytes = static_cast<std::size_t>(number("bucket", 1 << 18)),
         .communication_thread = given.contains("thread"),
         .parameter_servers = number("servers", -1),
         .staleness = number("staleness", 0)}};
    test::failing_world failing(world, given.contains("hang"));
    const bool fails = number("break", -1) == world.rank() || number("hang", -1) == world.rank();
    int batches = 0;
    const auto handler = [&](const lamina::event& e) {
      if (e.kind != lamina::event_kind::begin_iteration) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(number("pause", 0)));
      if (++batches != 3) return;
      if (number("fail", -1) == world.rank()) throw lamina::error("lamina: test: the disk is full");
      while (number("stop", -1) == world.rank())
        std::this_thread::sleep_for(std::chrono::seconds(1));
    };
    for (const std::string& name : wanted) {
      const std::size_t slash = name.find('/');
      lamina::train_options options{.passes = number("passes", 3),
                                    .threads = number("threads", 1),
                                    .on_event = handler,
                                    .seed = static_cast<std::uint64_t>(number("seed", 0)),
                                    .world = &world};
      if (fails) options.world = &failing;
      options.reads_shard = given.contains("shard");
      options.accumulate = number("accumulate", 1);
      options.sync_batch_norm = given.contains("sync");
      if (number("differ", -1) == world.rank()) ++options.seed;
      if (given.contains("checkpoint")) {
        options.checkpoint.directory = given["checkpoint"];
        options.checkpoint.every_batches = given.contains("shard") ? 0 : 2;
        options.checkpoint.resume = true;
      }
      const test::trained_net r =
          given.contains("shard") && !world.is_parameter_server()
              ? test::train_net(name.substr(0, slash), name.substr(slash + 1), options,
                                world.rank(), world.trainers())
              : test::train_net(name.substr(0, slash), name.substr(slash + 1), options);
      if (given.contains("memory"))
        std::fprintf(stderr, "rank %d: %zu bytes, %zu in steps, %zu at most\n", world.rank(),
                     r.bytes, r.bytes_in_steps, r.peak_bytes);
      if (world.rank() == number("say", 0))
        std::printf("%s %016llx %.9g %.9g %lld\n", name.c_str(),
                    static_cast<unsigned long long>(r.parameters), r.cost, r.metric,
                    static_cast<long long>(r.steps));
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
