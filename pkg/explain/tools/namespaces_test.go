// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/expect"
)

// Issue 26, P6: a live hub is asked for what the Namespaces of the files change, and for nothing else.
func TestEffectsOfNamespaces(t *testing.T) {
	const lastApplied = `{"metadata":{"labels":{"federation.kubernetes.io/federated":"true"}}}`
	live := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "team-a", Labels: map[string]string{"tier": "web", federation.FederatedLabel: "true"},
		Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: lastApplied},
	}}
	forbidden := apierrors.NewForbidden(corev1.Resource("namespaces"), "team-a", errors.New("no role"))
	for _, tc := range []struct {
		reason, metadata string
		fails            error
		want             NamespaceEffects
		wantErr          []string
	}{
		{
			reason: "a new Namespace has no workload", metadata: "{name: team-b, labels: {tier: db}}",
		},
		{
			reason: "what is there already", metadata: "{name: team-a, labels: {tier: web, " + federation.FederatedLabel + ": 'true'}}",
		},
		{reason: "a label of the last apply goes", metadata: "{name: team-a}", want: NamespaceEffects{pods: true, delivery: true}},
		{
			reason: "an empty default is one", want: NamespaceEffects{delivery: true},
			metadata: "{name: team-a, labels: {" + federation.FederatedLabel + ": 'true'}, annotations: {" + federation.SelectorAnnotation + ": ''}}",
		},
		{
			reason: "a missing right", metadata: "{name: team-a}", fails: forbidden,
			wantErr: []string{"read the Namespaces of the files", "no role", "leave them out of the files"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			changes, err := Definitions{CRDs: manifests.Definitions}.ChangeReader(statefile.Namespace{}, nil)
			expect.NoError(t, err)
			changes.Read("file", []byte("apiVersion: v1\nkind: Namespace\nmetadata: "+tc.metadata+"\n"))
			given, err := changes.State()
			expect.NoError(t, err)
			hub := interceptor.NewClient(fake.NewClientBuilder().WithObjects(live).Build(), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if tc.fails != nil {
						return tc.fails
					}
					return c.Get(ctx, key, o, options...)
				},
			})
			effects, err := ReadNamespaceEffects(t.Context(), hub, changes, statefile.Writes{}, given)
			if effects != tc.want {
				t.Errorf("effects %+v, want %+v", effects, tc.want)
			}
			if tc.fails == nil {
				expect.NoError(t, err)
			} else {
				expect.Error(t, err, tc.wantErr)
			}
		})
	}
}
