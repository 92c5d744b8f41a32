// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history"
	"github.com/placement-hub/placement-hub/test/property"
)

// rounds is how often every kind of step is taken; the program does not survive one half of them.
const rounds = 5

// TestMakeBeforeBreakAtSize changes a placement of 350 clusters in every way that pages and groups depend on, kills the program in the
// middle of its writes, and looks at every state that consumers see (docs/spec/differences.md B1, B2, B3, B5).
func TestMakeBeforeBreakAtSize(t *testing.T) {
	random := property.Random(t)
	h := suite.StartHub(t)
	proxy := suite.ThroughProxy(t, h)
	f := startFleet(t, h, random)
	scene := &scene{fleet: f, hub: h, proxy: proxy}

	recorded, err := history.Record(t.Context(), h.Environment.AdminConfig(), fleetNamespace)
	suite.Must(t, err)
	scene.recorded = recorded
	scene.replica = h.StartReplica(t, "--disable-leader-election=true", suite.Unevaluated)
	suite.Must(t, h.Client.Create(t.Context(), f.placement()))
	scene.judge(t)

	var steps []func(*fleet) step
	for range rounds {
		steps = append(steps, (*fleet).insert, (*fleet).remove, (*fleet).relabel, (*fleet).swap, (*fleet).regroup,
			(*fleet).fewer, (*fleet).more, (*fleet).all)
	}
	random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	deadly := random.Perm(len(steps))[:len(steps)/2]

	for n, next := range steps {
		step := next(f)
		survive := -1
		if slices.Contains(deadly, n) {
			survive = random.IntN(5)
		}
		scene.take(t, fmt.Sprintf("step %d: %s", n, step.what), step, survive)
		if t.Failed() {
			t.Fatalf("after step %d, %s", n, step.what)
		}
	}
	t.Logf("%d events were judged", len(recorded.Events()))
}

// scene has the recorded history of the decisions, and the hub and the fleet that change them.
type scene struct {
	*fleet

	hub      *suite.Hub
	proxy    *faults.Proxy
	replica  *suite.Replica
	recorded *history.History
	settled  history.State
	frames   int
}

// decisive are the requests by which a placement is carried out.
var decisive = faults.Match{
	Verbs:     []string{"create", "update", "patch", "delete"},
	Resources: []string{"placementdecisions", "placementdecisions/status", "placements/status"},
	Namespace: fleetNamespace,
}

// take carries a step out. Unless survive is negative, the program is killed when it has written so many times, and started again.
func (s *scene) take(t *testing.T, name string, step step, survive int) {
	t.Helper()
	begin, seen := time.Now(), s.frames
	killed := "nothing"
	if survive < 0 {
		suite.Must(t, step.apply(t.Context()))
	} else {
		killed = s.kill(t, step, survive)
	}
	s.judge(t)
	t.Logf("%s; %s was cut off; %d events, %v", name, killed, len(s.recorded.Events())-seen, time.Since(begin).Round(time.Millisecond))
}

// kill lets the program write so many times after a step, holds the next write up, kills the program, and starts another.
func (s *scene) kill(t *testing.T, step step, survive int) (cutOff string) {
	t.Helper()
	before := len(s.proxy.Requests(decisive))
	mend := s.proxy.Break(faults.Rule{Match: decisive, Fault: faults.Hang, After: survive})
	suite.Must(t, step.apply(t.Context()))
	suite.Eventually(t, "waiting for the write that is held up", func() error {
		written := s.proxy.Requests(decisive)[before:]
		if len(written) > survive {
			cutOff = fmt.Sprintf("write %d, %s of %s %q,", survive+1, written[survive].Verb, written[survive].Resource, written[survive].Name)
			return nil
		}
		if findings := s.unsettled(t); len(findings) > 0 {
			return errors.New(strings.Join(findings, "\n"))
		}
		cutOff = "nothing, but an idle program,"
		return nil
	})
	s.replica.Signal(t, syscall.SIGKILL)
	s.replica.WantExit(t, -1)
	mend()
	s.replica = s.hub.StartReplica(t, "--disable-leader-election=true", suite.Unevaluated)
	return cutOff
}

// judge waits until the hub is settled and looks at what happened on the way.
func (s *scene) judge(t *testing.T) {
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

	before, after, frames := s.settled, s.recorded.Current(), s.recorded.Events()[s.frames:]
	findings := slices.Concat(
		history.Missing(before, frames, after), history.Unsafe(before, frames, after, s.length), history.Moved(before, frames, after, s.length))
	for _, finding := range findings {
		t.Error(finding)
	}
	if len(findings) > 0 {
		t.Logf("the pages were, and became:\n%s\n%s", before, history.Text(frames))
	}
	s.settled, s.frames = after, s.frames+len(frames)
}

// unsettled says what the hub still has to do.
func (s *scene) unsettled(t *testing.T) []string {
	t.Helper()
	placement := &clusterv1beta1.Placement{}
	suite.Must(t, s.hub.Client.Get(t.Context(), client.ObjectKeyFromObject(s.placement()), placement))
	pages := s.pages(t)
	findings := history.Unsettled(history.StateOf(pages), s.rules, s.portions(), s.length)

	if told := int(placement.Status.NumberOfSelectedClusters); told != len(s.selected) {
		findings = append(findings, fmt.Sprintf("the status says %d clusters, want %d", told, len(s.selected)))
	}
	for kind, want := range map[string]metav1.ConditionStatus{
		clusterv1beta1.PlacementConditionMisconfigured: metav1.ConditionFalse, clusterv1beta1.PlacementConditionSatisfied: metav1.ConditionTrue,
	} {
		condition := meta.FindStatusCondition(placement.Status.Conditions, kind)
		if condition == nil || condition.ObservedGeneration != placement.Generation || condition.Status != want {
			findings = append(findings, fmt.Sprintf("condition %s is %v", kind, condition))
		}
	}
	var listed, existing []string
	for _, group := range placement.Status.DecisionGroups {
		listed = append(listed, group.Decisions...)
	}
	for _, page := range pages {
		existing = append(existing, page.Name)
	}
	slices.Sort(listed)
	if !slices.Equal(listed, slices.Sorted(slices.Values(existing))) {
		findings = append(findings, fmt.Sprintf("the status lists %v, and there are %v", listed, existing))
	}
	return findings
}

func (s *scene) pages(t *testing.T) []clusterv1beta1.PlacementDecision {
	t.Helper()
	list := &clusterv1beta1.PlacementDecisionList{}
	suite.Must(t, s.hub.Client.List(t.Context(), list, client.InNamespace(fleetNamespace)))
	return list.Items
}

// startFleet makes the clusters, many at a time, in a set that is bound.
func startFleet(t *testing.T, h *suite.Hub, random *rand.Rand) *fleet {
	t.Helper()
	f := newFleet(h.Client, random)
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fleetNamespace}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: fleetSet}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: fleetNamespace, Name: fleetSet},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: fleetSet},
		},
	} {
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	suite.Must(t, f.populate(t.Context()))
	return f
}
