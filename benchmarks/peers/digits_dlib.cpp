// SPDX-License-Identifier: Apache-2.0
// What examples/01_digits.cpp does, in dlib, for benchmarks/compile_time.py: trains, saves, loads,
// serves from four threads. Arguments: the file of the training images, the file of the others.
#include <array>
#include <thread>

#include "digits.hpp"
#include <dlib/dnn.h>

namespace {

using network = dlib::loss_multiclass_log<
    dlib::fc<10, dlib::relu<dlib::fc<128, dlib::input<dlib::matrix<float>>>>>>;

std::vector<dlib::matrix<float>> images(const peer::digits& from) {
  std::vector<dlib::matrix<float>> all;
  for (std::size_t i = 0; i < from.labels.size(); ++i)
    all.push_back(dlib::mat(from.pixels.data() + 64 * i, 8, 8));
  return all;
}

}  // namespace

int main(int count, char** argument) try {
  if (count != 3) throw std::runtime_error("usage: digits_dlib TRAIN TEST");
  const char* const file = "digits_dlib.model";
  {
    const peer::digits train = peer::read_digits(argument[1]);
    network net;
    dlib::dnn_trainer<network, dlib::adam> trainer(net, dlib::adam(0, 0.9f, 0.999f));
    trainer.set_learning_rate(3e-3);
    trainer.set_mini_batch_size(16);
    trainer.set_max_num_epochs(30);
    trainer.be_verbose();
    trainer.train(images(train),
                  std::vector<unsigned long>(train.labels.begin(), train.labels.end()));
    net.clean();
    dlib::serialize(file) << net;
  }

  network net;
  dlib::deserialize(file) >> net;
  std::remove(file);
  const peer::digits test = peer::read_digits(argument[2]);
  const auto requests = images(test);
  std::array<std::vector<unsigned long>, 4> answers;
  std::vector<std::thread> threads;
  for (auto& answer : answers)
    threads.emplace_back([&, own = net]() mutable {
      for (const auto& request : requests) answer.push_back(own(request));
    });
  for (auto& t : threads) t.join();
  for (const auto& answer : answers)
    if (answer != answers[0]) throw std::runtime_error("the threads do not agree");

  std::size_t right = 0;
  const auto found = net(requests, 64);
  for (std::size_t i = 0; i < found.size(); ++i)
    right += found[i] == static_cast<unsigned long>(test.labels[i]);
  const double accuracy = static_cast<double>(right) / static_cast<double>(found.size());
  std::printf("test accuracy %.4f\n", accuracy);
  return accuracy >= 0.97 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
