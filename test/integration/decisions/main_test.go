// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestDecisions(t *testing.T) { suite.Run(t, "PlacementDecisions and the status of placements") }
