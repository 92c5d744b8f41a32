// SPDX-License-Identifier: Apache-2.0

package toy_test

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubetesting "k8s.io/client-go/testing"
	"sigs.k8s.io/cluster-inventory-api/client/clientset/versioned/fake"

	"github.com/placement-hub/placement-hub/conformance"
	"github.com/placement-hub/placement-hub/conformance/toy"
)

// TestProducerWritesAgain: a request of a killed producer, which the API server completes later, is no failure of the next one.
func TestProducerWritesAgain(t *testing.T) {
	resource := schema.GroupResource{Group: "multicluster.x-k8s.io", Resource: "placementdecisions"}
	for verb, overtaken := range map[string]error{
		"create": apierrors.NewAlreadyExists(resource, "wish-0"),
		"update": apierrors.NewConflict(resource, "wish-0", nil),
	} {
		t.Run(verb, func(t *testing.T) {
			client := fake.NewSimpleClientset()
			written := make(chan struct{}, 10)
			refusals := 1
			client.PrependReactor(verb, resource.Resource, func(kubetesting.Action) (bool, runtime.Object, error) {
				if refusals > 0 {
					refusals--
					return true, nil, overtaken
				}
				written <- struct{}{}
				return false, nil, nil
			})
			producer := &toy.Producer{Client: client}
			if err := producer.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			placement := types.NamespacedName{Namespace: "team", Name: "wish"}
			for _, name := range []string{"c1", "c2"} {
				if err := producer.Decide(t.Context(), placement, []conformance.ProfileRef{{Namespace: "fleet", Name: name}}); err != nil {
					t.Fatal(err)
				}
				if name == "c1" {
					awaitProfiles(t, client, placement.Namespace, 1)
				}
			}
			select {
			case <-written:
			case <-time.After(time.Minute):
				t.Error("the producer did not write again")
			}
			if err := producer.Kill(t.Context()); err != nil {
				t.Error(err)
			}
			if err := producer.Decide(t.Context(), placement, nil); err != nil {
				t.Errorf("the producer failed: %v", err)
			}
		})
	}
}

// TestProducerFillsAGap: a producer that was killed while it deleted its slices may have left the later ones.
func TestProducerFillsAGap(t *testing.T) {
	client := fake.NewSimpleClientset()
	producer := &toy.Producer{Client: client}
	if err := producer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	placement := types.NamespacedName{Namespace: "team", Name: "wish"}
	var wish []conformance.ProfileRef
	for i := range 250 {
		wish = append(wish, conformance.ProfileRef{Namespace: "fleet", Name: fmt.Sprintf("c%03d", i)})
	}
	if err := producer.Decide(t.Context(), placement, wish); err != nil {
		t.Fatal(err)
	}
	awaitProfiles(t, client, placement.Namespace, len(wish))
	if err := producer.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.ApisV1alpha1().PlacementDecisions(placement.Namespace).Delete(t.Context(), "wish-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := producer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitProfiles(t, client, placement.Namespace, len(wish))
	if err := producer.Kill(t.Context()); err != nil {
		t.Error(err)
	}
}

// awaitProfiles waits until the slices select so many profiles.
func awaitProfiles(t *testing.T, client *fake.Clientset, namespace string, count int) {
	t.Helper()
	for range 600 {
		list, err := client.ApisV1alpha1().PlacementDecisions(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(conformance.Union(list.Items)) == count {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	t.Fatalf("%d profiles were not selected", count)
}
