// path: cold
//
// The config sections of actors: one struct for each kind, stored by the kind's name, so that the
// config of a feed names no kind.
#pragma once

#include "config/form.h"

#include <any>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace pinstrike::actors {

/// An actor's config struct has `static constexpr std::string_view kind`, the name of its section.
class ActorConfigs {
  public:
    /// The section; made with its defaults if the config does not have it.
    template <class Config>
    [[nodiscard]] Config& of() {
        std::any& held = at(Config::kind);
        return held.has_value() ? *std::any_cast<Config>(&held) : held.emplace<Config>();
    }

    template <class Config>
    [[nodiscard]] Config of() const {
        const std::any& held = at(Config::kind);
        return held.has_value() ? *std::any_cast<Config>(&held) : Config{};
    }

    [[nodiscard]] std::any& at(std::string_view kind) { return by_kind_[std::string{kind}]; }

    /// The section; without a value if the config does not have it.
    [[nodiscard]] const std::any& at(std::string_view kind) const {
        static const std::any nothing;
        const auto found = by_kind_.find(kind);
        return found == by_kind_.end() ? nothing : found->second;
    }

  private:
    std::map<std::string, std::any, std::less<>> by_kind_;
};

/// The form of a config that is stored as std::any; no value means the defaults.
template <class Config>
Form<std::any> any_form(Form<Config> form) {
    const auto value_of = [](const std::any& held) {
        return held.has_value() ? *std::any_cast<Config>(&held) : Config{};
    };
    Form<std::any> out;
    out.words = std::move(form.words);
    out.schema = std::move(form.schema);
    out.choices = std::move(form.choices);
    out.document = std::move(form.document);
    out.write = [value_of, write = std::move(form.write)](const std::any& held) {
        return write(value_of(held));
    };
    out.read = [value_of, read = std::move(form.read)](const Node& node, const std::string& path,
                                                       std::any& into, Reader& reader) {
        Config value = value_of(into);
        const bool good = read(node, path, value, reader);
        into = std::move(value);
        return good;
    };
    return out;
}

}  // namespace pinstrike::actors
