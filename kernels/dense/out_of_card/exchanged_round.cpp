// SPDX-License-Identifier: Apache-2.0
// The columns of N1 × N2 values go through the card in strips, and the results, N2 × N1 transposed ones, go
// where strips were read. In memory the results of strip j are the rows from j·N1/strips on, of N2 values, so
// that both strips and results are cut into tiles (j, i): results of strip j where strip i was. Those with i
// ≤ j leave at once, the others stay on the card until strip i has been read, a quarter of the array at most
// and half a strip.
#include <numeric>

#include "kernels/dense/out_of_card/column_round.hpp"

namespace sfft::detail {

namespace {

template <class Real>
class ExchangedRound final : public TurningRound<Real> {
 public:
  explicit ExchangedRound(const CardArray& array) : TurningRound<Real>(array) {}

  const char* name() const noexcept override { return "columns, transposed in place"; }
  bool ordered() const noexcept override { return true; }
  /// Results of a strip fill whole rows, and strips whole cache lines.
  std::int64_t grain() const noexcept override {
    const std::int64_t whole = width() / std::gcd(array_.slabs, width());
    return std::min(width(), std::lcm(whole, ColumnRound<Real>::grain()));
  }
  std::size_t kept_bytes(std::int64_t units) const override {
    const std::int64_t strips = (width() + units - 1) / units;
    std::int64_t most = 0;
    for (std::int64_t j = 0; j < strips; ++j) most = std::max(most, (j + 1) * (strips - 1) - j * j);
    return static_cast<std::size_t>(most) * tile_bytes(units);
  }
  std::vector<PieceSegment> segments_in(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                        std::byte* memory) const override {
    const CardRows strip = this->rows(call.from, first, count);
    return {{strip.packed_at(memory), strip}};
  }
  /// Copies to the card's memory first: what was there has left with the strip before.
  std::vector<PieceSegment> segments_out(const RoundCall<Real>& call, std::int64_t first, std::int64_t count,
                                         std::byte* memory) const override {
    const std::int64_t strip = first / strip_, strips = (width() + strip_ - 1) / strip_;
    std::vector<PieceSegment> segments;
    for (std::int64_t i = strip + 1; i < strips; ++i)
      segments.push_back({part(memory, strip, strip, i), tile(call, strip, i), true});
    auto* const array = reinterpret_cast<std::byte*>(call.to);
    CardRows own = part(memory, strip, strip, 0), place = part(array, 0, strip, 0);
    own.width = place.width = this->bytes(first + count);
    segments.push_back({own, place});
    for (std::int64_t j = 0; j < strip; ++j)
      segments.push_back({tile(call, j, strip), part(array, 0, j, strip)});
    return segments;
  }

  void dealt(const Deal& deal) override {
    strip_ = std::max<std::int64_t>(1, deal.piece_units);
    const std::int64_t strips = (width() + strip_ - 1) / strip_;
    places_.assign(static_cast<std::size_t>(strips * strips), 0);
    std::vector<std::int64_t> free;
    std::int64_t used = 0;
    for (std::int64_t j = 0; j < strips; ++j) {
      for (std::int64_t i = j + 1; i < strips; ++i) {
        if (free.empty()) free.push_back(used++);
        place(j, i) = free.back();
        free.pop_back();
      }
      for (std::int64_t earlier = 0; earlier < j; ++earlier) free.push_back(place(earlier, j));
    }
  }
  void give_host(std::int64_t) override {}

 private:
  using Round<Real>::array_;

  std::int64_t width() const noexcept { return array_.slab_points(); }
  std::int64_t row_of(std::int64_t column) const noexcept { return column * array_.slabs / width(); }
  std::size_t tile_bytes(std::int64_t units) const noexcept { return this->bytes(units * row_of(units)); }
  std::int64_t& place(std::int64_t j, std::int64_t i) {
    return places_[static_cast<std::size_t>(j * ((width() + strip_ - 1) / strip_) + i)];
  }
  std::int64_t place(std::int64_t j, std::int64_t i) const {
    return const_cast<ExchangedRound*>(this)->place(j, i);
  }
  /// Tile (j, i) of results that begin with those of strip `from`.
  CardRows part(std::byte* results, std::int64_t from, std::int64_t j, std::int64_t i) const {
    const std::int64_t column = i * strip_, row = row_of(j * strip_),
                       end = row_of(std::min(width(), (j + 1) * strip_));
    return {results + this->bytes((row - row_of(from * strip_)) * width() + column), this->bytes(width()),
            this->bytes(std::min(strip_, width() - column)), static_cast<std::size_t>(end - row)};
  }
  CardRows tile(const RoundCall<Real>& call, std::int64_t j, std::int64_t i) const {
    return part(nullptr, j, j, i)
        .packed_at(call.kept + static_cast<std::size_t>(place(j, i)) * tile_bytes(strip_));
  }

  std::int64_t strip_ = 1;
  std::vector<std::int64_t> places_;  ///< of tiles in the card's memory
};

}  // namespace

template <class Real>
std::unique_ptr<Round<Real>> make_exchanged_round(const CardArray& array) {
  return std::make_unique<ExchangedRound<Real>>(array);
}

template std::unique_ptr<Round<float>> make_exchanged_round(const CardArray&);
template std::unique_ptr<Round<double>> make_exchanged_round(const CardArray&);

}  // namespace sfft::detail
