// SPDX-License-Identifier: Apache-2.0
// Atomic writes and interrupted reads: what the system refuses leaves the old file whole and no
// other behind, writers do not meet, and files keep their mode.
// Sources: microsoft/agent-framework#8182, Lightning-AI/pytorch-lightning#688,
// numpy/numpy#23479, PaddlePaddle/Paddle#4935.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <lamina/core/files/file.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/model.hpp>

namespace {

/// What the system does for the process from now on. Only files that are no terminal count.
struct faults {
  int write = 0, fsync = 0, rename = 0, read = 0;  // errno of every call; 0: it works
  std::size_t most = ~std::size_t{0};              // bytes of one call of read and write
  int interrupted = 0;                             // every so many calls a signal comes; 0: never
  int calls = 0;
  std::string order{};
}

now;

bool is_interrupted() {
  errno = EINTR;
  return now.interrupted > 0 && ++now.calls % now.interrupted == 0;
}

}  // namespace

extern "C" ssize_t write(int file, const void* from, size_t n) {
  if (file > 2) {
    if (is_interrupted()) return -1;
    if ((errno = now.write) != 0) return -1;
    if (now.order.empty() || now.order.back() != 'w') now.order += 'w';
    n = std::min(n, now.most);
  }
  return ::syscall(SYS_write, file, from, n);
}

extern "C" ssize_t read(int file, void* to, size_t n) {
  if (file > 2) {
    if (is_interrupted()) return -1;
    if ((errno = now.read) != 0) return -1;
    n = std::min(n, now.most);
  }
  return ::syscall(SYS_read, file, to, n);
}

extern "C" int fsync(int file) {
  if (is_interrupted()) return -1;
  if ((errno = now.fsync) != 0) return -1;
  now.order += 's';
  return static_cast<int>(::syscall(SYS_fsync, file));
}

extern "C" int rename(const char* from, const char* to) {
  if ((errno = now.rename) != 0) return -1;
  now.order += 'r';
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace {

namespace layer = lamina::layer;

using Catch::Contains;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<300>(layer::data<"x", float, 200>(main), {.name = "y"});
});

using net_model = lamina::model<std::remove_const_t<decltype(net)>>;

struct kind {
  const char* name;
  void (*save)(const std::string& path, const net_model& m);
  void (*load)(const std::string& path, net_model& m);
};

const kind kinds[] = {
    {"model", [](const std::string& to, const net_model& m) { m.save(to); },
     [](const std::string& from, net_model& m) { m.load(from); }},
    {"npz", [](const std::string& to, const net_model& m) { lamina::save_npz(to, m); },
     [](const std::string& from, net_model& m) { lamina::load_npz(from, m); }},
    {"safetensors",
     [](const std::string& to, const net_model& m) { lamina::save_safetensors(to, m); },
     [](const std::string& from, net_model& m) { lamina::load_safetensors(from, m); }},
    {"tar", [](const std::string& to, const net_model& m) { lamina::to_tar(to, m); },
     [](const std::string& from, net_model& m) { lamina::from_tar(from, m); }},
    {"npy",
     [](const std::string& to, const net_model& m) {
       lamina::save_npy(to, lamina::tensor(m.get(0)));
     },
     [](const std::string& from, net_model& m) {
       const lamina::tensor value = lamina::load_npy(from);
       const float* const all[] = {value.as<float>().data(), nullptr};
       m.set_all(all);
     }},
    {"write_file",
     [](const std::string& to, const net_model& m) {
       const auto w = m.get(0);
       lamina::write_file(to, std::string(reinterpret_cast<const char*>(w.data()), w.size() * 4));
     },
     [](const std::string& from, net_model& m) {
       const std::string bytes = lamina::read_file(from);
       const float* const all[] = {reinterpret_cast<const float*>(bytes.data()), nullptr};
       m.set_all(all);
     }}};

bool same(const net_model& a, const net_model& b) { return a.get(0) == b.get(0); }

/// What a function throws, "" if nothing; without faults afterwards.
template <class F>
std::string error_with(const faults& of, F&& f) {
  std::string what;
  now = of;
  try {
    f();
  } catch (const lamina::error& e) {
    what = e.what();
  }
  const std::string order = now.order;
  now = {};
  now.order = order;
  return what;
}

/// The system's words for a failure, which its locale translates.
std::string reason(int failure) { return std::strerror(failure); }

std::ptrdiff_t files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

int mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  return static_cast<int>(found.st_mode & 07777);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// The status that a process ends with.
template <class F>
int status_of(F&& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("atomic writes: whatever the system refuses, the old file is whole and alone") {
  const net_model first{net, 1}, second{net, 2};
  for (const kind& k : kinds) {
    INFO(k.name);
    const temporary_folder folder;
    const std::string path = folder.path() + "/file";
    k.save(path, first);
    const std::string before = lamina::read_file(path);
    for (const auto& [of, why] : {std::pair<faults, int>{{.write = ENOSPC}, ENOSPC},
                                  {{.write = EIO}, EIO},
                                  {{.fsync = EIO}, EIO},
                                  {{.fsync = ENOSPC}, ENOSPC},
                                  {{.rename = EACCES}, EACCES}}) {
      CHECK_THAT(error_with(of, [&] { k.save(path, second); }),
                 Contains(path + ": cannot be written: " + reason(why)));
      CHECK(lamina::read_file(path) == before);
      CHECK(files_in(folder.path()) == 1);
    }
    // File systems that know no fsync have what they were given.
    CHECK(error_with({.fsync = EINVAL}, [&] { k.save(path, second); }) == "");
    net_model found{net, 3};
    k.load(path, found);
    CHECK(same(found, second));
    CHECK(error_with({}, [&] { k.save(path, first); }) == "");
    CHECK(now.order == "wsrs");  // the file is on the disk before it gets its name, then the name
    CHECK(error_with({.most = 1000, .interrupted = 3}, [&] { k.save(path, first); }) == "");
    CHECK(lamina::read_file(path) == before);
    CHECK(files_in(folder.path()) == 1);
    if (::access("/dev/full", W_OK) == 0)
      CHECK_THAT(error_with({}, [&] { k.save("/dev/full", first); }), Contains(reason(ENOSPC)));
  }
}

TEST_CASE("interrupted reads: pieces and signals are no damage, and what fails changes nothing") {
  const net_model first{net, 1};
  for (const kind& k : kinds) {
    INFO(k.name);
    const temporary_folder folder;
    const std::string path = folder.path() + "/file";
    k.save(path, first);
    net_model found{net, 2}, other{net, 2};
    CHECK_THAT(error_with({.read = EIO}, [&] { k.load(path, found); }),
               Contains(path) && Contains("cannot be read: " + reason(EIO)));
    CHECK(same(found, other));
    CHECK(error_with({.most = 777, .interrupted = 2}, [&] { k.load(path, found); }) == "");
    CHECK(same(found, first));
    CHECK_THAT(error_with({}, [&] { k.load(folder.path(), found); }),
               Contains(folder.path()) && Contains(reason(EISDIR)));
    CHECK_THAT(error_with({}, [&] { k.save(folder.path(), found); }), Contains(reason(EISDIR)));
    CHECK(files_in(folder.path()) == 1);
  }
}

TEST_CASE("atomic writes: a file keeps its mode, and its name may have 255 bytes") {
  const temporary_folder folder;
  const net_model first{net, 1}, second{net, 2};
  const ::mode_t before = ::umask(022);
  for (const kind& k : kinds) {
    INFO(k.name);
    const std::string path = folder.path() + "/" + std::string(255, 'n');
    std::filesystem::remove(path);
    k.save(path, first);
    CHECK(mode_of(path) == 0644);
    for (const ::mode_t mode : {0600, 0640, 0666, 0755}) {
      REQUIRE(::chmod(path.c_str(), mode) == 0);
      k.save(path, second);
      CHECK(mode_of(path) == static_cast<int>(mode));
    }
    net_model found{net, 3};
    k.load(path, found);
    CHECK(same(found, second));
    CHECK(files_in(folder.path()) == 1);
    // Letters of several bytes are not cut.
    std::string letters;
    for (int i = 0; i < 127; ++i) letters += "\xc3\xa4";
    k.save(folder.path() + "/" + letters, first);
    CHECK(files_in(folder.path()) == 2);
    std::filesystem::remove(folder.path() + "/" + letters);
  }
  ::umask(before);
}

TEST_CASE("atomic writes: a path of 4095 bytes, and one with a zero in it") {
  const temporary_folder folder;
  const net_model first{net, 1}, second{net, 2};
  for (const kind& k : kinds) {
    INFO(k.name);
    const std::string short_path = folder.path() + "/file", path = short_path + '\0' + "tail";
    net_model found{net, 3};
    // The system would read the path up to the zero.
    CHECK_THAT(error_with({}, [&] { k.save(path, second); }),
               Contains("file\\0tail: cannot be") && Contains(reason(EINVAL)));
    CHECK(files_in(folder.path()) == 0);
    k.save(short_path, first);
    CHECK_THAT(error_with({}, [&] { k.save(path, second); }),
               Contains("file\\0tail: cannot be") && Contains(reason(EINVAL)));
    CHECK_THAT(error_with({}, [&] { k.load(path, found); }),
               Contains("file\\0tail: cannot be") && Contains(reason(EINVAL)));
    std::filesystem::create_symlink("file", folder.path() + "/link");
    CHECK_THAT(error_with({}, [&] { k.save(folder.path() + "/link" + '\0' + "x", second); }),
               Contains(reason(EINVAL)));
    k.load(short_path, found);
    CHECK(same(found, first));
    std::filesystem::remove(short_path);
    std::filesystem::remove(folder.path() + "/link");
  }
  std::string deep = folder.path();
  while (deep.size() < 3900) {
    deep += "/" + std::string(100, 'd');
    REQUIRE(::mkdir(deep.c_str(), 0777) == 0);
  }
  const std::string path = deep + "/" + std::string(4094 - deep.size(), 'n');
  for (const kind& k : kinds) {
    INFO(k.name);
    k.save(path, second);
    net_model found{net, 3};
    k.load(path, found);
    CHECK(same(found, second));
    CHECK(files_in(deep) == 1);
  }
}

TEST_CASE("atomic writes: a file that its user may not write is not replaced") {
  const temporary_folder folder;
  const std::string path = folder.path() + "/file";
  const net_model first{net, 1}, second{net, 2};
  first.save(path);
  REQUIRE(::chmod(path.c_str(), 0444) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
  const std::string before = lamina::read_file(path);
  CHECK(status_of([&] {
          if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 3;
          try {
            second.save(path);
          } catch (const lamina::error& e) {
            return std::string(e.what()).find(reason(EACCES)) != std::string::npos ? 1 : 2;
          }
          return 0;
        }) == 1);
  CHECK(lamina::read_file(path) == before);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("atomic writes: two writers and a reader on one path") {
  const net_model a{net, 1}, b{net, 2};
  for (const kind& k : kinds) {
    INFO(k.name);
    const temporary_folder folder;
    const std::string path = folder.path() + "/file";
    k.save(path, a);
    std::vector<pid_t> writers;
    for (const net_model* const m : {&a, &b}) {
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child != 0) {
        writers.push_back(child);
        continue;
      }
      int failed = 0;
      for (int i = 0; i < 20; ++i) try {
          k.save(path, *m);
        } catch (const lamina::error&) {
          ++failed;
        }
      ::_exit(failed);
    }
    net_model found{net, 3};
    int others = 0;
    for (int i = 0; i < 60; ++i) {
      k.load(path, found);
      others += !same(found, a) && !same(found, b);
    }
    CHECK(others == 0);
    for (const pid_t writer : writers) {
      int status = 0;
      REQUIRE(::waitpid(writer, &status, 0) == writer);
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 0);
    }
    CHECK(files_in(folder.path()) == 1);
  }
}

TEST_CASE("atomic writes: links lead to the file that is written, dangling ones too") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.path() + "/there");
  std::filesystem::create_symlink("there/file", folder.path() + "/link");
  std::filesystem::create_symlink(folder.path() + "/link", folder.path() + "/second");
  for (const char* text : {"one", "two"}) {
    lamina::write_file(folder.path() + "/second", text);
    CHECK(lamina::read_file(folder.path() + "/there/file") == text);
  }
  CHECK(std::filesystem::is_symlink(folder.path() + "/second"));
  CHECK(std::filesystem::is_symlink(folder.path() + "/link"));
  std::filesystem::create_symlink("round", folder.path() + "/round");
  CHECK_THROWS_AS(lamina::write_file(folder.path() + "/round", "x"), lamina::error);
}

