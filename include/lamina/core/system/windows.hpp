// SPDX-License-Identifier: Apache-2.0
// lamina/core/system/windows.hpp - the functions of system_functions.hpp on Windows.
//
// The header declares the functions of the system that it calls instead of including <windows.h>,
// which would define hundreds of macros in a user's program, such as min and ERROR, and take longer
// to compile. The declarations are those of <windows.h>, which may be included too.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <wchar.h>

#include <lamina/core/system/system_functions.hpp>

struct _BY_HANDLE_FILE_INFORMATION;  // NOLINT: the names are those of the system
struct _SECURITY_ATTRIBUTES;         // NOLINT
struct _OVERLAPPED;                  // NOLINT
struct _SYSTEM_INFO;                 // NOLINT
struct _FILETIME;                    // NOLINT
union _LARGE_INTEGER;                // NOLINT

#define LAMINA_WINDOWS(type) __declspec(dllimport) type __stdcall
extern "C" {
LAMINA_WINDOWS(unsigned long) GetLastError();
LAMINA_WINDOWS(int)
MultiByteToWideChar(unsigned, unsigned long, const char*, int, wchar_t*, int);
LAMINA_WINDOWS(int)
WideCharToMultiByte(unsigned, unsigned long, const wchar_t*, int, char*, int, const char*, int*);
LAMINA_WINDOWS(unsigned long)
GetFullPathNameW(const wchar_t*, unsigned long, wchar_t*, wchar_t**);
LAMINA_WINDOWS(void*)
CreateFileW(const wchar_t*, unsigned long, unsigned long, _SECURITY_ATTRIBUTES*, unsigned long,
            unsigned long, void*);
LAMINA_WINDOWS(int) CloseHandle(void*);
LAMINA_WINDOWS(int) GetFileInformationByHandle(void*, _BY_HANDLE_FILE_INFORMATION*);
LAMINA_WINDOWS(unsigned long) GetFileType(void*);
LAMINA_WINDOWS(unsigned long)
GetFinalPathNameByHandleW(void*, wchar_t*, unsigned long, unsigned long);
LAMINA_WINDOWS(int) ReadFile(void*, void*, unsigned long, unsigned long*, _OVERLAPPED*);
LAMINA_WINDOWS(int) FlushFileBuffers(void*);
LAMINA_WINDOWS(int)
LockFileEx(void*, unsigned long, unsigned long, unsigned long, unsigned long, _OVERLAPPED*);
LAMINA_WINDOWS(int) MoveFileExW(const wchar_t*, const wchar_t*, unsigned long);
LAMINA_WINDOWS(int) DeleteFileW(const wchar_t*);
LAMINA_WINDOWS(int) RemoveDirectoryW(const wchar_t*);
LAMINA_WINDOWS(int) CreateDirectoryW(const wchar_t*, _SECURITY_ATTRIBUTES*);
LAMINA_WINDOWS(void*)
CreateFileMappingW(void*, _SECURITY_ATTRIBUTES*, unsigned long, unsigned long, unsigned long,
                   const wchar_t*);
LAMINA_WINDOWS(void*)
MapViewOfFile(void*, unsigned long, unsigned long, unsigned long, std::size_t);
LAMINA_WINDOWS(int) UnmapViewOfFile(const void*);
LAMINA_WINDOWS(int) VirtualUnlock(void*, std::size_t);
LAMINA_WINDOWS(unsigned long) GetCurrentProcessId();
LAMINA_WINDOWS(void*) OpenProcess(unsigned long, int, unsigned long);
LAMINA_WINDOWS(unsigned long) WaitForSingleObject(void*, unsigned long);
LAMINA_WINDOWS(unsigned long) GetActiveProcessorCount(unsigned short);
LAMINA_WINDOWS(int) GetConsoleMode(void*, unsigned long*);
LAMINA_WINDOWS(int) SetConsoleMode(void*, unsigned long);
LAMINA_WINDOWS(int) QueryPerformanceCounter(_LARGE_INTEGER*);
LAMINA_WINDOWS(int) QueryPerformanceFrequency(_LARGE_INTEGER*);
LAMINA_WINDOWS(void) GetSystemTimeAsFileTime(_FILETIME*);
LAMINA_WINDOWS(void) Sleep(unsigned long);
}
#undef LAMINA_WINDOWS

