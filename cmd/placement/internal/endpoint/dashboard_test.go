// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestAuthoritiesOfClientCertificates(t *testing.T) {
	published := func(data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "extension-apiserver-authentication"}, Data: data}
	}
	for _, c := range []struct {
		reason  string
		objects []runtime.Object
		refused error
		want    string
	}{
		{reason: "published", objects: []runtime.Object{published(map[string]string{"client-ca-file": "pem"})}},
		{reason: "an API server without authorities", objects: []runtime.Object{published(nil)}, want: "its flag client-ca-file"},
		{reason: "absent", want: "its flag client-ca-file"},
		{
			reason:  "no right",
			refused: apierrors.NewForbidden(corev1.Resource("configmaps"), "extension-apiserver-authentication", errors.New("no")),
			want:    "Bind the Role extension-apiserver-authentication-reader in kube-system",
		},
		{reason: "no connection", refused: errors.New("connection refused"), want: "tries again"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			hub := fake.NewClientset(c.objects...)
			hub.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				return c.refused != nil, nil, c.refused
			})
			hint, err := (&Reviewers{hub: hub}).readAuthorities(t.Context())
			if (hint == "") != (c.want == "") || !strings.Contains(hint, c.want) {
				t.Errorf("the hint is %q (%v), want %q", hint, err, c.want)
			}
		})
	}
}
