// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/webhook"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// The paths of the handlers.
const (
	PodPath         = "/validate-pod-affinityclass"
	TenantPath      = "/validate-tenant"
	ApplicationPath = "/validate-application"
)

// Names of the controller, as --controllers takes it, and of its ValidatingWebhookConfiguration.
const (
	Controller    = "affinityclass/webhook"
	Configuration = "open-cluster-management-placement-hub-affinityclass"
)

// readTimeout bounds all reads of one review. It is shorter than the timeout of the API server, so that the refusal says what was read.
const readTimeout = 3 * time.Second

// NewHandlers returns the handlers by their paths, for a hub in a namespace. They read from the cache of the manager, and have it watch
// AffinityClasses, Tenants, HelmReleases and Namespaces. It returns an error if the API server does not serve one of these kinds.
func NewHandlers(mgr manager.Manager, namespace string, passive clock.PassiveClock) (map[string]admission.Handler, error) {
	owners, err := newOwners(mgr.GetConfig(), mgr.GetHTTPClient(), passive)
	if err != nil {
		return nil, err
	}
	r := &readers{Reader: reader.New(mgr.GetCache(), mgr.GetAPIReader()), owners: owners}

	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(affinityclass.ReleaseKind)
	for _, kind := range []client.Object{release, &corev1.Namespace{}, &cozystackv1alpha1.AffinityClass{}, &appsv1alpha1.Tenant{}} {
		informer, err := mgr.GetCache().GetInformer(context.Background(), kind, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
		if _, is := kind.(*appsv1alpha1.Tenant); !is {
			continue
		}
		if _, err := informer.AddEventHandler(r.TenantHandler()); err != nil {
			return nil, fmt.Errorf("handling events of Tenants: %w", err)
		}
	}

	return handlers(r, namespace), nil
}

func handlers(r *readers, namespace string) map[string]admission.Handler {
	return map[string]admission.Handler{
		PodPath:         counted(PodPath, (&podHandler{r}).review),
		TenantPath:      counted(TenantPath, (&tenantHandler{r}).review),
		ApplicationPath: counted(ApplicationPath, (&applicationHandler{r, namespace}).review),
	}
}

// counted returns a handler that reviews within readTimeout and counts the verdict.
func counted(path string, review admission.HandlerFunc) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		response := review(ctx, request)
		metrics.CountClassReview(path, verdictOf(response))
		return response
	})
}

func verdictOf(response admission.Response) metrics.Verdict {
	switch {
	case response.Allowed && len(response.Warnings) > 0:
		return metrics.VerdictWarned
	case response.Allowed:
		return metrics.VerdictAllowed
	case response.Result.Code == http.StatusForbidden || response.Result.Code == http.StatusUnprocessableEntity:
		return metrics.VerdictDenied
	default:
		return metrics.VerdictError
	}
}

// respond answers with a review of package affinityclass.
func respond(request admission.Request, name string, review affinityclass.Review, err error) admission.Response {
	switch {
	case err != nil:
		return webhook.InternalError(err)
	case len(review.Errors) > 0:
		kind := schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
		status := apierrors.NewInvalid(kind, name, review.Errors).Status()
		return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}.WithWarnings(review.Warnings...)
	default:
		return admission.Allowed("").WithWarnings(review.Warnings...)
	}
}
