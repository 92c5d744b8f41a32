// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// crowded is a hub with the ConfigMap and the Deployment "x" of the namespace team-a, and with 1200 ManifestWorks of others.
type crowded struct {
	client.WithWatch

	// asked are the lists of works of others.
	asked   []string
	expires string // the continue token that is not good any more
	// refuse returns the error of a Get; nil for none.
	refuse func(object client.Object) error
	// named are the names of some works of others by their place in the list.
	named map[int]string
}

func newCrowded(objects ...client.Object) *crowded {
	c := &crowded{refuse: func(client.Object) error { return nil }, named: map[int]string{}}
	objects = append(objects,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: map[string]string{federation.FederatedLabel: "true"}}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "x"}})
	c.WithWatch = interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).
		WithIndex(&corev1.Namespace{}, nameField, func(object client.Object) []string { return []string{object.GetName()} }).
		Build(), interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := c.refuse(object); err != nil {
				return err
			}
			return hub.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if works, is := list.(*metav1.PartialObjectMetadataList); is {
				return c.works(works, options)
			}
			return hub.List(ctx, list, options...)
		},
	})

	return c
}

func (c *crowded) works(list *metav1.PartialObjectMetadataList, given []client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(given)
	c.asked = append(c.asked, fmt.Sprintf("%s %s limit %d from %q", list.Kind, options.LabelSelector, options.Limit, options.Continue))

	numbers, err := page(list, &options, c.expires)
	if err != nil {
		return err
	}
	for _, i := range numbers {
		name := c.named[i]
		if name == "" {
			name = "fed-configmap-" + strconv.Itoa(i)
		}
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "c" + strconv.Itoa(i), Name: name}})
	}
	return nil
}

func workNameOf(t *testing.T, kind, name string) string {
	t.Helper()
	kinds := federation.DefaultKinds()
	at := slices.IndexFunc(kinds, func(k federation.FederatedKind) bool { return k.Kind == kind })
	if at < 0 {
		t.Fatalf("%s is not delivered", kind)
	}
	return federation.Identity{Kind: kinds[at], NamespacedName: types.NamespacedName{Namespace: "team-a", Name: name}}.WorkName()
}

// A hub has many ManifestWorks of others: they are read page by page, and only those are kept that have the name of a work of an object.
func TestWorksOfOthersAreReadInChunks(t *testing.T) {
	all := "ManifestWorkList " + federation.ManagedLabel + "!=true "
	chunks := []string{all + `limit 500 from ""`, all + `limit 500 from "500"`, all + `limit 500 from "1000"`}
	for _, tc := range []struct {
		reason, expires string
		given           []*unstructured.Unstructured
		asked, kept     []string
	}{
		{reason: "of the objects of the hub", asked: chunks, kept: []string{"c7", "c1100"}},
		{
			reason: "a list that expired is read anew", expires: "1000",
			asked: append(slices.Clone(chunks), all+`limit 0 from ""`),
			kept:  []string{"c7", "c1100"},
		},
		{
			reason: "of objects that the hub does not have yet", given: []*unstructured.Unstructured{configMap("new")},
			asked: chunks, kept: []string{"c7", "c600", "c1100"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			hub := newCrowded()
			hub.expires = tc.expires
			hub.named = map[int]string{
				7: workNameOf(t, "ConfigMap", "x"), 1100: workNameOf(t, "ConfigMap", "x"), 600: workNameOf(t, "ConfigMap", "new"),
				601: "another", 602: workNameOf(t, "Secret", "x"),
			}

			state := &explain.State{}
			if err := AddFederated(t.Context(), hub, state, "team-a", nil, tc.given...); err != nil {
				t.Fatal(err)
			}
			var kept []string
			for _, work := range state.Federated.Works {
				kept = append(kept, work.Namespace)
			}

			if diff := cmp.Diff([][]string{tc.asked, tc.kept}, [][]string{hub.asked, kept}); diff != "" {
				t.Errorf("requests and works (-want +got):\n%s", diff)
			}
		})
	}
}

func configMap(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	object.SetNamespace("team-a")
	object.SetName(name)
	return object
}

