// SPDX-License-Identifier: Apache-2.0
// What a broken driver does to the program that loads it: the comparison has to survive it.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

extern "C" __attribute__((visibility("default"))) void* vkGetInstanceProcAddr(void*, const char*) {
  const char* fault = std::getenv("SFFT_TEST_FAULT");
  if (fault != nullptr && std::strcmp(fault, "crash") == 0) std::abort();
  while (fault != nullptr && std::strcmp(fault, "hang") == 0) pause();
  return nullptr;
}
