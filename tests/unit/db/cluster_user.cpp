// tests/unit/db/cluster_user.cpp - a program that uses a private cluster as spintag's commands do;
// run by tests.
//
// cluster_user STATE_DIRECTORY [TITLE]: joins, stores a track of that title, prints a line when it
// is ready, leaves when its standard input ends. Exit status 3 and the reason on standard output if
// it cannot.
#include <iostream>

#include "db/private_cluster.h"
#include "db/store.h"

int main(int argc, char** argv) {
  using namespace spintag::db;
  try {
    const PrivateCluster cluster(argv[1]);
    Store store(cluster.url());
    if (argc > 2) {
      NewTrack track;
      track.info.title = track.content_hash = track.source = argv[2];
      track.profile = "test";
      store.put_track(track);
    }
    std::cout << "ready: " << store.sizes().tracks << " tracks" << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
    }
    return 0;
  } catch (const StoreError& error) {
    std::cout << "failed: " << error.what() << std::endl;
    return 3;
  }
}
