// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestMonitoring(t *testing.T) { suite.Run(t, "alerts over scrapes of a hub") }
