// SPDX-License-Identifier: Apache-2.0

package webhookserver

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
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The kinds of webhook configurations.
const (
	mutatingKind   = "MutatingWebhookConfiguration"
	validatingKind = "ValidatingWebhookConfiguration"
)

// configuration is an installed webhook configuration of either kind.
type configuration struct {
	object client.Object
	// hooks are its webhooks; they point into object.
	hooks []hook
	// failurePolicy is written to each webhook; nil for none.
	failurePolicy *admissionregistrationv1.FailurePolicyType
}

// hook is what the hub reads and writes of one entry of a webhook configuration.
type hook struct {
	client        *admissionregistrationv1.WebhookClientConfig
	failurePolicy **admissionregistrationv1.FailurePolicyType
}

func mutating(object *admissionregistrationv1.MutatingWebhookConfiguration) []hook {
	hooks := make([]hook, 0, len(object.Webhooks))
	for i := range object.Webhooks {
		hooks = append(hooks, hook{&object.Webhooks[i].ClientConfig, &object.Webhooks[i].FailurePolicy})
	}
	return hooks
}

func validating(object *admissionregistrationv1.ValidatingWebhookConfiguration) []hook {
	hooks := make([]hook, 0, len(object.Webhooks))
	for i := range object.Webhooks {
		hooks = append(hooks, hook{&object.Webhooks[i].ClientConfig, &object.Webhooks[i].FailurePolicy})
	}
	return hooks
}

// watched is a Webhook and the reader of its configurations.
type watched struct {
	Webhook

	reader client.Reader
}

// absent names a webhook configuration that is not installed.
type absent struct{ kind, name string }

// find returns copies of the installed configurations of a webhook, and those that are not installed.
func (w *watched) find(ctx context.Context) (installed []configuration, missing []absent, err error) {
	mutates, validates := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	for _, kind := range []struct {
		kind, name string
		object     client.Object
		hooks      func() []hook
	}{
		{mutatingKind, w.Mutating, mutates, func() []hook { return mutating(mutates) }},
		{validatingKind, w.Validating, validates, func() []hook { return validating(validates) }},
	} {
		if kind.name == "" {
			continue
		}
		err := w.reader.Get(ctx, client.ObjectKey{Name: kind.name}, kind.object)
		switch {
		case apierrors.IsNotFound(err):
			missing = append(missing, absent{kind.kind, kind.name})
		case err != nil:
			return nil, nil, fmt.Errorf("reading %s %s: %w", kind.kind, kind.name, err)
		default:
			installed = append(installed, configuration{kind.object, kind.hooks(), w.FailurePolicy})
		}
	}

	return installed, missing, nil
}

// configurations returns copies of the installed configurations of all webhooks. It logs a missing one once.
func (r *reconciler) configurations(ctx context.Context) ([]configuration, error) {
	var installed []configuration
	lacking := map[absent]bool{}
	for _, webhook := range r.webhooks {
		found, missing, err := webhook.find(ctx)
		if err != nil {
			return nil, err
		}
		installed = append(installed, found...)

		for _, one := range missing {
			lacking[one] = true
			if !r.missing[one] {
				klog.FromContext(ctx).Info("No API server calls a webhook of this hub: apply "+webhook.Manifests+
					", or leave the controller "+webhook.Controller+" off", "kind", one.kind, "missing", one.name)
			}
		}
	}

	r.missing = lacking
	return installed, nil
}

// publish writes a bundle of certificate authorities, and the failure policy of the webhook if it has one, to the configurations.
func (r *reconciler) publish(ctx context.Context, installed []configuration, bundle []byte) error {
	for _, configuration := range installed {
		before, ok := configuration.object.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("%T is no object", configuration.object)
		}
		if !configuration.set(bundle) {
			continue
		}

		// Webhooks are merged by name, and the resourceVersion keeps the patch from restoring a webhook that was just removed.
		patch := client.StrategicMergeFrom(before, client.MergeFromWithOptimisticLock{})
		if err := r.client.Patch(ctx, configuration.object, patch); err != nil {
			return fmt.Errorf("writing %T %s: %w", configuration.object, configuration.object.GetName(), err)
		}
		klog.FromContext(ctx).V(2).Info("Gave a webhook configuration the certificate authorities to trust",
			"kind", fmt.Sprintf("%T", configuration.object), "name", configuration.object.GetName())
	}

	return nil
}

// set sets the fields that the hub owns, and reports whether one of them had another value.
func (c *configuration) set(bundle []byte) (changed bool) {
	for _, hook := range c.hooks {
		if !bytes.Equal(hook.client.CABundle, bundle) {
			hook.client.CABundle, changed = bundle, true
		}
		if c.failurePolicy != nil && ptr.Deref(*hook.failurePolicy, "") != *c.failurePolicy {
			*hook.failurePolicy, changed = ptr.To(*c.failurePolicy), true
		}
	}
	return changed
}

// hostsOf returns the sorted host names of the serving certificate: those of the Service, and those in the configurations.
func hostsOf(installed []configuration, namespace string) []string {
	hosts := serviceHosts(Service, namespace)
	for _, configuration := range installed {
		for _, hook := range configuration.hooks {
			hosts = append(hosts, hostsIn(hook.client)...)
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
