// path: cold
#include "actors/host/doctor/need.h"
#include "actors/host/doctor/read_host.h"
#include "config/memory_sizes.h"

namespace pinstrike::actors::doctor {

void measure_recordings(const Need& need, Host& host) {
    constexpr std::uint64_t bytes_max = 256 * mebibyte;
    for (const RecordingNeed& recording : need.recordings) {
        const auto disk = find_recording_disk(recording.folder);
        if (disk && !host.recordings.contains(recording.folder)) {
            host.recordings[recording.folder] = {
                *disk, measure_writes(*disk, bytes_max, recording.least_bytes)};
        }
    }
}

}  // namespace pinstrike::actors::doctor
