// SPDX-License-Identifier: Apache-2.0
// recommender_system - how a user would rate a film, from two towers; takes ml-1m.zip (MovieLens)
//
//   examples/run recommender_system [ARCHIVE]
//
// ARCHIVE is MovieLens 1M. Without it the program learns from made-up ratings.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <tuple>

#include "synthetic_movielens.hpp"

#include <lamina/dataset/movielens.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace movielens = lamina::dataset::movielens;
using lamina::activation;
using lamina::pooling_type;

// The ids of the original archive are below these numbers.
constexpr int users = 6041, films = 3953, jobs = 21, categories = 18, title_words = 5200;

// A vector for each id, and what is made of it.
template <int Count, int Width>
constexpr auto feature(auto id) {
  return layer::fc<Width>(layer::embedding<Count, Width>(id), {.act = activation::tanh});
}

// Both towers, as in PaddlePaddle's book: the angle between a user and a film is the rating.
constexpr auto rating = lamina::program([](lamina::block& main) {
  auto user_id = layer::data<"user_id", std::int64_t>(main);
  auto gender_id = layer::data<"gender_id", std::int64_t>(main);
  auto age_id = layer::data<"age_id", std::int64_t>(main);
  auto job_id = layer::data<"job_id", std::int64_t>(main);
  auto movie_id = layer::data<"movie_id", std::int64_t>(main);
  auto category_ids = layer::sequence<"category_ids", std::int64_t>(main);
  auto title_ids = layer::sequence<"title_ids", std::int64_t>(main);
  auto score = layer::data<"score", float, 1>(main);

  auto user = layer::fc<200>(std::tuple{feature<users, 32>(user_id), feature<2, 16>(gender_id),
                                        feature<7, 16>(age_id), feature<jobs, 16>(job_id)},
                             {.act = activation::tanh});
  auto category = layer::sequence_pool(layer::embedding<categories, 32>(category_ids),
                                       {.type = pooling_type::sum});
  auto title =
      layer::sequence_conv_pool<32, 3>(layer::embedding<title_words, 32>(title_ids),
                                       {.act = activation::tanh, .type = pooling_type::sum});
  auto film = layer::fc<200>(std::tuple{feature<films, 32>(movie_id), category, title},
                             {.act = activation::tanh});
  auto expected = layer::scale(layer::cos_sim(user, film), 5.f, {.name = "score_expected"});
  return layer::mean(layer::square_error_cost(expected, score));
});

int main(int count, char** argument) try {
  const bool real = count > 1;
  if (!real) std::puts("no archive given: using made-up ratings");
  const auto data = real ? movielens::read(argument[1]) : examples::synthetic_movielens::twin();
  if (data.max_user_id() >= users || data.max_movie_id() >= films || data.max_job_id() >= jobs ||
      data.movie_categories().size() > categories || data.movie_title_dict().size() > title_words)
    throw lamina::error("recommender_system: expected the ids of MovieLens 1M, found larger ones");
  const auto train = data.train(), test = data.test();
  std::printf("%zu ratings to train with, %zu to test\n", train.size(), test.size());

  double sum = 0, squares = 0;
  for (const auto& sample : train) sum += static_cast<double>(sample.score);
  const double mean = sum / static_cast<double>(train.size());
  for (const auto& sample : test) squares += std::pow(static_cast<double>(sample.score) - mean, 2);

  const int passes = real ? 5 : 6;
  lamina::model model{rating};
  lamina::optimizer::adam{.learning_rate = real ? 1e-3f : 3e-3f}.train(
      model, train | reader::shuffle(train.size()) | reader::batch(256),
      {.passes = passes, .on_event = lamina::progress_bar{passes}});
  const double cost = lamina::evaluator{model}.test(test | reader::batch(256)).cost;
  // A score is twice the stars.
  std::printf("test error %.3f stars (root of the mean square); that of the mean rating %.3f\n",
              std::sqrt(cost) / 2, std::sqrt(squares / static_cast<double>(test.size())) / 2);
  return std::sqrt(cost) / 2 < (real ? 0.95 : 0.5) ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}
