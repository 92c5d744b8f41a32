// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

// rights authorizes by "verb resource namespace/name".
type rights map[string]bool

func (r rights) Authorize(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	if r[asked.GetVerb()+" "+asked.GetResource()+" "+asked.GetNamespace()+"/"+asked.GetName()] {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionDeny, "", nil
}

func TestReaderReadsWhatTheUserMayRead(t *testing.T) {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "settings"}}
	hub := fake.NewClientBuilder().WithScheme(scheme.New()).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme.New())).
		WithObjects(settings).Build()
	reader := NewReader(hub, rights{"get configmaps team-a/settings": true, "list configmaps team-a/": true}, &user.DefaultInfo{Name: "jane"})

	for _, tc := range []struct {
		reason string
		read   func() error
		may    bool
	}{
		{"an object", func() error {
			return reader.Get(t.Context(), client.ObjectKeyFromObject(settings), &corev1.ConfigMap{})
		}, true},
		{
			"another object",
			func() error {
				return reader.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "x"}, &corev1.ConfigMap{})
			}, false,
		},
		{"a namespace", func() error { return reader.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("team-a")) }, true},
		{"all namespaces", func() error { return reader.List(t.Context(), &corev1.ConfigMapList{}) }, false},
		{"metadata", func() error {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
			return reader.List(t.Context(), list, client.InNamespace("team-a"))
		}, false},
		{"the list of a name", func() error {
			return reader.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("team-a"),
				client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(nameField, "settings")})
		}, false},
	} {
		if err := tc.read(); tc.may != (err == nil) || !tc.may && !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}

	for verb, err := range map[string]error{
		"create": reader.Create(t.Context(), settings), "update": reader.Update(t.Context(), settings),
		"delete": reader.Delete(t.Context(), settings),
		"status": reader.Status().Update(t.Context(), settings), "scale": reader.SubResource("scale").Get(t.Context(), settings, settings),
	} {
		if err == nil {
			t.Errorf("a reader may %s", verb)
		}
	}
}

func TestTrailHoldsWhileTheRightsStay(t *testing.T) {
	who, may := &user.DefaultInfo{Name: "jane"}, rights{"list nodes /": true}
	ctx, trail := WithTrail(t.Context())
	nodes, secrets := corev1.SchemeGroupVersion.WithResource("nodes"), corev1.SchemeGroupVersion.WithResource("secrets")
	if err := Allowed(ctx, may, who, VerbList, nodes, "", ""); err != nil {
		t.Fatal(err)
	}
	if err := Allowed(ctx, may, who, VerbList, secrets, "", ""); !apierrors.IsForbidden(err) {
		t.Fatalf("a right that the user lacks: %v", err)
	}
	wantHolds := func(reason string, want bool) {
		t.Helper()
		if holds, err := trail.Holds(t.Context(), may); err != nil || holds != want {
			t.Errorf("%s: holds is %t, %v", reason, holds, err)
		}
	}
	wantHolds("nothing has changed", true)
	may["list secrets /"] = true
	wantHolds("a right was added", false)
	delete(may, "list secrets /")
	wantHolds("it is as it was", true)
	delete(may, "list nodes /")
	wantHolds("a right was taken away", false)
}
