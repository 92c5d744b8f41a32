// SPDX-License-Identifier: Apache-2.0

package fakehub

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/expect"
)

// otherObjects are those that the hub has besides clusters, sets, bindings and Placements.
const otherObjects = `apiVersion: v1
kind: Namespace
metadata: {name: team-a, labels: {federation.kubernetes.io/federated: "true"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: team-a, name: settings}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: team-a, name: kube-root-ca.crt}
---
apiVersion: v1
kind: Secret
metadata: {namespace: team-a, name: key}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: team-a, name: web}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: web}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
---
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: Purpose
metadata: {name: workload}
spec: {tenancyLimit: 2}
---
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: ClusterRequest
metadata: {namespace: team-a, name: ci}
spec: {purposes: [workload]}
---
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: ClusterRequest
metadata: {namespace: team-b, name: theirs}
spec: {purposes: [workload]}
`

// NewExplainer returns an explainer that explains the objects of a hub in memory: eu1 and eu2 in prod, edge1 in edge, and hidden in others,
// which is not bound to team-a.
func NewExplainer(t *testing.T) *answers.Explainer {
	t.Helper()
	var state strings.Builder
	for cluster, set := range map[string]string{"eu1": "prod", "eu2": "prod", "edge1": "edge", "hidden": "others"} {
		fmt.Fprintf(&state, "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\n"+
			"metadata: {name: %s, labels: {cluster.open-cluster-management.io/clusterset: %s}}\n---\n", cluster, set)
	}
	for _, set := range []string{"prod", "edge", "others"} {
		fmt.Fprintf(&state, "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: %s}\n---\n", set)
	}
	for _, binding := range []string{"team-a/prod", "team-a/edge", "team-b/others"} {
		namespace, set, _ := strings.Cut(binding, "/")
		fmt.Fprintf(&state, "apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n"+
			"metadata: {namespace: %s, name: %[2]s}\nspec: {clusterSet: %[2]s}\n---\n", namespace, set)
	}
	for _, placement := range []string{"team-a/every", "team-a/other", "team-b/theirs"} {
		namespace, name, _ := strings.Cut(placement, "/")
		fmt.Fprintf(&state, "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"+
			"metadata: {namespace: %s, name: %s}\nspec: {}\n---\n", namespace, name)
	}
	state.WriteString(otherObjects)
	builder := fake.NewClientBuilder().WithScheme(scheme.New()).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme.New()))
	decoder := serializer.NewCodecFactory(scheme.New()).UniversalDeserializer()
	for document := range strings.SplitSeq(state.String(), "---\n") {
		object, _, err := decoder.Decode([]byte(document), nil, nil)
		expect.NoError(t, err)
		builder.WithRuntimeObjects(object)
	}
	hub := builder.WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(options)
			o.FieldSelector = nil // The fake client has no index, and the readers select by name again.
			return c.List(ctx, list, &o)
		},
	}).Build()
	return &answers.Explainer{
		Hub: tools.Hub{
			Settings: tools.Settings{Delivered: federation.DefaultKinds(), Requests: system.DefaultRequests()}, Client: hub, Limited: true,
			Now: func() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) },
		},
		Definitions: tools.Definitions{CRDs: sync.OnceValues(manifests.Definitions), Policies: admission.Once(manifests.Policies)},
	}
}
