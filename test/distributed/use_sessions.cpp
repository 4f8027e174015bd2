// SPDX-License-Identifier: Apache-2.0
// use_sessions WHAT - sessions in programs that use MPI themselves, and the end of exchanges after
// a failure, with all processes that the launcher started. sessions.py says what each WHAT does.
// Exit code 0, or 1 with a message.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <mpi.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/session.hpp>

namespace {

using lamina::distributed::session;
using message = session::message;

void require(bool holds, const char* what) {
  if (!holds) throw lamina::error(std::string("lamina: test: expected ") + what);
}

/// MPI as a library or a program begins it that knows nothing about sessions.
class other_mpi {
 public:
  other_mpi(int& argc, char**& argv, int level) { MPI_Init_thread(&argc, &argv, level, &level_); }
  ~other_mpi() { MPI_Finalize(); }
  int level() const { return level_; }

 private:
  int level_ = 0;
};

/// A session that gathers, exchanges and shares a number.
void use(session& world, int number) {
  const int ranks = world.size(), me = world.rank();
  require(world.all_reduce_sum(me + number) == ranks * (ranks - 1) / 2 + ranks * number, "a sum");
  std::vector<char> sent(100000, static_cast<char>(me)), received(sent.size());
  const message to{(me + 1) % ranks, sent.data(), sent.size()};
  const message from{(me + ranks - 1) % ranks, received.data(), received.size()};
  world.exchange({&to, 1}, {&from, 1});
  require(received.back() == static_cast<char>((me + ranks - 1) % ranks), "a message");
  const int shared = world.share_number();
  world.add_to_number(shared, 1);
  world.all_reduce_sum(0);
  require(world.add_to_number(shared, 0) == ranks, "a shared number");
}

/// Two sessions one after the other. Messages of the program itself reach the program alone.
void twice(int& argc, char**& argv) {
  const other_mpi mpi(argc, argv, MPI_THREAD_FUNNELED);
  int rank = 0, ranks = 1, got = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Request any;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
  for (const int number : {3, 4}) {
    session world{argc, argv};
    use(world, number);
  }
  int ended = 0;
  MPI_Finalized(&ended);
  require(ended == 0, "an MPI that goes on");
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 1, MPI_COMM_WORLD);
  MPI_Wait(&any, MPI_STATUS_IGNORE);
  require(got == (rank + ranks - 1) % ranks, "the message of the program");
}

/// After a session that has failed, a second one works.
void after_failure(int& argc, char**& argv) {
  const other_mpi mpi(argc, argv, MPI_THREAD_FUNNELED);
  std::string found;
  try {
    session world{argc, argv};
    use(world, 0);
    // Each rank sends each other a message that no call receives.
    std::vector<char> data(std::size_t{1} << 23, 1);
    std::vector<message> all;
    for (int r = 0; r < world.size(); ++r)
      if (r != world.rank()) all.push_back({r, data.data(), data.size()});
    world.start(0, all, {});
    if (world.rank() == 1) {
      world.fail("lamina: test: the reader fails");
      world.drop();
      throw lamina::error("lamina: test: the reader fails");
    }
    world.all_reduce_sum(0);
  } catch (const lamina::error& e) {
    found = e.what();
  }
  require(found.starts_with("lamina: test: the reader fails"), "the error of rank 1");
  session world{argc, argv};
  use(world, 5);
}

/// A session of this program's own, and one after it.
void own_twice(int& argc, char**& argv) {
  {
    session world{argc, argv};
    use(world, 3);
  }
  session world{argc, argv};
}

