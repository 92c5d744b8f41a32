// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestPodScheduling(t *testing.T) {
	suite.Run(t, "pod scheduling policies", suite.WithWorkloads)
}
