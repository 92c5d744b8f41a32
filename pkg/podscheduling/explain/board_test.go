// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// workload decodes a workload from YAML.
func workload(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	must(t, err)
	object := &unstructured.Unstructured{}
	must(t, object.UnmarshalJSON(content))
	return object
}

const (
	etcdWritten = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: team, name: etcd, uid: d}
spec: {replicas: 2, template: {metadata: {labels: {app: etcd}}, spec: {nodeSelector: {disk: ssd}}}}`
	etcdInjected = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: team, name: etcd, uid: d}
spec: {replicas: 2, template: {metadata: {labels: {app: etcd}}, spec: {nodeSelector: {disk: ssd, pool: etcd}}}}`
	etcdReplicas = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {namespace: team, name: etcd-1, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: etcd, uid: d, controller: true}]}
spec: {replicas: 2, template: {metadata: {labels: {app: etcd}}, spec: {}}}`
)

// etcdPod is a Pod of the ReplicaSet of etcd.
func etcdPod(t *testing.T, name, node string) *unstructured.Unstructured {
	t.Helper()
	return workload(t, `
apiVersion: v1
kind: Pod
metadata: {namespace: team, name: `+name+`, uid: `+name+`, labels: {app: etcd}, ownerReferences:
 [{apiVersion: apps/v1, kind: ReplicaSet, name: etcd-1, uid: r, controller: true}]}
spec: {nodeName: "`+node+`", nodeSelector: {disk: ssd, pool: etcd}}`)
}

// etcdHub has a policy, a Deployment that it is injected into, and the Pods of that.
func etcdHub(t *testing.T, nodes ...string) *Objects {
	t.Helper()
	policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Name: "pools"}}
	policy.Spec.NamespaceSelector, policy.Spec.PodSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	policy.Spec.NodeSelector = map[string]string{"pool": "etcd", "disk": "any"}
	objects := &Objects{
		ClusterPolicies: []*kupidv1alpha1.ClusterPodSchedulingPolicy{policy},
		Nodes:           []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}},
		Workloads:       []*unstructured.Unstructured{workload(t, etcdReplicas), workload(t, etcdInjected)},
	}
	for i, node := range nodes {
		objects.Workloads = append(objects.Workloads, etcdPod(t, "etcd-1-"+string(rune('a'+i)), node))
	}
	return objects
}

func TestPodsTable(t *testing.T) {
	table, err := NewBoard(etcdHub(t, "n2", "n1"), []*unstructured.Unstructured{workload(t, etcdWritten)}, []string{"Redis a/b: not\nallowed"})
	must(t, err)
	if got, want := table.Summary, "1 node, 0 tenants, 1 policy, 0 classes, 0 applications, 1 workload"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	body := printers.BoardLines(table)
	if len(body) != 6 {
		t.Fatalf("table:\n%s", strings.Join(body, "\n"))
	}
	detail := body[2]
	body[2] = ""
	want := []string{
		"NAMESPACE/KIND/NAME   BOUND  NODES   CLASS",
		"team/deployment/etcd  2/2    n1, n2  none",
		"",
		"", "REFUSED", "Redis a/b: not allowed",
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	for _, part := range []string{"  ClusterPodSchedulingPolicy pools: injected nodeSelector[pool]; ", "any", "ssd"} {
		if !strings.Contains(detail, part) {
			t.Errorf("%q lacks %q", detail, part)
		}
	}
	if pending := table.Pending(); len(pending) > 0 {
		t.Errorf("pending: %q, want nothing", pending)
	}
}

func TestPodsTableDoesNotKnowWhoWroteWhat(t *testing.T) {
	table, err := NewBoard(etcdHub(t, "n1", "n1"), nil, nil)
	must(t, err)
	body := strings.Join(printers.BoardLines(table), "\n")
	if !strings.Contains(body, "pools: has nodeSelector[pool]") || strings.Contains(body, "injected") {
		t.Errorf("without the workload as it was written:\n%s", body)
	}
}

func TestPodsSettleWhenTheyAreBound(t *testing.T) {
	for _, tc := range []struct {
		reason string
		nodes  []string
		want   []string
	}{
		{"there is no Pod yet", nil, []string{"team/deployment/etcd: 0 of 2 Pods are bound"}},
		{"one is bound", []string{"n1", ""}, []string{"team/deployment/etcd: 1 of 2 Pods are bound"}},
		{"both are", []string{"n1", "n2"}, nil},
	} {
		table, err := NewBoard(etcdHub(t, tc.nodes...), nil, nil)
		must(t, err)
		if diff := cmp.Diff(tc.want, table.Pending()); diff != "" {
			t.Errorf("%s: pending (-want +got):\n%s", tc.reason, diff)
		}
	}
	refused := boardRow{wanted: 1, refused: true}
	if got := refused.row().Unsettled; got != "" {
		t.Errorf("a workload whose Pods are refused waits for %q", got)
	}
}

func TestPodsAreLines(t *testing.T) {
	table, err := NewBoard(etcdHub(t, "n1", "n2"), nil, nil)
	must(t, err)
	want := "team/deployment/etcd  2/2  n1, n2  none  (ClusterPodSchedulingPolicy pools: "
	if got := printers.BoardChanges(table)[0].Line; !strings.HasPrefix(got, want) {
		t.Errorf("line %q, want it to begin with %q", got, want)
	}
}
