// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

// definitionKind is the kind whose objects make the API server serve other kinds.
var definitionKind = apiextensionsv1.Kind("CustomResourceDefinition")

// An API server with an idle etcd serves a new definition within a second; one that starts on a busy machine needs longer.
const (
	servedTimeout  = time.Minute
	servedInterval = 50 * time.Millisecond
)

// waitUntilServed returns when each of the applied definitions is established, listed by discovery and served for list requests in all its
// versions. It clears the cached discovery.
func (a *applier) waitUntilServed(ctx context.Context, definitions []*unstructured.Unstructured) error {
	for _, definition := range definitions {
		var obstacle string
		err := wait.PollUntilContextTimeout(ctx, servedInterval, servedTimeout, true, func(ctx context.Context) (bool, error) {
			var err error
			obstacle, err = a.obstacle(ctx, definition)
			return obstacle == "" && err == nil, err
		})
		switch {
		case err == nil:
		case wait.Interrupted(err):
			return fmt.Errorf("wait for %s: %s: %w", describe(definition), obstacle, err)
		default:
			return fmt.Errorf("wait for %s: %w", describe(definition), err)
		}
	}
	if len(definitions) > 0 {
		clear(a.served)
	}
	return nil
}

// obstacle returns why the resource of a definition cannot be used yet; "" means that it can. It returns an error if waiting does not help.
func (a *applier) obstacle(ctx context.Context, definition *unstructured.Unstructured) (string, error) {
	res := definition.GroupVersionKind().GroupVersion().WithResource("customresourcedefinitions")
	live, err := a.client.Resource(res).Get(ctx, definition.GetName(), metav1.GetOptions{})
	if err != nil {
		return transient("it cannot be read", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &crd); err != nil {
		return "", fmt.Errorf("the API server's answer is not a CustomResourceDefinition: %w", err)
	}
	if obstacle, err := notEstablished(&crd); obstacle != "" || err != nil {
		return obstacle, err
	}
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
		list, err := a.discovery.ServerResourcesForGroupVersionWithContext(ctx, gvk.GroupVersion().String())
		if err != nil {
			return transient(fmt.Sprintf("discovery does not answer for %s", gvk.GroupVersion()), err)
		}
		found, ok := findResource(list, gvk)
		if !ok {
			return fmt.Sprintf("discovery does not list %s of %s", crd.Spec.Names.Plural, gvk.GroupVersion()), nil
		}
		if _, err := a.client.Resource(found.GroupVersionResource).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
			return transient(fmt.Sprintf("%s of %s cannot be listed", found.Resource, gvk.GroupVersion()), err)
		}
	}
	return "", nil
}

// notEstablished returns why the API server does not accept the definition yet; "" means that it does. A name that another definition
// holds, or a definition that is being deleted, is an error.
func notEstablished(crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	established := false
	for _, condition := range crd.Status.Conditions {
		switch condition.Type {
		case apiextensionsv1.Established:
			established = condition.Status == apiextensionsv1.ConditionTrue
		case apiextensionsv1.NamesAccepted:
			if condition.Status == apiextensionsv1.ConditionFalse {
				return "", fmt.Errorf("its names are taken (%s): %s; remove the definition that holds them", condition.Reason, condition.Message)
			}
		case apiextensionsv1.Terminating:
			if condition.Status == apiextensionsv1.ConditionTrue {
				return "", errors.New("it is being deleted; try again when it is gone")
			}
		default: // irrelevant to whether the resource can be used
		}
	}
	if !established {
		return "it is not established", nil
	}
	return "", nil
}

// transient converts an error of a starting resource into an obstacle, and returns any other error.
func transient(what string, err error) (string, error) {
	if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err) {
		return what + ": " + err.Error(), nil
	}
	return "", fmt.Errorf("%s: %w", what, err)
}

// isSubresource reports whether a resource name of discovery is that of a subresource.
func isSubresource(name string) bool { return strings.Contains(name, "/") }
