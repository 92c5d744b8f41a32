// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

func newTestDecoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme) error{clusterv1.Install, clusterv1alpha1.Install, clusterv1beta1.Install} {
		if err := install(scheme); err != nil {
			t.Fatal(err)
		}
	}
	codecs := newSerializer(scheme)

	info, found := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !found {
		t.Fatal("there is no serializer for JSON")
	}
	return codecs.DecoderToVersion(info.Serializer, nil)
}

const clusterForm = `{"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster",` +
	`"metadata":{"name":%q,"resourceVersion":"7","labels":{"region":"eu"}%s},"spec":{%s},"status":{%s}}`

func listOf(items ...string) string {
	return `{"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedClusterList","metadata":{"resourceVersion":"9","continue":"next"},` +
		`"items":[` + strings.Join(items, ",") + `]}`
}

func TestDecodeOneObject(t *testing.T) {
	for _, tc := range []struct {
		reason               string
		metadata, spec, body string
		want                 []string // the unreadable paths
		check                func(*clusterv1.ManagedCluster) bool
	}{
		{
			reason: "a quantity", body: `"capacity":{"cpu":"4"},"allocatable":{"cpu":"1e1.5","memory":"1Gi"}`,
			want: []string{"status.allocatable.cpu"},
			check: func(c *clusterv1.ManagedCluster) bool {
				return len(c.Status.Allocatable) == 1 && !c.Status.Capacity["cpu"].Equal(c.Status.Allocatable["memory"])
			},
		},
		{
			reason: "a quantity that takes minutes to parse",
			body:   `"capacity":{"cpu":"1e4217483647","memory":"1Gi"},"allocatable":{"cpu":"1e-99999999"}`,
			want:   []string{"status.allocatable.cpu", "status.capacity.cpu"},
			check:  func(c *clusterv1.ManagedCluster) bool { return len(c.Status.Capacity) == 1 },
		},
		{
			reason: "a label that looks like one", metadata: `,"annotations":{"a":"1e4217483647"}`,
			check: func(c *clusterv1.ManagedCluster) bool { return c.Annotations["a"] == "1e4217483647" },
		},
		{
			reason: "the name of a resource needs brackets", body: `"capacity":{"nvidia.com/gpu":"x"}`,
			want: []string{"status.capacity[nvidia.com/gpu]"},
		},
		{
			reason: "the time of one of two taints", spec: `"taints":[{"key":"a","effect":"NoSelect"},` +
				`{"key":"b","effect":"NoSelect","timeAdded":"2027-01-01t00:00:00z"}]`, want: []string{"spec.taints[1].timeAdded"},
			check: func(c *clusterv1.ManagedCluster) bool { return len(c.Spec.Taints) == 2 && c.Spec.Taints[1].Key == "b" },
		},
		{
			reason: "the time of a condition", body: `"conditions":[{"type":"T","status":"True","lastTransitionTime":"2027-01-01t00:00:00z"}]`,
			want:  []string{"status.conditions[0].lastTransitionTime"},
			check: func(c *clusterv1.ManagedCluster) bool { return c.Status.Conditions[0].Status == metav1.ConditionTrue },
		},
		{
			reason: "an integer", spec: `"leaseDurationSeconds":9999999999,"hubAcceptsClient":true`, want: []string{"spec.leaseDurationSeconds"},
			check: func(c *clusterv1.ManagedCluster) bool { return c.Spec.HubAcceptsClient },
		},
		{
			reason: "two kinds of fields", spec: `"leaseDurationSeconds":9999999999`, body: `"capacity":{"b":"x","a":"y"}`,
			want: []string{"spec.leaseDurationSeconds", "status.capacity.a", "status.capacity.b"},
		},
		{
			reason: "a mark that somebody sent is not believed", metadata: `,"annotations":{"` + unreadable.Annotation + `":"x","a":"b"}`,
			check: func(c *clusterv1.ManagedCluster) bool { return cmp.Equal(c.Annotations, map[string]string{"a": "b"}) },
		},
		{
			reason: "nor is it beside a field", metadata: `,"annotations":{"` + unreadable.Annotation + `":"x"}`, body: `"capacity":{"a":"y"}`,
			want: []string{"status.capacity.a"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			for _, into := range []*clusterv1.ManagedCluster{nil, {Spec: clusterv1.ManagedClusterSpec{LeaseDurationSeconds: 3}}} {
				var target runtime.Object
				if into != nil {
					target = into
				}
				object, _, err := newTestDecoder(t).Decode(fmt.Appendf(nil, clusterForm, "c1", tc.metadata, tc.spec, tc.body), nil, target)
				if err != nil {
					t.Fatal(err)
				}

				cluster, isOne := object.(*clusterv1.ManagedCluster)
				if !isOne || cluster.Name != "c1" || cluster.ResourceVersion != "7" || cluster.Labels["region"] != "eu" ||
					cluster.Spec.LeaseDurationSeconds != 0 {
					t.Fatalf("decoded %#v", object)
				}
				if tc.check != nil && !tc.check(cluster) {
					t.Errorf("decoded %#v", cluster)
				}

				var paths []string
				for _, field := range unreadable.Of(cluster) {
					paths = append(paths, field.Path)
				}
				if diff := cmp.Diff(tc.want, paths); diff != "" {
					t.Errorf("unreadable fields (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestDecodeAListItemByItem(t *testing.T) {
	good := fmt.Sprintf(clusterForm, "good", "", `"hubAcceptsClient":true`, `"capacity":{"cpu":"4"}`)
	bad := fmt.Sprintf(clusterForm, "bad", "", "", `"capacity":{"cpu":"1e1.5"}`)
	list := &clusterv1.ManagedClusterList{Items: make([]clusterv1.ManagedCluster, 5)}
	if _, _, err := newTestDecoder(t).Decode([]byte(listOf(good, bad, good)), nil, list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 3 || list.ResourceVersion != "9" || list.Continue != "next" {
		t.Fatalf("decoded %#v", list)
	}

	if diff := cmp.Diff(list.Items[0], list.Items[2]); diff != "" || list.Items[0].Name != "good" || unreadable.Of(&list.Items[0]) != nil {
		t.Errorf("the readable items are %#v and differ by %s", list.Items[0], diff)
	}
	fields := unreadable.Of(&list.Items[1])
	if len(fields) != 1 || fields[0].Path != "status.capacity.cpu" || fields[0].Value != `"1e1.5"` ||
		!strings.Contains(fields[0].Problem, "quantities") {
		t.Errorf("unreadable are %v", fields)
	}
}

func TestDecodeFailsOnWhatIsNoObject(t *testing.T) {
	for _, data := range []string{
		`{`, `[]`, `"x"`, `{"apiVersion":"x/v1","kind":"Y"}`,
		`{"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedClusterList","items":7}`,
	} {
		if object, _, err := newTestDecoder(t).Decode([]byte(data), nil, nil); err == nil {
			t.Errorf("%s was decoded to %#v", data, object)
		}
	}
}

func TestManySpoiltFieldsCostAndRememberLittle(t *testing.T) {
	quantities := func(from, count int) string {
		entries := make([]string, 0, count)
		for i := range count {
			entries = append(entries, fmt.Sprintf(`"r%05d":%q`, from+i, strings.Repeat("x", 2*maxTextBytes)))
		}
		return strings.Join(entries, ",")
	}

	body := `"clusterClaims":[{"name":"a","value":"b"}],"capacity":{` + quantities(0, maxProbes+1) +
		`},"allocatable":{` + quantities(0, 2*maxDescribed) + `}`

	object, _, err := newTestDecoder(t).Decode(fmt.Appendf(nil, clusterForm, "c1", "", "", body), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster, isOne := object.(*clusterv1.ManagedCluster)
	if !isOne || len(cluster.Status.ClusterClaims) != 1 {
		t.Fatalf("decoded %#v", object)
	}

	fields := unreadable.Of(cluster)
	if len(fields) != 2*maxDescribed+1 || len(fields.Under("status.capacity")) != 1 || len(fields.Under("status.allocatable")) != 2*maxDescribed {
		t.Errorf("unreadable are %d fields: %v", len(fields), fields)
	}
	if size := len(cluster.Annotations[unreadable.Annotation]); size > 20_000 {
		t.Errorf("the mark has %d bytes", size)
	}
}
