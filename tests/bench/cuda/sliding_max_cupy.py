#!/usr/bin/env python3
"""What CuPy and PyTorch take for the work of `bench_cuda sliding_max`, on the same device and size.

sliding_max_cupy.py [--frames N] [--bins N]

Prints the median of device-event times. A library that is not installed is named and left out.
"""
import argparse
import statistics

REPEATS = 11


def median_ms(make_event, elapsed_ms, work):
    """`work` after warming up; events are made, recorded and read through the two callables."""
    for _ in range(2):
        work()
    times = []
    for _ in range(REPEATS):
        begin, end = make_event(), make_event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(elapsed_ms(begin, end))
    return statistics.median(times)


def report(what, size, ms):
    print(f"{what:<52} {size:<16} {ms:10.4f} ms", flush=True)


def bench_cupy(frames, bins):
    import cupy
    import cupyx.scipy.ndimage as ndimage
    import numpy

    size = f"{frames} x {bins}"
    arrays = [cupy.random.uniform(20, 80, (frames, bins), dtype=cupy.float32) for _ in range(2)]
    out = cupy.empty_like(arrays[0])
    turn = 0

    def maximum_filter(**shape):
        nonlocal turn
        turn = 1 - turn
        ndimage.maximum_filter(arrays[turn], output=out, mode="constant", cval=-numpy.inf, **shape)

    def row(what, **shape):
        ms = median_ms(cupy.cuda.Event, cupy.cuda.get_elapsed_time, lambda: maximum_filter(**shape))
        report(f"CuPy {cupy.__version__} maximum_filter {what}", size, ms)

    for radius in (10, 20):
        away = numpy.abs(numpy.arange(-radius, radius + 1))
        row(f"diamond {radius}", footprint=away[:, None] + away[None, :] <= radius)
    row("box 11 x 11", size=(11, 11))


def bench_torch(frames, bins):
    import torch

    arrays = [torch.rand(1, 1, frames, bins, device="cuda") * 60 + 20 for _ in range(2)]
    turn = 0

    def pool():
        nonlocal turn
        turn = 1 - turn
        torch.nn.functional.max_pool2d(arrays[turn], 11, stride=1, padding=5)

    ms = median_ms(lambda: torch.cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b), pool)
    report(f"PyTorch {torch.__version__} max_pool2d 11 x 11", f"{frames} x {bins}", ms)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=10320)
    parser.add_argument("--bins", type=int, default=2049)
    args = parser.parse_args()
    for bench in (bench_cupy, bench_torch):
        try:
            bench(args.frames, args.bins)
        except ImportError as missing:
            print(f"{bench.__name__}: {missing}")


if __name__ == "__main__":
    main()
