// Every test program's main.
#include <gmock/gmock.h>

#include "support/guard.h"
#include "support/leftovers.h"

int main(int argc, char** argv) {
  return sandglass::testing::run_guarded([&] {
    ::testing::InitGoogleMock(&argc, argv);
    ::testing::UnitTest::GetInstance()->listeners().Append(new sandglass::testing::Leftovers);
    return RUN_ALL_TESTS();
  });
}
