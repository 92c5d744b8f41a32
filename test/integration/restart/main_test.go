// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestRestart(t *testing.T) { suite.Run(t, "a hub that starts", suite.OwnPlane) }
