// SPDX-License-Identifier: Apache-2.0

package newclusters

import (
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// gracePeriod is longer than a loaded machine takes to evaluate a new Placement.
const gracePeriod = 20 * time.Second

func TestNewClusters(t *testing.T) {
	suite.Run(t, "clusters and sets before the hub has written what follows", suite.ConfigureHub(func(o *system.Options) {
		o.Controllers, o.TaintGracePeriod = []string{"*", "-" + webhook.Controller}, gracePeriod
	}))
}
