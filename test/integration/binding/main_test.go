// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestBinding(t *testing.T) {
	suite.Run(t, "ManagedClusterSetBindings that follow from RBAC", suite.DeletingNamespaces)
}
