// SPDX-License-Identifier: Apache-2.0
// Checks arguments across all processes, then calls the engine.
#include <fmt/format.h>

#include <optional>

#include "sfft/mpi/exchange.hpp"
#include "sfft/mpi/plan_impl.hpp"
#include "sfft/run_control.hpp"

namespace sfft::mpi {

namespace detail {

namespace {

/// The values that must be the same in all processes.
std::vector<std::int64_t> common_options(const Shape& shape, bool real, const Options& options,
                                         std::size_t bytes) {
  return {shape.rank(),
          shape[0],
          shape.rank() > 1 ? shape[1] : 1,
          shape.rank() > 2 ? shape[2] : 1,
          real ? 1 : 0,
          static_cast<std::int64_t>(bytes),
          static_cast<std::int64_t>(options.engine),
          static_cast<std::int64_t>(options.decomposition),
          options.grid[0],
          options.grid[1],
          static_cast<std::int64_t>(options.normalization),
          static_cast<std::int64_t>(options.planning),
          options.timeout_seconds >= 0 && options.timeout_seconds < 1e9
              ? static_cast<std::int64_t>(options.timeout_seconds * 1e6)
              : -1};
}

void check_size(std::size_t given, std::int64_t wanted, const char* what) {
  if (given != static_cast<std::size_t>(wanted))
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("{} values for the {}: this process has {}", given, what, wanted));
}

template <class A, class B>
void check_apart(std::span<const A> a, std::span<const B> b) {
  const auto* const first = reinterpret_cast<const std::byte*>(a.data());
  const auto* const second = reinterpret_cast<const std::byte*>(b.data());
  if (a.empty() || b.empty() || first >= second + b.size_bytes() || second >= first + a.size_bytes()) return;
  throw Error(ErrorCode::invalid_argument, "input and output overlap: give each its own memory");
}

/// Checks the arguments of a forward or inverse transform.
template <class Real, class Signal>
void check_call(const Impl<Real>& impl, std::span<const Signal> signal,
                std::span<const std::complex<Real>> spectrum) {
  impl.comm->together([&] {
    if (std::is_same_v<Signal, Real> != impl.problem.real)
      throw Error(ErrorCode::type_mismatch, impl.problem.real ? "a complex signal for a plan of real ones"
                                                              : "a real signal for a plan of complex ones");
    const auto rank = static_cast<std::size_t>(impl.comm->rank());
    check_size(signal.size(), impl.problem.signal.boxes[rank].points(), "signal");
    check_size(spectrum.size(), impl.problem.spectrum.boxes[rank].points(), "spectrum");
    check_apart(signal, spectrum);
  });
}

/// Copies between the whole array in one process and its parts in all.
template <class T>
void move(Comm& comm, const Layout& parts, const Three& extents, int root, bool scatter,
          std::span<const T> from, std::span<T> to) {
  comm.same({root}, "root");
  Layout whole;
  comm.together([&] {
    if (root < 0 || root >= comm.size())
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("root {} of {} processes: give one of them", root, comm.size()));
    whole.boxes.assign(static_cast<std::size_t>(comm.size()), Box{{0, 0, 0}, {0, 0, 0}});
    whole.boxes[static_cast<std::size_t>(root)] = {{0, 0, 0}, extents};
    const auto rank = static_cast<std::size_t>(comm.rank());
    const Box& own_whole = whole.boxes[rank];
    const Box& own_part = parts.boxes[rank];
    check_size(from.size(), (scatter ? own_whole : own_part).points(), scatter ? "whole array" : "part");
    check_size(to.size(), (scatter ? own_part : own_whole).points(), scatter ? "part" : "whole array");
    check_apart(from, std::span<const T>(to));
  });
  std::optional<Exchange> exchange;
  Staging staging;
  comm.together([&] {
    exchange.emplace(comm, scatter ? whole : parts, scatter ? parts : whole, sizeof(T));
    exchange->reserve(staging);
  });
  exchange->run(comm, reinterpret_cast<const std::byte*>(from.data()),
                reinterpret_cast<std::byte*>(to.data()), staging);
}

/// The processes wait for each other, so none may leave on a request to stop that the others have not seen.
template <class Work>
void to_the_end(const Work& work) {
  run_with_control({}, {}, work);
}

template <class Real>
void require_kind(const Impl<Real>& impl, bool real) {
  impl.comm->together([&] {
    if (impl.problem.real != real)
      throw Error(ErrorCode::type_mismatch, real ? "real values of a plan of complex signals"
                                                 : "complex values of a plan of real signals");
  });
}

}  // namespace

}  // namespace detail

