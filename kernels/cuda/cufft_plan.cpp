#include "kernels/cuda/cufft_plan.hpp"

#include <cuda_runtime.h>
#include <cufft.h>
#include <fmt/format.h>

#include <algorithm>

#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

void check_cufft(cufftResult status, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  static_cast<void>(cudaGetLastError());  // what cuFFT's own calls left behind; the next one starts clean
  if (status == CUFFT_ALLOC_FAILED)
    throw Error(ErrorCode::out_of_memory, fmt::format("{}: the GPU is out of memory", what));
  throw Error(ErrorCode::device,
              fmt::format("{}: cuFFT failed with status {}", what, static_cast<int>(status)));
}

}  // namespace

CufftPlan::Handle::Handle() {
  check_cufft(cufftCreate(&value), "creating an FFT plan");
}

CufftPlan::Handle::~Handle() {
  static_cast<void>(cufftDestroy(value));
}

CufftPlan::CufftPlan(const std::vector<std::int64_t>& extents, bool real, Stream stream) {
  check_cufft(cufftSetAutoAllocation(handle_.value, 0), "preparing an FFT plan");
  std::vector<long long> sizes(extents.begin(), extents.end());
  std::size_t bytes = 0;
  check_cufft(cufftMakePlanMany64(handle_.value, static_cast<int>(sizes.size()), sizes.data(), nullptr, 1, 0,
                                  nullptr, 1, 0, real ? CUFFT_D2Z : CUFFT_Z2Z, 1, &bytes),
              "planning an FFT");
  work_ = DeviceBuffer(std::max<std::size_t>(bytes, 1));
  check_cufft(cufftSetWorkArea(handle_.value, work_.data()), "giving an FFT its work area");
  check_cufft(cufftSetStream(handle_.value, stream), "giving an FFT its stream");
}

void CufftPlan::forward(double* samples, std::complex<double>* spectrum) {
  check_cufft(cufftExecD2Z(handle_.value, samples, reinterpret_cast<cufftDoubleComplex*>(spectrum)),
              "transforming a frame");
}

void CufftPlan::forward_in_place(std::complex<double>* spectrum) {
  auto* values = reinterpret_cast<cufftDoubleComplex*>(spectrum);
  check_cufft(cufftExecZ2Z(handle_.value, values, values, CUFFT_FORWARD), "transforming a frame");
}

}  // namespace sfft::detail::cuda
