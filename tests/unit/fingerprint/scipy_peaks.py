# tests/unit/fingerprint/scipy_peaks.py - SciPy's sliding maximum and peaks for the arrays of a job file.
"""scipy_peaks.py JOBS ANSWERS

JOBS: any number of jobs, little-endian: uint32 frames, bins, radius, mask_frames, mask_bins; float32 floor; uint8 mask
cells, if mask_frames > 0; float32 cells [frames, bins]. Without a mask the footprint is the diamond that Dejavu iterates,
at SciPy's default border; with one, cells outside count as minus infinity.
ANSWERS: a job after another: float32 maxima [frames, bins]; uint32 count; count times uint32 frame, bin.
"""
import struct
import sys

import numpy
from scipy.ndimage import generate_binary_structure, iterate_structure, maximum_filter


def maxima_of(cells, radius, mask):
    if mask is not None:
        return maximum_filter(cells, footprint=mask, mode="constant", cval=-numpy.inf)
    footprint = iterate_structure(generate_binary_structure(2, 1), radius)
    if any(1 < length <= radius // 4 for length in cells.shape):
        # SciPy 1.10 maps coordinate -2 k length (k > 1) to -1 and reads what lies before the array. So the border is
        # reflected here, and the filter stays off its own.
        padded = maximum_filter(numpy.pad(cells, radius, mode="symmetric"), footprint=footprint)
        return padded[radius:-radius, radius:-radius]
    return maximum_filter(cells, footprint=footprint)


def main():
    with open(sys.argv[1], "rb") as jobs, open(sys.argv[2], "wb") as answers:
        while head := jobs.read(24):
            frames, bins, radius, mask_frames, mask_bins, floor = struct.unpack("<5If", head)
            mask = None
            if mask_frames > 0:
                cells = jobs.read(mask_frames * mask_bins)
                mask = numpy.frombuffer(cells, "u1").reshape(mask_frames, mask_bins) != 0
            cells = numpy.frombuffer(jobs.read(4 * frames * bins), "<f4").reshape(frames, bins)
            maxima = maxima_of(cells, radius, mask)
            peaks = numpy.argwhere((maxima == cells) & (cells > numpy.float32(floor)))
            answers.write(maxima.astype("<f4").tobytes())
            answers.write(struct.pack("<I", len(peaks)))
            answers.write(peaks.astype("<u4").tobytes())


main()
