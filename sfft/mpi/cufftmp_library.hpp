// SPDX-License-Identifier: Apache-2.0
// cuFFTMp, loaded on first use: libcufftMp.so defines cuFFT's functions again, which must not replace those
// that this library was linked with.
#pragma once

#include <cufftXt.h>

#include <string>

namespace sfft::mpi::detail {

struct CufftMp {
  cufftResult (*create)(cufftHandle*);
  cufftResult (*destroy)(cufftHandle);
  cufftResult (*attach)(cufftHandle, int comm_type, void* communicator);
  cufftResult (*make_2d)(cufftHandle, int, int, cufftType, std::size_t*);
  cufftResult (*make_3d)(cufftHandle, int, int, int, cufftType, std::size_t*);
  cufftResult (*allocate)(cufftHandle, cudaLibXtDesc**, cufftXtSubFormat);
  cufftResult (*release)(cudaLibXtDesc*);
  cufftResult (*execute)(cufftHandle, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction);
  std::string problem;  ///< why it could not be loaded; then nothing else is set
};

/// Looks for the file named by the environment variable SFFT_CUFFTMP, then for libcufftMp.so.12 and .11 on
/// the loader's path.
const CufftMp& cufftmp_library();

}  // namespace sfft::mpi::detail
