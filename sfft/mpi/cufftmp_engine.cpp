// SPDX-License-Identifier: Apache-2.0
// cuFFTMp on one GPU per process. Its slabs equal ours if both shared dimensions are multiples of the number
// of processes. Host memory is copied to its symmetric memory and back. NVSHMEM reads its own environment
// (NVSHMEM_DISABLE_NVLS, …), which stays unchanged. libcufftMp.so is loaded with RTLD_DEEPBIND, so that it
// uses its own functions and not those of libcufft.so. NVSHMEM is loaded before it and without that flag:
// otherwise it would take parts of the C++ library that libcufftMp.so has for itself.
#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "sfft/mpi/problem.hpp"

namespace sfft::mpi::detail {

namespace {

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

/// Loads NVSHMEM from where libcufftMp.so would: its own directory, as in the wheels, or the loader's path.
/// What fails here fails again, with a reason, when libcufftMp.so needs it.
void load_nvshmem(const std::string& cufftmp) {
  constexpr const char* kName = "libnvshmem_host.so.3";
  const std::filesystem::path folder = std::filesystem::path(cufftmp).parent_path();
  for (const char* const among : {".", "../../../nvshmem/lib"}) {
    if (folder.empty()) break;
    if (::dlopen((folder / among / kName).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  }
  static_cast<void>(::dlopen(kName, RTLD_NOW | RTLD_LOCAL));
}

CufftMp load() {
  CufftMp found{};
  const char* const given = std::getenv("SFFT_CUFFTMP");
  const std::vector<std::string> names =
      given != nullptr ? std::vector<std::string>{given}
                       : std::vector<std::string>{"libcufftMp.so.12", "libcufftMp.so.11"};
  void* library = nullptr;
  for (const std::string& name : names) {
    load_nvshmem(name);
    library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library != nullptr) break;
    const char* const why = ::dlerror();
    if (found.problem.empty())
      found.problem = fmt::format(
          "cuFFTMp is not found ({}): install the wheel nvidia-cufftmp-cu13 or the HPC SDK, and "
          "name its libcufftMp.so in SFFT_CUFFTMP",
          why == nullptr ? name : why);
  }
  if (library == nullptr) return found;
  found.problem.clear();
  const auto get = [&](auto& function, const char* name) {
    void* const symbol = ::dlsym(library, name);
    if (symbol == nullptr) found.problem = fmt::format("libcufftMp.so has no function {}", name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  get(found.create, "cufftCreate");
  get(found.destroy, "cufftDestroy");
  get(found.attach, "cufftMpAttachComm");
  get(found.make_2d, "cufftMakePlan2d");
  get(found.make_3d, "cufftMakePlan3d");
  get(found.allocate, "cufftXtMalloc");
  get(found.release, "cufftXtFree");
  get(found.execute, "cufftXtExecDescriptor");
  return found;
}

/// Looks for the file named by the environment variable SFFT_CUFFTMP, then for libcufftMp.so.12 and .11 on
/// the loader's path.
const CufftMp& cufftmp_library() {
  static const CufftMp library = load();
  return library;
}

constexpr int kCommunicatorOfMpi = 0;  // CUFFT_COMM_MPI of cufftMp.h

void check(cufftResult code, const char* what) {
  if (code == CUFFT_SUCCESS) return;
  const bool memory = code == CUFFT_ALLOC_FAILED;
  throw Error(memory ? ErrorCode::out_of_memory : ErrorCode::device,
              fmt::format("cuFFTMp: {} failed with code {}", what, static_cast<int>(code)));
}

void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess)
    throw Error(code == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::device,
                fmt::format("{}: {}", what, cudaGetErrorString(code)));
}

/// Restores the GPU that was in use.
class KeepDevice {
 public:
  KeepDevice() : known_(cudaGetDevice(&before_) == cudaSuccess) {}
  ~KeepDevice() {
    if (known_) static_cast<void>(cudaSetDevice(before_));
  }
  KeepDevice(const KeepDevice&) = delete;
  KeepDevice& operator=(const KeepDevice&) = delete;

 private:
  int before_ = 0;
  bool known_;
};

/// Makes the GPU of this process current during this object's lifetime.
class OnDevice {
 public:
  explicit OnDevice(int device) { check(cudaSetDevice(device), "the GPU cannot be used"); }

 private:
  KeepDevice before_;
};

/// Releases plans or memory on the GPU where they were made. NVSHMEM ends with the last plan.
template <class Release>
void release_on(int device, const Release& release) noexcept {
  const KeepDevice before;
  static_cast<void>(cudaSetDevice(device));
  release();
}

/// NVSHMEM assigns a separate GPU to every process.
int device_of(const Comm& comm) {
  MPI_Comm machine = MPI_COMM_NULL;
  int place = 0, processes = 0;
  MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &place);
  MPI_Comm_size(machine, &processes);
  MPI_Comm_free(&machine);
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;  // no driver
  if (processes > count)
    throw Error(
        ErrorCode::backend_unavailable,
        fmt::format("cufftmp needs a GPU for every process: this machine has {} for {}", count, processes));
  return place;
}

struct PlanHandle {
  cufftHandle value = 0;
  int device = 0;

