// SPDX-License-Identifier: Apache-2.0
// The first pass of 16-bit floating-point lines as a product on tensor cores. Inputs are factors as they lie
// in memory, and so need no conversion. The matrix of the DFT is the sum of two of the same type, whose
// products with the inputs are exact and whose sums are kept in f32: the results are those of a float pass.
#pragma once

#include "kernels/dense/tuned/device/tile.cuh"

namespace sfft::device {

#define SFFT_MULTIPLY_ADD(TYPE)                                                                            \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 "                                        \
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                                           \
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])                                              \
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(sum[0]), "f"(sum[1]), "f"(sum[2]),    \
        "f"(sum[3]));
/// sum += a · b, a of 16×16 and b of 16×8 (mma.m16n8k16).
template <bool kBf16>
__device__ __forceinline__ void multiply_add(float (&sum)[4], const uint4& a, unsigned b0, unsigned b1) {
#ifndef __CUDA_ARCH__
  emulated::multiply_add<kBf16>(sum, a, b0, b1);
#else
  if constexpr (kBf16) {
    SFFT_MULTIPLY_ADD("bf16")
  } else {
    SFFT_MULTIPLY_ADD("f16")
  }
#endif
}
#undef SFFT_MULTIPLY_ADD

/// A column of the product is a butterfly of the first pass, its rows are the points of that. Columns are in
/// the order of memory: butterflies of a line and then lines, or lines and then butterflies. Results lie in
/// shared memory row by row.
template <class K>
class TensorPass {
  using Line = typename Tile<K>::Line;
  using Value = typename Tile<K>::Value;
  using First = Pass<Line, 0>;
  using Second = Pass<Line, 1>;
  static constexpr int R = First::R, M = First::M, kLines = Line::kTransforms;
  static constexpr int kColumns = product_columns(K::step), kPitch = product_pitch(K::step);
  static constexpr int kTiles = matrix_tiles(R);  ///< of the matrix, along either dimension
  static constexpr int kUnits = (kColumns + kColumnsAtOnce - 1) / kColumnsAtOnce;
  static constexpr int kWarps = Tile<K>::kBlock / 32;
  static constexpr int kMost = (kUnits + kWarps - 1) / kWarps;  ///< units of a warp
  static constexpr bool kLinesFirst = Line::kLoadInterleaved;
  static constexpr bool kBf16 = K::step.in.storage == dense::Storage::bf16;

