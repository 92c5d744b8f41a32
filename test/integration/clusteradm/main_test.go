// SPDX-License-Identifier: Apache-2.0

package clusteradm

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestClusteradm(t *testing.T) { suite.Run(t, "the requests of clusteradm") }
