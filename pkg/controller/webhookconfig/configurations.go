package webhookconfig

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

// The kinds of webhook configurations.
const (
	mutatingKind   = "MutatingWebhookConfiguration"
	validatingKind = "ValidatingWebhookConfiguration"
)

// configuration is a webhook configuration of either kind.
type configuration struct {
	object client.Object
	// clients are the client configurations of its webhooks; they point into object.
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

// find returns copies of the installed configurations, and the kinds that are not installed.
func find(ctx context.Context, reader client.Reader) (installed []configuration, missing []string, err error) {
	mutates, validates := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}

	for _, kind := range []struct {
		name   string
		object client.Object
		read   func() configuration
	}{
		{mutatingKind, mutates, func() configuration { return mutating(mutates) }},
		{validatingKind, validates, func() configuration { return validating(validates) }},
	} {
		err := reader.Get(ctx, client.ObjectKey{Name: Configuration}, kind.object)

		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, kind.name)
		case err != nil:
			return nil, nil, fmt.Errorf("reading %s %s: %w", kind.name, Configuration, err)
		default:
			installed = append(installed, kind.read())
		}
	}

	return installed, missing, nil
}

// configurations returns copies of the installed configurations. It logs a missing one once.
func (r *reconciler) configurations(ctx context.Context) ([]configuration, error) {
	installed, missing, err := find(ctx, r.client)
	if err != nil {
		return nil, err
	}

	for _, kind := range []string{mutatingKind, validatingKind} {
		lacks := slices.Contains(missing, kind)
		if lacks && !r.missing[kind] {
			klog.FromContext(ctx).Info("No API server asks the webhook for ManagedClusters: apply manifests/webhook, "+
				"or leave the controller "+Defaults+" off", "kind", kind, "missing", Configuration)
		}

		r.missing[kind] = lacks
	}

	return installed, nil
}

// inject writes a bundle of certificate authorities to the configurations.
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

		// Webhooks are merged by name, and the resourceVersion keeps the patch from restoring a webhook that was just removed.
		patch := client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})
		if err := r.client.Patch(ctx, configuration.object, patch); err != nil {
			return fmt.Errorf("writing caBundle of %T %s: %w", configuration.object, Configuration, err)
		}

		klog.FromContext(ctx).V(2).Info("Gave a webhook configuration the certificate authorities to trust",
			"kind", fmt.Sprintf("%T", configuration.object), "name", Configuration)
	}

	return nil
}

// hostsOf returns the sorted host names of the serving certificate: those of the Service, and those in the configurations.
func hostsOf(installed []configuration, namespace string) []string {
	hosts := serviceHosts(Service, namespace)

	for _, configuration := range installed {
		for _, config := range configuration.clients {
			hosts = append(hosts, hostsIn(config)...)
		}
	}

	slices.Sort(hosts)

	return slices.Compact(hosts)
}

// hostsIn returns the host names by which an API server reaches one webhook.
func hostsIn(config *admissionregistrationv1.WebhookClientConfig) []string {
	switch {
	case config.Service != nil:
		return serviceHosts(config.Service.Name, config.Service.Namespace)
	case config.URL != nil:
		return urlHosts(*config.URL)
	default:
		return nil
	}
}

func serviceHosts(name, namespace string) []string {
	host := name + "." + namespace

	return []string{host, host + ".svc", host + ".svc.cluster.local"}
}

// urlHosts returns the host of a URL; nil if no certificate can have that name.
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
