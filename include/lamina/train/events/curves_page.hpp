// SPDX-License-Identifier: Apache-2.0
// lamina/train/events/curves_page.hpp - draws learning curves in one self-contained HTML page.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/train/events/learning_curves.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Draws one figure for the cost and one for each metric, with a line for training and one for
/// validation, as SVG in a page without scripts, fonts or links; below them all values as a table.
/// Values that are not finite interrupt a line, and the page states how many there are.
class curves_page {
 public:
  explicit curves_page(const learning_curves& curves) : curves_(curves), names_(curves.names()) {}

  LAMINA_COLD std::string html() const {
    text s;
    s << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<title>Learning curves</title>\n<style>"
         "body{font:14px sans-serif;margin:2em;color:#222;background:#fff}"
         "svg{max-width:100%;height:auto}polyline{fill:none;stroke-width:2}"
         ".training{stroke:#0b62a4;fill:#0b62a4}.validation{stroke:#c8553d;fill:#c8553d}"
         "polyline.training,polyline.validation{fill:none}.grid{stroke:#ddd}"
         ".best{stroke:#4a7c3f;stroke-dasharray:4 3}text{fill:#444;font-size:12px}"
         "table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right}"
         "</style>\n</head>\n<body>\n<h1>Learning curves</h1>\n<p>";
    s << passes() << " passes";
    if (curves_.best_pass()) s << "; best validation after pass " << *curves_.best_pass();
    if (curves_.stopped_early()) s << "; stopped early after pass " << *curves_.stopped_early();
    s << ".</p>\n";
    for (std::size_t i = 0; i < names_.size(); ++i) add_figure(s, i);
    add_table(s);
    s << "</body>\n</html>\n";
    return s;
  }
  /// Writes html() to a file. The file is complete or does not exist.
  LAMINA_COLD void save(const file_path& path) const {
    binary_writer to(path.string());
    to.write(html());
    to.finish();
  }

 private:
  static constexpr double width = 720, height = 260, left = 70, right = 20, top = 14, bottom = 34;

  struct range {
    double low = 0, high = 0;
    int count = 0;

    void add(double v) {
      if (!std::isfinite(v)) return;
      low = count == 0 || v < low ? v : low;
      high = count == 0 || v > high ? v : high;
      ++count;
    }
    /// Maps v between low and high to a number from 0 to 1; 0.5 if all values are equal.
    double fraction(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
  };

  int passes() const {
    int n = 0;
    for (const curve_point& p : curves_.points()) n += p.is_validation ? 0 : 1;
    return n;
  }
  static std::string escaped(std::string_view letters) {
    std::string s;
    for (const char c : letters) {
      if (c == '<')
        s += "&lt;";
      else if (c == '>')
        s += "&gt;";
      else if (c == '&')
        s += "&amp;";
      else if (c == '"')
        s += "&quot;";
      else if (static_cast<unsigned char>(c) >= 32)
        s += c;
    }
    return s;
  }
  void add_figure(text& s, std::size_t i) const {
    range x, y;
    for (const curve_point& p : curves_.points()) {
      y.add(learning_curves::value(p, names_, i));
      x.add(p.pass);
    }
    const auto across = [&](double pass) {
      return left + x.fraction(pass) * (width - left - right);
    };
    const auto down = [&](double v) {
      return height - bottom - y.fraction(v) * (height - top - bottom);
    };
    s << "<h2>" << escaped(names_[i]) << "</h2>\n";
    s.print("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g", width)
        .print(" %g\" role=\"img\">\n", height);
    for (int k = 0; k <= 4 && y.count > 0; ++k) {
      const double v = y.low + (y.high - y.low) * k / 4, at = down(v);
      s.print("<line class=\"grid\" x1=\"%g\"", left)
          .print(" x2=\"%g\"", width - right)
          .print(" y1=\"%.1f\"", at)
          .print(" y2=\"%.1f\"/>", at);
      s.print("<text text-anchor=\"end\" x=\"%g\"", left - 6)
          .print(" y=\"%.1f\">", at + 4)
          .print("%.4g</text>\n", v);
      if (!(y.high > y.low)) break;
    }
    for (const double pass : {x.low, x.high}) {
      if (x.count == 0 || (pass == x.high && x.high == x.low)) continue;
      s.print("<text text-anchor=\"middle\" x=\"%.1f\"", across(pass))
          .print(" y=\"%g\">", height - bottom + 18)
          .print("pass %g</text>\n", pass);
    }
    if (curves_.best_pass()) {
      const double at = across(*curves_.best_pass());
      s.print("<line class=\"best\" x1=\"%.1f\"", at)
          .print(" x2=\"%.1f\"", at)
          .print(" y1=\"%g\"", top)
          .print(" y2=\"%g\"/>\n", height - bottom);
    }
    for (const bool validation : {false, true}) add_line(s, i, validation, across, down);
    s << "</svg>\n<p><span class=\"training\">training</span>, "
         "<span class=\"validation\">validation</span>";
    const std::string missing = not_finite(i);
    if (!missing.empty()) s << "; " << missing;
    s << "</p>\n";
  }
  /// Returns the text that reports values which are not finite and not drawn.
  std::string not_finite(std::size_t i) const {
    int n = 0;
    for (const curve_point& p : curves_.points()) {
      bool has = i == 0;
      for (const auto& m : p.metrics) has = has || m.first == names_[i];
      n += has && !std::isfinite(learning_curves::value(p, names_, i)) ? 1 : 0;
    }
    return n == 0 ? std::string() : std::string(text() << n << " values are not finite");
  }
  template <class Across, class Down>
  void add_line(text& s, std::size_t i, bool validation, const Across& across,
                const Down& down) const {
    const char* const part = validation ? "validation" : "training";
    std::string points;
    const auto close = [&] {
      if (!points.empty())
        s << "<polyline class=\"" << part << "\" points=\"" << points << "\"/>\n";
      points.clear();
    };
    text dots;
    for (const curve_point& p : curves_.points()) {
      if (p.is_validation != validation) continue;
      const double v = learning_curves::value(p, names_, i);
      if (!std::isfinite(v)) {
        close();
        continue;
      }
      if (!points.empty()) points += ' ';
      points += std::string(text().print("%.1f", across(p.pass)).print(",%.1f", down(v)));
      dots.print("<circle r=\"2.5\" cx=\"%.1f\"", across(p.pass)).print(" cy=\"%.1f\"", down(v));
      dots << " class=\"" << part << "\"><title>" << part << ", pass " << p.pass;
      dots.print(": %.6g</title></circle>\n", v);
    }
    close();
    s << dots;
  }
  void add_table(text& s) const {
    s << "<h2>Values</h2>\n<table>\n<tr><th>pass</th><th>part</th>";
    for (const std::string& name : names_) s << "<th>" << escaped(name) << "</th>";
    s << "</tr>\n";
    for (const curve_point& p : curves_.points()) {
      s << "<tr><td>" << p.pass << "</td><td>" << (p.is_validation ? "validation" : "training")
        << "</td>";
      for (std::size_t i = 0; i < names_.size(); ++i)
        s.print("<td>%.6g</td>", learning_curves::value(p, names_, i));
      s << "</tr>\n";
    }
    s << "</table>\n";
  }

  learning_curves curves_;
  std::vector<std::string> names_;
};

}}  // namespace lamina
