// tests/integration/shared_cluster.h - one scratch PostgreSQL for all tests of a program: it takes
// seconds to make.
#pragma once

#include <string>

namespace spintag::testing {

/// URL of the cluster, which starts with the first call and stops after the last test.
std::string shared_cluster_url();

}  // namespace spintag::testing