const char* to_string(Engine engine) noexcept {
  constexpr const char* kNames[] = {"automatic", "built_in", "fftw", "cufftmp"};
  return kNames[static_cast<std::size_t>(engine)];
}

const char* to_string(Decomposition decomposition) noexcept {
  constexpr const char* kNames[] = {"automatic", "slabs", "pencils"};
  return kNames[static_cast<std::size_t>(decomposition)];
}

Availability availability(Engine engine) {
  return {engine == Engine::fftw      ? detail::fftw_missing()
          : engine == Engine::cufftmp ? detail::cufftmp_missing()
                                      : ""};
}

template <class Real>
Plan<Real>::Plan(const Communicator& communicator, const Shape& shape, Domain domain,
                 const Options& options) {
  const bool real = domain == Domain::real;
  const auto& outer = detail::comm_of(communicator);
  outer->same(detail::common_options(shape, real, options, sizeof(Real)), "shape and options");
  std::shared_ptr<detail::Comm> comm = std::make_shared<detail::Comm>(outer->get(), options.timeout_seconds);
  // If one process cannot make the plan, all fail before anything is allocated.
  comm->together([&] {
    detail::make_problem(shape, real, options, options.decomposition, comm->size());
    if (const Availability here = availability(options.engine); !here)
      throw Error(ErrorCode::backend_unavailable, here.reason);
  });
  const auto impl = std::make_shared<detail::Impl<Real>>(
      detail::Impl<Real>{comm,
                         detail::make_problem(shape, real, options, options.decomposition, comm->size()),
                         options.engine,
                         nullptr,
                         {},
                         {}});
  detail::to_the_end([&] { detail::choose(*impl, shape, real, options); });
  impl_ = impl;
}

template <class Real>
Box Plan<Real>::signal_box() const {
  return signal_box(impl_->comm->rank());
}
template <class Real>
Box Plan<Real>::signal_box(int rank) const {
  return impl_->problem.signal.boxes.at(static_cast<std::size_t>(rank));
}
template <class Real>
Box Plan<Real>::spectrum_box() const {
  return spectrum_box(impl_->comm->rank());
}
template <class Real>
Box Plan<Real>::spectrum_box(int rank) const {
  return impl_->problem.spectrum.boxes.at(static_cast<std::size_t>(rank));
}

template <class Real>
void Plan<Real>::forward(std::span<const std::complex<Real>> signal,
                         std::span<std::complex<Real>> spectrum) const {
  detail::check_call<Real, std::complex<Real>>(*impl_, signal, spectrum);
  detail::to_the_end([&] { impl_->work->forward(signal.data(), spectrum.data()); });
}
template <class Real>
void Plan<Real>::forward(std::span<const Real> signal, std::span<std::complex<Real>> spectrum) const {
  detail::check_call<Real, Real>(*impl_, signal, spectrum);
  detail::to_the_end([&] { impl_->work->forward(signal.data(), spectrum.data()); });
}
template <class Real>
void Plan<Real>::inverse(std::span<const std::complex<Real>> spectrum,
                         std::span<std::complex<Real>> signal) const {
  detail::check_call<Real, std::complex<Real>>(*impl_, signal, spectrum);
  detail::to_the_end([&] { impl_->work->inverse(spectrum.data(), signal.data()); });
}
template <class Real>
void Plan<Real>::inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal) const {
  detail::check_call<Real, Real>(*impl_, signal, spectrum);
  detail::to_the_end([&] { impl_->work->inverse(spectrum.data(), signal.data()); });
}

