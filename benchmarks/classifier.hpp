// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/classifier.hpp - makes workloads from a network that classifies images.
#pragma once

#include <memory>

#include "workload.hpp"

namespace workload {

/// Makes the jobs of a program that has the data layers "image" and "label" and a layer "logits".
template <class P>
class classifier {
 public:
  /// `shape` is the shape of an image.
  classifier(P net, std::vector<std::size_t> shape) : net_(net), shape_(std::move(shape)) {}

  /// Makes a job of steps of stochastic gradient descent on a mini-batch of `rows` images.
  maker train(std::size_t rows) const {
    return [*this, rows](const std::filesystem::path& path, int threads) {
      auto s = std::make_shared<state>(*this, rows, folder(path));
      using sgd = lamina::optimizer::sgd;
      auto t = std::make_shared<trainer<P, sgd>>(sgd{.learning_rate = 0.01f}, s->model, threads);
      return training([s, t, rows] {
        const void* arrays[] = {s->images.data(), s->label.data()};
        return t->step(lamina::batch_view<P>::dense(static_cast<int>(rows), arrays));
      });
    };
  }
  /// Makes a job that computes the logits of a mini-batch of `rows` images.
  maker infer(std::size_t rows) const {
    return [*this, rows](const std::filesystem::path& path, int threads) {
      auto s = std::make_shared<state>(*this, rows, folder(path));
      auto e = std::make_shared<lamina::evaluator<P>>(s->model);
      const auto run = [s, e, loops = share_loops(*e, threads)](int n) {
        for (int i = 0; i < n; ++i) e->forward(lamina::feed<"image">(s->images));
      };
      return job{[run, e] {
                   run(1);
                   const auto y = e->template activation<"logits">();
                   return std::vector<float>(y.begin(), y.end());
                 },
                 run};
    };
  }

 private:
  struct state {
    state(const classifier& of, std::size_t rows, const folder& to)
        : label(labels(rows, 10, 2)), model(of.net_) {
      std::vector<std::size_t> shape{rows};
      shape.insert(shape.end(), of.shape_.begin(), of.shape_.end());
      std::size_t size = 1;
      for (const std::size_t n : shape) size *= n;
      images = normal(size, 1);
      to.write("image", images, shape);
      to.write("label", label, {rows});
      to.write(model);
    }
    std::vector<float> images;
    std::vector<std::int64_t> label;
    lamina::model<P> model;
  };

  P net_;
  std::vector<std::size_t> shape_;
};

}  // namespace workload
