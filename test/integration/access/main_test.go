// SPDX-License-Identifier: Apache-2.0

package access

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestAccess(t *testing.T) {
	suite.Run(t, "who may do what, and what admission refuses or warns of")
}
