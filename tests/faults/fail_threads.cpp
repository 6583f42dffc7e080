// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program: only the first SFFT_MAX_THREADS calls of pthread_create() succeed, as where a
// limit of processes is reached.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  static std::atomic<int> left{std::atoi(std::getenv("SFFT_MAX_THREADS"))};
  if (left.fetch_sub(1) <= 0) return EAGAIN;
  return real(thread, attributes, start, argument);
}
