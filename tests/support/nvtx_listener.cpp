// SPDX-License-Identifier: Apache-2.0
// A minimal profiler: NVTX loads it in the place of one, and it records the ranges of the domain "sfft".
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

namespace {

std::mutex recording;
std::string record;
char sfft_domain, other_domain;  // domains are compared by address

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  char* const domain = std::strcmp(name, "sfft") == 0 ? &sfft_domain : &other_domain;
  return reinterpret_cast<nvtxDomainHandle_t>(domain);
}
bool is_ours(nvtxDomainHandle_t domain) {
  return domain == reinterpret_cast<nvtxDomainHandle_t>(&sfft_domain);
}
int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const std::lock_guard lock(recording);
  if (is_ours(domain)) record += std::string("(") + attributes->message.ascii;
  return 0;
}
int NVTX_API pop(nvtxDomainHandle_t domain) {
  const std::lock_guard lock(recording);
  if (is_ours(domain)) record += ")";
  return 0;
}

}  // namespace

/// The ranges since the last call, such as "(learn(first pass)(second pass))".
extern "C" __attribute__((visibility("default"))) void sfft_take_ranges(std::string& ranges) {
  const std::lock_guard lock(recording);
  ranges.swap(record);
  record.clear();
}

/// Called by NVTX.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t tables) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned int count = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &count) == 0)
    return 0;
  *functions[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create_domain);
  *functions[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
  *functions[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
