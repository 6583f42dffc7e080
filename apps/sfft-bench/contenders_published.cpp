// SPDX-License-Identifier: Apache-2.0
// Wraps the published algorithms of bench/peers as contenders, with one class for all of them.
#include "contender.hpp"

namespace sfft::apps {

namespace {

class PublishedContender final : public Contender {
 public:
  explicit PublishedContender(peers::Method method) : method_(method) {}

  std::string name() const override { return peers::to_string(method_); }
  std::int64_t length(std::int64_t points, std::int64_t k) const override {
    return method_ == peers::Method::ffast ? peers::ffast_length(points, k) : points;
  }
  bool ready(const SparseCase& problem) const override {
    return peer_ && points_ == problem.points && k_ == problem.k;
  }
  void plan(const SparseCase& problem) override {
    peer_.reset();
    peer_ = peers::make_peer<float>(method_, problem.points, problem.k);
    points_ = problem.points;
    k_ = problem.k;
  }
  void execute(const SparseCase& problem) override { peer_->execute(problem.signal, tones_); }
  Answer answer(const SparseCase&) const override {
    return {tones_, peer_->samples_read(), peer_->describe()};
  }

 private:
  peers::Method method_;
  std::unique_ptr<peers::Peer<float>> peer_;
  std::int64_t points_ = 0, k_ = 0;
  std::vector<peers::Tone> tones_;
};

}  // namespace

void add_published_contenders(std::vector<std::unique_ptr<Contender>>& contenders) {
  using enum peers::Method;
  for (const peers::Method method : {sfft1, sfft2, sfft3, aafft, ffast}) {
    contenders.push_back(std::make_unique<PublishedContender>(method));
  }
}

}  // namespace sfft::apps
