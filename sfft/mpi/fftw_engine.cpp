// SPDX-License-Identifier: Apache-2.0
// FFTW's MPI transforms (GPL) with transposed spectra: one exchange as in built_in, and slabs like ours. Its
// own messages block, so the timeout applies only around each transform.
#include <fftw3-mpi.h>
#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "sfft/mpi/problem.hpp"

namespace sfft::mpi::detail {

namespace {

/// One set of names for both precisions, whose functions begin with fftwf_ and fftw_.
template <class Real>
struct Fftw;
#define SFFT_FFTW_MPI(REAL, PREFIX)                                                                        \
  template <>                                                                                              \
  struct Fftw<REAL> {                                                                                      \
    using Complex = PREFIX##_complex;                                                                      \
    using Plan = PREFIX##_plan;                                                                            \
    static void init() { PREFIX##_mpi_init(); }                                                            \
    static Complex* allocate(std::size_t count) { return PREFIX##_alloc_complex(count); }                  \
    static void release(void* memory) { PREFIX##_free(memory); }                                           \
    static void destroy(Plan plan) { PREFIX##_destroy_plan(plan); }                                        \
    static void execute(Plan plan) { PREFIX##_execute(plan); }                                             \
    static std::ptrdiff_t local_size(int rank, const std::ptrdiff_t* n, MPI_Comm comm, std::ptrdiff_t* n0, \
                                     std::ptrdiff_t* begin0, std::ptrdiff_t* n1, std::ptrdiff_t* begin1) { \
      return PREFIX##_mpi_local_size_transposed(rank, n, comm, n0, begin0, n1, begin1);                    \
    }                                                                                                      \
    static Plan complex(int rank, const std::ptrdiff_t* n, Complex* in, Complex* out, MPI_Comm comm,       \
                        int sign, unsigned flags) {                                                        \
      return PREFIX##_mpi_plan_dft(rank, n, in, out, comm, sign, flags);                                   \
    }                                                                                                      \
    static Plan forward(int rank, const std::ptrdiff_t* n, REAL* in, Complex* out, MPI_Comm comm,          \
                        unsigned flags) {                                                                  \
      return PREFIX##_mpi_plan_dft_r2c(rank, n, in, out, comm, flags);                                     \
    }                                                                                                      \
    static Plan inverse(int rank, const std::ptrdiff_t* n, Complex* in, REAL* out, MPI_Comm comm,          \
                        unsigned flags) {                                                                  \
      return PREFIX##_mpi_plan_dft_c2r(rank, n, in, out, comm, flags);                                     \
    }                                                                                                      \
  };
SFFT_FFTW_MPI(float, fftwf)
SFFT_FFTW_MPI(double, fftw)
#undef SFFT_FFTW_MPI

/// FFTW's planner is not thread-safe.
std::mutex planner;

template <class Real>
class FftwMpiEngine final : public DistributedEngine<Real> {
  using Api = Fftw<Real>;

 public:
  using Complex = std::complex<Real>;

  FftwMpiEngine(std::shared_ptr<Comm> comm, const Problem& problem)
      : comm_(std::move(comm)), problem_(problem) {
    comm_->together([&] {
      if (problem.decomposition != Decomposition::slabs)
        throw Error(
            ErrorCode::backend_unavailable,
            "FFTW has no pencils: its transforms share one dimension. Ask for slabs, or for the engine "
            "built_in");
      if (problem.signal_extents[0] == 1 || problem.spectrum_extents[1] == 1)
        throw Error(
            ErrorCode::backend_unavailable,
            fmt::format(
                "FFTW plans no transposed transform of {}: its first two dimensions need more than one "
                "element. Ask for the engine built_in",
                problem.shape.to_string()));
    });
    const std::lock_guard lock(planner);
    Api::init();
    const int rank = problem.shape.rank();
    const Three& spectrum = problem.spectrum_extents;
    std::ptrdiff_t n[3];
    std::ptrdiff_t m[3];
    for (int d = 0; d < rank; ++d) n[d] = problem.shape[d];
    for (int d = 0; d < rank; ++d) m[d] = spectrum[static_cast<std::size_t>(d)];
    std::ptrdiff_t rows = 0;
    std::ptrdiff_t first = 0;
    std::ptrdiff_t columns = 0;
    std::ptrdiff_t second = 0;
    comm_->together([&] {
      const std::ptrdiff_t values = Api::local_size(rank, m, comm_->get(), &rows, &first, &columns, &second);
      const auto me = static_cast<std::size_t>(comm_->rank());
      own_signal_ = problem.signal.boxes[me];
      own_spectrum_ = problem.spectrum.boxes[me];
      const bool like_ours = rows == own_signal_.extent[0] && columns == own_spectrum_.extent[1] &&
                             (rows == 0 || first == own_signal_.begin[0]) &&
                             (columns == 0 || second == own_spectrum_.begin[1]);
      if (!like_ours)
        throw Error(
            ErrorCode::backend_unavailable,
            fmt::format("FFTW shares {} in other parts than this library does", problem.shape.to_string()));
      // Allocates at least one value, so that processes without any also have memory.
      const auto count = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, values));
      one_.reset(Api::allocate(count));
      two_.reset(Api::allocate(count));
      if (!one_ || !two_) throw std::bad_alloc();
    });
    const unsigned flags =
        problem.options.planning == dense::Options::Planning::measure ? FFTW_MEASURE : FFTW_ESTIMATE;
    auto* const one = one_.get();
    auto* const two = two_.get();
    MPI_Comm where = comm_->get();
    if (problem.real) {
      forward_.reset(
          Api::forward(rank, n, reinterpret_cast<Real*>(one), two, where, flags | FFTW_MPI_TRANSPOSED_OUT));
      inverse_.reset(
          Api::inverse(rank, n, two, reinterpret_cast<Real*>(one), where, flags | FFTW_MPI_TRANSPOSED_IN));
    } else {
      forward_.reset(Api::complex(rank, n, one, two, where, FFTW_FORWARD, flags | FFTW_MPI_TRANSPOSED_OUT));
      inverse_.reset(Api::complex(rank, n, two, one, where, FFTW_BACKWARD, flags | FFTW_MPI_TRANSPOSED_IN));
    }
    comm_->together([&] {
      if (!forward_ || !inverse_)
        throw Error(ErrorCode::backend_unavailable, fmt::format("FFTW has no plan for {} on {} processes",
                                                                problem.shape.to_string(), comm_->size()));
    });
  }

  void forward(const void* signal, Complex* spectrum) const override {
    comm_->together([&] { copy_signal<true>(const_cast<void*>(signal)); });
    Api::execute(forward_.get());
    comm_->together([&] {
      scale(two_.get(), own_spectrum_.points(), factor(true));
      copy(two_.get(), kTransposed, spectrum, kRowMajor);
    });
  }

  void inverse(const Complex* spectrum, void* signal) const override {
    comm_->together([&] { copy(spectrum, kRowMajor, two_.get(), kTransposed); });
    Api::execute(inverse_.get());
    comm_->together([&] {
      copy_signal<false>(signal);
      const std::int64_t parts = own_signal_.points() * (problem_.real ? 1 : 2);
      for (std::int64_t i = 0; i < parts; ++i) static_cast<Real*>(signal)[i] *= factor(false);
    });
  }

  std::string name() const override {
    return fmt::format("fftw ({})", sizeof(Real) == 4 ? fftwf_version : fftw_version);
  }
  std::string describe() const override {
    return "FFTW exchanges once; its own messages wait without the time limit\n";
  }

 private:
  static constexpr Order kTransposed{1, 0, 2};

  struct Release {
    void operator()(void* memory) const { Api::release(memory); }
    void operator()(std::remove_pointer_t<typename Api::Plan>* plan) const { Api::destroy(plan); }
  };
  using Memory = std::unique_ptr<typename Api::Complex[], Release>;
  using Planned = std::unique_ptr<std::remove_pointer_t<typename Api::Plan>, Release>;

  /// Real rows have room for their half spectrum; that padding is not copied.
  template <bool in>
  void copy_signal(void* signal) const {
    const Box padded = with_room(problem_, own_signal_);
    const Three own = strides_of(own_signal_, kRowMajor);
    const Three theirs = strides_of(padded, kRowMajor);
    auto* const ours = static_cast<std::byte*>(signal);
    auto* const memory = reinterpret_cast<std::byte*>(one_.get());
    const std::size_t bytes = problem_.real ? sizeof(Real) : sizeof(Complex);
    if constexpr (in) {
      copy_elements(own_signal_.extent, ours, own, memory, theirs, bytes);
    } else {
      copy_elements(own_signal_.extent, memory, theirs, ours, own, bytes);
    }
  }

  void copy(const void* from, const Order& from_order, void* to, const Order& to_order) const {
    copy_elements(own_spectrum_.extent, static_cast<const std::byte*>(from),
                  strides_of(own_spectrum_, from_order), static_cast<std::byte*>(to),
                  strides_of(own_spectrum_, to_order), sizeof(Complex));
  }

  Real factor(bool forward) const {
    return static_cast<Real>(
        factor_of(problem_.options.normalization, static_cast<double>(problem_.shape.points()), forward));
  }

  static void scale(typename Api::Complex* values, std::int64_t count, Real factor) {
    if (factor == Real(1)) return;
    for (std::int64_t i = 0; i < count; ++i) {
      values[i][0] *= factor;
      values[i][1] *= factor;
    }
  }

  std::shared_ptr<Comm> comm_;
  Problem problem_;
  Box own_signal_, own_spectrum_;
  Memory one_, two_;
  Planned forward_, inverse_;
};

}  // namespace

std::string fftw_missing() {
  return {};
}

template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_fftw(std::shared_ptr<Comm> comm, const Problem& problem) {
  return std::make_unique<FftwMpiEngine<Real>>(std::move(comm), problem);
}
template std::unique_ptr<DistributedEngine<float>> make_fftw(std::shared_ptr<Comm>, const Problem&);
template std::unique_ptr<DistributedEngine<double>> make_fftw(std::shared_ptr<Comm>, const Problem&);

}  // namespace sfft::mpi::detail
