// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }
