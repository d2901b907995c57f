// tests/bench/audio_bench.cpp - reading music: from a compressed file to mono samples at 11,025 Hz.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fingerprint/audio/av_handles.h"
#include "fingerprint/audio/reader.h"
#include "fingerprint/audio/resampler.h"

namespace spintag::fingerprint {
namespace {

constexpr double kSongS = 240;

/// A folder with one song in several formats: chords and noise in stereo, so that encoders spend
/// their bits.
class Songs {
 public:
  Songs() {
    std::string name = (std::filesystem::temp_directory_path() / "spintag-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    const std::string make =
        "cd '" + name +
        "' && ffmpeg -nostdin -loglevel error -f lavfi -i "
        "\"aevalsrc='0.1*(sin(440*PI*t*(1+floor(mod(t,4))/6))+sin(660*PI*t)+sin(2100*PI*t))"
        "+0.1*random(0)*exp(-8*mod(t,0.5))|0.1*(sin(441*PI*t)+sin(880*PI*t)+sin(5000*PI*t))"
        "+0.1*random(1)*exp(-8*mod(t,0.25))':s=44100:d=" +
        std::to_string(kSongS) +
        "\" -c:a libvorbis -b:a 128k song.ogg -b:a 192k song.mp3 song.flac song.m4a "
        "-b:a 96k song.opus";
    if (std::system(make.c_str()) != 0) std::abort();
  }
  ~Songs() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string file(const std::string& ending) const { return folder_ / ("song." + ending); }

 private:
  std::filesystem::path folder_;
};

const Songs& songs() {
  static const Songs made;
  return made;
}

void count_audio(benchmark::State& state, double audio_s) {
  state.counters["x_realtime"] = benchmark::Counter(audio_s, benchmark::Counter::kIsRate);
}

void read_file(benchmark::State& state, const char* ending) {
  const std::string file = songs().file(ending);
  double audio_s = 0;
  std::vector<float> samples;
  for (auto _ : state) {
    AudioReader reader(file, {});
    while (reader.read(samples)) samples.clear();
    audio_s += static_cast<double>(reader.counts().samples) / 11025;
  }
  count_audio(state, audio_s);
}

void hash_content(benchmark::State& state, const char* ending) {
  const std::string file = songs().file(ending);
  for (auto _ : state) benchmark::DoNotOptimize(content_hash(file));
  count_audio(state, kSongS * static_cast<double>(state.iterations()));
}

/// One second of stereo at a time, as frames of 1,024 samples.
void mix_and_resample(benchmark::State& state) {
  const int rate_hz = static_cast<int>(state.range(0));
  constexpr int kFrameSamples = 1024;
  const AvFramePtr av_frame(av_frame_alloc());
  av_frame->format = AV_SAMPLE_FMT_FLTP;
  av_frame->sample_rate = rate_hz;
  av_frame->nb_samples = kFrameSamples;
  av_channel_layout_default(&av_frame->ch_layout, 2);
  if (av_frame_get_buffer(av_frame.get(), 0) < 0) std::abort();
  for (int channel = 0; channel < 2; ++channel) {
    auto* samples = reinterpret_cast<float*>(av_frame->extended_data[channel]);
    for (int i = 0; i < kFrameSamples; ++i)
      samples[i] = 0.5F * std::sin(0.1F * static_cast<float>(i));
  }
  MonoResampler resampler(11025);
  std::vector<float> out;
  for (auto _ : state) {
    out.clear();
    resampler.push(*av_frame, out);
    benchmark::DoNotOptimize(out.data());
  }
  count_audio(state, static_cast<double>(state.iterations()) * kFrameSamples / rate_hz);
}

BENCHMARK_CAPTURE(read_file, vorbis, "ogg")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_file, mp3, "mp3")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_file, flac, "flac")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_file, aac, "m4a")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_file, opus, "opus")->Unit(benchmark::kMillisecond);
BENCHMARK(mix_and_resample)->Arg(44100)->Arg(48000)->ArgName("rate_hz");
BENCHMARK_CAPTURE(hash_content, vorbis, "ogg")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hash_content, mp3, "mp3")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hash_content, flac, "flac")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace spintag::fingerprint