// Works of others are not read for a namespace that does not take part.
func TestWorksOfOthersAreReadOnlyForDelivery(t *testing.T) {
	hub := newCrowded(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-b"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "x"}})
	if err := AddFederated(t.Context(), hub, &explain.State{}, "team-b", nil); err != nil {
		t.Fatal(err)
	}
	if len(hub.asked) > 0 {
		t.Errorf("requests: %v", hub.asked)
	}
}

// docs/spec/trust.md T8: the replicas of a hub are planned by whether its works are guarded, which the policy and its binding say.
func TestReadGuard(t *testing.T) {
	meta := metav1.ObjectMeta{Name: federation.WorksPolicy}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta}
	binding := func(action admissionv1.ValidationAction) client.Object {
		return &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: federation.WorksPolicy, ValidationActions: []admissionv1.ValidationAction{action},
		}}
	}
	resource := schema.GroupResource{Group: admissionv1.GroupName, Resource: "validatingadmissionpolicies"}
	forbidden := apierrors.NewForbidden(resource, federation.WorksPolicy, nil)
	deployment := &unstructured.Unstructured{}
	deployment.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})

	for _, tc := range []struct {
		reason    string
		objects   []client.Object
		refuse    error
		object    *unstructured.Unstructured
		unguarded bool
		missing   string
		fails     string
	}{
		{reason: "both are present", objects: []client.Object{policy, binding(admissionv1.Deny)}},
		{reason: "nothing is present", unguarded: true},
		{reason: "the binding is absent", objects: []client.Object{policy}, unguarded: true},
		{reason: "the policy is absent", objects: []client.Object{binding(admissionv1.Deny)}, unguarded: true},
		{reason: "the binding only warns", objects: []client.Object{policy, binding(admissionv1.Warn)}, unguarded: true},
		{reason: "a user may not read the policy", refuse: forbidden, missing: "replicas are those of a hub that has it"},
		{reason: "the API server is busy", refuse: apierrors.NewTooManyRequests("busy", 1), fails: "reading the policy " + federation.WorksPolicy},
		{reason: "no object has replicas", object: configMap("x"), refuse: forbidden},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			hub := newCrowded(tc.objects...)
			hub.refuse = func(client.Object) error { return tc.refuse }

			state := &explain.State{}
			r := &federatedReader{reader: newReader(t.Context(), hub, state, forDelivery), objects: &state.Federated}
			r.objects.Kinds, r.objects.Objects = federation.DefaultKinds(), []*unstructured.Unstructured{deployment}
			if tc.object != nil {
				r.objects.Objects = []*unstructured.Unstructured{tc.object}
			}
			r.readGuard()
			if r.objects.WorksUnguarded != tc.unguarded {
				t.Errorf("unguarded is %v", r.objects.WorksUnguarded)
			}

			if text := strings.Join(r.objects.Missing, "\n"); !strings.Contains(text, tc.missing) || tc.missing == "" && text != "" {
				t.Errorf("missing is %q, want %q", text, tc.missing)
			}
			if text := fmt.Sprint(r.failed); r.failed != nil && tc.fails == "" || !strings.Contains(text, tc.fails) {
				t.Errorf("the error is %v, want %q", r.failed, tc.fails)
			}
		})
	}
}

// docs/spec/federated-selector.md 3.1.4: nothing is withdrawn while a selected cluster cannot get the object, so a report has to know which
// clusters have no namespace. It knows that where it reads all Namespaces.
func TestClustersWithoutNamespace(t *testing.T) {
	unreadable := func(list client.ObjectList) error {
		if _, is := list.(*corev1.NamespaceList); is {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "", nil)
		}
		return nil
	}
	for _, test := range []struct {
		reason    string
		namespace string
		refuse    func(client.ObjectList) error
		want      []string
	}{
		{"all Namespaces are read", "", nil, []string{"c2", "c3"}},
		{"one Namespace is read", "team-a", nil, nil},
		{"Namespaces may not be read", "", unreadable, nil},
	} {
		terminating := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "c3", DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}, Finalizers: []string{"example.com/hold"},
		}}
		hub := newCrowded(cluster("c1"), cluster("c2"), cluster("c3"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, terminating)
		reader := interceptor.NewClient(hub, interceptor.Funcs{
			List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if test.refuse != nil {
					if err := test.refuse(list); err != nil {
						return err
					}
				}
				return hub.List(ctx, list, options...)
			},
		})

		state, err := FederatedFromCluster(t.Context(), reader, test.namespace, nil)
		if err != nil {
			t.Fatalf("%s: %v", test.reason, err)
		}
		if diff := cmp.Diff(test.want, state.Federated.WithoutNamespace); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

func cluster(name string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
