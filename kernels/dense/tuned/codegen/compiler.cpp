// SPDX-License-Identifier: Apache-2.0
// Looks up sources that this process or another one has already compiled, and compiles the others on all
// cores.
#include "kernels/dense/tuned/codegen/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/runtime/embedded.hpp"
#include "kernels/runtime/host_resources.hpp"
#include "kernels/runtime/log.hpp"
#include "kernels/runtime/user_cache.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

extern const EmbeddedFile kTunedSources[];
extern const int kTunedSourcesCount;

namespace tuned {

namespace {

const std::vector<cuda::SourceHeader>& headers() {
  static const std::vector<cuda::SourceHeader> all = [] {
    std::vector<cuda::SourceHeader> list;
    for (int i = 0; i < kTunedSourcesCount; ++i)
      list.push_back({kTunedSources[i].name, kTunedSources[i].text});
    return list;
  }();
  return all;
}

/// A hash of all headers.
const std::string& headers_version() {
  static const std::string version = [] {
    std::string all;
    for (const cuda::SourceHeader& header : headers()) all += header.name + '\n' + header.text;
    return fmt::format("headers {:016x}", hash_of(all));
  }();
  return version;
}

Compiled compile_one(const std::string& source, const std::string& architecture, bool may_compile) {
  static const std::vector<std::string> kOptions{"--std=c++17", "--device-as-default-execution-space"};
  try {
    const std::string key =
        fmt::format("{}\n{}\n{} {}\n{}", headers_version(), architecture, kOptions[0], kOptions[1], source);
    return {cuda::cached_image(key,
                               [&] {
                                 if (!may_compile)
                                   throw Error(ErrorCode::backend_unavailable,
                                               "there is no time to compile a kernel");
                                 return cuda::compile(source, headers(), kOptions, architecture);
                               }),
            "", false};
  } catch (const std::exception& error) {
    return {{}, error.what(), !may_compile};
  }
}

/// Compiled kernels, keyed by architecture and source.
class Memory {
 public:
  const Compiled* find(const std::string& key) {
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : &found->second;
  }
  void add(const std::string& key, const Compiled& compiled) {
    constexpr std::size_t kMax = 2048;  // some tens of kilobytes each
    if (known_.size() >= kMax) known_.clear();
    known_[key] = compiled;
  }
  std::mutex mutex;

 private:
  std::map<std::string, Compiled> known_;
};

Memory& memory() {
  static Memory& instance = *new Memory;  // never destroyed: threads may plan while the process ends
  return instance;
}

void run_on_all_cores(std::size_t count, const auto& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> helpers;
  const auto cores = static_cast<std::size_t>(usable_processors());
  try {
    for (std::size_t i = 1; i < std::min(cores, count); ++i) helpers.emplace_back(run);
  } catch (const std::system_error&) {  // no more threads: these do the work
  }
  run();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace

std::string compiler_version() {
  return (cuda::find_nvrtc().why_missing.empty() ? cuda::nvrtc_version() : "no NVRTC") + ", " +
         headers_version();
}

std::vector<Compiled> compile(const std::vector<std::string>& sources, const std::string& architecture,
                              Deadline deadline) {
  cuda::nvrtc();
  std::map<std::string, Compiled> all;
  std::vector<std::pair<const std::string, Compiled>*> fresh;
  {
    const std::lock_guard lock(memory().mutex);
    for (const std::string& source : sources) {
      const auto [entry, is_new] = all.try_emplace(source);
      if (!is_new) continue;
      if (const Compiled* known = memory().find(architecture + source)) {
        entry->second = *known;
      } else {
        fresh.push_back(&*entry);
      }
    }
  }
  const auto start = std::chrono::steady_clock::now();
  run_on_all_cores(fresh.size(), [&](std::size_t i) {
    const bool late = deadline && std::chrono::steady_clock::now() >= *deadline;
    fresh[i]->second = compile_one(fresh[i]->first, architecture, !late);
  });
  if (!fresh.empty()) {
    log_decision("dense", [&] {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      return fmt::format("{} kernels for {} compiled, or read from the user's cache, in {:.2g} s",
                         fresh.size(), architecture, seconds.count());
    });
  }
  const std::lock_guard lock(memory().mutex);
  for (const auto* entry : fresh) {
    if (!entry->second.late) memory().add(architecture + entry->first, entry->second);
  }
  std::vector<Compiled> result;
  for (const std::string& source : sources) result.push_back(all[source]);
  return result;
}

}  // namespace tuned

}  // namespace sfft::detail
