#include "kernels/cuda/cufft_plan.hpp"

#include <cufft.h>

#include <algorithm>

namespace sfft::detail::cuda {

CufftPlan::CufftPlan(const std::vector<std::int64_t>& extents, bool real, Stream stream) {
  std::vector<long long> sizes(extents.begin(), extents.end());
  std::size_t bytes = 0;
  check_cufft(cufftMakePlanMany64(handle_.get(), static_cast<int>(sizes.size()), sizes.data(), nullptr, 1, 0,
                                  nullptr, 1, 0, real ? CUFFT_D2Z : CUFFT_Z2Z, 1, &bytes),
              "planning an FFT");
  work_ = DeviceBuffer(std::max<std::size_t>(bytes, 1));
  check_cufft(cufftSetWorkArea(handle_.get(), work_.data()), "giving an FFT its work area");
  check_cufft(cufftSetStream(handle_.get(), stream), "giving an FFT its stream");
}

void CufftPlan::forward(double* samples, std::complex<double>* spectrum) {
  check_cufft(cufftExecD2Z(handle_.get(), samples, reinterpret_cast<cufftDoubleComplex*>(spectrum)),
              "transforming a frame");
}

void CufftPlan::forward_in_place(std::complex<double>* spectrum) {
  auto* values = reinterpret_cast<cufftDoubleComplex*>(spectrum);
  check_cufft(cufftExecZ2Z(handle_.get(), values, values, CUFFT_FORWARD), "transforming a frame");
}

}  // namespace sfft::detail::cuda
