// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// publisher is a reconciler of the profiles of a world.
func (w *world) publisher() *profileReconciler {
	return &profileReconciler{
		provider: w.made, cached: w.api, clock: w.clock, writer: client.WithFieldOwner(w.api, FieldManager(providerName)),
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
}

// publish reconciles the ClusterProvider, and returns its status and the writes.
func (w *world) publish() (openmcpv1alpha1.ClusterProviderStatus, []string, error) {
	w.t.Helper()
	w.steps = nil
	key := client.ObjectKey{Name: providerName}
	_, failed := w.publisher().Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key})
	object := &openmcpv1alpha1.ClusterProvider{}
	if err := w.api.Get(w.t.Context(), key, object); err != nil {
		w.t.Fatal(err)
	}
	return object.Status, w.steps, failed
}

func profileOf(name string) openmcpv1alpha1.Profile {
	return openmcpv1alpha1.Profile{
		Name:              openmcpv1alpha1.ProfileName(name),
		SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: "1.36.3"}},
		SupportedTraits:   []openmcpv1alpha1.SupportedTrait{{Trait: "kubernetes.io/apis/compute"}},
	}
}

func TestProfilesArePublished(t *testing.T) {
	for _, tc := range []struct {
		reason         string
		leaseNamespace string
		profiles       []openmcpv1alpha1.Profile
		ready          bool
		want           string
		message        string
	}{
		{"cluster-request 4.4: profiles and ready", leaseHome, []openmcpv1alpha1.Profile{profileOf("aws"), profileOf("gcp")}, true,
			ReasonProfilesPublished, "the provider makes clusters of 2 profiles"},
		{"cluster-request 4.4: no configuration", leaseHome, nil, false, ReasonNoProfiles, "has no profile: add one"},
		{"trust 2: a warning while the Leases are beside the Clusters", "", []openmcpv1alpha1.Profile{profileOf("aws")}, true,
			ReasonProfilesPublished, "set spec.leaseNamespace"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, leased(tc.leaseNamespace))
			w.made.profiles = tc.profiles

			status, _, err := w.publish()
			if err != nil || status.Ready != tc.ready || status.Reason != tc.want || !strings.Contains(status.Message, tc.message) {
				t.Errorf("%+v, %v", status, err)
			}
			if diff := cmp.Diff(tc.profiles, status.Profiles); diff != "" {
				t.Errorf("profiles (-want +got):\n%s", diff)
			}

			ready := meta.FindStatusCondition(status.Conditions, openmcpv1alpha1.ConditionProviderReady)
			if ready == nil || (ready.Status == "True") != tc.ready || ready.Reason != tc.want {
				t.Errorf("condition %+v", ready)
			}
			w.clock.SetTime(start.Add(time.Hour))
			if again, steps, err := w.publish(); err != nil || len(steps) > 0 || !again.LastReconcileTime.Equal(status.LastReconcileTime) {
				t.Errorf("law 4: a second look writes %v, %v", steps, err)
			}
		})
	}
}

func TestAnErrorLeavesTheProfiles(t *testing.T) {
	w := newWorld(t, leased(leaseHome))
	w.made.profiles = []openmcpv1alpha1.Profile{profileOf("aws")}
	if _, _, err := w.publish(); err != nil {
		t.Fatal(err)
	}
	w.made.profiles, w.made.err = nil, errAway
	status, steps, err := w.publish()
	if !errors.Is(err, errAway) || len(steps) > 0 || !status.Ready || len(status.Profiles) != 1 {
		t.Errorf("law 6: %+v, %v, %v", status, steps, err)
	}
}

// additions records what is added to a queue.
type additions struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	keys []string
}

func (a *additions) Add(key reconcile.Request) { a.keys = append(a.keys, key.String()) }

func TestMovedLeasesConcernTheClustersOfTheProvider(t *testing.T) {
	other := web("other")
	other.Name = "other"
	w := newWorld(t, web(providerName), other)

	elsewhere := leased("elsewhere")
	elsewhere.Name = "other"
	for _, tc := range []struct {
		reason     string
		old, later *openmcpv1alpha1.ClusterProvider
		want       []string
	}{
		{"trust 2: another namespace", leased(""), leased(leaseHome), []string{webAt.String()}},
		{"law 4: the same namespace", leased(leaseHome), leased(leaseHome), nil},
		{"T4: that of another provider", leased(""), elsewhere, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			q := &additions{}
			movedLeases(w.api, providerName).Update(t.Context(), event.UpdateEvent{ObjectOld: tc.old, ObjectNew: tc.later}, q)
			if !slices.Equal(q.keys, tc.want) {
				t.Errorf("%v, want %v", q.keys, tc.want)
			}
		})
	}
}

func TestNamesOfProviders(t *testing.T) {
	for _, name := range []string{"", "Gardener", "a/b", strings.Repeat("a", 64)} {
		if err := Setup(nil, Settings{Name: name}); err == nil || !strings.Contains(err.Error(), "cannot be the name of a ClusterProvider") {
			t.Errorf("name %q: %v", name, err)
		}
	}
}
