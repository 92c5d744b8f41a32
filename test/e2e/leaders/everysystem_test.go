// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// takeover is how long a standby may take to lead after the leader was killed: the default lease of 137 seconds, and what a loaded machine adds.
const takeover = 137*time.Second + suite.Timeout

// docs/spec/trust.md T1: a standby with every system on outlives its leader by the whole lease, answers all reviews meanwhile, and then leads.
func TestEverySystemSurvivesItsLeader(t *testing.T) {
	h := suite.StartHub(t)
	h.InstallEverySystem(t)
	leader := h.StartReplica(t, suite.EverySystem)
	h.WantHolder(t, leader)
	h.CreateWorld(t)
	h.WantWorld(t, "c1")
	h.WantGrant(t)
	standby := h.StartReplica(t, suite.EverySystem)
	h.CallReplicaOfEverySystem(t, standby)
	before := h.Outcome(t)

	leader.Signal(t, syscall.SIGKILL)
	leader.WantExit(t, -1)
	suite.EventuallyWithin(t, takeover, "waiting for the standby to lead", func() error {
		if standby.Ended() {
			t.Fatalf("the standby ended; %s", standby)
		}
		if err := h.TryReviews(t); err != nil {
			t.Fatalf("the standby does not answer: %v", err)
		}
		if status, body := standby.Get(t, "/readyz", ""); status != http.StatusOK {
			t.Fatalf("/readyz of the standby answers %d: %s", status, body)
		}
		if !strings.Contains(standby.Stderr.String(), `"Successfully acquired lease"`) {
			return errors.New("it has no lease")
		}
		return nil
	})

	// The new leader carries out what is new, and by then has looked at what is old.
	h.CreateMember(t, "c2")
	h.WantWorld(t, "c1", "c2")
	after := h.Outcome(t)
	for of, version := range before {
		if strings.Contains(of, "PlacementDecision") {
			continue // The page has got the new cluster.
		}
		if diff := cmp.Diff(version, after[of]); diff != "" {
			t.Errorf("%s was written again (-before +after):\n%s", of, diff)
		}
	}
	standby.Signal(t, syscall.SIGTERM)
	standby.WantExit(t, 0)
}
