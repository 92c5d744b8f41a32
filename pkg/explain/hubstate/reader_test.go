// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

// listRefused answers every list and get with an error.
func listRefused(err error) client.Client {
	return interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme.Known()).Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return err },
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		},
	})
}

// What reports lack without a kind is in the table of kinds, and its note is the same wherever the kind is read.
func TestNotesOfKindsThatAreNotRead(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("not you"))
	t.Run("Pods, kinds that are not served", func(t *testing.T) {
		objects, err := AllPodsFromCluster(t.Context(), listRefused(&meta.NoKindMatchError{}), "")
		if err != nil {
			t.Fatal(err)
		}

		const of = " are not installed on this cluster; "
		if diff := cmp.Diff([]string{
			"Pods" + of + "they are not in the report", "ReplicationControllers" + of + "they are not in the report",
			"ReplicaSets" + of + "they are not in the report", "Deployments" + of + "they are not in the report",
			"StatefulSets" + of + "they are not in the report", "DaemonSets" + of + "they are not in the report",
			"Jobs" + of + "they are not in the report", "CronJobs" + of + "they are not in the report",
			"PodSchedulingPolicies" + of + "no policy of this kind is in the report",
			"Namespaces" + of + "namespaceSelectors are evaluated with the names of the namespaces alone",
			"ClusterPodSchedulingPolicies" + of + "no policy of this kind is in the report",
			"AffinityClasses" + of + "AffinityClasses are not in the report",
			"Tenants" + of + "defaults and limits of Tenants are not in the report",
			"Nodes" + of + "the report does not say which nodes fit",
		}, objects.Missing); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}

		if len(objects.Unread) > 0 {
			t.Errorf("kinds that are not served are unread: %v", objects.Unread)
		}
	})

	t.Run("Pods, kinds that may not be read", func(t *testing.T) {
		objects, err := AllPodsFromCluster(t.Context(), listRefused(forbidden), "team-a")
		if !apierrors.IsForbidden(err) {
			t.Fatalf("error %v", err)
		}
		want := []string{"ClusterPodSchedulingPolicy", "AffinityClass", "Tenant", "Node"}
		if diff := cmp.Diff(want, objects.Unread); diff != "" {
			t.Errorf("kinds of the whole cluster (-want +got):\n%s", diff)
		}

		if note := objects.Missing[9]; note != "Namespace team-a may not be read by this user; namespaceSelectors are evaluated with the names of "+
			"the namespaces alone" {
			t.Errorf("note %q", note)
		}
	})

	t.Run("delivery, kinds that may not be read", func(t *testing.T) {
		state := &explain.State{}
		if err := AddFederated(t.Context(), listRefused(forbidden), state, "team-a", nil); err != nil {
			t.Fatal(err)
		}

		const of = " may not be read by this user; "
		if diff := cmp.Diff([]string{
			"ManifestWorks" + of + "the report does not say where objects are applied, nor what is to be written",
			"Namespaces" + of + "whether its objects are delivered is not known",
			"ConfigMaps" + of + "they are not in the report", "Secrets" + of + "they are not in the report",
			"Services" + of + "they are not in the report", "DaemonSets" + of + "they are not in the report",
			"Deployments" + of + "they are not in the report", "ReplicaSets" + of + "they are not in the report",
			"Ingresses" + of + "they are not in the report",
		}, state.Federated.Missing); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}

		if !state.Federated.WorksUnread || len(state.Federated.KindsUnread) != 7 {
			t.Errorf("unread: works %v, kinds %v", state.Federated.WorksUnread, state.Federated.KindsUnread)
		}
	})
}