 public:
  static __device__ __forceinline__ void multiply(const Tile<K>& memory, const StepTables& tables,
                                                  void* shared) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int begin = warp * kUnits / kWarps, end = (warp + 1) * kUnits / kWarps;
    const auto work = [&](auto units, int unit) {
      multiply_units<decltype(units)::kCount>(memory, static_cast<const uint4*>(tables.matrix) + lane,
                                              static_cast<Value*>(shared), unit * kColumnsAtOnce, lane);
    };
    // Two units share what is loaded of the matrix.
#pragma unroll
    for (int i = 0; i < kMost; i += 2) {
      const bool two = kUnits % kWarps == 0 ? i + 1 < kMost : begin + i + 1 < end;
      if (i + 1 < kMost && two) {
        work(Count<2>{}, begin + i);
      } else if (kUnits % kWarps == 0 || begin + i < end) {
        work(Count<1>{}, begin + i);
      }
    }
  }

  /// Reads the inputs of the second pass.
  static __device__ __forceinline__ void receive(const Seat& own, const void* shared, float* re, float* im) {
    const auto* const values = static_cast<const Value*>(shared);
#pragma unroll
    for (int b = 0; b < Second::kRounds; ++b) {
      if (!Second::has(own.thread, b)) break;
      const Value* const from = values + slot(Second::first(own.thread, b), own.line);
      // Two values at once, if they lie beside each other.
      constexpr bool kTwo = added(Second::kRowM) == 1 && Second::R % 2 == 0 && !kLinesFirst && M % 2 == 0 &&
                            Second::kRounds == 1 && Second::M <= First::kOutputs * R;
#pragma unroll
      for (int k = 0; k < Second::R; k += kTwo ? 2 : 1) {
        const int i = b * Second::R + k;
        if constexpr (kTwo) {
          const float4 two = *reinterpret_cast<const float4*>(from + added(k * Second::kRowM));
          re[i] = two.x;
          im[i] = two.y;
          re[i + 1] = two.z;
          im[i + 1] = two.w;
        } else {
          const Value z = from[added(k * Second::kRowM)];
          re[i] = z.re;
          im[i] = z.im;
        }
      }
    }
  }

 private:
  template <int kValue>
  struct Count {
    static constexpr int kCount = kValue;
  };

  /// Where a position of a line is: the output of a butterfly and which one (Pass::first_output()).
  static __device__ __forceinline__ int slot(int position, int line) {
    constexpr int kOutputs = First::kOutputs;
    const int output = position % (kOutputs * R) / kOutputs,
              butterfly = position / (kOutputs * R) * kOutputs + position % kOutputs;
    return output * kPitch + (kLinesFirst ? butterfly * kLines + line : line * M + butterfly);
  }
  /// Slots from a position to one that is `add` further, of the same output.
  static constexpr int added(int add) {
    constexpr int kOutputs = First::kOutputs;
    return (add / (kOutputs * R) * kOutputs + add % (kOutputs * R)) * (kLinesFirst ? kLines : 1);
  }

  /// Point `first_point + add` of column c.
  static __device__ __forceinline__ const unsigned* word(const Tile<K>& memory, int c, int point) {
    const int line = kLinesFirst ? c % kLines : c / M, butterfly = kLinesFirst ? c / kLines : c % M;
    return memory.word(memory.readable(line), point * M + butterfly);
  }
  static __device__ __forceinline__ unsigned received(unsigned word) {
    return K::step.swap_in ? word >> 16 | word << 16 : word;
  }

  /// Lane (group, own) holds the points own + 4 i of the columns 2·group and 2·group + 1 of a unit, then the
  /// outputs group + 8 m of its columns 4·own … 4·own + 3.
  template <int kAtOnce>
  static __device__ __forceinline__ void multiply_units(const Tile<K>& memory, const uint4* matrix,
                                                        Value* shared, int first, int lane) {
    constexpr int kPoints = 2 * kTiles;  ///< of a lane and a column
    const int group = lane / 4, own = lane % 4;
    unsigned in[2 * kAtOnce][kPoints];
#pragma unroll
    for (int t = 0; t < 2 * kAtOnce; ++t) {
      const int wanted = first + t / 2 * kColumnsAtOnce + 2 * group + t % 2;
      const int c = kColumns % kColumnsAtOnce == 0 || wanted < kColumns ? wanted : kColumns - 1;
      const unsigned* const from = word(memory, c, own);
#pragma unroll
      for (int i = 0; i < kPoints; ++i) {
        in[t][i] = 0;
        if (4 * i < R && (4 * i + 3 < R || own + 4 * i < R))
          in[t][i] = received(load_as<Tile<K>::kReads>(further(memory, from, c, own, 4 * i)));
      }
    }
    auto* to = reinterpret_cast<float4*>(shared + group * kPitch + first + 4 * own);
#pragma unroll 1
    for (int m = 0; m < kTiles; ++m, to += 4 * kPitch) {
      float out[2 * kAtOnce][4] = {};
#pragma unroll
      for (int k = 0; k < kTiles; ++k) {
#pragma unroll
        for (int part = 0; part < 2; ++part, matrix += 32) {
          const uint4 a = *matrix;
#pragma unroll
          for (int t = 0; t < 2 * kAtOnce; ++t)
            multiply_add<kBf16>(out[t], a, in[t][2 * k], in[t][2 * k + 1]);
        }
      }
      if (R % 8 != 0 && 8 * m + group >= R) break;
#pragma unroll
      for (int t = 0; t < kAtOnce; ++t) {
        const float *const a = out[2 * t], *const b = out[2 * t + 1];
        to[8 * t] = float4{a[0], a[2], b[0], b[2]};
        to[8 * t + 1] = float4{a[1], a[3], b[1], b[3]};
      }
    }
  }

  /// Point own + add of column c, from the address of point `own`.
  static __device__ __forceinline__ const unsigned* further(const Tile<K>& memory, const unsigned* from, int c,
                                                            int own, int add) {
    if constexpr (K::step.in.element.fold == 0) {
      constexpr int kParts = K::step.in.form == Form::pairs ? 2 : 1;
      return from + K::step.in.element.stride / kParts * (add * M);
    } else {
      return word(memory, c, own + add);
    }
  }
};

}  // namespace sfft::device
