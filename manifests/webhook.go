// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

const webhook = "webhook"

// The kinds of webhook configurations.
const (
	mutatingKind   = "MutatingWebhookConfiguration"
	validatingKind = "ValidatingWebhookConfiguration"
)

// Webhook returns the configurations of the admission webhook for ManagedClusters. They refer to the Service placement-webhook in the
// namespace of the hub or, for a hub outside of the cluster, to the URL base, such as https://127.0.0.1:9443. It returns an error if base
// is not an https URL.
func Webhook(base string) ([]*unstructured.Unstructured, error) {
	objs, err := objectsIn(webhook)
	if err != nil {
		return nil, err
	}
	if err := callAt(base, objs); err != nil {
		return nil, err
	}
	return objs, nil
}

// ValidateWebhookURL returns an error if the API server would refuse a base of the URLs of webhooks. Empty, for the Service, is valid.
func ValidateWebhookURL(base string) error {
	if base == "" {
		return nil
	}
	location, err := url.Parse(base)
	if err != nil || location.Scheme != "https" || location.Hostname() == "" || location.User != nil || location.RawQuery != "" ||
		location.Fragment != "" {
		return fmt.Errorf("the URL of the webhook is %q: use https://host:port", base)
	}
	return nil
}

// callAt makes the webhook configurations among objects refer to the URL base; empty leaves them to their Service.
func callAt(base string, objs []*unstructured.Unstructured) error {
	if base == "" {
		return nil
	}
	if err := ValidateWebhookURL(base); err != nil {
		return err
	}
	location, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("the URL of the webhook: %w", err)
	}
	for _, obj := range objs {
		if kind := obj.GetKind(); kind != mutatingKind && kind != validatingKind {
			continue
		}
		webhooks, _, err := unstructured.NestedSlice(obj.Object, "webhooks")
		if err != nil {
			return fmt.Errorf("%s: %w", describe(obj), err)
		}
		for _, entry := range webhooks {
			if err := replaceService(entry, location); err != nil {
				return fmt.Errorf("%s: %w", describe(obj), err)
			}
		}
		if err := unstructured.SetNestedSlice(obj.Object, webhooks, "webhooks"); err != nil {
			return fmt.Errorf("%s: %w", describe(obj), err)
		}
	}
	return nil
}

// replaceService replaces the Service of an entry of webhooks by a URL with the same path.
func replaceService(entry any, base *url.URL) error {
	fields, ok := entry.(map[string]any)
	if !ok {
		return fmt.Errorf("an entry of webhooks is a %T", entry)
	}
	path, _, err := unstructured.NestedString(fields, "clientConfig", "service", "path")
	if err != nil {
		return fmt.Errorf("reading its path: %w", err)
	}
	fields["clientConfig"] = map[string]any{"url": base.JoinPath(path).String()}
	return nil
}

// InstallWebhook applies Webhook, and keeps the certificate authorities that the hub has written. From then on the API server rejects
// requests for ManagedClusters until the hub serves the webhook.
func InstallWebhook(ctx context.Context, cfg *rest.Config, base string) error {
	err := install(ctx, cfg, func() ([]*unstructured.Unstructured, error) { return Webhook(base) })
	if err != nil {
		return fmt.Errorf("install the webhook of ManagedClusters: %w", err)
	}
	return nil
}

// RemoveWebhook deletes the existing objects of InstallWebhook. An API server may call the webhook for a moment longer.
func RemoveWebhook(ctx context.Context, cfg *rest.Config) error {
	objs, err := Webhook("")
	if err != nil {
		return err
	}
	a, err := newApplier(cfg)
	if err != nil {
		return err
	}
	for _, obj := range objs {
		res, err := a.resourceOf(ctx, obj)
		if err != nil {
			return fmt.Errorf("remove %s: %w", describe(obj), err)
		}
		client, err := a.clientFor(obj, res)
		if err != nil {
			return fmt.Errorf("remove %s: %w", describe(obj), err)
		}
		if err := client.Delete(ctx, obj.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove %s: %w", describe(obj), err)
		}
	}
	return nil
}
