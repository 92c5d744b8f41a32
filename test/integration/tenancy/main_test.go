// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestTenancy(t *testing.T) {
	suite.Run(t, "Tenants, AffinityClasses and applications", suite.WithWorkloads)
}
