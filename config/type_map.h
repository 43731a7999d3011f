// path: cold
//
// Values by their type: the configs of kinds of ports and actors, so that the config that holds
// them names no kind.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace pinstrike {

/// At most one value of each type.
class TypeMap {
  public:
    /// Adds a value with its defaults if there is none of this type.
    template <class T>
    [[nodiscard]] T& get() {
        std::any& held = values_[typeid(T)];
        return held.has_value() ? *std::any_cast<T>(&held) : held.emplace<T>();
    }

    /// The defaults if there is no value of this type.
    template <class T>
    [[nodiscard]] const T& get() const {
        static const T defaults{};
        const auto found = values_.find(typeid(T));
        return found == values_.end() ? defaults : *std::any_cast<T>(&found->second);
    }

  private:
    std::map<std::type_index, std::any> values_;
};

}  // namespace pinstrike
