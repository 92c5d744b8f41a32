// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestFederationFaults(t *testing.T) {
	suite.Run(t, "federated objects on an API server that fails", suite.DeletingFederated)
}
