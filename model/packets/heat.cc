// Heat: draws the use of links and queues over time in one run of the packet simulator.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

#include "model/packets/packet_simulator.h"

namespace torc::model {
namespace {

constexpr std::size_t kColumns = 96;
constexpr int kLevels = 16;  // of color
constexpr int kLeft = 120, kTop = 64, kCellWidth = 7, kCellHeight = 15, kGap = 26;
constexpr int kRight = kLeft + static_cast<int>(kColumns) * kCellWidth;
constexpr int kWidth = kRight + 64;
constexpr const char* kAtEnd = " text-anchor=\"end\"";

/// Slices of equal length: sums of samples, and the queues of the last one.
struct Column {
  double ticks = 0;
  PacketSample sums;
};

std::vector<Column> columnsOf(const PacketSamples& samples) {
  const std::size_t count = samples.all.size();
  std::vector<Column> columns(std::min(kColumns, count));
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const PacketSample& sample = samples.all[i];
    Column& column = columns[i * columns.size() / count];
    column.ticks += static_cast<double>(sample.end - before);
    before = sample.end;
    column.sums.addCounts(sample);
    column.sums.queued = sample.queued;
    column.sums.injection = sample.injection;
  }
  return columns;
}

/// From white over yellow and red to black.
std::string color(int level) {
  static constexpr std::array<std::array<double, 3>, 5> kStops = {
      {{255, 255, 245}, {254, 217, 118}, {240, 110, 50}, {177, 20, 40}, {50, 0, 30}}};
  const double at = level * (kStops.size() - 1.0) / (kLevels - 1);
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(at), kStops.size() - 2);
  const double share = at - static_cast<double>(low);
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '#';
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = kStops[low][i] * (1 - share) + kStops[low + 1][i] * share;
    out << llvm::format("%02x", static_cast<unsigned>(std::lround(value)));
  }
  return text;
}

std::string textAt(int x, int y, const std::string& text, const char* attributes = "") {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\"" + attributes +
         ">" + text + "</text>\n";
}

class Drawing {
 public:
  explicit Drawing(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void heading(const std::string& text) {
    y_ += kGap;
    body_ += textAt(kLeft, y_ - 7, text, " font-weight=\"bold\"");
  }

  /// A row of cells: `share` of each column, 0 to 1, followed by its mean over time.
  void row(const std::string& label, const std::function<double(const Column&)>& share) {
    double sum = 0, ticks = 0;
    int begin = kLeft;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      const double value = std::clamp(column.ticks > 0 ? share(column) : 0.0, 0.0, 1.0);
      sum += value * column.ticks;
      ticks += column.ticks;
      const int end = kLeft + static_cast<int>((i + 1) * kColumns / columns_.size()) * kCellWidth;
      const auto level = static_cast<std::size_t>(std::lround(value * (kLevels - 1)));
      cells_[level] += "M" + std::to_string(begin) + " " + std::to_string(y_) + "h" +
                       std::to_string(end - begin) + "v" + std::to_string(kCellHeight) + "h" +
                       std::to_string(begin - end) + "z";
      begin = end;
    }
    std::string mean;
    llvm::raw_string_ostream(mean) << llvm::format("%.0f %%", 100 * sum / std::max(ticks, 1.0));
    const int base = y_ + kCellHeight - 4;
    body_ += textAt(kLeft - 6, base, label, kAtEnd) + textAt(kRight + 6, base, mean);
    y_ += kCellHeight;
  }

  std::string svg(const std::string& title, const std::string& subtitle,
                  const std::string& end_of_time) {
    const int height = y_ + 44;
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kWidth << ' ' << height
        << "\" width=\"" << kWidth << "\" height=\"" << height
        << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
        << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        << textAt(kLeft, 22, title, " font-size=\"14\" font-weight=\"bold\"")
        << textAt(kLeft, 40, subtitle, " fill=\"#444\"");
    // The scale.
    for (int level = 0; level < kLevels; ++level) {
      out << "<rect x=\"" << kRight - 8 * (kLevels - level) - 40 << "\" y=\"31\" width=\"8\" "
          << "height=\"10\" fill=\"" << color(level) << "\"/>\n";
    }
    out << textAt(kRight - 8 * kLevels - 44, 40, "0", kAtEnd) << textAt(kRight - 36, 40, "100 %");
    for (int level = 0; level < kLevels; ++level) {
      const std::string& cells = cells_[static_cast<std::size_t>(level)];
      if (cells.empty()) continue;
      out << "<path fill=\"" << color(level) << "\" d=\"" << cells << "\"/>\n";
    }
    out << body_ << textAt(kLeft, y_ + 18, "0") << textAt(kRight, y_ + 18, end_of_time, kAtEnd)
        << textAt(kRight + 6, y_ + 18, "mean") << "</svg>\n";
    return text;
  }

 private:
  const std::vector<Column> columns_;
  std::array<std::string, kLevels> cells_;
  std::string body_;
  int y_ = kTop - kGap + 14;
};

}  // namespace

std::string heatSvg(const Topology& topology, const PacketParameters& parameters,
                    const PacketResult& result, llvm::StringRef title) {
  Drawing drawing(columnsOf(result.samples));
  const auto nodes = static_cast<double>(topology.sites());
  const auto dimensions = static_cast<std::size_t>(topology.dimensions());
  const auto links = [&](std::size_t dimension) {
    const Axis& axis = topology.axes[dimension];
    return nodes / axis.size * (axis.isRing() ? axis.size : axis.size - 1);
  };
  drawing.heading("Links: share of time in which they are busy");
  for (std::size_t i = 0; i < dimensions; ++i) {
    if (topology.axes[i].size == 1) continue;
    for (std::size_t down = 0; down < 2; ++down) {
      drawing.row(std::string(1, topology.axes[i].name) + (down == 0 ? '+' : '-'),
                  [&](const Column& column) {
                    return static_cast<double>(column.sums.busy[2 * i + down]) /
                           (links(i) * column.ticks);
                  });
    }
  }
  drawing.heading("Queues: how full, by the dimension in which packets came");
  static constexpr const char* kChannels[] = {"dynamic 0", "dynamic 1", "bubble"};
  for (std::size_t i = 0; i < dimensions; ++i) {
    if (topology.axes[i].size == 1) continue;
    for (std::size_t channel = 0; channel < 3; ++channel) {
      drawing.row(std::string(1, topology.axes[i].name) + ' ' + kChannels[channel],
                  [&](const Column& column) {
                    return static_cast<double>(column.sums.queued[i][channel]) * parameters.chunk /
                           (2 * links(i) * parameters.channel);
                  });
    }
  }
  drawing.row("injection", [&](const Column& column) {
    return static_cast<double>(column.sums.injection) * parameters.chunk /
           (nodes * parameters.injection_fifos * parameters.injection);
  });
  double most = 0;
  for (const Column& column : columnsOf(result.samples)) {
    if (column.ticks > 0)
      most = std::max(most, static_cast<double>(column.sums.delivered) / column.ticks);
  }
  drawing.heading("Payload that arrives, of the most in a column");
  drawing.row("arrivals", [&](const Column& column) {
    return most > 0 ? static_cast<double>(column.sums.delivered) / column.ticks / most : 0;
  });
  std::string time, subtitle;
  llvm::raw_string_ostream(time) << llvm::format("%.4g ms", result.makespan_s * 1e3);
  llvm::raw_string_ostream(subtitle)
      << result.packets << " packets, " << result.packet_hops << " packet hops; columns are time";
  return drawing.svg(title.str(), subtitle, time);
}

}  // namespace torc::model
