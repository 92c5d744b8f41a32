// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestV1alpha1(t *testing.T) {
	suite.Run(t, "placements of placement.open-cluster-management.io/v1alpha1")
}