  PlanHandle() = default;
  ~PlanHandle() {
    if (value != 0) release_on(device, [this] { cufftmp_library().destroy(value); });
  }
  PlanHandle(const PlanHandle&) = delete;
  PlanHandle& operator=(const PlanHandle&) = delete;
};

struct ReleaseMemory {
  int device = 0;
  void operator()(cudaLibXtDesc* memory) const {
    release_on(device, [memory] { cufftmp_library().release(memory); });
  }
};

template <class Real>
class CufftMpEngine final : public DistributedEngine<Real> {
 public:
  using Complex = std::complex<Real>;

  CufftMpEngine(std::shared_ptr<Comm> comm, const Problem& problem)
      : comm_(std::move(comm)), problem_(problem), library_(cufftmp_library()) {
    comm_->together([&] {
      check_problem();
      const auto me = static_cast<std::size_t>(comm_->rank());
      signal_ = problem.signal.boxes[me];
      spectrum_ = problem.spectrum.boxes[me];
    });
    comm_->together([&] { device_ = device_of(*comm_); });
    const bool real = problem.real;
    constexpr bool kSingle = sizeof(Real) == 4;
    const cufftType complex = kSingle ? CUFFT_C2C : CUFFT_Z2Z;
    make(forward_, real ? (kSingle ? CUFFT_R2C : CUFFT_D2Z) : complex);
    make(inverse_, real ? (kSingle ? CUFFT_C2R : CUFFT_Z2D) : complex);
    comm_->together([&] {
      const OnDevice device(device_);
      cudaLibXtDesc* memory = nullptr;
      check(library_.allocate(forward_.value, &memory, CUFFT_XT_FORMAT_INPLACE),
            "allocating symmetric memory");
      memory_ = {memory, ReleaseMemory{device_}};
    });
  }

  void forward(const void* signal, Complex* spectrum) const override {
    comm_->together([&] {
      const OnDevice device(device_);
      copy_rows(const_cast<void*>(signal), true);
      memory_->subFormat = CUFFT_XT_FORMAT_INPLACE;
    });
    comm_->together([&] { execute(forward_.value, CUFFT_FORWARD); });
    comm_->together([&] {
      const OnDevice device(device_);
      check(cudaMemcpy(spectrum, data(), bytes(spectrum_), cudaMemcpyDeviceToHost), "copying the spectrum");
      scale(reinterpret_cast<Real*>(spectrum), 2 * spectrum_.points(), true);
    });
  }

  void inverse(const Complex* spectrum, void* signal) const override {
    comm_->together([&] {
      const OnDevice device(device_);
      check(cudaMemcpy(data(), spectrum, bytes(spectrum_), cudaMemcpyHostToDevice), "copying the spectrum");
      memory_->subFormat = CUFFT_XT_FORMAT_INPLACE_SHUFFLED;
    });
    comm_->together([&] { execute(inverse_.value, CUFFT_INVERSE); });
    comm_->together([&] {
      const OnDevice device(device_);
      copy_rows(signal, false);
      scale(static_cast<Real*>(signal), signal_.points() * (problem_.real ? 1 : 2), false);
    });
  }

  std::string name() const override { return fmt::format("cufftmp (GPU {})", device_); }
  std::string describe() const override {
    return "cuFFTMp exchanges between GPUs; its own messages wait without the time limit\n";
  }