namespace lamina { inline namespace LAMINA_ABI { namespace detail { namespace system {

// Constants and structures of the system.
inline constexpr unsigned utf8 = 65001;
inline constexpr unsigned long reads = 0x80000000, writes = 0x40000000;
inline constexpr unsigned long share_all = 7, open_existing = 3, create_new = 1;
inline constexpr unsigned long opens_folders = 0x02000000, opens_links = 0x00200000;
inline constexpr unsigned long is_folder = 0x10, is_link = 0x400;

struct handle_information {  // BY_HANDLE_FILE_INFORMATION
  unsigned long attributes;
  unsigned long created[2], accessed[2], written[2];
  unsigned long volume, size_high, size_low, links, index_high, index_low;
};
struct overlapped {  // OVERLAPPED
  std::uintptr_t internal[2];
  unsigned long offset, offset_high;
  void* event;
};

/// A handle of the system, which is closed at the end of the scope.
class handle {
 public:
  explicit handle(void* opened)
      : opened_(reinterpret_cast<std::intptr_t>(opened) == -1 ? nullptr : opened) {}
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() {
    if (opened_ != nullptr) ::CloseHandle(opened_);
  }
  void* get() const { return opened_; }
  void* release() {
    void* const opened = opened_;
    opened_ = nullptr;
    return opened;
  }

