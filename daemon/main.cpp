// daemon/main.cpp - the program `spintag`.
#include "daemon/cli.h"

int main(int argc, char** argv) { return spintag::daemon::run_cli(argc, argv); }
