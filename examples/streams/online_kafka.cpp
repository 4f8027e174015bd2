// SPDX-License-Identifier: Apache-2.0
// online_kafka - learns from a topic of Kafka; a killed run goes on without losing or repeating one
//
//   examples/run online_kafka --brokers localhost:9092 --topic trips --file trips.trainer
//
// A message is a line of four numbers: distance,hour,passengers,fare. The trainer's file has the
// offsets of all messages that its parameters have learnt from, and is written whole or not at all.
// So after kill -9 or a power cut the next run goes on where the file ends: docs/serving.md.
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include <lamina/lamina.hpp>
#include <lamina/reader/kafka.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

namespace {

struct trip {
  std::array<float, 3> features;
  float fare;
};

constexpr auto net = lamina::program([](lamina::block& main) {
  auto features = layer::data<"features", float, 3>(main);
  auto fare = layer::data<"fare", float, 1>(main);
  auto hidden = layer::fc<16>(features, {.act = lamina::activation::tanh});
  return layer::mean(layer::square_error_cost(layer::fc<1>(hidden, {.name = "fare_of"}), fare));
});

/// The numbers of a message; nothing if it is not four finite numbers.
std::optional<trip> parse(std::string_view text) {
  float numbers[4];
  for (float& n : numbers) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
    const bool is_last = &n == &numbers[3];
    if (fault != std::errc() || !std::isfinite(n)) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (is_last != text.empty() || (!is_last && text[0] != ',')) return {};
    if (!is_last) text.remove_prefix(1);
  }
  return trip{{numbers[0], numbers[1], numbers[2]}, numbers[3]};
}

std::atomic<bool> stop = false;

}  // namespace

int main(int argc, char** argv) {
  reader::kafka_options kafka{.brokers = "localhost:9092", .topic = "trips", .stop = &stop};
  std::string file = "trips.trainer";
  std::int64_t every = 16, steps = 0;
  int size = 16;
  bool any_order = false;
  std::vector<std::string> settings;
  CLI::App app("Learns from a topic of Kafka: docs/serving.md");
  app.add_option("--brokers", kafka.brokers, "host:port,host:port");
  app.add_option("--topic", kafka.topic, "whose messages are distance,hour,passengers,fare");
  app.add_option("--group", kafka.group, "under which offsets are committed, for monitors");
  app.add_option("--set", settings, "NAME=VALUE, a setting of librdkafka");
  app.add_option("--file", file, "parameters, optimizer and offsets");
  app.add_option("--batch", size, "messages of a mini-batch")->check(CLI::Range(1, 1 << 20));
  app.add_option("--every", every, "mini-batches from one file to the next")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--steps", steps, "end after so many mini-batches; 0: never");
  app.add_flag("--any-order", any_order, "take messages of partitions as they come");
  CLI11_PARSE(app, argc, argv);
  if (any_order) kafka.order = reader::kafka_order::arrival;
  for (const std::string& s : settings) {
    const std::size_t at = s.find('=');
    if (at != s.npos) kafka.settings[s.substr(0, at)] = s.substr(at + 1);
  }
  for (const int s : {SIGTERM, SIGINT}) std::signal(s, [](int) { stop = true; });

  try {
    lamina::model model{net, 7};
    lamina::optimizer::adam adam{.learning_rate = 1e-3f};
    lamina::trainer trainer{model, adam};
    reader::kafka_offsets offsets;
    trainer.keep(offsets);
    if (std::filesystem::exists(file)) trainer.load(file);
    std::printf("goes on behind mini-batch %lld\n", static_cast<long long>(trainer.steps()));
    std::fflush(stdout);

    reader::kafka_topic topic(kafka, offsets);
    std::int64_t batches = 0, refused = 0;
    const auto save = [&](bool last) {
      trainer.save(file);
      topic.commit(offsets, last);  // after the file, and for monitors only
      std::printf("%lld mini-batches, cost %.5f, %lld messages refused\n",
                  static_cast<long long>(trainer.steps()), trainer.cost(),
                  static_cast<long long>(refused));
      std::fflush(stdout);
    };
    // A mini-batch that is not whole when the run is stopped is left to the next run.
    if (steps == 0 || trainer.steps() < steps)
      for (auto&& messages : reader::begin_pass(topic | reader::batch(size, true))) {
        std::vector<trip> trips;
        for (const reader::kafka_message& m : messages) {
          if (const auto t = parse(m.value))
            trips.push_back(*t);
          else
            ++refused;
          offsets.advance(m.partition, m.offset);
        }
        if (!trips.empty()) trainer.step(trips);
        if (++batches % every == 0) save(false);
        if (steps > 0 && trainer.steps() >= steps) break;
      }
    save(true);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