TEST_CASE("foreign files: a pipe is read as a stream") {
  const net_model first{net, 1};
  for (const kind& k : kinds) {
    INFO(k.name);
    const temporary_folder folder;
    const std::string path = folder.path() + "/file", pipe = folder.path() + "/pipe";
    k.save(path, first);
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const pid_t writer = ::fork();
    if (writer == 0) {
      ::execlp("sh", "sh", "-c", "cat \"$0\" > \"$1\"", path.c_str(), pipe.c_str(), nullptr);
      ::_exit(127);
    }
    net_model found{net, 2};
    k.load(pipe, found);
    CHECK(same(found, first));
    int status = 0;
    ::waitpid(writer, &status, 0);
  }
}

TEST_CASE("foreign files: gzip is known by its first bytes") {
  const net_model first{net, 1};
  const temporary_folder folder;
  const std::string path = folder.path() + "/file", packed = folder.path() + "/packed";
  for (const kind& k : kinds) {
    INFO(k.name);
    k.save(path, first);
    const std::string bytes = lamina::read_file(path);
    const gzFile out = ::gzopen(packed.c_str(), "wb");
    ::gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    ::gzclose(out);
    net_model found{net, 2};
    const std::string name = k.name;
    if (name == "write_file") continue;  // any bytes
    const std::string what = error_with({}, [&] { k.load(packed, found); });
    if (name == "tar") {
      CHECK(what == "");
      CHECK(same(found, first));
      const std::string whole = lamina::read_file(packed);
      write_text(packed, whole + whole);  // two archives: the second is behind the end of the first
      CHECK_THAT(error_with({}, [&] { k.load(packed, found); }), Contains("zeros up to the end"));
      for (const std::size_t n : {whole.size() / 2, whole.size() - 4}) {
        write_text(packed, whole.substr(0, n));
        CHECK_THAT(error_with({}, [&] { k.load(packed, found); }),
                   Contains("the gzip stream ends before its end mark"));
      }
    } else {
      CHECK_THAT(what, Contains("compressed with gzip"));
    }
  }
}
