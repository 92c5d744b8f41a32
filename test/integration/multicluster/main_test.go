// SPDX-License-Identifier: Apache-2.0

package multicluster

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestMulticluster(t *testing.T) { suite.Run(t, "PlacementDecisions of multicluster.x-k8s.io") }
