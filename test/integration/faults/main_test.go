// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestFaults(t *testing.T) { suite.Run(t, "an API server that fails") }
