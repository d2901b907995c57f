// tests/unit/fingerprint/audio_network_test.cpp - streams from servers that are good, slow, broken
// or hostile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "fingerprint/audio/reader.h"
#include "tests/unit/fingerprint/audio_scratch.h"
#include "tests/unit/fingerprint/loopback_server.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace spintag::fingerprint::audio_test {
namespace {

// FFmpeg 5.1 itself loses 54 bytes for each HLS playlist that it opens (seen without spintag, under
// valgrind).
#ifdef __SANITIZE_ADDRESS__
using HlsLeakIsKnown = __lsan::ScopedDisabler;
#else
struct HlsLeakIsKnown {
  HlsLeakIsKnown() {}  // not trivial, so that nobody calls it unused
};
#endif

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kStreamHeader = "HTTP/1.0 200 OK\r\nContent-Type: audio/mpeg\r\n";

class AudioNetwork : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::unsetenv("http_proxy");  // libav would ask it even for the loopback
    scratch_ = std::make_unique<ScratchFolder>();
    scratch_->ffmpeg("-f lavfi -i sine=440:d=8 -b:a 128k tone.mp3");
    mp3_ = read_file(*scratch_ / "tone.mp3");
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static AudioOptions impatient() {
    AudioOptions options;
    options.open_deadline = 300ms;
    options.read_deadline = 300ms;
    return options;
  }

  inline static std::unique_ptr<ScratchFolder> scratch_;
  inline static std::string mp3_;
};

TEST_F(AudioNetwork, PlainHttpGivesTheSamplesOfTheFile) {
  const LoopbackServer server(
      [](const auto&, const auto&, ServedConnection& peer) { peer.send_ok("audio/mpeg", mp3_); });
  EXPECT_EQ(hear(server.url("/tone.mp3")).samples, hear(*scratch_ / "tone.mp3").samples);
}

TEST_F(AudioNetwork, ServerThatNeverAnswersMeetsTheOpenDeadline) {
  const LoopbackServer server(
      [](const auto&, const auto&, ServedConnection& peer) { peer.wait_until_closed(); });
  EXPECT_THAT(error_of(server.url("/x"), impatient()), HasSubstr("no audio within 0.300 s"));
}

TEST_F(AudioNetwork, ServerThatDripsHeadersForEverMeetsTheOpenDeadline) {
  const LoopbackServer server([](const auto&, const auto&, ServedConnection& peer) {
    peer.send(kStreamHeader);
    while (peer.send("X-Drip: 1\r\n")) std::this_thread::sleep_for(5ms);
  });
  EXPECT_THAT(error_of(server.url("/x"), impatient()), HasSubstr("no audio within"));
}

TEST_F(AudioNetwork, StreamThatStallsMeetsTheReadDeadlineAfterItsSamples) {
  const LoopbackServer server([](const auto&, const auto&, ServedConnection& peer) {
    peer.send(std::string(kStreamHeader) + "\r\n" + mp3_.substr(0, mp3_.size() / 2));
    peer.wait_until_closed();
  });
  AudioOptions options = impatient();
  options.open_deadline = 10s;
  AudioReader reader(server.url("/x"), options);
  std::vector<float> samples;
  try {
    while (reader.read(samples)) {
    }
    FAIL() << "the stall went unnoticed";
  } catch (const AudioError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nothing came for 0.300 s"));
  }
  EXPECT_GT(samples.size(), 3U * 11025);
}

TEST_F(AudioNetwork, StopEndsAStalledStreamLongBeforeItsDeadline) {
  const LoopbackServer server([](const auto&, const auto&, ServedConnection& peer) {
    peer.send(std::string(kStreamHeader) + "\r\n" + mp3_.substr(0, mp3_.size() / 2));
    peer.wait_until_closed();
  });
  std::stop_source stop;
  AudioOptions options;
  options.read_deadline = 60s;
  options.stop = stop.get_token();
  AudioReader reader(server.url("/x"), options);
  std::vector<float> samples;
  ASSERT_TRUE(reader.read(samples));
  const auto begin = std::chrono::steady_clock::now();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);  // by then it most likely waits; it holds either way
    stop.request_stop();
  });
  while (reader.read(samples)) {
  }
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(AudioNetwork, BrokenConnectionIsAnErrorAndAnEndIsAnEnd) {
  const LoopbackServer server([](const auto& path, const auto&, ServedConnection& peer) {
    const std::string length =
        path == "/broken" ? "Content-Length: " + std::to_string(mp3_.size()) + "\r\n" : "";
    peer.send(kStreamHeader + length + "\r\n" + mp3_.substr(0, mp3_.size() / 2));
  });
  EXPECT_THAT(error_of(server.url("/broken")), HasSubstr("broke off"));
  EXPECT_GT(hear(server.url("/ended")).seconds(), 3);
}

