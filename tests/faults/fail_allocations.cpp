// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program, runs its main() repeatedly, each time in its own process in which the next
// allocation fails, and checks how it ends and what it leaves behind. FFTW's own allocations never fail.
//
// SFFT_FAIL_FROM, SFFT_FAIL_STEP, SFFT_FAIL_RUNS: which allocations, counted from the start of main().
// SFFT_FAIL_LASTING: if set, all allocations after it fail, too: memory stays exhausted.
// SFFT_FAIL_SIZES: names of outputs. Then no allocation fails; the numbers are limits on the size of files in
// bytes. SFFT_FAIL_TRACE: if set, prints the calls that led to the failed allocation (for a program linked
// with -rdynamic). SFFT_FAIL_FOLDER: where the program writes; every file in it has to be whole before and
// after.
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

bool trace = false;
bool lasting = false;        // memory stays exhausted
bool sizes = false;          // limit file sizes instead of allocations
std::atomic<long> left{-1};  // allocations until the one that fails; negative: none fails
// Whether it has failed; in memory shared with the processes that the program forks.
std::atomic<bool>* reached = nullptr;

/// Where FFTW lies in memory. FFTW ends the process when it has no memory to plan, so its own allocations are
/// left out.
struct Range {
  std::uintptr_t begin, end;
};
Range spared[16];
int spared_count = 0;

