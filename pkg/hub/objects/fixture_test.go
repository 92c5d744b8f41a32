// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

// recorder is a fake client that counts the requests that change something, and refuses them with an error if there is one.
type recorder struct {
	client.Client

	refuse error
	// patches has the bodies of the patches.
	patches []string
}

func newRecorder(t *testing.T, stored ...client.Object) *recorder {
	t.Helper()
	r := &recorder{}
	note := func(object client.Object, patch client.Patch) error {
		data, err := patch.Data(object)
		if err != nil {
			t.Fatal(err)
		}
		r.patches = append(r.patches, string(data))
		return r.refuse
	}

	r.Client = fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(stored...).
		WithStatusSubresource(&openmcpv1alpha1.Cluster{}).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(
			ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption,
		) error {
			if err := note(object, patch); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption,
		) error {
			if err := note(object, patch); err != nil {
				return err
			}
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
		SubResourceApply: func(
			ctx context.Context, c client.Client, name string, applied runtime.ApplyConfiguration, options ...client.SubResourceApplyOption,
		) error {
			if r.refuse != nil {
				return r.refuse
			}
			return c.SubResource(name).Apply(ctx, applied, options...)
		},
	}).Build()

	return r
}

func configMap(finalizers ...string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "x", Finalizers: finalizers}}
}

func cluster() *openmcpv1alpha1.Cluster {
	return &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "c"}}
}

// read reads an object of the type of the example.
func read[T object[T]](t *testing.T, reader client.Reader, example T) T {
	t.Helper()
	latest := example.DeepCopy()
	if err := reader.Get(t.Context(), client.ObjectKeyFromObject(example), latest); err != nil {
		t.Fatal(err)
	}
	return latest
}
