// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// docs/spec/trust.md T16: a standby that takes over sends no Event again about a problem that the former leader has reported before its last
// renewal of the lease.
func TestAHandOverRepeatsNoEvent(t *testing.T) {
	h := suite.StartHub(t)
	h.InstallEverySystem(t)
	leader := h.StartReplica(t, suite.EverySystem)
	h.WantHolder(t, leader)

	const namespace = "hand-over"
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{federation.FederatedLabel: "true"},
	}}))
	troubled := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "troubled", Annotations: map[string]string{federation.SelectorAnnotation: "garbage"},
	}}
	suite.Must(t, h.Client.Create(t.Context(), troubled))

	// events waits for an Event with another note than the given one, and returns the notes of all.
	events := func(known string) (notes []string) {
		t.Helper()
		suite.EventuallyWithin(t, suite.Timeout, "waiting for an Event", func() error {
			list := &eventsv1.EventList{}
			if err := h.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
				return err
			}
			notes = nil
			for i := range list.Items {
				notes = append(notes, list.Items[i].Note)
			}
			if !slices.ContainsFunc(notes, func(note string) bool { return note != known }) {
				return fmt.Errorf("the Events are %q", notes)
			}
			return nil
		})
		return notes
	}
	first := events("")
	if len(first) != 1 {
		t.Fatalf("the first leader has sent %q", first)
	}

	standby := h.StartReplica(t, suite.EverySystem)
	suite.EventuallyWithin(t, suite.Timeout, "waiting for the next second", func() error {
		if age := time.Since(troubled.CreationTimestamp.Time); age < 2*time.Second {
			return fmt.Errorf("it is %v old", age)
		}
		return nil
	})
	leader.Signal(t, syscall.SIGTERM)
	leader.WantExit(t, 0)
	h.WantHolder(t, standby)

	reader := h.MetricsReader(t)
	suite.EventuallyWithin(t, suite.Timeout, "waiting for the first look at all objects", func() error {
		_, body := standby.Get(t, "/metrics", reader)
		looks, waiting := suite.Summed(t, body, "placement_hub_federation_evaluations_total"), suite.Summed(t, body, "workqueue_depth")
		if looks == 0 || waiting > 0 {
			return fmt.Errorf("%v looks, and %v objects wait", looks, waiting)
		}
		return nil
	})

	// Events are written in the order in which they are sent: before the one about another mistake nothing else comes.
	patch := []byte(`{"metadata":{"annotations":{"` + federation.SelectorAnnotation + `":"null"}}}`)
	suite.Must(t, h.Client.Patch(t.Context(), troubled, client.RawPatch(types.MergePatchType, patch)))
	if both := events(first[0]); len(both) != 2 {
		t.Errorf("the Events are %q, want the first one and that of the other mistake", both)
	}
	standby.Signal(t, syscall.SIGTERM)
	standby.WantExit(t, 0)
}