 private:
  void* opened_;
};

inline void* handle_of(int file) { return reinterpret_cast<void*>(::_get_osfhandle(file)); }

/// Sets errno for the last error of the system; returns false.
inline bool fail() {
  static constexpr struct {
    unsigned long code;
    int reason;
  } known[] = {
      {1, ENOSYS},         {2, ENOENT},   {3, ENOENT},      {4, EMFILE},    {5, EACCES},
      {6, EBADF},          {8, ENOMEM},   {14, ENOMEM},     {15, ENOENT},   {19, EACCES},
      {32, EACCES},        {33, EACCES},  {39, ENOSPC},     {50, ENOSYS},   {53, ENOENT},
      {65, EACCES},        {67, ENOENT},  {80, EEXIST},     {87, EINVAL},   {109, EPIPE},
      {112, ENOSPC},       {123, ENOENT}, {145, ENOTEMPTY}, {161, ENOENT},  {183, EEXIST},
      {206, ENAMETOOLONG}, {232, EPIPE},  {267, ENOTDIR},   {1224, EACCES}, {1450, ENOMEM},
      {1455, ENOMEM},
  };
  const unsigned long code = ::GetLastError();
  errno = EIO;
  for (const auto& each : known)
    if (each.code == code) errno = each.reason;
  return false;
}

inline std::string from_wide(std::wstring_view text) {
  const int n = static_cast<int>(text.size());
  const int size = ::WideCharToMultiByte(utf8, 0, text.data(), n, nullptr, 0, nullptr, nullptr);
  std::string result(static_cast<std::size_t>(size), '\0');
  ::WideCharToMultiByte(utf8, 0, text.data(), n, result.data(), size, nullptr, nullptr);
  return result;
}

inline std::wstring wide(const std::string& text) {
  const int n = static_cast<int>(text.size());
  const int size = ::MultiByteToWideChar(utf8, 0, text.data(), n, nullptr, 0);
  std::wstring result(static_cast<std::size_t>(size), L'\0');
  ::MultiByteToWideChar(utf8, 0, text.data(), n, result.data(), size);
  return result;
}

/// Returns a path as the functions of the system expect it. A long path becomes absolute and gets
/// the prefix without which the system refuses more than 259 characters.
inline std::wstring to_wide(const std::string& path) {
  const std::wstring result = wide(path);
  if (result.starts_with(L"\\\\?\\")) return result;
  const unsigned long most = ::GetFullPathNameW(result.c_str(), 0, nullptr, nullptr);
  if (most < 248) return result;  // a folder must leave room for a short name
  std::wstring full(most, L'\0');
  full.resize(::GetFullPathNameW(result.c_str(), most, full.data(), nullptr));
  if (full.starts_with(L"\\\\")) return L"\\\\?\\UNC" + full.substr(1);
  return L"\\\\?\\" + full;
}

inline file_status status_of_handle(void* opened, bool follows = true) {
  file_status s;
  constexpr unsigned long disk = 1;
  handle_information found{};
  if (::GetFileType(opened) != disk) {
    s.kind = file_kind::other;
  } else if (::GetFileInformationByHandle(
                 opened, reinterpret_cast<_BY_HANDLE_FILE_INFORMATION*>(&found)) == 0) {
    fail();
  } else {
    s.kind = !follows && (found.attributes & is_link) != 0 ? file_kind::other
             : (found.attributes & is_folder) != 0         ? file_kind::folder
                                                           : file_kind::regular;
    s.size = std::uint64_t{found.size_high} << 32 | found.size_low;
    // The system counts units of 100 nanoseconds since 1601.
    const std::uint64_t units = std::uint64_t{found.written[1]} << 32 | found.written[0];
    s.modified = static_cast<std::int64_t>(units / 10'000'000) - 11'644'473'600;
  }
  return s;
}

inline file_status status_with(const std::string& path, bool follows) {
  const handle opened(::CreateFileW(to_wide(path).c_str(), 0, share_all, nullptr, open_existing,
                                    opens_folders | (follows ? 0 : opens_links), nullptr));
  if (opened.get() != nullptr) return status_of_handle(opened.get(), follows);
  fail();
  return {};
}

file_status status_of(const std::string& path) { return status_with(path, true); }

file_status status_of_entry(const std::string& path) { return status_with(path, false); }

file_status status_of(int file) { return status_of_handle(handle_of(file)); }

int open_path(const std::string& path, file_use use, unsigned) {
  if (use == file_use::overwrite)
    return ::_wopen(to_wide(path).c_str(), _O_WRONLY | _O_TRUNC | _O_BINARY | _O_NOINHERIT);
  const bool creates = use == file_use::create;
  // Other processes may rename or remove the file while it is open, as on POSIX.
  handle opened(::CreateFileW(to_wide(path).c_str(), creates ? writes : reads, share_all, nullptr,
                              creates ? create_new : open_existing,
                              opens_folders | (use == file_use::left_file ? opens_links : 0),
                              nullptr));
  if (opened.get() == nullptr) {
    fail();
    return -1;
  }
  const int file = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(opened.get()),
                                     _O_BINARY | _O_NOINHERIT | (creates ? 0 : _O_RDONLY));
  if (file >= 0) opened.release();
  return file;
}

bool close_file(int file) { return ::_close(file) == 0; }

long long read_some(int file, void* to, std::size_t n) {
  const int got = ::_read(file, to, static_cast<unsigned>(n));
  // The C library reports a folder as a bad file.
  if (got < 0 && status_of(file).kind == file_kind::folder) errno = EISDIR;
  return got;
}

long long write_some(int file, const void* from, std::size_t n) {
  return ::_write(file, from, static_cast<unsigned>(n));
}

long long read_some_at(int file, void* to, std::size_t n, std::uint64_t offset) {
  overlapped at{};
  at.offset = static_cast<unsigned long>(offset & 0xffffffff);
  at.offset_high = static_cast<unsigned long>(offset >> 32);
  unsigned long got = 0;
  if (::ReadFile(handle_of(file), to, static_cast<unsigned long>(n), &got,
                 reinterpret_cast<_OVERLAPPED*>(&at)) != 0)
    return static_cast<long long>(got);
  if (::GetLastError() == 38) return 0;  // the end of the file
  fail();
  return -1;
}

bool seek(int file, std::uint64_t offset) {
  return ::_lseeki64(file, static_cast<long long>(offset), SEEK_SET) >= 0;
}

bool sync_file(int file) {
  if (::FlushFileBuffers(handle_of(file)) != 0) return true;
  const unsigned long why = ::GetLastError();
  return why == 1 || why == 6 || fail();  // a device or a pipe cannot wait
}

void take_over(int, const file_status&) {}

// Locks a byte beyond any end, because a lock of the system forbids others to read the bytes.
bool lock_file(int file, bool& can) {
  constexpr unsigned long exclusive_at_once = 3;
  overlapped at{};
  at.offset_high = 0x40000000;
  can = true;
  if (::LockFileEx(handle_of(file), exclusive_at_once, 0, 1, 0,
                   reinterpret_cast<_OVERLAPPED*>(&at)) != 0)
    return true;
  const unsigned long why = ::GetLastError();
  can = why == 33 || why == 997;  // another process has the lock
  return !can;
}

bool may_write(const std::string& path) { return ::_waccess(to_wide(path).c_str(), 2) == 0; }

bool rename_file(const std::string& from, const std::string& to) {
  constexpr unsigned long replace_through = 1 | 8;
  const std::wstring old_name = to_wide(from), new_name = to_wide(to);
  // Virus scanners and indexers open new files for some milliseconds, and the system then refuses.
  for (unsigned long wait = 1;; wait *= 2) {
    if (::MoveFileExW(old_name.c_str(), new_name.c_str(), replace_through) != 0) return true;
    const unsigned long why = ::GetLastError();
    if ((why != 5 && why != 32) || wait > 256) return fail();
    ::Sleep(wait);
  }
}

bool remove_path(const std::string& path) {
  const std::wstring name = to_wide(path);
  if (::DeleteFileW(name.c_str()) != 0) return true;
  constexpr unsigned long access_denied = 5;  // what the system says of a folder
  if (::GetLastError() != access_denied || status_of_entry(path).kind != file_kind::folder)
    return fail();
  return remove_folder(path);
}

bool remove_folder(const std::string& path) {
  return ::RemoveDirectoryW(to_wide(path).c_str()) != 0 || fail();
}

bool make_folder(const std::string& path) {
  return ::CreateDirectoryW(to_wide(path).c_str(), nullptr) != 0 || fail();
}

std::string link_text(const std::string& path) {
  const int failure = errno;
  std::string leads_to;
  if (status_of_entry(path).kind == file_kind::other && status_of(path).kind == file_kind::regular)
    leads_to = resolved_path(path);
  errno = failure;
  // Files that a program stores elsewhere, such as those of OneDrive, lead to themselves.
  return leads_to == path ? std::string() : leads_to;
}

std::string resolved_path(const std::string& path) {
  const handle opened(::CreateFileW(to_wide(path).c_str(), 0, share_all, nullptr, open_existing,
                                    opens_folders, nullptr));
  wchar_t found[32768];
  const unsigned long size =
      opened.get() == nullptr ? 0 : ::GetFinalPathNameByHandleW(opened.get(), found, 32768, 0);
  if (size == 0 || size >= 32768) {
    fail();
    return {};
  }
  std::wstring_view whole(found, size);
  std::string resolved;
  if (whole.starts_with(L"\\\\?\\UNC\\"))
    resolved = "\\" + from_wide(whole.substr(7));
  else
    resolved = from_wide(whole.starts_with(L"\\\\?\\") ? whole.substr(4) : whole);
  for (char& c : resolved)
    if (c == '\\') c = '/';
  return resolved;
}

bool names_in(const std::string& folder, std::vector<std::string>& names) {
  const file_kind kind = status_of(folder).kind;
  if (kind == file_kind::missing) return false;
  if (kind != file_kind::folder) {
    errno = ENOTDIR;
    return false;
  }
  ::_wfinddata64_t found{};
  struct open_search {
    std::intptr_t handle;
    ~open_search() {
      if (handle != -1) ::_findclose(handle);
    }
  } search{::_wfindfirst64(to_wide(folder + "\\*").c_str(), &found)};
  if (search.handle == -1) return errno == ENOENT;  // the root of an empty disk has no names
  do names.push_back(from_wide(found.name));
  while (::_wfindnext64(search.handle, &found) == 0);
  return errno == ENOENT;
}

bool is_separator(char c) { return c == '/' || c == '\\'; }

bool is_absolute(const std::string& path) {
  return (!path.empty() && is_separator(path[0])) || (path.size() > 1 && path[1] == ':');
}

std::string home_folder() {
  // A shell of MSYS2 or Cygwin sets HOME.
  for (const wchar_t* const name : {L"HOME", L"USERPROFILE"})
    if (const wchar_t* const found = ::_wgetenv(name); found != nullptr && *found != 0)
      return from_wide(found);
  return {};
}

/// Whether a name matches a pattern without separators, letter by letter.
inline bool matches(std::string_view pattern, std::string_view name) {
  for (; !pattern.empty(); pattern.remove_prefix(1), name.remove_prefix(1)) {
    if (pattern[0] == '*') {
      for (std::size_t skipped = 0; skipped <= name.size(); ++skipped)
        if (matches(pattern.substr(1), name.substr(skipped))) return true;
      return false;
    }
    if (name.empty()) return false;
    const std::size_t end = pattern[0] == '[' ? pattern.find(']', 2) : pattern.npos;
    if (end != pattern.npos) {
      const bool is_not = pattern[1] == '!' || pattern[1] == '^';
      bool is_in = false;
      for (std::size_t i = is_not ? 2 : 1; i < end; ++i) {
        const bool is_range = i + 2 < end && pattern[i + 1] == '-';
        is_in = is_in || (name[0] >= pattern[i] && name[0] <= pattern[is_range ? i + 2 : i]);
        if (is_range) i += 2;
      }
      if (is_in == is_not) return false;
      pattern.remove_prefix(end);
    } else if (pattern[0] != '?' && pattern[0] != name[0]) {
      return false;
    }
  }
  return name.empty();
}

/// Adds the paths that begin with `before` and continue with a match of `pattern`.
inline bool add_matches(const std::string& before, std::string_view pattern,
                        std::vector<std::string>& paths) {
  std::size_t end = 0;
  while (end < pattern.size() && !is_separator(pattern[end])) ++end;
  const std::string_view name = pattern.substr(0, end);
  std::size_t next = end;
  while (next < pattern.size() && is_separator(pattern[next])) ++next;
  const std::string_view separators = pattern.substr(end, next - end), rest = pattern.substr(next);
  const auto go_on = [&](const std::string& path) {
    if (rest.empty()) {
      if (status_of(path).kind != file_kind::missing) paths.push_back(path);
      return true;
    }
    return add_matches(path, rest, paths);
  };
  if (name.find_first_of("*?[") == name.npos)
    return go_on(before + std::string(name) + std::string(separators));
  std::vector<std::string> names;
  if (!names_in(before.empty() ? "." : before, names)) return errno == ENOENT || errno == ENOTDIR;
  for (const std::string& found : names)
    if ((found[0] != '.' || name[0] == '.') && matches(name, found) &&
        !go_on(before + found + std::string(separators)))
      return false;
  return true;
}

bool matching_paths(const std::string& pattern, std::vector<std::string>& paths) {
  return add_matches("", pattern, paths);
}

const void* map_file(int file, std::size_t size) {
  constexpr unsigned long read_only = 2, file_map_read = 4;
  const handle mapping(::CreateFileMappingW(
      handle_of(file), nullptr, read_only, static_cast<unsigned long>(std::uint64_t{size} >> 32),
      static_cast<unsigned long>(size & 0xffffffff), nullptr));
  if (mapping.get() == nullptr) return nullptr;
  return ::MapViewOfFile(mapping.get(), file_map_read, 0, 0, size);
}

void unmap_file(const void* bytes, std::size_t) { ::UnmapViewOfFile(bytes); }

void forget_file_pages(const void* bytes, std::size_t size) {
  // Unlocking pages that are not locked fails, and removes them from the memory of the process.
  ::VirtualUnlock(const_cast<void*>(bytes), size);  // NOLINT: the system takes void*
}

long process_id() { return static_cast<long>(::GetCurrentProcessId()); }

bool is_running(long process) {
  constexpr unsigned long synchronize = 0x100000, timeout = 258;
  const handle opened(::OpenProcess(synchronize, 0, static_cast<unsigned long>(process)));
  if (opened.get() == nullptr) return ::GetLastError() != 87;  // the system knows no such process
  return ::WaitForSingleObject(opened.get(), 0) == timeout;
}

int run_program(const std::vector<std::string>& words) {
  // The system passes one text, which the program splits: a word in quotes is one argument, and
  // backslashes before a quote are doubled.
  std::vector<std::wstring> quoted;
  for (const std::string& word : words) {
    std::string text = "\"";
    std::size_t backslashes = 0;
    for (const char c : word) {
      if (c == '"') text.append(backslashes + 1, '\\');
      backslashes = c == '\\' ? backslashes + 1 : 0;
      text += c;
    }
    text.append(backslashes, '\\');
    quoted.push_back(wide(text + "\""));
  }
  std::vector<const wchar_t*> pointers;
  for (const std::wstring& word : quoted) pointers.push_back(word.c_str());
  pointers.push_back(nullptr);
  return static_cast<int>(::_wspawnvp(_P_WAIT, wide(words[0]).c_str(), pointers.data()));
}

int processors() { return static_cast<int>(::GetActiveProcessorCount(0xffff)); }

bool is_terminal(std::FILE* to) {
  if (::_isatty(::_fileno(to)) == 0) return false;
  // The console draws nothing in place unless it interprets escape sequences.
  constexpr unsigned long interprets = 4;
  void* const console = handle_of(::_fileno(to));
  unsigned long mode = 0;
  return ::GetConsoleMode(console, &mode) != 0 && ::SetConsoleMode(console, mode | interprets) != 0;
}

double steady_seconds() {
  long long now = 0, frequency = 1;
  ::QueryPerformanceCounter(reinterpret_cast<_LARGE_INTEGER*>(&now));
  ::QueryPerformanceFrequency(reinterpret_cast<_LARGE_INTEGER*>(&frequency));
  return static_cast<double>(now) / static_cast<double>(frequency);
}

std::uint64_t nanoseconds_since_1970() {
  unsigned long now[2] = {};
  ::GetSystemTimeAsFileTime(reinterpret_cast<_FILETIME*>(now));
  return ((std::uint64_t{now[1]} << 32 | now[0]) - 116'444'736'000'000'000) * 100;
}

std::tm local_time(std::time_t seconds) {
  std::tm local{};
  ::localtime_s(&local, &seconds);
  return local;
}

}}}}  // namespace lamina::detail::system
