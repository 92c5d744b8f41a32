// SPDX-License-Identifier: Apache-2.0

package setlist

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
)

// hub has the sets dev, edge, prod and staging, of which its user may bind prod and staging. To the namespace team are bound staging, by
// RBAC edge, and gone, which does not exist; the binding dev names another set. To the namespace apps are bound staging and, by RBAC, edge.
type hub struct {
	setsFail, bindingsFail, reviewsFail error
}

func (h *hub) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("nothing is to be read by name")
}

func (h *hub) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	switch list := list.(type) {
	case *clusterv1beta2.ManagedClusterSetList:
		if h.setsFail != nil {
			return h.setsFail
		}
		for _, name := range []string{"staging", "prod", "edge", "dev"} {
			list.Items = append(list.Items, clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{
				Name: name, Labels: map[string]string{"stage": name},
			}})
		}
		return nil
	case *clusterv1beta2.ManagedClusterSetBindingList:
		for namespace, bound := range map[string]map[string]string{
			"team": {"staging": "staging", "edge": "edge", "gone": "gone", "dev": "other"}, "apps": {"staging": "staging", "edge": "edge"},
		} {
			for name, set := range bound {
				binding := clusterv1beta2.ManagedClusterSetBinding{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
					Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
				}
				if name == "edge" || name == "staging" && namespace == "apps" {
					binding.Labels = map[string]string{clustersets.ManagedByLabel: clustersets.Manager}
				}
				if h.bindingsFail == nil && (asked.Namespace == "" || asked.Namespace == namespace) {
					list.Items = append(list.Items, binding)
				}
			}
		}

		return h.bindingsFail
	default:
		return errors.New("something else is listed")
	}
}

func (h *hub) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	review, is := object.(*authorizationv1.SelfSubjectAccessReview)
	if !is {
		return errors.New("something else is created")
	}
	asked := *review.Spec.ResourceAttributes
	name := asked.Name
	asked.Name = ""
	review.Status.Allowed = (name == "prod" || name == "staging") && asked == authorizationv1.ResourceAttributes{
		Verb: "create", Group: "cluster.open-cluster-management.io", Resource: "managedclustersets", Subresource: "bind",
	}
	return h.reviewsFail
}

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "cluster.open-cluster-management.io", Resource: resource}, "", errors.New("no"))
}

func TestRead(t *testing.T) {
	bound := []Set{{Name: "edge", Bound: true, Managed: true}, {Name: "gone", Bound: true}, {Name: "staging", MayBind: true, Bound: true}}
	unlisted := "the hub does not allow this user to list all of it: " + forbidden("managedclustersets").Error() +
		"; ask an administrator of the hub for the ClusterRole open-cluster-management:placement-hub:tenant, by a ClusterRoleBinding"
	for _, tc := range []struct {
		reason, namespace, selector string
		hub                         hub
		want                        *List
		wantErr                     string
	}{
		{
			reason: "what may be bound and what is", namespace: "team",
			want: &List{Namespace: "team", Hidden: ptr.To(1), Sets: []Set{
				{Name: "edge", Bound: true, Managed: true}, {Name: "gone", Bound: true, Missing: true}, {Name: "prod", MayBind: true},
				{Name: "staging", MayBind: true, Bound: true},
			}},
		},
		{
			reason: "a namespace without bindings", namespace: "other",
			want: &List{Namespace: "other", Hidden: ptr.To(2), Sets: []Set{{Name: "prod", MayBind: true}, {Name: "staging", MayBind: true}}},
		},
		{
			reason: "who may not list sets sees those that are bound", namespace: "team", hub: hub{setsFail: forbidden("managedclustersets")},
			want: &List{Namespace: "team", Sets: bound, Unlisted: unlisted},
		},
		{
			reason: "who may not list sets cannot select them", namespace: "team", selector: "stage=prod",
			hub:  hub{setsFail: forbidden("managedclustersets")},
			want: &List{Namespace: "team", Sets: []Set{}, Unlisted: unlisted}, wantErr: "open-cluster-management:placement-hub:tenant",
		},
		{
			reason: "who may list neither sees nothing", namespace: "team",
			hub:  hub{setsFail: forbidden("managedclustersets"), bindingsFail: forbidden("managedclustersetbindings")},
			want: &List{Namespace: "team", Sets: []Set{}, Unlisted: unlisted}, wantErr: "open-cluster-management:placement-hub:tenant",
		},
		{
			reason: "who may not list bindings sees what may be bound", namespace: "team",
			hub:     hub{bindingsFail: forbidden("managedclustersetbindings")},
			want:    &List{Namespace: "team", Hidden: ptr.To(2), Sets: []Set{{Name: "prod", MayBind: true}, {Name: "staging", MayBind: true}}},
			wantErr: "ClusterRole view",
		},
		{
			reason: "issue 26, U9: -A", want: &List{Hidden: ptr.To(1), Sets: []Set{
				{Name: "edge", Bound: true, Managed: true, Namespaces: []string{"apps", "team"}},
				{Name: "gone", Bound: true, Missing: true, Namespaces: []string{"team"}}, {Name: "prod", MayBind: true},
				{Name: "staging", MayBind: true, Bound: true, Namespaces: []string{"apps", "team"}},
			}},
		},
		{
			reason: "issue 26, U9: -A without the right", hub: hub{bindingsFail: forbidden("managedclustersetbindings")},
			want:    &List{Hidden: ptr.To(2), Sets: []Set{{Name: "prod", MayBind: true}, {Name: "staging", MayBind: true}}},
			wantErr: "view, by a ClusterRoleBinding, or name a namespace with -n",
		},
		{
			reason: "issue 26, U9: -l", namespace: "team", selector: "stage in (prod, dev)",
			want: &List{Namespace: "team", Hidden: ptr.To(1), Sets: []Set{{Name: "prod", MayBind: true}}},
		},
		{reason: "a hub that fails", namespace: "team", hub: hub{setsFail: errors.New("broken")}, wantErr: "listing ManagedClusterSets: broken"},
		{
			reason: "no hub", namespace: "team", hub: hub{bindingsFail: apierrors.NewNotFound(schema.GroupResource{}, "x")},
			wantErr: "the hub does not serve ManagedClusterSetBindings",
		},
		{reason: "rights that cannot be asked for", namespace: "team", hub: hub{reviewsFail: errors.New("broken")}, wantErr: "whether you may bind"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var selector labels.Selector
			if tc.selector != "" {
				var err error
				if selector, err = labels.Parse(tc.selector); err != nil {
					t.Fatal(err)
				}
			}
			list, err := Read(t.Context(), &tc.hub, tc.namespace, selector)
			if (err != nil) != (tc.wantErr != "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, list); diff != "" {
				t.Errorf("Read() (-want +got):\n%s", diff)
			}
		})
	}
}
