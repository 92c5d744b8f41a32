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

// Webhook returns the configurations of the admission webhook for ManagedClusters. They lead to the Service placement-webhook in the hub's
// namespace or, for a hub that runs outside of the cluster, to base, such as https://127.0.0.1:9443.
func Webhook(base string) ([]*unstructured.Unstructured, error) {
	objs, err := objectsIn(webhook)
	if err != nil || base == "" {
		return objs, err
	}
	location, err := url.Parse(base)
	if err != nil || location.Scheme != "https" || location.Host == "" {
		return nil, fmt.Errorf("the URL of the webhook is %q: use https://host:port", base)
	}
	for _, obj := range objs {
		webhooks, _, err := unstructured.NestedSlice(obj.Object, "webhooks")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", describe(obj), err)
		}
		for _, entry := range webhooks {
			if err := replaceService(entry, location); err != nil {
				return nil, fmt.Errorf("%s: %w", describe(obj), err)
			}
		}
		if err := unstructured.SetNestedSlice(obj.Object, webhooks, "webhooks"); err != nil {
			return nil, fmt.Errorf("%s: %w", describe(obj), err)
		}
	}
	return objs, nil
}

// replaceService has an entry of webhooks lead to a URL instead of a Service, by the same path.
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

// InstallWebhook is Apply of Webhook, which leaves the authorities alone that the hub has written there. From then on, what needs an answer
// is refused until the hub gives it.
func InstallWebhook(ctx context.Context, cfg *rest.Config, base string) error {
	err := install(ctx, cfg, func() ([]*unstructured.Unstructured, error) { return Webhook(base) })
	if err != nil {
		return fmt.Errorf("install the webhook of ManagedClusters: %w", err)
	}
	return nil
}

// RemoveWebhook deletes what InstallWebhook has applied, if it is there. An API server may ask for a moment longer.
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
