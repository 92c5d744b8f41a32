// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Published is a handler for other clients than API servers, on the port of the webhooks. The leader writes its URL, the certificate
// authorities and Data to a ConfigMap in the namespace of the hub.
type Published struct {
	Handler http.Handler
	Path    string
	// URL is where clients reach the handler; empty means the Service of the webhooks. The certificate has its host name.
	URL string
	// ConfigMap is the name of the ConfigMap, and URLKey and AuthoritiesKey are its keys.
	ConfigMap, URLKey, AuthoritiesKey string
	// Data is what else the ConfigMap has.
	Data map[string]string
}

// url returns the URL of the handler.
func (p *Published) url(namespace string) string {
	if p.URL != "" {
		return p.URL
	}
	return "https://" + Service + "." + namespace + ".svc" + p.Path
}

// publisher writes the ConfigMap of a Published.
type publisher struct {
	*Published

	client    client.Client
	reader    client.Reader // reads the API server, as no informer watches the ConfigMap
	namespace string
}

// publish writes the URL, the bundle and the other data, unless the ConfigMap has them.
func (p *publisher) publish(ctx context.Context, bundle []byte) error {
	key := client.ObjectKey{Namespace: p.namespace, Name: p.ConfigMap}
	data := map[string]string{p.URLKey: p.url(p.namespace), p.AuthoritiesKey: string(bundle)}
	maps.Copy(data, p.Data)
	found := &corev1.ConfigMap{}

	err := p.reader.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		found.ObjectMeta, found.Data = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, data
		if err := p.client.Create(ctx, found); err != nil {
			return fmt.Errorf("creating ConfigMap %s: %w", key, err)
		}
		return nil
	}

	if err != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", key, err)
	}
	if maps.Equal(found.Data, data) {
		return nil
	}
	found.Data = data
	if err := p.client.Update(ctx, found); err != nil {
		return fmt.Errorf("writing ConfigMap %s: %w", key, err)
	}

	klog.FromContext(ctx).V(2).Info("Published the address of the explanations", "configMap", key)
	return nil
}
