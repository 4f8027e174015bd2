// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/job.hpp - a program of benchmarks/run, of lamina or of another library. It
// answers requests, one per line of standard input:
//
//   check NAME   makes the job and prints what it computes, to be compared
//   time NAME    prints the median of its microseconds
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace workload {

/// A computation that is compared: its results, and a function that computes it n times.
struct job {
  std::function<std::vector<float>()> results;
  std::function<void(int)> repeat;
};

/// Makes a job. lamina's programs write the inputs and parameters to the folder; programs of other
/// libraries read them from there.
using maker = std::function<job(const std::filesystem::path&, int threads)>;

/// Makes a job of training steps on one mini-batch. Its results are the costs of the first five
/// steps.
template <class Step>
job training(Step step) {
  return {[step] {
            std::vector<float> costs;
            for (int i = 0; i < 5; ++i) costs.push_back(step());
            return costs;
          },
          [step](int n) {
            for (int i = 0; i < n; ++i) step();
          }};
}

/// Returns the microseconds of one computation: the median of many short measurements, which take
/// half a second together.
inline double microseconds(const job& j) {
  using clock = std::chrono::steady_clock;
  const auto measure = [&](int n) {
    const auto start = clock::now();
    j.repeat(n);
    return std::chrono::duration<double, std::micro>(clock::now() - start).count();
  };
  double took = measure(1);
  int n = 1;
  while (took < 2000 && n < 1 << 24) took = measure(n *= 2);
  std::vector<double> each;
  double total = 0;
  while (total < 5e5 || each.size() < 5) {
    const double t = measure(n);
    total += t;
    each.push_back(t / n);
  }
  const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
  std::nth_element(each.begin(), middle, each.end());
  return *middle;
}

/// Answers requests until standard input ends.
inline int serve(const std::filesystem::path& folder, int threads,
                 const std::map<std::string, maker>& makers) {
  std::map<std::string, job> made;
  std::string question, name;
  while (std::cin >> question >> name) {
    try {
      if (question == "check") {
        if (!makers.contains(name)) throw std::runtime_error("not written for this one");
        made[name] = makers.at(name)(folder / name, threads);
        for (const float x : made[name].results()) std::cout << x << ' ';
      } else {
        std::cout << microseconds(made.at(name));
      }
    } catch (const std::exception& e) {
      std::cout << "absent " << e.what();
    }
    std::cout << std::endl;
  }
  return 0;
}

/// The main function of a program: `w1 FOLDER THREADS`. Without arguments, it prints the names of
/// its workloads.
inline int serve(int count, char** argument, const std::map<std::string, maker>& makers) {
  if (count == 3) return serve(argument[1], std::stoi(argument[2]), makers);
  for (const auto& [name, make] : makers) std::cout << name << '\n';
  return count == 1 ? 0 : 2;
}

}  // namespace workload