 private:
  static std::size_t bytes(const Box& box) {
    return static_cast<std::size_t>(box.points()) * sizeof(Complex);
  }
  void* data() const { return memory_->descriptor->data[0]; }

  void check_problem() const {
    const std::int64_t processes = comm_->size();
    const auto refuse = [](const std::string& why) { throw Error(ErrorCode::backend_unavailable, why); };
    if (!library_.problem.empty()) refuse(library_.problem);
    if (problem_.decomposition != Decomposition::slabs)
      refuse("cufftmp is offered for slabs: ask for them, or for built_in");
    const std::int64_t first = problem_.signal_extents[0];
    const std::int64_t second = problem_.spectrum_extents[1];
    if (first % processes != 0 || second % processes != 0)
      refuse(
          fmt::format("cufftmp shares {} and {} elements evenly: they need to be multiples of {} processes",
                      first, second, processes));
    const std::int64_t last = problem_.shape[problem_.shape.rank() - 1];
    if (problem_.real && last % 2 != 0)
      refuse(fmt::format("cufftmp needs an even last dimension of real signals, not {}", last));
    for (const std::int64_t extent : problem_.signal_extents)
      if (extent > 2147483647)
        refuse(fmt::format("cufftmp counts dimensions with 31 bits: {} is more", extent));
  }

  void make(PlanHandle& plan, cufftType type) {
    comm_->together([&] {
      const OnDevice device(device_);
      MPI_Comm communicator = comm_->get();
      std::size_t workspace = 0;
      plan.device = device_;
      check(library_.create(&plan.value), "making a plan");
      check(library_.attach(plan.value, kCommunicatorOfMpi, &communicator), "attaching the communicator");
      const auto n = [&](std::size_t d) { return static_cast<int>(problem_.signal_extents[d]); };
      check(problem_.shape.rank() == 2 ? library_.make_2d(plan.value, n(0), n(1), type, &workspace)
                                       : library_.make_3d(plan.value, n(0), n(1), n(2), type, &workspace),
            "planning");
    });
  }

  /// Copies between the caller's rows and those in symmetric memory, which have room for a half spectrum.
  void copy_rows(void* signal, bool to_device) const {
    const auto last = static_cast<std::size_t>(problem_.shape.rank() - 1);
    const std::size_t element = problem_.real ? sizeof(Real) : sizeof(Complex);
    const std::size_t row = static_cast<std::size_t>(signal_.extent[last]) * element;
    const std::size_t pitch = static_cast<std::size_t>(with_room(problem_, signal_).extent[last]) * element;
    const std::size_t rows = static_cast<std::size_t>(signal_.points() / signal_.extent[last]);
    check(to_device ? cudaMemcpy2D(data(), pitch, signal, row, row, rows, cudaMemcpyHostToDevice)
                    : cudaMemcpy2D(signal, row, data(), pitch, row, rows, cudaMemcpyDeviceToHost),
          "copying the signal");
  }

  void execute(cufftHandle plan, int direction) const {
    const OnDevice device(device_);
    check(library_.execute(plan, memory_.get(), memory_.get(), direction), "the transform");
    check(cudaDeviceSynchronize(), "the transform");
  }

  void scale(Real* values, std::int64_t count, bool forward) const {
    const auto factor = static_cast<Real>(
        factor_of(problem_.options.normalization, static_cast<double>(problem_.shape.points()), forward));
    if (factor == Real(1)) return;
    for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
  }

  std::shared_ptr<Comm> comm_;
  Problem problem_;
  const CufftMp& library_;
  Box signal_, spectrum_;
  int device_ = 0;
  PlanHandle forward_, inverse_;
  std::unique_ptr<cudaLibXtDesc, ReleaseMemory> memory_;
};

}  // namespace

std::string cufftmp_missing() {
  return cufftmp_library().problem;
}

template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_cufftmp(std::shared_ptr<Comm> comm, const Problem& problem) {
  return std::make_unique<CufftMpEngine<Real>>(std::move(comm), problem);
}
template std::unique_ptr<DistributedEngine<float>> make_cufftmp(std::shared_ptr<Comm>, const Problem&);
template std::unique_ptr<DistributedEngine<double>> make_cufftmp(std::shared_ptr<Comm>, const Problem&);

}  // namespace sfft::mpi::detail
