// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Every field survives the way to the API server and back, and has the name of docs/spec/cluster-request.md 4.1.1: an unknown one fails
// the test.
func TestRoundTrip(t *testing.T) {
	const (
		head   = `","apiVersion":"cluster.openmcp.cloud/v1alpha1","metadata":{"name":"a"},`
		common = `"observedGeneration":1,"lastReconcileTime":"2026-01-01T00:00:00Z",` +
			`"conditions":[{"type":"C","status":"True","lastTransitionTime":null,"reason":"R","message":""}]`
		result  = common + `,"status":"Granted","reason":"Success","message":"m"`
		cluster = `"clusterProviderRef":{"name":"p","profile":"q"},"clusterConfigRef":{"apiGroup":"g","kind":"K","name":"n"},` +
			`"kubernetes":{"version":"1.20.3"},"purposes":["p"],"tenancy":"Shared"`
		traits  = `"traits":[{"trait":"t","optional":true,"negated":true},{"name":"t"},{"anyOf":[{"trait":"t","negated":true},{"name":"t"}]}]`
		request = `{"kubernetes":{"version":"1.20"},"dedicated":false,"purposes":["p"],` + traits +
			`,"prefix":"foo-","waitForClusterDeletion":false}`
		template = `{"namespace":"n","name":"m","generateName":"g-","labels":{"a":"b"},"annotations":{"c":"d e"}}`
	)
	scheme := runtime.NewScheme()
	if err := Install(scheme); err != nil {
		t.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	for _, document := range []string{
		`{"kind":"ClusterProvider` + head + `"spec":{"package":"x","packagePullSecret":[{"name":"s"}]},"status":{` + common +
			`,"ready":true,"reason":"R","message":"m","profiles":[{"name":"q","providerConfigRef":{"name":"c"},` +
			`"supportedVersions":[{"version":"1.19.1","deprecated":true}],"supportedTraits":[{"trait":"t"},{"name":"u"}]}]}}`,
		`{"kind":"Cluster` + head + `"spec":{` + cluster + `},"status":{` + common +
			`,"phase":"Succeeded","endpoints":[{"name":"apiserver-external","url":"u"}],"managedCluster":"m","providerStatus":{"deep":[1]}}}`,
		`{"kind":"ClusterRequest` + head + `"spec":` + request + `,"status":{` + result + `}}`,
		`{"kind":"ClusterRequestGrant` + head + `"spec":{"clusterRef":{"name":"c","namespace":"n"},"prefix":"foo-","cluster":{` + cluster +
			`,"labels":{"a":"b"},"annotations":{"c":"d e"}}},` +
			`"status":{` + common + `,"request":{"metadata":{"name":"a","namespace":"n"},"spec":` + request + `}}}`,
		`{"kind":"Purpose` + head + `"spec":{"dedicated":true,` + traits + `,"tenancyLimit":2,"clusterTemplate":` + template + `}}`,
		`{"kind":"TraitEquivalence` + head + `"spec":{"traits":["a","b"]}}`,
		`{"kind":"AccessRequest` + head + `"spec":{"clusterRef":{"name":"c","namespace":"n"},"requestRef":{"name":"r"},"permissions":[{"name":"p",` +
			`"namespace":"n","createNamespace":false,"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}],` +
			`"roleRefs":[{"kind":"Role","name":"r","namespace":"n"}],"ttl":"1h30m0s",` +
			`"requester":{"username":"u","uid":"1","groups":["g"],"extra":{"s":["x"]}}},"status":{` + result +
			`,"clusterRef":{"name":"c","namespace":"n"},"secretRef":{"name":"s"}}}`,
	} {
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
