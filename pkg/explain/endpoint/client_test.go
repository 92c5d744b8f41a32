// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// asked is the endpoint of a hub that remembers the credentials of the last request.
type asked struct {
	address     Address
	token       string
	certificate bool
}

func newAsked(t *testing.T, handler http.HandlerFunc) *asked {
	t.Helper()
	a := &asked{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		a.token, a.certificate = request.Header.Get("Authorization"), len(request.TLS.PeerCertificates) > 0
		handler(w, request)
	}))
	t.Cleanup(server.Close)
	a.address = Address{URL: server.URL, Authorities: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
	return a
}

func TestE1aTheTokenOfTheCallerIsSent(t *testing.T) {
	a := newAsked(t, func(w http.ResponseWriter, request *http.Request) {
		r := &reviewer{}
		New(r, r, &explainer{}).ServeHTTP(w, request)
	})
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("team-a"), 0o600); err != nil {
		t.Fatal(err)
	}

	for reason, config := range map[string]*rest.Config{
		"a token": {BearerToken: "team-a"}, "a file": {BearerTokenFile: file},
		"an exec plugin": {ExecProvider: &api.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", Command: "echo", InteractiveMode: api.NeverExecInteractiveMode,
			Args: []string{`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"team-a"}}`},
		}},
	} {
		config.Host = "https://api.example"
		config.Username = ""
		answer, err := Ask(t.Context(), config, a.address, Question{Namespace: "team-a", Objects: []Object{{Kind: "Thing", Name: "x"}}})
		if err != nil || answer.Output != "because" {
			t.Errorf("%s: %q, %v", reason, answer.Output, err)
		}
	}

	_, err := Ask(t.Context(), &rest.Config{BearerToken: "team-b"}, a.address,
		Question{Namespace: "team-a", Objects: []Object{{Kind: "Thing", Name: "x"}}})
	if err == nil || !strings.Contains(err.Error(), `403 Forbidden: user "team-b" may not get`) {
		t.Errorf("a user without the right: %v", err)
	}
}

func TestE1aTheTokenGoesNowhereElse(t *testing.T) {
	elsewhere := newAsked(t, func(http.ResponseWriter, *http.Request) {})
	redirecting := newAsked(t, func(w http.ResponseWriter, request *http.Request) {
		http.Redirect(w, request, elsewhere.address.URL, http.StatusTemporaryRedirect)
	})
	token := &rest.Config{BearerToken: "team-a"}
	for _, tc := range []struct {
		reason  string
		config  *rest.Config
		address Address
		want    string
	}{
		{"a redirect", token, Address{URL: redirecting.address.URL, Authorities: append(
			append([]byte{}, redirecting.address.Authorities...), elsewhere.address.Authorities...)}, "307"},
		{"another certificate authority", token, Address{URL: elsewhere.address.URL, Authorities: []byte("-----BEGIN CERTIFICATE-----\n")}, ""},
		{
			"a certificate of another host", token,
			Address{URL: elsewhere.address.URL, Authorities: elsewhere.address.Authorities, ServerName: "placement-webhook.hub.svc"},
			"not placement-webhook",
		},
		{"no TLS", token, Address{URL: "http://127.0.0.1:1"}, "must be https"},
		{"no token", &rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: []byte("c")}}, elsewhere.address, "kubectl create token"},
		{
			"an impersonated user", &rest.Config{BearerToken: "admin", Impersonate: rest.ImpersonationConfig{UserName: "ada"}}, elsewhere.address,
			"impersonation",
		},
	} {
		_, err := Ask(t.Context(), tc.config, tc.address, Question{Namespace: "team-a"})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
		}
		if elsewhere.token != "" {
			t.Errorf("%s: the token was sent", tc.reason)
		}
	}
}

// The error about a Service that only the cluster of the hub reaches says what to do. Other errors have no such hint.
func TestE1aUnreachableService(t *testing.T) {
	answered := newAsked(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	authorities := answered.address.Authorities
	const service = "https://placement-webhook.hub.svc"
	for _, c := range []struct {
		reason  string
		address Address
		want    bool
	}{
		{"a Service", Address{URL: service, Authorities: authorities}, true},
		{"a Service with a path", Address{URL: service + Path, Authorities: authorities}, true},
		{"a Service with the domain of the cluster", Address{URL: service + ".cluster.local:443", Authorities: authorities}, true},
		{"another host", Address{URL: "https://127.0.0.1:1", Authorities: authorities}, false},
		{"a hub that answers", answered.address, false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := Ask(t.Context(), &rest.Config{BearerToken: "team-a"}, c.address, Question{Namespace: "team-a"})
			if err == nil {
				t.Fatal("the hub has answered")
			}
			for _, hint := range []string{
				"only clients in the cluster of the hub reach placement-webhook.hub.svc", "ask an admin of the hub", "--endpoint",
				"kubectl port-forward -n hub service/placement-webhook 9443:443",
			} {
				if strings.Contains(err.Error(), hint) != c.want {
					t.Errorf("%v: has %q: want %t", err, hint, c.want)
				}
			}
		})
	}
}

// docs/spec/differences.md B20: tools learn from the hub which of its controllers' writes they assume.
func TestB20ControllersOfTheHub(t *testing.T) {
	published := func(data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "hub", Name: ConfigMap}, Data: data}
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), ConfigMap, errors.New("you may not"))
	for _, tc := range []struct {
		reason    string
		published *corev1.ConfigMap
		refused   error
		want      []string
		wantErr   string
	}{
		{reason: "nothing is published"},
		{reason: "a hub that does not say it", published: published(map[string]string{URLKey: "https://hub"})},
		{reason: "the controllers", published: published(map[string]string{ControllersKey: "placement,managedcluster-taints"}),
			want: []string{"placement", "managedcluster-taints"}},
		{reason: "the user may not read it", refused: forbidden},
		{reason: "the hub does not know the user", refused: apierrors.NewUnauthorized("who are you")},
		{reason: "it cannot be read", refused: errors.New("connection reset"), wantErr: "ConfigMap hub/" + ConfigMap},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			builder := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if tc.refused != nil {
						return tc.refused
					}
					return c.Get(ctx, key, o, options...)
				},
			})
			if tc.published != nil {
				builder.WithObjects(tc.published)
			}
			got, err := Controllers(t.Context(), builder.Build(), "hub")
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if (err != nil) != (tc.wantErr != "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
		})
	}
}
