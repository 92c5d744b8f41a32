// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Every field survives the way to the API server and back, and has the name that users of kupid know: an unknown one fails the test.
func TestRoundTrip(t *testing.T) {
	const (
		constraints = `"nodeSelector":{"pool":"etcd"},"nodeName":"n1",` +
			`"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}},` +
			`"schedulerName":"custom","tolerations":[{"key":"pool","operator":"Exists"}]`
		policy = `{"kind":"PodSchedulingPolicy","apiVersion":"kupid.gardener.cloud/v1alpha1",` +
			`"metadata":{"name":"p","namespace":"a"},"spec":{` + constraints + `,"podSelector":{}}}`
		cluster = `{"kind":"ClusterPodSchedulingPolicy","apiVersion":"kupid.gardener.cloud/v1alpha1","metadata":{"name":"p"},` +
			`"spec":{` + constraints + `,"podSelector":{"matchLabels":{"app":"etcd"}},"namespaceSelector":{"matchLabels":{"role":"shoot"}}}}`
		empty = `{"kind":"PodSchedulingPolicy","apiVersion":"kupid.gardener.cloud/v1alpha1","metadata":{"name":"p"},"spec":{}}`
	)
	scheme := runtime.NewScheme()
	if err := Install(scheme); err != nil {
		t.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	for _, document := range []string{policy, cluster, empty} {
		object, _, err := codecs.UniversalDeserializer().Decode([]byte(document), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(object.DeepCopyObject())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(document, string(got)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
