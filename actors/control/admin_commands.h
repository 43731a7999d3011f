// path: cold
//
// The commands of the admin socket. They run on the control thread, which owns the log, the config
// in use, and the decision to stop. actors/telemetry/admin/README.md lists them.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/control/control_log.h"
#include "actors/control/record_command.h"
#include "actors/control/reloader.h"
#include "actors/telemetry/admin/admin_socket.h"
#include "actors/telemetry/admin/tally.h"
#include "actors/telemetry/metrics/metrics_endpoint.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>

namespace pinstrike::actors {

class AdminHandler {
  public:
    /// All arguments must outlive the object. `socket` may be null: then there is no admin socket.
    /// `metrics` may be null too.
    AdminHandler(std::unique_ptr<admin::AdminSocket> socket, Appliance& appliance,
                 Reloader& reloader, ControlLog& log, const HttpServer* metrics);

    /// Must be called often.
    void step();

    /// The user who asked to stop; empty: nobody has.
    [[nodiscard]] const std::string& drain_asked() const { return drain_asked_; }

  private:
    using Asker = admin::Asker;
    using Reply = admin::Reply;

    Reply answer(const std::string& request, const Asker& asker);
    Reply act(const nlohmann::json& request, const std::string& ask, const std::string& by);
    [[nodiscard]] nlohmann::json view(const std::string& ask);
    void clear(const std::string& by);
    Reply set_level(const nlohmann::json& request, const std::string& by);
    Reply reload(const std::string& by);
    Reply capture(const nlohmann::json& request, const std::string& by);
    Reply start_recording(const nlohmann::json& request, const std::string& by);
    Reply stop_recording(const std::string& by);
    void log_request(const std::string& by, const std::string& what);

    Appliance& appliance_;
    Reloader& reloader_;
    ControlLog& log_;
    const HttpServer* metrics_;
    admin::Tally tally_;
    double cleared_s_ = 0;
    bool capturing_ = false;
    RecordCommand record_;
    std::string drain_asked_;
    std::unique_ptr<admin::AdminSocket>
        socket_;  ///< last: its unfinished replies use the members above
};

}  // namespace pinstrike::actors
