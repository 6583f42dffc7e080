// SPDX-License-Identifier: Apache-2.0
// The vocabulary of sfft/dense.hpp: options of a dense FFT, and results other than spectra.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sfft/device.hpp"
#include "sfft/export.hpp"
#include "sfft/storage.hpp"
#include "sfft/types.hpp"

namespace sfft::dense {

/// Which code computes the transform.
/// | engine   | runs on | what it is                                                                |
/// |----------|---------|---------------------------------------------------------------------------|
/// | built_in | CPU     | this library's own FFT                                                    |
/// | fftw     | CPU     | FFTW, in builds with SFFT_WITH_FFTW=ON (GPL)                              |
/// | cufft    | GPU     | cuFFT, in every build with CUDA                                           |
/// | vkfft    | GPU     | VkFFT, where the build found its header; needs NVRTC when it runs         |
/// | tuned    | GPU     | this library's own kernels, generated for a size; needs NVRTC when it runs |
/// | tensor   | GPU     | split-half on tensor cores: complex float lines of a few lengths          |
/// `automatic`: the fastest for the size according to wisdom or, on a GPU, a comparison (Planning::quick).
/// Without either, the one that was most often fastest: built_in, or cufft on a GPU.
enum class Engine : std::uint8_t { automatic, built_in, fftw, cufft, vkfft, tuned, tensor };

/// How a dense transform is computed: where, by which engine, in which layout and scale.
struct Options {
  /// How much time planning may take.
  enum class Planning : std::uint8_t {
    estimate,  ///< follows rules and wisdom, and times nothing
    /// The same on the CPU. On a GPU, a problem without wisdom for its batch is planned by a comparison of
    /// cuFFT, VkFFT and a few generated kernels. It takes one to four seconds the first time, and memory of
    /// the GPU for the batch's signals and spectra. Later processes find the result in the user's cache
    /// (set_cache_folder()). Its kernels convert 8-bit and 16-bit samples first.
    quick,
    /// Times the engines and, for `tuned`, hundreds of kernels for this size, and adds the result to the
    /// wisdom of the process.
    measure,
  };
  /// Factors that multiply the sums. N is the number of points of one transform.
  enum class Normalization : std::uint8_t {
    none,          ///< no factor: inverse(forward(x)) = N x
    inverse_by_n,  ///< inverse transforms times 1/N
    forward_by_n,  ///< forward transforms times 1/N
    unitary,       ///< both times 1/sqrt(N)
  };
  /// Real transforms of real lines x[0 … n−1] into y[0 … n−1], for TrigonometricPlan; unscaled as in FFTW
  /// and, except for `hartley`, in SciPy. t = j + 1/2, f = k + 1/2. The inverse of dct2 and dst2 is dct3 and
  /// dst3, and vice versa; the others are their own inverses. M is the length of the Fourier transform that
  /// they are part of: the kind times its inverse is M times the identity. | kind    | y[k] | M      |
  /// |---------|---------------------------------------------------------------|--------|
  /// | dct1    | x[0] + (−1)^k x[n−1] + 2 Σ_{0<j<n−1} x[j] cos(πjk/(n−1))      | 2(n−1) |
  /// | dct2    | 2 Σ x[j] cos(πtk/n)                                           | 2n     |
  /// | dct3    | x[0] + 2 Σ_{j>0} x[j] cos(πjf/n)                              | 2n     |
  /// | dct4    | 2 Σ x[j] cos(πtf/n)                                           | 2n     |
  /// | dst1    | 2 Σ x[j] sin(π(j+1)(k+1)/(n+1))                               | 2(n+1) |
  /// | dst2    | 2 Σ x[j] sin(πt(k+1)/n)                                       | 2n     |
  /// | dst3    | (−1)^k x[n−1] + 2 Σ_{j<n−1} x[j] sin(π(j+1)f/n)               | 2n     |
  /// | dst4    | 2 Σ x[j] sin(πtf/n)                                           | 2n     |
  /// | hartley | Σ x[j] (cos(2πjk/n) + sin(2πjk/n))                            | n      |
  enum class Trigonometric : std::uint8_t { dct1, dct2, dct3, dct4, dst1, dst2, dst3, dst4, hartley };
  /// Which results of a convolution of n samples with m taps a ConvolutionPlan computes, along each
  /// dimension; the names are those of NumPy and SciPy.
  enum class Extent : std::uint8_t {
    full,      ///< all n + m − 1
    same,      ///< the n in the middle of `full`: from its result (m − 1)/2 on
    valid,     ///< the n − m + 1 that need no samples outside the signal
    circular,  ///< the n of a periodic signal; m <= n
  };
  /// Strides of a batch of signals in elements: element (i1, …, iD) of signal b is at b·batch + Σ i_d·dims[d]
  /// from the start. All zero: contiguous and row-major, one signal after the other. Strides must be
  /// positive, and no two elements may overlap.
  struct Strides {
    std::array<std::int64_t, 3> dims{0, 0, 0};  ///< per dimension, slowest first, as in Shape
    std::int64_t batch = 0;                     ///< from one signal's start to the next
  };
  /// Where the elements of a batch are, for transforms along any axes of arrays of any rank. Element (i1, i2,
  /// …) of the signals is at Σ i_d·signal_stride_d from their start, in elements, and that of the spectra at
  /// Σ i_d·spectrum_stride_d, in complex values. Strides must be positive, and no two elements may overlap:
  /// each stride of an array steps over all that its finer dimensions span.
  struct Layout {
    /// As fftw_iodim64, for both arrays.
    struct Dimension {
      std::int64_t extent = 1;           ///< of signals, also in the last dimension of a real transform
      std::int64_t signal_stride = 1;    ///< elements from one index to the next
      std::int64_t spectrum_stride = 1;  ///< complex values from one index to the next
    };
    /// 1 to 8 dimensions. A real transform has half spectra, extent/2 + 1 values, along the last one.
    std::vector<Dimension> transformed;
    std::vector<Dimension> batch{};  ///< any number; all combinations of their indices are transforms

