// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestScale(t *testing.T) { suite.Run(t, "many clusters and placements") }
