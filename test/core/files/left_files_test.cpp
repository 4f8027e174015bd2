// SPDX-License-Identifier: Apache-2.0
// What killed writers leave is removed, also where process numbers repeat as in containers; what a
// writer still has is not.
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/left_files.hpp>

TEST_CASE("atomic writes: what killed writers left is removed, and nothing else") {
  const temporary_folder folder, other;
  const pid_t dead = ::fork();
  REQUIRE(dead >= 0);
  if (dead == 0) ::_exit(0);
  REQUIRE(::waitpid(dead, nullptr, 0) == dead);
  const auto name = [&](pid_t process) {
    return "model." + std::to_string(process) + "-1.writing";
  };
  const auto put = [&](const std::string& file, int minutes) {
    const std::string path = folder.path() + "/" + file;
    std::ofstream(path) << "half";
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) - std::chrono::minutes(minutes));
    return path;
  };
  const auto is_there = [](const std::string& path) { return std::filesystem::exists(path); };
  const std::string number = std::to_string(dead);
  // In a container, another process has the number of the dead writer now: also this one.
  const std::string left[] = {put(name(dead), 90), put(name(::getppid()), 90),
                              put(name(::getpid()), 90)};
  const std::string held = put("held." + number + "-1.writing", 90);
  const lamina::open_file writer(held);  // the writer lives, on whatever machine
  REQUIRE(::flock(writer.number(), LOCK_EX | LOCK_NB) == 0);
  const std::string kept[] = {held,
                              put("young." + number + "-1.writing", 50),  // it may be elsewhere
                              put("model." + number + ".writing", 90),    // of another kind
                              put("model." + number + "-.writing", 90),
                              put("model.-1.writing", 90),
                              put("model.x1-1.writing", 90),
                              put("notes.writing", 90)};
  const std::string folder_left = folder.path() + "/f." + number + "-1.writing";
  std::filesystem::create_directory(folder_left);
  lamina::write_file(other.path() + "/model", "all");
  for (const std::string& path : left) CHECK(is_there(path));  // that is another folder
  lamina::write_file(folder.path() + "/model", "all");
  for (const std::string& path : left) {
    INFO(path);
    CHECK_FALSE(is_there(path));
  }
  for (const std::string& path : kept) {
    INFO(path);
    CHECK(is_there(path));
  }
  CHECK(is_there(folder_left));
}

TEST_CASE("atomic writes: writers that are killed at random leave nothing for long") {
  const temporary_folder folder, other;
  std::set<std::string> names;
  int left = 0;
  for (int i = 0; i < 12; ++i) {
    const pid_t process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) {
      lamina::written_file file(folder.path() + "/model");  // killed before keep()
      const bool opened = file.open() && file.write("half", 4);
      if (i % 3 == 2) file.keep();
      ::kill(::getpid(), opened ? SIGKILL : SIGTERM);
    }
    int status = 0;
    REQUIRE(::waitpid(process, &status, 0) == process);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    left += i % 3 == 2 ? 0 : 1;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      if (entry.path().extension() == ".writing") names.insert(entry.path().filename().string());
  }
  CHECK(names.size() == static_cast<std::size_t>(left));  // each has a name of its own
  for (const std::string& name : names) {
    const std::string path = folder.path() + "/" + name;
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) - std::chrono::hours(2));
  }
  lamina::write_file(other.path() + "/model", "all");
  lamina::write_file(folder.path() + "/model", "all");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    files += entry.path().filename() == "model" ? 1 : 100;
  CHECK(files == 1);
}

TEST_CASE("the name of a temporary file tells its writer") {
  using lamina::detail::writer_of;
  CHECK(writer_of("model.12-345.writing").process == 12);
  CHECK(writer_of("model.12-345.writing").number == 345);
  for (const char* other : {"model.writing", "model.12.writing", "model.-1.writing", "a.12-3"})
    CHECK(writer_of(other).process == 0);
}