template <class Real>
void Plan<Real>::scatter_signal(std::span<const std::complex<Real>> whole, std::span<std::complex<Real>> part,
                                int root) const {
  detail::require_kind(*impl_, false);
  const detail::Problem& problem = impl_->problem;
  detail::move(*impl_->comm, problem.signal, problem.signal_extents, root, true, whole, part);
}
template <class Real>
void Plan<Real>::scatter_signal(std::span<const Real> whole, std::span<Real> part, int root) const {
  detail::require_kind(*impl_, true);
  const detail::Problem& problem = impl_->problem;
  detail::move(*impl_->comm, problem.signal, problem.signal_extents, root, true, whole, part);
}
template <class Real>
void Plan<Real>::scatter_spectrum(std::span<const std::complex<Real>> whole,
                                  std::span<std::complex<Real>> part, int root) const {
  const detail::Problem& problem = impl_->problem;
  detail::move(*impl_->comm, problem.spectrum, problem.spectrum_extents, root, true, whole, part);
}
template <class Real>
void Plan<Real>::gather_signal(std::span<const std::complex<Real>> part, std::span<std::complex<Real>> whole,
                               int root) const {
  detail::require_kind(*impl_, false);
  const detail::Problem& problem = impl_->problem;
  detail::move(*impl_->comm, problem.signal, problem.signal_extents, root, false, part, whole);
}
template <class Real>
void Plan<Real>::gather_signal(std::span<const Real> part, std::span<Real> whole, int root) const {
  detail::require_kind(*impl_, true);
  const detail::Problem& problem = impl_->problem;
  detail::move(*impl_->comm, problem.signal, problem.signal_extents, root, false, part, whole);
}
template <class Real>
void Plan<Real>::gather_spectrum(std::span<const std::complex<Real>> part,
                                 std::span<std::complex<Real>> whole, int root) const {
  const detail::Problem& problem = impl_->problem;
  detail::move(*impl_->comm, problem.spectrum, problem.spectrum_extents, root, false, part, whole);
}

template <class Real>
const Shape& Plan<Real>::shape() const noexcept {
  return impl_->problem.shape;
}
template <class Real>
Domain Plan<Real>::domain() const noexcept {
  return impl_->problem.domain();
}
template <class Real>
const Options& Plan<Real>::options() const noexcept {
  return impl_->problem.options;
}
template <class Real>
Engine Plan<Real>::engine() const noexcept {
  return impl_->engine;
}
template <class Real>
Decomposition Plan<Real>::decomposition() const noexcept {
  return impl_->problem.decomposition;
}
template <class Real>
std::array<int, 2> Plan<Real>::grid() const noexcept {
  return impl_->problem.grid;
}
template <class Real>
std::string Plan<Real>::reason() const {
  return impl_->reason;
}

template <class Real>
std::string Plan<Real>::explain() const {
  const detail::Problem& problem = impl_->problem;
  const auto text = [](const Box& box) {
    return fmt::format("({}, {}, {}) + ({}, {}, {})", box.begin[0], box.begin[1], box.begin[2], box.extent[0],
                       box.extent[1], box.extent[2]);
  };
  std::string lines = fmt::format("{} {} on {} processes: {}, {}\n", problem.shape.to_string(),
                                  problem.real ? "real" : "complex", impl_->comm->size(), impl_->work->name(),
                                  problem.decomposition == Decomposition::slabs
                                      ? std::string("slabs")
                                      : fmt::format("pencils of {} by {}", problem.grid[0], problem.grid[1]));
  lines += fmt::format("reason: {}\n{}", impl_->reason, impl_->measured);
  lines += fmt::format("rank {}: signal {}, spectrum {}\n", impl_->comm->rank(), text(signal_box()),
                       text(spectrum_box()));
  for (const Engine engine : {Engine::fftw, Engine::cufftmp})
    if (const Availability here = availability(engine); !here)
      lines += fmt::format("not {}: {}\n", to_string(engine), here.reason);
  return lines + impl_->work->describe();
}

template class Plan<float>;
template class Plan<double>;

}  // namespace sfft::mpi
