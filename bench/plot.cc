// plot: draws columns of a CSV file as curves, in an SVG file that needs nothing else.
//
//   plot FILE.csv -o FILE.svg --title TEXT --x-title TEXT --y-title TEXT [--x KIND] [--y KIND]
//        [--dashed COLUMN]...
//
// The first row names the columns. The first column is x; every other one is a curve; an empty
// field is no point. KIND: bytes or seconds (the default of x and y; both axes are logarithmic
// then), number (logarithmic), linear (from 0).
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum class Kind { kBytes, kSeconds, kNumber, kLinear };

struct Options {
  std::string input, output, title, x_title, y_title;
  Kind x = Kind::kBytes, y = Kind::kSeconds;
  std::vector<std::string> dashed;
};

struct Point {
  double x = 0, y = 0;
};

struct Curve {
  std::string name;
  bool dashed = false;
  std::vector<Point> points;
};

// ------------------------------------------------------------------------------------------------
// Axes

struct Tick {
  double value = 0;
  std::string label;
};

/// 0.00025 seconds: "250 us"; 65536 bytes: "64 KiB"; 2048 as a number: "2048".
std::string labelOf(double value, Kind kind) {
  char text[32];
  if (kind == Kind::kBytes) {
    constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit)
      value /= 1024;
    std::snprintf(text, sizeof(text), "%.4g %s", value, kUnits[unit]);
  } else if (kind == Kind::kSeconds) {
    constexpr std::array<const char*, 4> kUnits = {"s", "ms", "us", "ns"};
    std::size_t unit = 0;
    for (; value < 0.9999 && unit + 1 < kUnits.size(); ++unit)
      value *= 1000;
    std::snprintf(text, sizeof(text), "%.4g %s", value, kUnits[unit]);
  } else {
    std::snprintf(text, sizeof(text), "%.6g", value);
  }
  return text;
}

class Axis {
 public:
  /// Covers `low` to `high` (both above 0 unless linear) on `from` to `to` of the picture.
  Axis(Kind kind, double low, double high, double from, double to)
      : kind_(kind), from_(from), to_(to) {
    if (kind == Kind::kLinear) {
      low_ = 0;
      step_ = niceStep(high > 0 ? high : 1);
      high_ = std::ceil(high / step_ - 1e-9) * step_;
      if (high_ <= 0) high_ = step_;
      return;
    }
    base_ = kind == Kind::kBytes ? 2 : 10;
    const double margin = kind == Kind::kBytes ? 0.15 : 0.03;
    low_ = std::log(low) / std::log(base_) - margin;
    high_ = std::log(high) / std::log(base_) + margin;
    if (kind == Kind::kSeconds) {  // whole decades, so that a curve can be read off
      low_ = std::floor(low_ + margin);
      high_ = std::ceil(high_ - margin);
    }
    if (high_ - low_ < 0.1) high_ = low_ + 1;
  }

  double place(double value) const {
    const double position = kind_ == Kind::kLinear ? value : std::log(value) / std::log(base_);
    return from_ + (to_ - from_) * (position - low_) / (high_ - low_);
  }

  /// Labelled ticks, at most about a dozen.
  std::vector<Tick> ticks() const {
    std::vector<Tick> ticks;
    if (kind_ == Kind::kLinear) {
      for (int i = 0; i * step_ <= high_ * (1 + 1e-9); ++i)
        ticks.push_back({i * step_, labelOf(i * step_, kind_)});
      return ticks;
    }
    const int first = static_cast<int>(std::ceil(low_ - 1e-9));
    const int last = static_cast<int>(std::floor(high_ + 1e-9));
    const int stride = std::max(1, (last - first) / 10 + ((last - first) % 10 != 0));
    for (int exponent = first; exponent <= last; ++exponent) {
      if (exponent % stride != 0) continue;
      const double value = std::pow(base_, exponent);
      ticks.push_back({value, labelOf(value, kind_)});
      if (base_ < 10 || last - first > 1) continue;
      for (int digit : {2, 5}) {  // few decades: a label in between
        const double between = value * digit;
        if (std::log(between) / std::log(base_) <= high_) {
          ticks.push_back({between, labelOf(between, kind_)});
        }
      }
    }
    return ticks;
  }

