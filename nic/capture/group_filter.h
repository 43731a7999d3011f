// path: cold
#pragma once

#include "nic/capture/capture_reader.h"
#include "nic/packet/address.h"

#include <vector>

namespace pinstrike::nic {

/// Selects the frames of a capture that one of several queues delivers. A queue delivers the frames
/// of its own groups, and one of the queues also delivers the frames of groups that no queue has.
/// So exactly one queue delivers each frame, and the packet counts of the queues add up to the
/// number of frames in the capture.
struct GroupFilter {
    std::vector<Group> own;     ///< sorted
    std::vector<Group> others;  ///< sorted
    bool takes_rest = true;     ///< also selects frames of groups in neither list

    [[nodiscard]] bool selects(const CapturedFrame& frame) const;

    /// True if any queue has the group.
    [[nodiscard]] bool knows(const Group& group) const;
};

}  // namespace pinstrike::nic
