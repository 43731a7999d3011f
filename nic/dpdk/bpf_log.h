// path: cold
#pragma once

#include "nic/dpdk/log.h"

namespace pinstrike::nic::dpdk {

/// Leads what libbpf and libxdp print, if a driver loaded them, to a log instead of standard error;
/// null silences them. Linked to neither: they come with the AF_XDP driver's plug-in.
void lead_bpf_output(Log* log);

}  // namespace pinstrike::nic::dpdk
