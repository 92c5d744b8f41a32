// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// inNamespace are the kinds that the roles view of Kubernetes and of the manifests let a user read in a namespace.
var inNamespace = []string{
	"placements", "managedclustersetbindings", "placementdecisions", "podschedulingpolicies", "clusterrequests", "clusterrequestgrants",
	"configmaps", "services", "deployments", "replicasets", "daemonsets", "ingresses", "pods",
}

// viewer returns a hub with objects as a user sees it who has view in a namespace, and fleet-view if it is bound. The API server of the tests
// of test/integration/access has the same roles.
func viewer(t *testing.T, namespace string, fleet bool, objects ...client.Object) client.Client {
	t.Helper()
	text, err := os.ReadFile("../../../manifests/rbac/people/fleetview.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.Unmarshal(text, &role); err != nil {
		t.Fatal(err)
	}

	if role.Name != FleetViewRole {
		t.Errorf("messages name the role %s, the manifests %s", FleetViewRole, role.Name)
	}
	allowed := func(c client.Client, verb string, object client.ObjectList, single client.Object, in string) error {
		var (
			kind schema.GroupVersionKind
			err  error
		)
		if single != nil {
			kind, err = apiutil.GVKForObject(single, c.Scheme())
		} else {
			kind, err = apiutil.GVKForObject(object, c.Scheme())
			kind.Kind = strings.TrimSuffix(kind.Kind, "List")
		}

		if err != nil {
			return err
		}
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		if in == namespace && slices.Contains(inNamespace, resource.Resource) {
			return nil
		}

		for _, rule := range role.Rules {
			if fleet && slices.Contains(rule.APIGroups, kind.Group) && slices.Contains(rule.Resources, resource.Resource) &&
				slices.Contains(rule.Verbs, verb) {
				return nil
			}
		}
		return apierrors.NewForbidden(resource.GroupResource(), "", nil)
	}

	return fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(options)
			if err := allowed(c, "list", list, nil, o.Namespace); err != nil {
				return err
			}
			o.FieldSelector = nil // The fake client has no index.
			return c.List(ctx, list, &o)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := allowed(c, "get", nil, object, key.Namespace); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
	}).Build()
}

// docs/spec/differences.md E1a: with view in the namespace of an object, fleet-view has all that an explanation of it reads, in every system.
// ManifestWorks are not in it, because they have copies of Secrets; the report of a delivered object says that they were not read.
func TestFleetViewHasAllThatAnExplanationReads(t *testing.T) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}
	withoutSecrets := slices.DeleteFunc(federation.DefaultKinds(), func(kind federation.FederatedKind) bool { return kind.Kind == "Secret" })
	for _, fleet := range []bool{true, false} {
		hub := viewer(t, "team-a", fleet, namespace)

		_, placements := FromCluster(t.Context(), hub, append(keys(api.V1beta1.Name(), "team-a"), keys(api.V1alpha1.Name(), "team-a")...))
		_, objects := FederatedFromCluster(t.Context(), hub, "team-a", withoutSecrets)
		_, requests := RequestsFromCluster(t.Context(), hub)

		reader := newPodsReader(t.Context(), hub)
		reader.readPolicies("team-a")
		reader.readNamespace("team-a")
		reader.readClusterWide()
		reader.readWebhook()
		_, workloads := reader.result()
		for what, err := range map[string]error{
			"placements": placements, "objects": objects, "requests": requests, "workloads": workloads,
		} {
			switch {
			case fleet && err != nil:
				t.Errorf("%s with the role: %v", what, err)
			case !fleet && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), FleetViewRole)):
				t.Errorf("%s without the role: got %v, want the missing rights and the name of the role", what, err)
			}
		}
	}
}

// docs/spec/differences.md E1a: a tenant who may not evaluate a request sees its status and its Grant.
func TestWrittenRequests(t *testing.T) {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "ci"}}
	request.Status.Status, request.Status.Reason = "Pending", "ProviderNotReady"

	reports, err := WrittenRequests(t.Context(), viewer(t, "team-a", false, request), "team-a", []string{"ci", "none"}, "because")
	if err != nil {
		t.Fatal(err)
	}
	if len(reports) != 1 || reports[0].Status != "Pending" || reports[0].Reason != "ProviderNotReady" || reports[0].Unanswered != "because" {
		t.Errorf("got %+v, want the status of ci", reports)
	}
	if _, err := WrittenRequests(t.Context(), viewer(t, "team-b", false, request), "team-a", []string{"ci"}, ""); !apierrors.IsForbidden(err) {
		t.Errorf("in a namespace of others: got %v, want that it is forbidden", err)
	}
}
