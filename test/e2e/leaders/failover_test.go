// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history"
	"github.com/placement-hub/placement-hub/test/property"
)

// newcomers is the namespace in which placements are made while the leader changes.
const newcomers = "newcomers"

// learning are the requests by which a process gets to know the world. One that is warm has no need of them.
var learning = faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{
	"managedclusters", "managedclustersets", "managedclustersetbindings", "addonplacementscores", "placements", "placementdecisions",
}}

// TestLeaderIsKilledAtWork has clusters come, go and move between groups, and placements come, without a pause. The leader is killed between
// two writes of one plan. The standby takes the lease when it has run out and goes on with what it knows already; nothing is lost, and no
// cluster that stays selected is missing from the decisions for a moment.
func TestLeaderIsKilledAtWork(t *testing.T) {
	random := property.Random(t)
	h := suite.StartHub(t)
	f := startFleet(t, h, random)
	recorded, err := history.Record(t.Context(), h.Environment.AdminConfig(), fleetNamespace)
	suite.Must(t, err)
	s := &scene{fleet: f, hub: h, recorded: recorded}
	survive := random.IntN(4)

	s.proxy = suite.ThroughProxy(t, h)
	s.replica = h.StartReplica(t, append(slices.Clone(suite.QuickElection), suite.Unevaluated)...)
	h.WantHolder(t, s.replica)
	proxy := suite.ThroughProxy(t, h)
	standby := h.StartReplica(t, append(slices.Clone(suite.QuickElection), suite.Unevaluated)...)
	suite.Must(t, h.Client.Create(t.Context(), f.placement()))
	s.judge(t)

	c := startChurn(t, h, f)
	c.await(t, 2)
	before := len(s.proxy.Requests(decisive))
	mend := s.proxy.Break(faults.Rule{Match: decisive, Fault: faults.Hang, After: survive})
	defer mend()
	suite.AwaitRequests(t, s.proxy, decisive, before+survive+1)
	if idle := proxy.Requests(decisive); len(idle) > 0 {
		t.Errorf("the standby writes beside the leader: %v", idle)
	}
	learned := len(proxy.Requests(learning))

	s.replica.Signal(t, syscall.SIGKILL)
	s.replica.WantExit(t, -1)
	killed := time.Now()
	h.WantHolder(t, standby)
	taken := time.Since(killed)
	c.await(t, 2)
	c.stop(t)

	wantNothingMissed(t, s)
	wantDecided(t, h)
	// An API server that is busy ends watches, which go on from where they were. Metadata is read before clusters leave, and one placement by
	// its name where the watch may be behind.
	expected := func(r faults.Request) bool { return r.Resumed || r.Metadata || r.Name != "" }
	if again := slices.DeleteFunc(proxy.Requests(learning)[learned:], expected); len(again) > 0 {
		t.Errorf("the standby was not warm: it sent %v", again)
	}
	t.Logf("the lease was taken after %v; %d events in %d steps", taken, len(s.recorded.Events()), c.steps.Load())
	standby.Signal(t, syscall.SIGTERM)
	standby.WantExit(t, 0)
}

// wantNothingMissed waits until the fleet is placed as expected, and looks at every state on the way.
func wantNothingMissed(t *testing.T, s *scene) {
	t.Helper()
	suite.Eventually(t, "waiting for the expected decisions", func() error {
		if findings := s.unsettled(t); len(findings) > 0 {
			return errors.New(strings.Join(findings, "\n"))
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), suite.Timeout)
	defer cancel()
	suite.Must(t, s.recorded.Until(ctx, s.pages(t)))
	for _, finding := range history.Missing(s.settled, s.recorded.Events()[s.frames:], s.recorded.Current()) {
		t.Error(finding)
	}
}

// wantDecided waits until no placement would change if it were evaluated now.
func wantDecided(t *testing.T, h *suite.Hub) {
	t.Helper()
	list := &clusterv1beta1.PlacementList{}
	suite.Must(t, h.Client.List(t.Context(), list))
	for i := range list.Items {
		list.Items[i].APIVersion, list.Items[i].Kind = clusterv1beta1.GroupVersion.String(), "Placement"
		list.Items[i].ManagedFields = nil  // No apply takes them.
		list.Items[i].ResourceVersion = "" // The hub may still write the status.
	}
	data, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": list.Items})
	suite.Must(t, err)
	file := filepath.Join(t.TempDir(), "placements.json")
	suite.Must(t, os.WriteFile(file, data, 0o600))
	suite.Eventually(t, "waiting for all decisions", func() error {
		p := suite.Start(t, "diff", "--kubeconfig", h.AdminKubeconfig, "-f", file)
		if code := p.ExitCode(t); code != 0 {
			return fmt.Errorf("exit code %d: %s", code, p)
		}
		return nil
	})
}

// churn changes the fleet and adds placements, one step after the other.
type churn struct {
	hub   *suite.Hub
	fleet *fleet
	steps atomic.Int64
	end   context.CancelFunc
	done  chan error
}

// startChurn goes on until stop.
func startChurn(t *testing.T, h *suite.Hub, f *fleet) *churn {
	t.Helper()
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: newcomers}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: newcomers, Name: fleetSet},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: fleetSet},
		},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	stopping, end := context.WithCancel(t.Context())
	c := &churn{hub: h, fleet: f, end: end, done: make(chan error, 1)}
	go func() {
		for stopping.Err() == nil {
			if err := c.step(context.WithoutCancel(stopping)); err != nil { // What is begun is ended.
				c.done <- err
				return
			}
		}
		c.done <- nil
	}()
	t.Cleanup(end)
	return c
}

// step changes the fleet in one way and adds a placement.
func (c *churn) step(ctx context.Context) error {
	n := int(c.steps.Load())
	next := []func(*fleet) step{(*fleet).relabel, (*fleet).insert, (*fleet).swap, (*fleet).remove}[n%4](c.fleet)
	if err := next.apply(ctx); err != nil {
		return fmt.Errorf("%s: %w", next.what, err)
	}
	newcomer := &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: newcomers, Name: fmt.Sprintf("p%d", n)}, Spec: newcomerSpecs()[n%3],
	}
	if err := c.hub.Client.Create(ctx, newcomer); err != nil {
		return fmt.Errorf("creating Placement %s: %w", newcomer.Name, err)
	}
	c.steps.Add(1)
	return nil
}

// newcomerSpecs ask for all, for some by a label that changes, and for five that stay as long as they can.
func newcomerSpecs() []clusterv1beta1.PlacementSpec {
	canaries := clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{fleetLabel: "canary"}},
	}}
	steady := clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: "Steady"}, Weight: 1,
	}
	return []clusterv1beta1.PlacementSpec{
		{},
		{Predicates: []clusterv1beta1.ClusterPredicate{canaries}},
		{NumberOfClusters: ptr.To[int32](5), PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: []clusterv1beta1.PrioritizerConfig{steady},
		}},
	}
}

// await waits until so many more steps are done.
func (c *churn) await(t *testing.T, more int64) {
	t.Helper()
	until := c.steps.Load() + more
	suite.Eventually(t, "waiting for changes", func() error {
		if done := c.steps.Load(); done < until {
			return fmt.Errorf("there were %d, want %d", done, until)
		}
		return nil
	})
}

func (c *churn) stop(t *testing.T) {
	t.Helper()
	c.end()
	suite.Must(t, <-c.done)
}
