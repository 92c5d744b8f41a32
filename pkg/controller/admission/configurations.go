package admission

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// configuration is a webhook configuration of either kind.
type configuration struct {
	object client.Object
	// clients are how its webhooks are reached: a part of object.
	clients []*admissionregistrationv1.WebhookClientConfig
}

func mutating(object *admissionregistrationv1.MutatingWebhookConfiguration) configuration {
	c := configuration{object: object}
	for i := range object.Webhooks {
		c.clients = append(c.clients, &object.Webhooks[i].ClientConfig)
	}

	return c
}

func validating(object *admissionregistrationv1.ValidatingWebhookConfiguration) configuration {
	c := configuration{object: object}
	for i := range object.Webhooks {
		c.clients = append(c.clients, &object.Webhooks[i].ClientConfig)
	}

	return c
}

// configurations are those that are installed, as copies. One that is missing is said to be so once.
func (r *reconciler) configurations(ctx context.Context) ([]configuration, error) {
	mutates, validates := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}

	var installed []configuration

	for _, kind := range []struct {
		name   string
		object client.Object
		read   func() configuration
	}{
		{"MutatingWebhookConfiguration", mutates, func() configuration { return mutating(mutates) }},
		{"ValidatingWebhookConfiguration", validates, func() configuration { return validating(validates) }},
	} {
		err := r.client.Get(ctx, client.ObjectKey{Name: Configuration}, kind.object)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading %s %s: %w", kind.name, Configuration, err)
		}

		missing := apierrors.IsNotFound(err)
		if missing && !r.missing[kind.name] {
			klog.FromContext(ctx).Info("No API server asks the webhook for ManagedClusters: apply manifests/webhook, "+
				"or leave the controller "+Defaults+" off", "kind", kind.name, "missing", Configuration)
		}

		r.missing[kind.name] = missing
		if !missing {
			installed = append(installed, kind.read())
		}
	}

	return installed, nil
}

// inject has the configurations trust the authorities of a bundle.
func (r *reconciler) inject(ctx context.Context, installed []configuration, bundle []byte) error {
	for _, configuration := range installed {
		before, ok := configuration.object.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("%T is no object", configuration.object)
		}

		changed := false

		for _, config := range configuration.clients {
			changed = changed || !bytes.Equal(config.CABundle, bundle)
			config.CABundle = bundle
		}

		if !changed {
			continue
		}

		// The list of webhooks is merged by name, and the version keeps one that has just been removed from coming back.
		patch := client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})
		if err := r.client.Patch(ctx, configuration.object, patch); err != nil {
			return fmt.Errorf("writing caBundle of %T %s: %w", configuration.object, Configuration, err)
		}

		klog.FromContext(ctx).V(2).Info("Gave a webhook configuration the certificate authorities to trust",
			"kind", fmt.Sprintf("%T", configuration.object), "name", Configuration)
	}

	return nil
}

// hostsOf are the names that the serving certificate must have, sorted: those of the Service, and those by which the configurations reach
// the webhook.
func hostsOf(installed []configuration, namespace string) []string {
	hosts := serviceHosts(Service, namespace)

	for _, configuration := range installed {
		for _, config := range configuration.clients {
			switch {
			case config.Service != nil:
				hosts = append(hosts, serviceHosts(config.Service.Name, config.Service.Namespace)...)
			case config.URL != nil:
				hosts = append(hosts, urlHosts(*config.URL)...)
			}
		}
	}

	slices.Sort(hosts)

	return slices.Compact(hosts)
}

func serviceHosts(name, namespace string) []string {
	host := name + "." + namespace

	return []string{host, host + ".svc", host + ".svc.cluster.local"}
}

// urlHosts is the host of a URL, unless no certificate could have it.
func urlHosts(text string) []string {
	location, err := url.Parse(text)
	if err != nil {
		return nil
	}

	host := strings.ToLower(location.Hostname())
	if net.ParseIP(host) == nil && len(validation.IsDNS1123Subdomain(host)) > 0 {
		return nil
	}

	return []string{host}
}
