// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// addHead adds the head of an object: its state, owner, age and labels. There is none for a caller who may not get the object.
func (v *visit) addHead(ctx context.Context, made *page, kind schema.GroupVersionKind, namespace, name string) {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	var shown head
	var object client.Object
	if kind == requestKind {
		request := &openmcpv1alpha1.ClusterRequest{}
		if v.reader().Get(ctx, key, request) != nil {
			return // The page says what the caller may see.
		}
		of := requestItem(request)
		shown.State, shown.Tone, shown.Text, object = of.State, of.Tone, of.Message, request
	} else {
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(kind)
		if v.reader().Get(ctx, key, partial) != nil {
			return // As above.
		}
		object = partial
	}
	shown.add(fact{Label: "Owner", Text: ownerOf(object)})
	shown.add(fact{Label: "Created", Time: object.GetCreationTimestamp().Time})
	chips := chipsOf(object.GetLabels())
	for i := range chips {
		chips[i].Link = "" // It leads to clusters.
	}
	shown.add(fact{Label: "Labels", Chips: chips})
	switch made.Section {
	case objectsSection:
		path := link([]string{objectsPath, namespace, kind.GroupKind().String(), name, historyPath})
		shown.add(fact{Label: historySection, Text: "all changes of its clusters", Link: path})
	case requestsSection:
		shown.add(fact{Label: historySection, Text: "all changes of its Cluster", Link: link([]string{requestsPath, namespace, name, historyPath})})
	}
	made.add("head", "objecthead", shown)
}

// requestKind is the kind of ClusterRequests.
var requestKind = openmcpv1alpha1.GroupVersion.WithKind("ClusterRequest")
