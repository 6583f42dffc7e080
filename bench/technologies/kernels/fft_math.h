// SPDX-License-Identifier: Apache-2.0
// The mathematics of the radix-2 FFT that every technology runs: indices, twiddle factors, butterflies.
//
// It uses the common subset of C++, CUDA, OpenCL C, GLSL and HLSL. Each kernel file includes it or is
// compiled after it. FFT_GLSL, FFT_HLSL and FFT_OPENCL select a language; CUDA and HIP are recognised by
// their compilers. FFT_BUILT_IN_SINCOS selects the language's sine and cosine instead of the polynomials
// here.
//
// The algorithm (Soerman 2016, chapter 3) is decimation in frequency. While a part of the transform exceeds
// the memory of a work-group, each launch does one stage: butterfly `thread` joins `low` and `low + dist`. In
// the last launch every work-group finishes parts in constant geometry in its memory and writes them in
// bit-reversed order.

#if defined(FFT_GLSL)
#define FFT_COMPLEX vec2
#define FFT_MAKE(x, y) vec2(x, y)
#define FFT_UINT uint
#define FFT_FUNCTION
#define FFT_AS_SIGNED(x) int(x)
#define FFT_AS_FLOAT(x) float(x)
#define FFT_REVERSE(x) bitfieldReverse(x)
#define FFT_SIN(x) sin(x)
#define FFT_COS(x) cos(x)
#elif defined(FFT_HLSL)
#define FFT_COMPLEX float2
#define FFT_MAKE(x, y) float2(x, y)
#define FFT_UINT uint
#define FFT_FUNCTION
#define FFT_AS_SIGNED(x) int(x)
#define FFT_AS_FLOAT(x) float(x)
#define FFT_REVERSE(x) reversebits(x)
#define FFT_SIN(x) sin(x)
#define FFT_COS(x) cos(x)
#elif defined(FFT_OPENCL)
#define FFT_COMPLEX float2
#define FFT_MAKE(x, y) (float2)(x, y)
#define FFT_UINT uint
#define FFT_FUNCTION static inline
#define FFT_AS_SIGNED(x) ((int)(x))
#define FFT_AS_FLOAT(x) ((float)(x))
#define FFT_SIN(x) sin(x)
#define FFT_COS(x) cos(x)
#elif defined(__CUDACC__) || defined(__HIPCC_RTC__)
#define FFT_COMPLEX float2
#define FFT_MAKE(x, y) make_float2(x, y)
#define FFT_UINT unsigned
#define FFT_FUNCTION __device__ __forceinline__
#define FFT_AS_SIGNED(x) static_cast<int>(x)
#define FFT_AS_FLOAT(x) static_cast<float>(x)
#define FFT_REVERSE(x) __brev(x)
#define FFT_SIN(x) sinf(x)
#define FFT_COS(x) cosf(x)
#else
#include <cmath>
struct FftComplex {
  float x, y;
};
#define FFT_COMPLEX FftComplex
#define FFT_MAKE(x, y) (FftComplex{x, y})
#define FFT_UINT unsigned
#define FFT_FUNCTION inline
#define FFT_AS_SIGNED(x) static_cast<int>(x)
#define FFT_AS_FLOAT(x) static_cast<float>(x)
#define FFT_SIN(x) std::sin(x)
#define FFT_COS(x) std::cos(x)
#endif

// For languages without a bit-reversal instruction.
#ifndef FFT_REVERSE
FFT_FUNCTION FFT_UINT fft_reverse(FFT_UINT x) {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
  x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
  return (x >> 16) | (x << 16);
}
#define FFT_REVERSE(x) fft_reverse(x)
#endif

// The lowest `bits` of x in reverse; 0 for no bits, where a shift by 32 would be undefined.
FFT_FUNCTION FFT_UINT fft_reverse_bits(FFT_UINT x, FFT_UINT bits) {
  return bits == 0u ? 0u : FFT_REVERSE(x) >> (32u - bits);
}

// exp(sign 2 pi i k / 2^bits) for k < 2^(bits-1). The angle is reduced to within an eighth of a turn in integers, so
// that the polynomials (those of Cephes for single precision) see no rounded angle.
FFT_FUNCTION FFT_COMPLEX fft_twiddle(FFT_UINT k, FFT_UINT bits, float sign) {
  FFT_UINT turn = k << (32u - bits);
  FFT_UINT quarter = (turn + 0x20000000u) >> 30;
  float x = FFT_AS_FLOAT(FFT_AS_SIGNED(turn - (quarter << 30))) * 1.46291807926715968e-9f;
#ifdef FFT_BUILT_IN_SINCOS
  x = FFT_AS_FLOAT(turn) * 1.46291807926715968e-9f;
  return FFT_MAKE(FFT_COS(x), sign * FFT_SIN(x));
#else
  float z = x * x;
  float s = x + x * z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f));
  float c = 1.0f - 0.5f * z + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
  float re = quarter == 1u ? -s : (quarter == 2u ? -c : c);
  float im = quarter == 1u ? c : (quarter == 2u ? -s : s);
  return FFT_MAKE(re, sign * im);
#endif
}

FFT_FUNCTION FFT_COMPLEX fft_add(FFT_COMPLEX a, FFT_COMPLEX b) {
  return FFT_MAKE(a.x + b.x, a.y + b.y);
}

FFT_FUNCTION FFT_COMPLEX fft_rotated_difference(FFT_COMPLEX a, FFT_COMPLEX b, FFT_COMPLEX w) {
  float x = a.x - b.x;
  float y = a.y - b.y;
  return FFT_MAKE(w.x * x - w.y * y, w.y * x + w.x * y);
}

FFT_FUNCTION FFT_COMPLEX fft_scaled(FFT_COMPLEX a, float scale) {
  return FFT_MAKE(a.x * scale, a.y * scale);
}

// One stage over the whole array; `dist` is a power of two. The same formula covers several transforms of one
// length that follow each other in memory.
FFT_FUNCTION FFT_UINT fft_low(FFT_UINT thread, FFT_UINT dist) {
  return thread + (thread & ~(dist - 1u));
}
FFT_FUNCTION FFT_COMPLEX fft_stage_twiddle(FFT_UINT thread, FFT_UINT dist, FFT_UINT stage, FFT_UINT bits, float sign) {
  return fft_twiddle((thread << stage) & ((dist - 1u) << stage), bits, sign);
}

// Constant geometry: in every stage butterfly i of a part reads elements i and i + half and writes
// elements 2i and 2i + 1.
FFT_FUNCTION FFT_COMPLEX fft_local_twiddle(FFT_UINT butterfly, FFT_UINT stage, FFT_UINT block_bits, float sign) {
  return fft_twiddle((butterfly >> stage) << stage, block_bits, sign);
}

// The part that comes at position `part`. Parts of one transform come in bit-reversed order, so that parts
// that run at the same time write neighbouring coefficients and a cache can join these writes.
FFT_FUNCTION FFT_UINT fft_part(FFT_UINT part, FFT_UINT bits, FFT_UINT block_bits) {
  FFT_UINT part_bits = bits - block_bits;
  FFT_UINT within = part & ((1u << part_bits) - 1u);
  return (part - within) + fft_reverse_bits(within, part_bits);
}

// The position of element `index` in the output: bit-reversed inside its transform.
FFT_FUNCTION FFT_UINT fft_output(FFT_UINT index, FFT_UINT bits) {
  FFT_UINT within = index & ((1u << bits) - 1u);
  return (index - within) + fft_reverse_bits(within, bits);
}
