// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
)

// The upstream paths of the webhooks.
const (
	MutatePath   = "/mutate-cluster-open-cluster-management-io-v1-managedcluster"
	ValidatePath = "/validate-cluster-open-cluster-management-io-v1-managedcluster"
)

// Controller is the name of the controller that serves the handlers, and Configuration that of its MutatingWebhookConfiguration and of its
// ValidatingWebhookConfiguration.
const (
	Controller    = "managedcluster-defaults"
	Configuration = "open-cluster-management-placement-hub-managedclusters"
)

// NewHandlers returns the handlers of MutatePath and ValidatePath. The clock provides the time of new taints; the reader must read
// Namespaces from the API server and not from a cache. The handlers are safe for concurrent use.
func NewHandlers(passive clock.PassiveClock, reader client.Reader) (map[string]admission.Handler, error) {
	scheme := runtime.NewScheme()
	if err := clusterv1.Install(scheme); err != nil {
		return nil, fmt.Errorf("registering the types of %s: %w", clusterv1.GroupVersion, err)
	}
	decoder := admission.NewDecoder(scheme)
	return map[string]admission.Handler{
		MutatePath:   &mutator{clusterReader{decoder}, passive},
		ValidatePath: &validator{clusterReader{decoder}, reader},
	}, nil
}

// clusterReader decodes the ManagedClusters of requests.
type clusterReader struct{ decoder admission.Decoder }

// read returns the ManagedCluster after and before the request; before is nil on creation. It returns an error if either cannot be decoded.
func (r clusterReader) read(request admission.Request) (cluster, before *clusterv1.ManagedCluster, err error) {
	cluster = &clusterv1.ManagedCluster{}
	if err := r.decoder.DecodeRaw(request.Object, cluster); err != nil {
		return nil, nil, fmt.Errorf("ManagedCluster %s cannot be read: %w; correct the field", request.Name, err)
	}
	if request.Operation != admissionv1.Update {
		return cluster, nil, nil
	}

	before = &clusterv1.ManagedCluster{}
	if err := r.decoder.DecodeRaw(request.OldObject, before); err != nil {
		return nil, nil, fmt.Errorf("ManagedCluster %s, as it is stored, cannot be read: %w", request.Name, err)
	}
	return cluster, before, nil
}

// mutator sets the defaults of ManagedClusters.
type mutator struct {
	clusterReader

	clock clock.PassiveClock
}

func (m *mutator) Handle(_ context.Context, request admission.Request) admission.Response {
	cluster, before, err := m.read(request)
	if err != nil {
		return webhook.BadRequest(err)
	}
	patch, err := Defaults(cluster, before, m.clock.Now())
	if err != nil {
		return webhook.BadRequest(err)
	}
	return admission.Patched("", patch...)
}

// validator denies accepting a ManagedCluster whose namespace is terminating, because the objects that the hub creates there would be lost.
type validator struct {
	clusterReader

	reader client.Reader
}

func (v *validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	cluster, before, err := v.read(request)
	if err != nil {
		return webhook.BadRequest(err)
	}
	if !Accepts(cluster, before) {
		return admission.Allowed("")
	}
	namespace := objects.Metadata(corev1.SchemeGroupVersion.WithKind("Namespace"))

	name := cluster.Name // The name in the request is empty with generateName.
	err = v.reader.Get(ctx, client.ObjectKey{Name: name}, namespace)
	switch {
	case apierrors.IsNotFound(err):
		return admission.Allowed("")
	case err != nil:
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("looking whether namespace %s is terminating: %w", name, err))
	case namespace.DeletionTimestamp.IsZero():
		return admission.Allowed("")
	default:
		return admission.Denied(fmt.Sprintf("cluster namespace %q is terminating: "+
			"wait until the namespace is gone, and accept ManagedCluster %s then", name, name))
	}
}
