// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/utils/ptr"
)

func TestInstall(t *testing.T) {
	var got []string
	for kind := range scheme(t).KnownTypes(GroupVersion) {
		if strings.HasPrefix(kind, "Placement") {
			got = append(got, kind)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"Placement", "PlacementDecision", "PlacementDecisionList", "PlacementList"}, got); diff != "" {
		t.Errorf("kinds of %s (-want +got):\n%s", GroupVersion, diff)
	}
}

// Every field survives the way to the API server and back, and has the name that docs/spec/placement-v1alpha1.md P2 to P14 give it: an
// unknown one fails the test.
func TestRoundTrip(t *testing.T) {
	const placement = `{"kind":"Placement","apiVersion":"placement.open-cluster-management.io/v1alpha1",` +
		`"metadata":{"name":"p","namespace":"team-a"},` +
		`"spec":{"clusterSets":["prod"],"numberOfClusters":0,"predicates":[{` +
		`"labelSelector":{"matchLabels":{"region":"eu"},"matchExpressions":[{"key":"tier","operator":"In","values":["gold"]}]},` +
		`"clusterName":"eu1",` +
		`"claimSelector":{"matchClaims":{"arn":"arn:aws:iam::1"},"matchExpressions":[{"key":"id.k8s.io","operator":"Exists"}]}}],` +
		`"antiAffinity":{"topologyKey":"region","topologyKeyType":"Label"}},` +
		`"status":{"conditions":[{"type":"PlacementSatisfied","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z",` +
		`"reason":"AllDecisionsScheduled","message":""}]}}`
	const page = `{"kind":"PlacementDecision","apiVersion":"placement.open-cluster-management.io/v1alpha1",` +
		`"metadata":{"name":"p-decision-1","namespace":"team-a","labels":{"placement.open-cluster-management.io":"p"}},` +
		`"decisions":[{"clusterName":"eu1","available":false}]}`
	codecs := serializer.NewCodecFactory(scheme(t), serializer.EnableStrict)
	for _, document := range []string{placement, page} {
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

// What is not given is not written either: the API server rejects half an antiAffinity and an empty topologyKey.
func TestZeroValuesStayAway(t *testing.T) {
	spec := PlacementSpec{NumberOfClusters: ptr.To[int32](0), Predicates: []ClusterPredicate{{ClusterName: "eu1"}}}
	got, err := json.Marshal(Placement{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"name":"p"},"spec":{"numberOfClusters":0,"predicates":[{"clusterName":"eu1"}]},"status":{}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := Install(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}
