// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/scrapes"
)

// alone is how long a standby is without a leader. The longest time after which a process could end, or be restarted by its liveness, is five
// minutes for an evaluation; controllers wait two minutes for their caches, and a lease lasts 137 seconds.
var alone = flag.Duration("alone", 5*time.Minute+10*time.Second, "how long a standby is without a leader")

// outlived is a standby of every system on a hub without a leader.
type outlived struct {
	hub     *suite.Hub
	standby *suite.Replica
	since   time.Time
	// states are the systems as /readyz?verbose has them, and try asks the webhooks of those that are on.
	states map[string]string
	try    func(*testing.T) error
	// replicas are the leader and the standby, and led is a scrape of both before the leader was killed.
	replicas map[string]*suite.Replica
	led      scrapes.Scrape
}

// docs/spec/trust.md T2: a standby with every system on, and one whose systems lack their definitions, live without a leader for longer than any
// timeout of theirs, answer all reviews meanwhile, and lead once the Lease is free.
//
// It is the first test of the package: the standbys live on while the other tests run, and are judged after them.
func TestStandbyWithoutLeader(t *testing.T) {
	all := map[string]*outlived{"every system is on": startComplete(t), "definitions are absent": startIncomplete(t)}
	t.Parallel() // From here on it runs after the other tests.
	for name, of := range all {
		t.Run(name, of.judge)
	}
}

// startComplete starts a standby on a hub that has every definition.
func startComplete(t *testing.T) *outlived {
	t.Helper()
	h := suite.StartHub(t)
	h.InstallEverySystem(t)
	leader, standby := startBoth(t, h)
	h.CreateWorld(t)
	h.CallReplicaOfEverySystem(t, standby)
	replicas := map[string]*suite.Replica{"leader": leader, "standby": standby}
	led := scrape(t, h, replicas)
	killLeader(t, h, leader)
	states := map[string]string{
		manifests.AffinityClass: "", manifests.ClusterRequest: "", manifests.Federation: "", manifests.PodScheduling: "",
	}
	return &outlived{hub: h, standby: standby, since: time.Now(), try: h.TryReviews, states: states, replicas: replicas, led: led}
}

// startIncomplete starts a standby on a hub without the definitions of Flux, ManifestWorks and openMCP.
func startIncomplete(t *testing.T) *outlived {
	t.Helper()
	h := suite.StartHub(t)
	for _, system := range suite.Systems {
		suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), system, ""))
	}
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	suite.Must(t, h.Client.List(t.Context(), definitions))
	for i := range definitions.Items {
		if definitions.Items[i].Spec.Group == openmcpv1alpha1.GroupName {
			h.DeleteDefinitions(t, definitions.Items[i].Name)
		}
	}
	leader, standby := startBoth(t, h)
	h.CreatePolicy(t)
	h.CallReplica(t, standby, manifests.PodScheduling)
	h.TryOut(t, standby)
	try := func(t *testing.T) error {
		t.Helper()
		return errors.Join(h.TryDefaults(t), h.TryInjection(t))
	}
	suite.Eventually(t, "waiting for the webhooks", func() error { return try(t) })
	replicas := map[string]*suite.Replica{"leader": leader, "standby": standby}
	led := scrape(t, h, replicas)
	killLeader(t, h, leader)
	states := map[string]string{
		manifests.AffinityClass:  "helmreleases.helm.toolkit.fluxcd.io is not served",
		manifests.ClusterRequest: "clusterrequests.cluster.openmcp.cloud is not served",
		manifests.Federation:     "manifestworks.work.open-cluster-management.io is not served",
		manifests.PodScheduling:  "",
	}
	return &outlived{hub: h, standby: standby, since: time.Now(), try: try, states: states, replicas: replicas, led: led}
}

// startBoth starts a leader, which issues the certificates of the webhooks, and a standby.
func startBoth(t *testing.T, h *suite.Hub) (leader, standby *suite.Replica) {
	t.Helper()
	leader = h.StartReplica(t, suite.EverySystem)
	h.WantHolder(t, leader)
	return leader, h.StartReplica(t, suite.EverySystem)
}

// killLeader kills the leader and gives its Lease to a process that does not exist, for a day.
func killLeader(t *testing.T, h *suite.Hub, leader *suite.Replica) {
	t.Helper()
	leader.Signal(t, syscall.SIGKILL)
	leader.WantExit(t, -1)
	patchLease(t, h, fmt.Sprintf(`{"spec":{"holderIdentity":"absent","leaseDurationSeconds":%d}}`, 24*60*60))
}

