// path: cold
#pragma once

#include "nic/dpdk/log.h"

namespace pinstrike::nic::dpdk {

/// Redirects the output of libbpf and libxdp, if a driver loaded them, from standard error to
/// `log`; null discards the output. The program links neither library; the AF_XDP driver's plug-in
/// loads them.
void redirect_bpf_output(Log* log);

}  // namespace pinstrike::nic::dpdk
