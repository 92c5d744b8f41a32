// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestPlacement(t *testing.T) { suite.Run(t, "the clusters that placements select") }