int note_fftw(dl_phdr_info* library, std::size_t, void*) {
  if (std::strstr(library->dlpi_name, "libfftw3") == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum && spared_count < 16; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = library->dlpi_addr + part.p_vaddr;
    spared[spared_count++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

bool fails(const void* caller) noexcept {
  if (left.load(std::memory_order_relaxed) < 0 && !(lasting && reached != nullptr && *reached)) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  for (int i = 0; i < spared_count; ++i) {
    if (address >= spared[i].begin && address < spared[i].end) return false;
  }
  if (!(lasting && *reached) && left.fetch_sub(1) != 0) return false;
  *reached = true;
  if (trace) {
    void* calls[60];
    ::backtrace_symbols_fd(calls, ::backtrace(calls, 60), 2);
  }
  errno = ENOMEM;
  return true;
}

using Main = int (*)(int, char**, char**);
Main program;

long number(const char* name, long otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

/// What a file must begin and end with, by its name.
struct Kind {
  const char *name, *begin, *end;
};
constexpr Kind kKinds[] = {
    {"json", "{", "}\n"},         {"csv", "frame,action", "\n"}, {"html", "<!doctype html>", "</html>\n"},
    {"template", "SFFTTMPL", ""}, {"wisdom", "{", "}\n"},        {"spectra", "\x89HDF", ""}};

bool whole(const char* folder, const Kind& kind) {
  char path[4096];
  std::snprintf(path, sizeof path, "%s/%s", folder, kind.name);
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return true;  // never written
  char head[32] = {}, tail[32] = {};
  const bool read = std::fread(head, 1, sizeof head - 1, file) > 0;
  const long size = std::strlen(kind.end) == 0 ? 0 : static_cast<long>(std::strlen(kind.end));
  if (size > 0 && std::fseek(file, -size, SEEK_END) == 0)
    static_cast<void>(!std::fread(tail, 1, sizeof tail - 1, file));
  std::fclose(file);
  return read && std::strncmp(head, kind.begin, std::strlen(kind.begin)) == 0 &&
         std::strcmp(tail, kind.end) == 0;
}

void remove_all(const char* folder) {
  for (const Kind& kind : kKinds) {
    char path[4096];
    std::snprintf(path, sizeof path, "%s/%s", folder, kind.name);
    ::unlink(path);
  }
}

/// Whether any output named in SFFT_FAIL_SIZES is missing.
bool any_missing(const char* folder) {
  const char* const kinds = std::getenv("SFFT_FAIL_SIZES");
  for (const Kind& kind : kKinds) {
    char path[4096];
    std::snprintf(path, sizeof path, "%s/%s", folder, kind.name);
    if (std::strstr(kinds, kind.name) != nullptr && ::access(path, F_OK) != 0) return true;
  }
  return false;
}

int litter(const char* folder) {
  int count = 0;
  DIR* const entries = ::opendir(folder);
  if (entries == nullptr) return 0;
  while (const dirent* const entry = ::readdir(entries))
    count += std::strstr(entry->d_name, ".tmp") != nullptr;
  ::closedir(entries);
  return count;
}

int campaign(int argc, char** argv, char** environment) {
  const long from = number("SFFT_FAIL_FROM", 0), step = number("SFFT_FAIL_STEP", 1),
             runs = number("SFFT_FAIL_RUNS", 100);
  const char* const folder = std::getenv("SFFT_FAIL_FOLDER");
  char printed[4096];
  std::snprintf(printed, sizeof printed, "%s/printed", folder);
  trace = std::getenv("SFFT_FAIL_TRACE") != nullptr;
  lasting = std::getenv("SFFT_FAIL_LASTING") != nullptr;
  sizes = std::getenv("SFFT_FAIL_SIZES") != nullptr;
  if (trace) {
    void* first = nullptr;
    static_cast<void>(::backtrace(&first, 1));  // loads what it needs
  }
  ::dl_iterate_phdr(&note_fftw, nullptr);
  void* const shared =
      ::mmap(nullptr, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  reached = new (shared) std::atomic<bool>(false);
  long bad = 0, survived = 0, failed = 0, done = 0;
  for (; done < runs; ++done) {
    const long n = from + done * step;
    if (sizes) remove_all(folder);
    *reached = false;
    const pid_t child = ::fork();
    if (child == 0) {
      // Limits on file sizes must not apply to printed output.
      const int file = ::open(sizes ? "/dev/null" : printed, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
      ::dup2(file, 1);
      ::dup2(file, 2);
      ::alarm(60);
      if (sizes) {
        const rlimit limit{static_cast<rlim_t>(n), static_cast<rlim_t>(n)};
        ::setrlimit(RLIMIT_FSIZE, &limit);
      } else {
        left = n;
      }
      const int code = program(argc, argv, environment);
      left = -1;
      lasting = false;
      std::exit(sizes || *reached ? code : 200 + code % 10);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    bool good = WIFEXITED(status) && WEXITSTATUS(status) != 99;  // 99: an object no longer works
    if (WIFEXITED(status) && litter(folder) > 0) good = false;
    for (const Kind& kind : kKinds) good = good && whole(folder, kind);
    // 2: an output could not be written, which must then be true.
    if (sizes) good = good && WIFEXITED(status) && WEXITSTATUS(status) == (any_missing(folder) ? 2 : 0);
    if (!good) {
      ++bad;
      std::fprintf(stderr, "number %ld: status %x, files left %d\n", n, status, litter(folder));
      std::fprintf(stderr, "  printed: ");
      if (std::FILE* const file = std::fopen(printed, "rb")) {
        char text[4000] = {};
        static_cast<void>(!std::fread(text, 1, sizeof text - 1, file));
        std::fprintf(stderr, "%s\n", text);
        std::fclose(file);
      }
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) >= 200) break;  // there are no more allocations
    if (WIFEXITED(status)) ++(WEXITSTATUS(status) == 0 ? survived : failed);
  }
  std::fprintf(stderr, "%ld runs: %ld went on, %ld ended with an error, %ld bad\n", done, survived, failed,
               bad);
  return bad == 0 && done > 0 ? 0 : 1;
}

int count(int argc, char** argv, char** environment) {
  return std::getenv("SFFT_FAIL_FOLDER") == nullptr ? program(argc, argv, environment)
                                                    : campaign(argc, argv, environment);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*loader)(),
                      void* stack) {
  program = main;
  const auto real = reinterpret_cast<int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*)>(
      ::dlsym(RTLD_NEXT, "__libc_start_main"));
  return real(&count, argc, argv, init, fini, loader, stack);
}

}  // extern "C"