 private:
  static double niceStep(double span) {
    const double power = std::pow(10, std::floor(std::log10(span / 5)));
    for (double factor : {1.0, 2.0, 5.0}) {
      if (span / (factor * power) <= 6) return factor * power;
    }
    return 10 * power;
  }

  Kind kind_;
  double from_, to_;
  double low_ = 0, high_ = 1;  // exponents of base_, or values
  double base_ = 10, step_ = 1;
};

// ------------------------------------------------------------------------------------------------
// The picture

constexpr double kWidth = 760, kHeight = 470;
constexpr double kLeft = 80, kRight = 560, kTop = 46, kBottom = 405;

// Okabe and Ito's colors, which people with any color vision can tell apart.
constexpr std::array<const char*, 8> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000", "#a0a000"};

std::string escape(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

class Picture {
 public:
  Picture() {
    char head[256];
    std::snprintf(head, sizeof(head),
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
                  "height=\"%g\" font-family=\"sans-serif\" font-size=\"12\">\n",
                  kWidth, kHeight, kWidth, kHeight);
    out_ << head << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  }

  void line(double x1, double y1, double x2, double y2, const char* style) {
    out_ << "<line x1=\"" << round(x1) << "\" y1=\"" << round(y1) << "\" x2=\"" << round(x2)
         << "\" y2=\"" << round(y2) << "\" " << style << "/>\n";
  }
  void text(double x, double y, std::string_view text, const char* style) {
    out_ << "<text x=\"" << round(x) << "\" y=\"" << round(y) << "\" " << style << ">"
         << escape(text) << "</text>\n";
  }
  void curve(const Curve& curve, const char* color, const Axis& x, const Axis& y) {
    out_ << "<polyline fill=\"none\" stroke=\"" << color << "\" stroke-width=\"1.8\""
         << (curve.dashed ? " stroke-dasharray=\"6 4\"" : "") << " points=\"";
    for (const Point& point : curve.points)
      out_ << round(x.place(point.x)) << "," << round(y.place(point.y)) << " ";
    out_ << "\"/>\n";
    for (const Point& point : curve.points) {
      if (!curve.dashed) dot(x.place(point.x), y.place(point.y), color);
    }
  }
  void dot(double x, double y, const char* color) {
    out_ << "<circle cx=\"" << round(x) << "\" cy=\"" << round(y) << "\" r=\"2.8\" fill=\"" << color
         << "\"/>\n";
  }
  std::string finish() {
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  static double round(double value) { return std::round(value * 10) / 10; }
  std::ostringstream out_;
};

std::string draw(const Options& options, const std::vector<Curve>& curves) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low_x = kInfinity, high_x = -kInfinity, low_y = kInfinity, high_y = -kInfinity;
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points) {
      low_x = std::min(low_x, point.x);
      high_x = std::max(high_x, point.x);
      low_y = std::min(low_y, point.y);
      high_y = std::max(high_y, point.y);
    }
  }
  const Axis x(options.x, low_x, high_x, kLeft, kRight);
  const Axis y(options.y, low_y, high_y, kBottom, kTop);

  Picture picture;
  picture.text((kLeft + kRight) / 2, 24, options.title,
               "text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\"");
  for (const Tick& tick : x.ticks()) {
    const double at = x.place(tick.value);
    picture.line(at, kTop, at, kBottom, "stroke=\"#e4e4e4\"");
    picture.text(at, kBottom + 17, tick.label, "text-anchor=\"middle\" font-size=\"11\"");
  }
  for (const Tick& tick : y.ticks()) {
    const double at = y.place(tick.value);
    picture.line(kLeft, at, kRight, at, "stroke=\"#e4e4e4\"");
    picture.text(kLeft - 7, at + 4, tick.label, "text-anchor=\"end\" font-size=\"11\"");
  }
  picture.line(kLeft, kBottom, kRight, kBottom, "stroke=\"#000000\"");
  picture.line(kLeft, kTop, kLeft, kBottom, "stroke=\"#000000\"");
  picture.text((kLeft + kRight) / 2, kBottom + 42, options.x_title, "text-anchor=\"middle\"");
  char turned[96];
  std::snprintf(turned, sizeof(turned), "text-anchor=\"middle\" transform=\"rotate(-90 18 %g)\"",
                (kTop + kBottom) / 2);
  picture.text(18, (kTop + kBottom) / 2, options.y_title, turned);

  double at = kTop + 8;
  std::size_t number = 0;
  for (const Curve& curve : curves) {
    const char* color = kColors[number++ % kColors.size()];
    picture.curve(curve, color, x, y);
    const std::string style = std::string("stroke-width=\"1.8\" stroke=\"") + color + "\"" +
                              (curve.dashed ? " stroke-dasharray=\"6 4\"" : "");
    picture.line(kRight + 14, at, kRight + 40, at, style.c_str());
    if (!curve.dashed) picture.dot(kRight + 27, at, color);
    picture.text(kRight + 46, at + 4, curve.name, "font-size=\"12\"");
    at += 20;
  }
  return picture.finish();
}

