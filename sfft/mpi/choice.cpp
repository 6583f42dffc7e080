// SPDX-License-Identifier: Apache-2.0
// Chooses an engine by rules, or times the available ones.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kernels/runtime/elapsed.hpp"
#include "sfft/mpi/plan_impl.hpp"

namespace sfft::mpi::detail {

namespace {

template <class Real>
std::unique_ptr<DistributedEngine<Real>> make_engine(Engine engine, const std::shared_ptr<Comm>& comm,
                                                     const Problem& problem) {
  if (engine == Engine::fftw) return make_fftw<Real>(comm, problem);
  if (engine == Engine::cufftmp) return make_cufftmp<Real>(comm, problem);
  return make_built_in<Real>(comm, problem);
}

/// Seconds of one transform and its inverse on the slowest process; the faster of two runs.
template <class Real>
double seconds_of(const DistributedEngine<Real>& work, Comm& comm, const Problem& problem) {
  const Box& own_signal = problem.signal.boxes[static_cast<std::size_t>(comm.rank())];
  const Box& own_spectrum = problem.spectrum.boxes[static_cast<std::size_t>(comm.rank())];
  std::vector<std::complex<Real>> signal, spectrum;
  comm.together([&] {
    signal.resize(static_cast<std::size_t>(own_signal.points()));
    spectrum.resize(static_cast<std::size_t>(own_spectrum.points()));
  });
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {  // the first run warms up
    const auto start = std::chrono::steady_clock::now();
    work.forward(signal.data(), spectrum.data());
    work.inverse(spectrum.data(), signal.data());
    const double seconds = comm.largest(sfft::detail::seconds_since(start));
    if (i > 0) best = std::min(best, seconds);
  }
  return best;
}

template <class Real>
void choose_by_time(Impl<Real>& impl, const Shape& shape, bool real, const Options& options) {
  std::vector<Engine> engines{options.engine};
  if (options.engine == Engine::automatic) {
    engines = {Engine::built_in};
    for (const Engine engine : {Engine::fftw, Engine::cufftmp})
      if (availability(engine)) engines.push_back(engine);
  }
  std::vector<Decomposition> decompositions{options.decomposition};
  const bool grid = options.grid[0] > 0 || options.grid[1] > 0;
  if (options.decomposition == Decomposition::automatic && shape.rank() == 3 && !grid)
    decompositions = {Decomposition::slabs, Decomposition::pencils};
  double best = 1e300;
  for (const Decomposition decomposition : decompositions) {
    const Problem problem = make_problem(shape, real, options, decomposition, impl.comm->size());
    for (const Engine engine : engines) {
      const bool slabs_only = engine != Engine::built_in;
      if (slabs_only && problem.decomposition == Decomposition::pencils && engines.size() > 1) continue;
      std::unique_ptr<DistributedEngine<Real>> work;
      try {
        work = make_engine<Real>(engine, impl.comm, problem);
      } catch (const Error& error) {  // the same in all processes
        if (error.code() != ErrorCode::backend_unavailable || engines.size() == 1) throw;
        impl.measured += fmt::format("not {}: {}\n", to_string(engine), error.what());
        continue;
      }
      const double seconds = seconds_of(*work, *impl.comm, problem);
      impl.measured += fmt::format("measured: {} with {}: {:.1f} us to and fro\n", work->name(),
                                   to_string(problem.decomposition), 1e6 * seconds);
      if (seconds >= best) continue;
      best = seconds;
      impl.problem = problem;
      impl.engine = engine;
      impl.work = std::move(work);
    }
  }
  impl.reason = fmt::format("{} with {} was the fastest that was measured", to_string(impl.engine),
                            to_string(impl.problem.decomposition));
}

template <class Real>
void choose_by_rule(Impl<Real>& impl, const Shape& shape, bool real, const Options& options) {
  Decomposition decomposition = options.decomposition;
  const bool slabs_only = options.engine == Engine::fftw || options.engine == Engine::cufftmp;
  if (slabs_only && decomposition == Decomposition::automatic) decomposition = Decomposition::slabs;
  impl.problem = make_problem(shape, real, options, decomposition, impl.comm->size());
  impl.engine = options.engine == Engine::automatic ? Engine::built_in : options.engine;
  impl.work = make_engine<Real>(impl.engine, impl.comm, impl.problem);
  impl.reason =
      options.engine == Engine::automatic
          ? "built_in, which does slabs and pencils and keeps to the time limit; planning = measure "
            "compares it with the others of the build; "
          : fmt::format("{} was requested; ", to_string(options.engine));
  impl.reason += impl.problem.reason;
}

}  // namespace

template <class Real>
void choose(Impl<Real>& impl, const Shape& shape, bool real, const Options& options) {
  if (options.planning == dense::Options::Planning::measure) {
    choose_by_time(impl, shape, real, options);
  } else {
    choose_by_rule(impl, shape, real, options);
  }
}
template void choose(Impl<float>&, const Shape&, bool, const Options&);
template void choose(Impl<double>&, const Shape&, bool, const Options&);

}  // namespace sfft::mpi::detail