void too_low(int& argc, char**& argv) {
  const other_mpi mpi(argc, argv, MPI_THREAD_SINGLE);
  require(mpi.level() == MPI_THREAD_SINGLE, "an MPI whose lowest level is MPI_THREAD_SINGLE");
  session world{argc, argv};
}
void other_thread(int& argc, char**& argv) {
  const other_mpi mpi(argc, argv, MPI_THREAD_FUNNELED);
  require(mpi.level() == MPI_THREAD_FUNNELED, "an MPI with MPI_THREAD_FUNNELED");
  std::exception_ptr failure;
  std::thread([&] {
    try {
      session world{argc, argv};
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

/// Options that do not fit: the session that begins MPI also ends it, when the process exits.
void no_trainers(int& argc, char**& argv) {
  try {
    session world{argc, argv, {.parameter_servers = 2}};
  } catch (const lamina::error&) {
    std::string found;
    try {
      session other{argc, argv};
    } catch (const lamina::error& e) {
      found = e.what();
    }
    require(found.find("expected an MPI that has not ended") != found.npos, "an MPI that ends");
    std::atexit([] {
      int ended = 0;
      MPI_Finalized(&ended);
      if (ended == 0) return;
      std::fprintf(stderr, "lamina: test: expected an MPI that has not ended yet\n");
      std::_Exit(3);
    });
    throw;
  }
}

/// What main makes exit codes of.
struct own_failure {
  int code;
};

/// A rank knows why the training fails, and with which code main ends; the others hear of it.
void exit_code(int& argc, char**& argv) {
  const int code = std::atoi(argv[3]);
  const std::string_view ranks = argv[2];
  session world{argc, argv};
  use(world, 2);
  MPI_Barrier(MPI_COMM_WORLD);  // none hears of another one's failure before its own
  if (ranks.find(static_cast<char>('0' + world.rank())) != ranks.npos) {
    // A rank whose number is not the first of them does not know as much.
    throw own_failure{ranks.front() - '0' == world.rank() ? code : 1};
  }
  world.all_reduce_sum(0);
}

/// What all processes make of the codes of each.
void codes() {
  using lamina::distributed::exit_code_of_job;
  require(exit_code_of_job({{1, false}, {65, true}}) == 65, "the code of the rank that knows");
  require(exit_code_of_job({{65, false}, {1, true}}) == 1, "no code of a rank that has heard");
  require(exit_code_of_job({{70, true}, {1, true}}) == 70, "the code of the lower rank");
  require(exit_code_of_job({{70, true}, {64, true}}) == 64, "the code that says: not again");
  require(exit_code_of_job({{0, true}, {1, false}}) == 0, "no code of a rank that ends well");
}

/// A communication thread needs more of the MPI of a program than a session without one.
void one_thread(int& argc, char**& argv) {
  const other_mpi mpi(argc, argv, MPI_THREAD_FUNNELED);
  require(mpi.level() == MPI_THREAD_FUNNELED, "an MPI with MPI_THREAD_FUNNELED");
  session world{argc, argv, {.communication_thread = true}};
}

/// Rank 1 fails when the others have ended their work.
void at_end(int& argc, char**& argv) {
  session world{argc, argv};
  use(world, 1);
  if (world.rank() != 1) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  throw lamina::error("lamina: test: the result cannot be written");
}

/// Rank 0 makes another call than the others.
void other_call(int& argc, char**& argv) {
  session world{argc, argv};
  const std::vector<char> mine(world.rank() == 0 ? 40 : 4000);
  std::vector<char> all(mine.size() * static_cast<std::size_t>(world.size()));
  world.gather(mine.data(), mine.size(), all.data());
  world.all_reduce_sum(1);
}

/// Rank 0 gives up an exchange and frees its memory. Rank 1 receives it a second later; if `deaf`,
/// never.
void late(int& argc, char**& argv, bool deaf) {
  session world{argc, argv};
  std::vector<char> data(std::size_t{1} << 25, static_cast<char>(1 - world.rank()));
  const message other{1 - world.rank(), data.data(), data.size()};
  world.all_reduce_sum(0);
  if (world.rank() == 0) {
    world.start(0, {&other, 1}, {});
    world.fail("lamina: test: the disk is full");
    world.drop();
    std::fill(data.begin(), data.end(), 2);  // as the next owner of the memory does
    throw lamina::error("lamina: test: the disk is full");
  }
  std::this_thread::sleep_for(std::chrono::seconds(deaf ? 30 : 1));
  const int number = world.start(0, {}, {&other, 1});
  while (!world.poll(number)) {
  }
  require(std::count(data.begin(), data.end(), 1) == static_cast<std::ptrdiff_t>(data.size()),
          "the message as it was sent");
  std::printf("the whole message\n");
  std::fflush(stdout);
  world.all_reduce_sum(0);
}

/// Each process does what its packet says: it receives from the rank of a digit, gathers (g),
/// sleeps (s), ends its session at once (l) or fails (f). `patience` in seconds.
void wait(int& argc, char**& argv, const std::string& packets, double patience) {
  session world{argc, argv, {.patience = patience}};
  world.all_reduce_sum(0);
  const char mine = packets.at(static_cast<std::size_t>(world.rank()));
  if (mine == 'l') return;
  if (mine == 'f') throw lamina::error("lamina: test: the disk is full");
  if (mine == 's') std::this_thread::sleep_for(std::chrono::seconds(30));
  if (mine == 'g') world.all_reduce_sum(1);
  char got[64];
  const message from{mine - '0', got, sizeof got};
  if (mine >= '0' && mine <= '9') world.exchange({}, {&from, 1});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "twice") twice(argc, argv);
    if (what == "after_failure") after_failure(argc, argv);
    if (what == "own_twice") own_twice(argc, argv);
    if (what == "too_low") too_low(argc, argv);
    if (what == "other_thread") other_thread(argc, argv);
    if (what == "no_trainers") no_trainers(argc, argv);
    if (what == "one_thread") one_thread(argc, argv);
    if (what == "at_end") at_end(argc, argv);
    if (what == "other_call") other_call(argc, argv);
    if (what == "wait") wait(argc, argv, argv[2], std::atof(argv[3]));
    if (what == "exit_code") exit_code(argc, argv);
    if (what == "codes") codes();
    if (what == "late" || what == "deaf") late(argc, argv, what == "deaf");
    return 0;
  } catch (const own_failure& e) {
    std::fprintf(stderr, "lamina: test: this rank knows\n");
    return e.code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