// patchLease changes the Lease of the hub.
func patchLease(t *testing.T, h *suite.Hub, patch string) {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: "placement-lock"}}
	suite.Must(t, h.Client.Patch(t.Context(), lease, suite.MergePatch(patch)))
}

// judge waits until the standby has been without a leader for long, and then frees the Lease.
func (o *outlived) judge(t *testing.T) {
	t.Parallel()
	reviews := 0
	suite.EventuallyWithin(t, *alone+suite.Timeout, "waiting for the time without a leader", func() error {
		if o.standby.Ended() {
			t.Fatalf("the standby ended; %s", o.standby)
		}
		if err := o.try(t); err != nil {
			t.Fatalf("the standby does not answer: %v", err)
		}
		reviews++
		for _, path := range []string{"/readyz", "/readyz/evaluation", "/livez"} {
			if status, body := o.standby.Get(t, path, ""); status != http.StatusOK {
				t.Fatalf("%s of the standby answers %d: %s", path, status, body)
			}
		}
		if lived := time.Since(o.since); lived < *alone {
			return fmt.Errorf("it has been %s", lived)
		}
		return nil
	})
	wantSystems(t, []*suite.Replica{o.standby}, o.states)
	o.wantVisible(t)
	if strings.Contains(o.standby.Stderr.String(), `"Successfully acquired lease"`) {
		t.Fatalf("the standby took a lease that is held; %s", o.standby)
	}
	abandoned, later := scrape(t, o.hub, o.replicas), scrape(t, o.hub, o.replicas)
	if o.states[manifests.ClusterRequest] != "" {
		o.complete(t)
	}
	lived := time.Since(o.since)
	patchLease(t, o.hub, `{"spec":{"holderIdentity":""}}`)
	freed := time.Now()
	o.hub.WantHolder(t, o.standby)
	led := time.Since(freed)
	o.hub.CreateMember(t, "c2")
	o.hub.WantWorld(t, "c1", "c2")
	o.hub.WantGrant(t)
	o.wantAlerts(t, abandoned, later)
	t.Logf("the standby was without a leader for %s, was asked %d times at the end of that, and led %s after the Lease was free", lived, reviews, led)
	o.standby.Signal(t, syscall.SIGTERM)
	o.standby.WantExit(t, 0)
}

// wantVisible checks that the standby shows the dead leader: in its log once, in the verbose output of /readyz, and in a metric. The patch of the
// Lease left its time of renewal.
func (o *outlived) wantVisible(t *testing.T) {
	t.Helper()
	const text = `"The leader has not renewed the lease; a standby takes the lease over when it expires"`
	if lines := strings.Count(o.standby.Stderr.String(), text); lines != 1 {
		t.Errorf("the log of the standby has %d lines of the dead leader; %s", lines, o.standby)
	}
	const state = "\nlease: the process that holds open-cluster-management-hub/placement-lock has not renewed it since "
	if _, body := o.standby.Get(t, "/readyz?verbose", ""); !strings.Contains("\n"+body, state) {
		t.Errorf("/readyz?verbose does not show the dead leader: %s", body)
	}
	_, body := o.standby.Get(t, "/metrics", o.hub.MetricsReader(t))
	renewed := time.UnixMilli(int64(1000 * suite.Value(t, body, "placement_hub_lease_renewed_timestamp_seconds")))
	if renewed.After(o.since) || renewed.Before(o.since.Add(-time.Hour)) {
		t.Errorf("the metric has %s as the last renewal of a leader that died before %s", renewed, o.since)
	}
	p := suite.Run(t, "explain", "--all", "-A", "--kubeconfig", o.hub.AdminKubeconfig)
	p.WantExit(t, 0)
	if strings.Contains(p.Stderr.String(), "warning: no process has renewed") {
		t.Errorf("the lease has not expired; %s", p)
	}
}

// complete installs what is absent, and waits until every system is on and answers.
func (o *outlived) complete(t *testing.T) {
	t.Helper()
	o.hub.InstallEverySystem(t)
	wantSystems(t, []*suite.Replica{o.standby}, map[string]string{
		manifests.AffinityClass: "", manifests.ClusterRequest: "", manifests.Federation: "", manifests.PodScheduling: "",
	})
	o.hub.CreateRest(t)
	o.hub.CallReplicaOfEverySystem(t, o.standby)
}
