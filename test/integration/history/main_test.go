// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestHistory(t *testing.T) {
	suite.Run(t, "what happened to decisions", suite.OwnPlane, suite.DeletingNamespaces)
}