// ------------------------------------------------------------------------------------------------
// Input

std::vector<std::string> fieldsOf(const std::string& row) {
  std::vector<std::string> fields(1);
  for (char c : row) {
    if (c == ',') {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

std::optional<double> numberOf(const std::string& field) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// Empty, or what is wrong with the file.
std::string readCurves(const Options& options, std::vector<Curve>& curves) {
  std::ifstream file(options.input);
  std::string row;
  if (!std::getline(file, row)) return options.input + ": cannot be read, or is empty";
  const std::vector<std::string> names = fieldsOf(row);
  if (names.size() < 2) return options.input + ":1: needs two columns at least";
  for (std::size_t i = 1; i < names.size(); ++i) {
    const bool dashed =
        std::find(options.dashed.begin(), options.dashed.end(), names[i]) != options.dashed.end();
    curves.push_back({names[i], dashed, {}});
  }
  bool empty = true;
  for (int number = 2; std::getline(file, row); ++number) {
    const std::vector<std::string> fields = fieldsOf(row);
    const std::string place = options.input + ":" + std::to_string(number) + ": ";
    if (fields.size() != names.size()) {
      return place + std::to_string(fields.size()) + " fields, the first row has " +
             std::to_string(names.size());
    }
    std::vector<std::optional<double>> values;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      values.push_back(numberOf(fields[i]));
      const bool linear = (i == 0 ? options.x : options.y) == Kind::kLinear;
      const bool usable = values[i] && (linear ? *values[i] >= 0 : *values[i] > 0);
      if (!usable && (i == 0 || !fields[i].empty())) {
        return place + names[i] + ": '" + fields[i] + "' is not a number " +
               (linear ? "from 0 on" : "above 0");
      }
      if (i == 0 || fields[i].empty()) continue;
      curves[i - 1].points.push_back({*values[0], *values[i]});
      empty = false;
    }
  }
  return empty ? options.input + ": no values" : std::string();
}

std::optional<Kind> kindOf(std::string_view text) {
  if (text == "bytes") return Kind::kBytes;
  if (text == "seconds") return Kind::kSeconds;
  if (text == "number") return Kind::kNumber;
  if (text == "linear") return Kind::kLinear;
  return std::nullopt;
}

/// Empty, or what is wrong.
std::string parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name[0] != '-') {
      options.input = name;
      continue;
    }
    if (i + 1 == argc) return name + ": a value is missing";
    const std::string value = argv[++i];
    if (name == "-o") {
      options.output = value;
    } else if (name == "--title") {
      options.title = value;
    } else if (name == "--x-title") {
      options.x_title = value;
    } else if (name == "--y-title") {
      options.y_title = value;
    } else if (name == "--dashed") {
      options.dashed.push_back(value);
    } else if (name == "--x" || name == "--y") {
      const std::optional<Kind> kind = kindOf(value);
      if (!kind) return name + " " + value + ": must be bytes, seconds, number or linear";
      (name == "--x" ? options.x : options.y) = *kind;
    } else {
      return name + ": no such option";
    }
  }
  return options.input.empty() || options.output.empty() ? "plot FILE.csv -o FILE.svg" : "";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const std::string error = parse(argc, argv, options); !error.empty()) {
    std::fprintf(stderr, "plot: %s\n", error.c_str());
    return 2;
  }
  std::vector<Curve> curves;
  if (const std::string error = readCurves(options, curves); !error.empty()) {
    std::fprintf(stderr, "plot: %s\n", error.c_str());
    return 1;
  }
  std::ofstream file(options.output);
  file << draw(options, curves);
  if (!file.flush()) {
    std::fprintf(stderr, "plot: %s: cannot be written\n", options.output.c_str());
    return 1;
  }
  return 0;
}
