// path: cold
#include "actors/topology/plan/plan.h"
#include "config/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace pinstrike::actors::plan {
namespace {

constexpr double margin = 20;
constexpr double page_width = 1480;
constexpr double panel_gap = 24;
constexpr double panel_head = 34;
constexpr double port_width = 250;
constexpr double port_height = 44;
constexpr double core_width = 142;
constexpr double core_head = 20;
constexpr double cpu_height = 24;
constexpr double gap = 18;
constexpr double list_row = 18;

struct Point {
    double x = 0;
    double y = 0;
};

struct Box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
};

/// Colours that colour-blind readers can distinguish (Okabe and Ito, 2008).
std::string_view fill_of(Role role) {
    return role == Role::poller ? "#0072B2" : role == Role::core ? "#009E73" : "#D55E00";
}

class Picture {
  public:
    explicit Picture(const Plan& plan) : plan_(plan) {
        text({margin, 30}, plan.title, 18, "black");
        legend();
        panels();
        ways();
        lists();
    }

    [[nodiscard]] std::string document() const {
        return fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
            "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}{3}{4}{5}{6}</svg>\n",
            std::max(width_ + margin, 900.0), bottom_ + margin, panels_, ways_, boxes_, dots_,
            texts_);
    }

  private:
    static std::string rectangle_text(const Box& box, std::string_view fill,
                                      std::string_view stroke) {
        return fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"4\" "
            "fill=\"{}\" stroke=\"{}\"/>\n",
            box.x, box.y, box.width, box.height, fill, stroke);
    }

    void rectangle(const Box& box, std::string_view fill, std::string_view stroke) {
        boxes_ += rectangle_text(box, fill, stroke);
    }

    void text(Point at, std::string_view words, int size, std::string_view fill) {
        texts_ += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"start\" "
            "fill=\"{}\">{}</text>\n",
            at.x, at.y, size, fill, xml_escaped(words));
    }

    /// Cuts text that does not fit a box. The lists show it in full.
    static std::string cut(const std::string& words, std::size_t letters) {
        return words.size() <= letters ? words : words.substr(0, letters - 2) + "..";
    }

    void legend() {
        constexpr double top = 44;
        double x = margin;
        for (const auto& [role, name] : {std::pair{Role::poller, "poller"},
                                         {Role::core, "actor core"},
                                         {Role::control, "control"}}) {
            rectangle({x, top, 14, 14}, fill_of(role), "none");
            text({x + 20, top + 12}, name, 12, "black");
            x += 110;
        }
        for (const auto& [colour, dashes, name] :
             {std::tuple{"#0072B2", "", "queue"}, std::tuple{"#009E73", "", "ring"},
              std::tuple{"#CC0000", "6 4", "ring between NUMA nodes"}}) {
            ways_ += fmt::format(
                "<line x1=\"{:.0f}\" y1=\"51\" x2=\"{:.0f}\" y2=\"51\" stroke=\"{}\" "
                "stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
                x, x + 24, colour, dashes);
            text({x + 30, top + 12}, name, 12, "black");
            x += 90;
        }
    }

    /// The number of cores side by side in a panel, so that the panel is wider than high.
    static std::size_t columns_of(const Panel& panel) {
        const std::size_t boxes = panel.cores.size() + panel.threads.size();
        const auto root =
            static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(boxes))));
        return std::clamp<std::size_t>(std::max(root, 2 * panel.ports.size()), 2, 8);
    }

    void panels() {
        Point at{margin, 76};
        double row_bottom = at.y;
        for (const Panel& panel : plan_.panels) {
            const auto columns = static_cast<double>(columns_of(panel));
            const double width = columns * core_width + (columns + 1) * gap;
            if (at.x > margin && at.x + width > page_width) {
                at = {margin, row_bottom + panel_gap};
            }
            row_bottom = std::max(row_bottom, draw_panel(panel, at, width));
            at.x += width + panel_gap;
            width_ = std::max(width_, at.x - panel_gap);
            if (panel.name.empty()) {  // on top, because its connections lead down
                at = {margin, row_bottom + 2 * panel_gap};
            }
        }
        bottom_ = row_bottom;
    }

    /// The lower end of the panel.
    double draw_panel(const Panel& panel, Point at, double width) {
        Point inside{at.x + gap, at.y + panel_head};
        for (const std::size_t port : panel.ports) {
            if (inside.x + port_width > at.x + width) {
                inside = {at.x + gap, inside.y + port_height + gap};
            }
            draw_port(port, inside);
            inside.x += port_width + gap;
        }
        inside = {at.x + gap, inside.y + (panel.ports.empty() ? 0 : port_height + gap)};
        const bool places = !panel.cores.empty() || !panel.threads.empty();
        inside.y += panel.ports.empty() || !places ? 0 : gap;
        const double lower =
            places ? draw_places(panel, inside, columns_of(panel)) + gap : inside.y;
        panels_ += rectangle_text({at.x, at.y, width, lower - at.y}, "#f4f4f4", "#999999");
        text({at.x + gap, at.y + 22},
             panel.name.empty() ? "on no node, or on an unknown one" : panel.name, 14, "black");
        return lower;
    }

    void draw_port(std::size_t index, Point at) {
        const Port& port = plan_.ports[index];
        rectangle({at.x, at.y, port_width, port_height}, "#ffffff", "#0072B2");
        text({at.x + 10, at.y + 18},
             cut(fmt::format("{}  ({} {})", port.name,
                             port.streams.size() == 1 ? "stream" : "streams", port.streams),
                 34),
             13, "black");
        text({at.x + 10, at.y + 35}, cut(port.source, 38), 11, "#444444");
        port_places_[index] = {at.x, at.y, port_width, port_height};
    }

    double draw_places(const Panel& panel, Point from, std::size_t columns) {
        std::size_t column = 0;
        Point at = from;
        double row_bottom = from.y;
        const auto next = [&](double height) {
            row_bottom = std::max(row_bottom, at.y + height);
            at.x += core_width + gap;
            if (++column == columns) {
                column = 0;
                at = {from.x, row_bottom + gap};
            }
        };
        for (const Core& core : panel.cores) {
            next(draw_core(core, at));
        }
        for (const Thread& thread : panel.threads) {
            const Box box{at.x, at.y, core_width, core_head + cpu_height + 6};
            rectangle(box, "#ffffff", "#bbbbbb");
            text({at.x + 8, at.y + 15},
                 thread.cpu < 0 ? "not pinned" : fmt::format("cpu {}: does not exist", thread.cpu),
                 11, "#CC0000");
            draw_thread(thread, {at.x + 6, at.y + core_head, core_width - 12, cpu_height});
            next(box.height);
        }
        return row_bottom;
    }

    double draw_core(const Core& core, Point at) {
        const double height = core_head + static_cast<double>(core.cpus.size()) * cpu_height + 6;
        rectangle({at.x, at.y, core_width, height}, "#ffffff", "#bbbbbb");
        text({at.x + 8, at.y + 15}, fmt::format("core {}", core.index), 11, "#666666");
        double y = at.y + core_head;
        for (const Cpu& cpu : core.cpus) {
            const Box box{at.x + 6, y, core_width - 12, cpu_height - 3};
            if (cpu.threads.empty()) {
                rectangle(box, "#e8e8e8", "none");
                text({box.x + 6, box.y + 15}, fmt::format("cpu {}", cpu.index), 11, "#888888");
            } else {
                draw_thread(cpu.threads.front(), box, fmt::format("cpu {}: ", cpu.index),
                            cpu.threads.size() > 1 ? " +" : "");
                for (const Thread& thread : cpu.threads) {
                    thread_places_[thread.name] = box;
                }
            }
            y += cpu_height;
        }
        return height;
    }

    void draw_thread(const Thread& thread, const Box& box, const std::string& before = "",
                     const std::string& behind = "") {
        rectangle(box, fill_of(thread.role), "none");
        text({box.x + 6, box.y + 15}, cut(before + thread.name + behind, 19), 12, "white");
        thread_places_[thread.name] = box;
    }

    /// Connects two boxes by the sides that face each other, or by an arc below if they are in one
    /// row.
    void way(const Box& from, const Box& to, std::string_view colour, std::string_view dashes,
             const std::string& title) {
        const bool above = to.y + to.height < from.y;
        const bool below = to.y > from.y + from.height;
        const Point begin{from.x + from.width / 2, above ? from.y : from.y + from.height};
        const Point end{to.x + to.width / 2, below ? to.y : to.y + to.height};
        const double bend = std::max(24.0, std::abs(end.y - begin.y) / 3);
        ways_ += fmt::format(
            "<path d=\"M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"none\" "
            "stroke=\"{}\" stroke-width=\"1.6\" stroke-opacity=\"0.6\" stroke-dasharray=\"{}\">"
            "<title>{}</title></path>\n",
            begin.x, begin.y, begin.x, begin.y + (above ? -bend : bend), end.x,
            end.y + (below ? -bend : bend), end.x, end.y, colour, dashes, xml_escaped(title));
        dots_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", end.x,
                             end.y, colour);
    }

    void ways() {
        for (std::size_t i = 0; i < plan_.ports.size(); ++i) {
            for (const Queue& queue : plan_.ports[i].queues) {
                way(port_places_[i], thread_places_[queue.poller], "#0072B2", "",
                    fmt::format("{} queue {} to {}", plan_.ports[i].name, queue.number,
                                queue.poller));
            }
        }
        for (const Ring& ring : plan_.rings) {
            way(thread_places_[ring.from], thread_places_[ring.to],
                ring.crosses ? "#CC0000" : "#009E73", ring.crosses ? "6 4" : "",
                fmt::format("ring {} to {}", ring.from, ring.to));
        }
    }

    void list(std::string_view head, const std::vector<std::string>& lines) {
        if (lines.empty()) {
            return;
        }
        bottom_ += 2 * list_row;
        text({margin, bottom_}, head, 14, "black");
        for (const std::string& line : lines) {
            bottom_ += list_row;
            text({margin + 14, bottom_}, line, 12, "#333333");
            // A letter of 12 px is about 6.6 px wide.
            width_ = std::max(width_, margin + 14 + 6.6 * static_cast<double>(line.size()));
        }
    }

    void lists() {
        list("queues", queue_lines(plan_));
        list("rings", ring_lines(plan_));
        std::vector<std::string> problems;
        for (const Problem& problem : plan_.problems) {
            problems.push_back(problem.text);
        }
        list("prevents the start", problems);
        list("remarks", plan_.remarks);
    }

    const Plan& plan_;
    std::map<std::size_t, Box> port_places_;
    std::map<std::string, Box> thread_places_;
    // Draws from back to front: connections pass behind boxes, so that the text in the boxes is
    // legible.
    std::string panels_;
    std::string ways_;
    std::string boxes_;
    std::string dots_;
    std::string texts_;
    double width_ = 0;
    double bottom_ = 0;
};

}  // namespace

std::string plan_svg(const Plan& plan) {
    return Picture(plan).document();
}

}  // namespace pinstrike::actors::plan