    /// The transform of contiguous row-major arrays along some axes (0: the slowest), like numpy.fft.fftn and
    /// rfftn: spectra have the extents of signals but, along the last axis named, extent/2 + 1 if signals are
    /// real. Throws invalid_argument for axes that are not there or named twice, and for more than 16
    /// extents.
    SFFT_EXPORT static Layout of_axes(std::span<const std::int64_t> extents, std::span<const int> axes,
                                      Domain domain);
    /// The same, for lists: of_axes({64, 1000, 128}, {1}, Domain::complex).
    static Layout of_axes(std::initializer_list<std::int64_t> extents, std::initializer_list<int> axes,
                          Domain domain) {
      return of_axes(std::span(extents.begin(), extents.size()), std::span(axes.begin(), axes.size()),
                     domain);
    }
  };
  /// What a CompactPlan stores.
  struct Formats {
    Storage signal = Storage::f16;    ///< what forward() reads and inverse() writes
    Storage spectrum = Storage::f16;  ///< what forward() writes and inverse() reads
    /// Format of intermediate values in GPU memory, for transforms in several steps. 16-bit formats are
    /// faster, and add an error as large as that of the results' format. Only the engine `tuned` uses it.
    Storage between = Storage::f32;
    /// For GPUs: the largest stored real or imaginary part of the input; larger ones may overflow. Not set:
    /// 65504 for f16; for other formats the transform reads its input an extra time to find it
    /// (CompactPlan::Info::finds_exponents).
    std::optional<double> signal_peak = std::nullopt;
    std::optional<double> spectrum_peak = std::nullopt;  ///< the same for the input of inverse transforms
    /// Equal in all members.
    friend bool operator==(const Formats&, const Formats&) = default;
  };

