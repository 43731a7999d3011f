// path: hot
//
// The DPDK headers that this folder uses. rte_config.h comes first because the other headers use
// its limits.
#pragma once

/// Needed for rte_eth_read_clock, which is "experimental" in 22.11 and the only function that reads
/// a NIC's clock.
#define ALLOW_EXPERIMENTAL_API

#include <rte_config.h>
// rte_config.h before the rest.
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>
