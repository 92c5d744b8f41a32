// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func TestWebhook(t *testing.T) { suite.Run(t, "the webhook and the taints of ManagedClusters") }
