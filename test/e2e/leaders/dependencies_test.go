// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// docs/spec/trust.md T2: processes start without the definitions of any system; each system turns on when its definitions come, and off alone when
// they go, on leader and standby.
func TestSystemsFollowTheirDefinitions(t *testing.T) {
	h := suite.StartHub(t)
	arguments := append([]string{suite.EverySystem}, suite.QuickElection...)
	for _, system := range []string{manifests.PodScheduling, manifests.AffinityClass, manifests.Federation, manifests.ClusterRequest} {
		suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), system, ""))
	}
	h.DeleteDefinitions(t, "clusterrequests.cluster.openmcp.cloud", "affinityclasses.cozystack.io")
	leader := h.StartReplica(t, arguments...)
	h.WantHolder(t, leader)
	standby := h.StartReplica(t, arguments...)
	both := []*suite.Replica{leader, standby}
	wantSystems(t, both, map[string]string{
		manifests.AffinityClass:  "affinityclasses.cozystack.io is not served",
		manifests.ClusterRequest: "clusterrequests.cluster.openmcp.cloud is not served",
		manifests.Federation:     "manifestworks.work.open-cluster-management.io is not served",
		manifests.PodScheduling:  "",
	})

	h.InstallEverySystem(t)
	wantSystems(t, both, map[string]string{
		manifests.AffinityClass: "", manifests.ClusterRequest: "", manifests.Federation: "", manifests.PodScheduling: "",
	})
	h.CreateWorld(t)
	h.CallReplicaOfEverySystem(t, standby)
	h.WantWorld(t, "c1")
	h.WantGrant(t)

	// Flux goes: applications are refused with its name, and everything else goes on.
	h.DeleteDefinitions(t, "helmreleases.helm.toolkit.fluxcd.io")
	wantSystems(t, both, map[string]string{manifests.AffinityClass: "helmreleases.helm.toolkit.fluxcd.io", manifests.Federation: ""})
	if err := h.CreateApplication(t, ""); err == nil || !strings.Contains(err.Error(), "helmreleases.helm.toolkit.fluxcd.io") {
		t.Errorf("an application without the system: %v, want the name of the definition", err)
	}
	suite.Must(t, errors.Join(h.TryInjection(t), h.TryRequester(t)))
	h.CreateMember(t, "c2")
	h.WantWorld(t, "c1", "c2")

	// ManifestWorks are served no longer, and return with what was there.
	before := h.Outcome(t)
	h.Serve(t, "manifestworks.work.open-cluster-management.io", false)
	wantSystems(t, both, map[string]string{manifests.Federation: "manifestworks.work.open-cluster-management.io", manifests.ClusterRequest: ""})
	h.Serve(t, "manifestworks.work.open-cluster-management.io", true)
	h.Apply(t, suite.PlatformDefinitions)
	wantSystems(t, both, map[string]string{manifests.Federation: "", manifests.AffinityClass: ""})
	suite.Must(t, h.TryReviews(t))
	h.CreateMember(t, "c3")
	h.WantWorld(t, "c1", "c2", "c3")
	after := h.Outcome(t)
	for of, version := range before {
		if !strings.Contains(of, "PlacementDecision") && after[of] != version {
			t.Errorf("%s was %q and is %q", of, version, after[of])
		}
	}
	for _, r := range both {
		r.Signal(t, syscall.SIGTERM)
		r.WantExit(t, 0)
	}
}

// wantSystems waits until each replica reports the systems as on, or as off for a reason that contains a text, and stays ready.
func wantSystems(t *testing.T, replicas []*suite.Replica, want map[string]string) {
	t.Helper()
	for _, r := range replicas {
		suite.Eventually(t, "waiting for the systems", func() error {
			if r.Ended() {
				t.Fatalf("the replica ended; %s", r)
			}
			status, body := r.Get(t, "/readyz?verbose", "")
			if status != http.StatusOK {
				return fmt.Errorf("/readyz answers %d: %s", status, body)
			}
			for system, reason := range want {
				line := "system " + system + ": on"
				if reason != "" {
					line = "system " + system + ": off"
				}
				if !slices.ContainsFunc(strings.Split(body, "\n"), func(l string) bool {
					return strings.HasPrefix(l, line) && strings.Contains(l, reason)
				}) {
					return fmt.Errorf("want %s %q in %s", line, reason, body)
				}
			}
			return nil
		})
	}
}