  /// The code that computes the transform; a named one throws backend_unavailable where it is missing.
  Engine engine = Engine::automatic;
  /// How much time planning may take.
  Planning planning = Planning::quick;
  /// Factors of forward and inverse transforms.
  Normalization normalization = Normalization::inverse_by_n;
  int threads = 1;  ///< CPU engines: host threads that share a batch or a transform, or kAllCores
  /// Where to compute; automatic is the CPU, or a GPU for an engine that runs on GPUs. Several GPUs share a
  /// batch, the slabs of one 2D or 3D transform, or the pieces of an array that exceeds their memory. Plan
  /// then takes host memory, SlabPlan memory of the GPUs (docs/dense.md). A named engine that does not run
  /// there throws invalid_argument.
  Device device = Device::automatic();
  /// The format in which float values are sent between GPUs that share one transform, and over the buses of
  /// an out-of-core transform. block16 halves the bytes and adds a relative error of about 4e-5; it is faster
  /// than f32 only over slow links (docs/dense.md). A shared batch, or a transform that fits one GPU, sends
  /// nothing.
  Storage exchange = Storage::f32;
  std::int64_t batch = 1;    ///< transforms per call
  Strides signal_strides{};  ///< what forward reads and inverse writes; spectra are contiguous
  /// For plans on GPUs: bytes of each GPU's memory that a call may use; not set: all free memory. If signal
  /// and spectrum together need more (not set: more than the GPUs have), the transform streams through the
  /// GPUs in pieces, from and to host memory (docs/dense.md). Needs `device` = Device::gpu() or gpus();
  /// builds without CUDA throw backend_unavailable.
  std::optional<std::int64_t> device_memory = std::nullopt;
  /// The share of an out-of-core transform that host threads do, 0 to 1; not set: chosen by the load model or
  /// a measurement. Needs such a device too, but with a share of 1 neither a GPU nor a build with CUDA is
  /// used. If set, the transform streams through the GPU in pieces even
  /// if it would fit.
  std::optional<double> host_share = std::nullopt;
  Formats formats{};  ///< for CompactPlan, whose signals have no strides; others throw invalid_argument if it
                      ///< is set
};

/// Axes, extents and strides of a transform.
using Layout = Options::Layout;

/// The part of a SlabPlan's signals or spectra that is stored on one of several GPUs: whole signals of a
/// batch, or part of one. Row-major and contiguous: signals, then dimensions as in Shape.
struct Slab {
  /// GPU, numbered as by the driver.
  int gpu = 0;
  /// Index of the first signal, and number of signals.
  std::int64_t first_signal = 0, signals = 1;   ///< within the batch
  std::array<std::int64_t, 3> begin{0, 0, 0};   ///< first index in each dimension; 0 beyond the rank
  std::array<std::int64_t, 3> extent{1, 1, 1};  ///< indices in each dimension; 1 beyond the rank

  /// Elements of the slab.
  std::int64_t points() const noexcept { return signals * extent[0] * extent[1] * extent[2]; }
  /// Equal in all members.
  friend bool operator==(const Slab&, const Slab&) = default;
};

/// How to read the stored values of one transform, and their error.
struct CompactScale {
  int exponent = 0;  ///< a value is the stored number times 2^exponent
  /// Predicted relative RMS error of the values, ‖x̂ − x‖₂/‖x‖₂. A transform adds its own error to that of
  /// its input. Infinite if `finite` is false.
  double relative_error = 0;
  bool finite = true;  ///< no value is infinite or NaN
};

SFFT_EXPORT const char* to_string(Engine engine) noexcept;
SFFT_EXPORT const char* to_string(Storage storage) noexcept;
/// Whether this build has the engine. A GPU engine may still find no GPU; plans then throw.
SFFT_EXPORT Availability availability(Engine engine);

/// The result of reading a wisdom file or text.
struct WisdomReport {
  int taken = 0;       ///< entries added
  int ignored = 0;     ///< entries left out
  std::string reason;  ///< why entries, or the whole file, were ignored; empty if none were
};

/// Coefficients of a batch of spectra in device memory, in no particular order. Element e of spectrum b has
/// the index b·S + e, where S is the number of elements per spectrum (of the half spectrum for real signals,
/// as Plan lays it out).
template <class Real>
struct DeviceCoefficients {
  std::int64_t* indices = nullptr;       ///< [capacity]
  std::complex<Real>* values = nullptr;  ///< [capacity]
  std::uint64_t* count = nullptr;        ///< [1], how many exist; only `capacity` of them are stored
  std::int64_t capacity = 0;             ///< coefficients that `indices` and `values` have room for
};

}  // namespace sfft::dense