TEST_F(AudioNetwork, StatusOfTheServerIsSaidWithoutThePassword) {
  const LoopbackServer server([](const auto& path, const auto&, ServedConnection& peer) {
    peer.send("HTTP/1.1 " + path.substr(1) +
              " No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_THAT(error_of(server.url("/404")), HasSubstr("404"));
  EXPECT_THAT(error_of(server.url("/503")), HasSubstr("5xx"));
  EXPECT_THAT(error_of(server.url("/401", "source:hackme@127.0.0.1")),
              AllOf(HasSubstr("401"), Not(HasSubstr("hackme"))));
}

TEST_F(AudioNetwork, RefusedConnectionIsSaidToBe) {
  std::string url;
  {
    const LoopbackServer gone([](const auto&, const auto&, ServedConnection&) {});
    url = gone.url("/x");
  }
  EXPECT_THAT(error_of(url), HasSubstr("refused"));
}

TEST_F(AudioNetwork, RedirectIsFollowedToHttpAndNeverToAFile) {
  const LoopbackServer server([&](const auto& path, const auto&, ServedConnection& peer) {
    if (path == "/tone.mp3") return peer.send_ok("audio/mpeg", mp3_);
    const std::string target = path == "/good" ? "/tone.mp3" : "file://" + (*scratch_ / "tone.mp3");
    peer.send("HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: " +
              target + "\r\n\r\n");
  });
  EXPECT_NEAR(hear(server.url("/good")).seconds(), 8, 0.1);
  EXPECT_THAT(error_of(server.url("/bad"), impatient()), HasSubstr("/bad"));
}

TEST_F(AudioNetwork, HlsReadsSegmentsByHttpAndNeverAFile) {
  ASSERT_NEAR(hear(*scratch_ / "tone.mp3").seconds(), 8, 0.1) << "the file itself could be read";
  const auto playlist = [](const std::string& segment) {
    return "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:8,\n" + segment + "\n#EXT-X-ENDLIST\n";
  };
  const std::string local = *scratch_ / "tone.mp3";
  const LoopbackServer server([&](const auto& path, const auto&, ServedConnection& peer) {
    const char* type = "application/vnd.apple.mpegurl";
    if (path == "/tone.mp3") return peer.send_ok("audio/mpeg", mp3_);
    if (path == "/good.m3u8") return peer.send_ok(type, playlist("tone.mp3"));
    if (path == "/file.m3u8") return peer.send_ok(type, playlist("file://" + local));
    if (path == "/path.m3u8") return peer.send_ok(type, playlist(local));
    if (path == "/concat.m3u8") return peer.send_ok(type, playlist("concat:" + local));
    if (path == "/crypto.m3u8") return peer.send_ok(type, playlist("crypto:" + local));
    if (path == "/key.m3u8") {
      return peer.send_ok(
          type, "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXT-X-KEY:METHOD=AES-128,URI=\"file://" +
                    local + "\"\n#EXTINF:8,\ntone.mp3\n#EXT-X-ENDLIST\n");
    }
    peer.send("HTTP/1.1 404 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
  const HlsLeakIsKnown known;
  EXPECT_NEAR(hear(server.url("/good.m3u8")).seconds(), 8, 0.1);
  for (const char* path : {"/file.m3u8", "/crypto.m3u8", "/key.m3u8"}) {
    EXPECT_THAT(error_of(server.url(path)), HasSubstr("may not open")) << path;
  }
  error_of(server.url("/concat.m3u8"));  // libav's own list of protocols is in the way before ours
  error_of(server.url("/path.m3u8"));
  EXPECT_THAT(server.requested_paths(), Contains(local)) << "a bare path is one on the server";
}

TEST_F(AudioNetwork, ListsOfOtherKindsAreNotFollowed) {
  const LoopbackServer server([](const auto& path, const auto&, ServedConnection& peer) {
    if (path == "/listen.m3u") return peer.send_ok("audio/x-mpegurl", "http://127.0.0.1/live\n");
    peer.send_ok("text/plain", "ffconcat version 1.0\nfile /etc/hostname\n");
  });
  EXPECT_THAT(error_of(server.url("/list.txt")), HasSubstr("list of other sources"));
  EXPECT_THAT(error_of(server.url("/listen.m3u")), HasSubstr("is a playlist"));
}

TEST_F(AudioNetwork, IcyTitlesComeAsTheyChangeInUtf8) {
  constexpr std::size_t kInterval = 4096;
  std::atomic<bool> asked = false;
  const LoopbackServer server([&](const auto&, const std::string& request, ServedConnection& peer) {
    asked = request.find("Icy-MetaData: 1") != std::string::npos;
    std::string body;
    for (std::size_t from = 0, block = 0; from < mp3_.size(); from += kInterval, ++block) {
      body += mp3_.substr(from, kInterval);
      if (from + kInterval > mp3_.size()) break;
      std::string text = block == 4    ? "StreamTitle='Ann - Don't';StreamUrl='';"
                         : block == 15 ? "StreamTitle='Bj\xF6rk - J\xF3ga';"
                                       : "";
      text.resize((text.size() + 15) / 16 * 16, '\0');
      body += static_cast<char>(text.size() / 16);
      body += text;
    }
    peer.send(std::string(kStreamHeader) + "icy-metaint: " + std::to_string(kInterval) +
              "\r\n\r\n" + body);
  });
  const Heard heard = hear(server.url("/live"));
  EXPECT_TRUE(asked);
  EXPECT_EQ(heard.titles, (std::vector<std::string>{"Ann - Don't", "Bj\xC3\xB6rk - J\xC3\xB3ga"}));
  EXPECT_EQ(heard.counts.damaged_packets, 0U) << "metadata leaked into the audio";
  EXPECT_NEAR(heard.seconds(), 8, 0.1);
}

TEST_F(AudioNetwork, OggStreamTellsItsTitle) {
  scratch_->ffmpeg(
      "-f lavfi -i sine=440:d=2 -c:a libvorbis -metadata artist=Ann -metadata title=One live.ogg");
  const std::string ogg = read_file(*scratch_ / "live.ogg");
  const LoopbackServer server([&](const auto&, const auto&, ServedConnection& peer) {
    peer.send("HTTP/1.0 200 OK\r\nContent-Type: application/ogg\r\n\r\n" + ogg);
  });
  EXPECT_EQ(hear(server.url("/live")).titles, std::vector<std::string>{"Ann - One"});
}

class AudioTls : public AudioNetwork {
 protected:
  static void SetUpTestSuite() {
    AudioNetwork::SetUpTestSuite();
    const auto make = [](const std::string& name, const std::string& alternative_names) {
      scratch_->shell(
          "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
          " -subj /CN=test -addext subjectAltName=" +
          alternative_names + " -keyout " + name + ".key -out " + name + ".crt 2>/dev/null");
    };
    make("here", "DNS:localhost,IP:127.0.0.1");
    make("elsewhere", "DNS:radio.example");
  }

  static std::unique_ptr<LoopbackServer> serve(const std::string& name,
                                               LoopbackServer::Handler handler = send_mp3) {
    return std::make_unique<LoopbackServer>(std::move(handler), *scratch_ / (name + ".crt"),
                                            *scratch_ / (name + ".key"));
  }
  static void send_mp3(const std::string&, const std::string&, ServedConnection& peer) {
    peer.send_ok("audio/mpeg", mp3_);
  }
  static AudioOptions trusting(const std::string& name) {
    AudioOptions options;
    options.ca_file = *scratch_ / (name + ".crt");
    return options;
  }
};

TEST_F(AudioTls, SelfSignedCertificateIsRefused) {
  const auto server = serve("here");
  EXPECT_THAT(error_of(server->url("/a.mp3", "localhost")),
              HasSubstr("certificate is not trusted"));
  EXPECT_THAT(server->requested_paths(), testing::IsEmpty()) << "no request before trust";
}

TEST_F(AudioTls, NamedAuthorityIsTrustedForItsHost) {
  const auto server = serve("here");
  EXPECT_NEAR(hear(server->url("/a.mp3", "localhost"), trusting("here")).seconds(), 8, 0.1);
  EXPECT_NEAR(hear(server->url("/a.mp3"), trusting("here")).seconds(), 8, 0.1);
}

TEST_F(AudioTls, CertificateForAnotherHostIsRefused) {
  const auto server = serve("elsewhere");
  EXPECT_THAT(error_of(server->url("/a.mp3", "localhost"), trusting("elsewhere")),
              HasSubstr("another host name"));
}

TEST_F(AudioTls, SegmentsAndRedirectsAreVerifiedToo) {
  const auto target = serve("here");
  const LoopbackServer server([&](const auto& path, const auto&, ServedConnection& peer) {
    if (path == "/list.m3u8") {
      return peer.send_ok("application/vnd.apple.mpegurl",
                          "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:8,\n" + target->url("/a.mp3") +
                              "\n#EXT-X-ENDLIST\n");
    }
    peer.send("HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: " +
              target->url("/a.mp3") + "\r\n\r\n");
  });
  const HlsLeakIsKnown known;
  for (const char* path : {"/list.m3u8", "/redirect"}) {
    EXPECT_THAT(error_of(server.url(path)), HasSubstr("certificate is not trusted")) << path;
    EXPECT_NEAR(hear(server.url(path), trusting("here")).seconds(), 8, 0.1) << path;
  }
}

TEST_F(AudioTls, SilentHandshakeMeetsTheDeadline) {
  const LoopbackServer server(
      [](const auto&, const auto&, ServedConnection& peer) { peer.wait_until_closed(); });
  const std::string url = "https" + server.url("/x").substr(4);
  EXPECT_THAT(error_of(url, impatient()), HasSubstr("no audio within"));
}

}  // namespace
}  // namespace spintag::fingerprint::audio_test
