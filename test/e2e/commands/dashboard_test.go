// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/loopback"
)

// browser is a client that keeps cookies, and does not follow redirects. The certificate of the hub is one that it has made itself.
func browser(t *testing.T, certificates ...tls.Certificate) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	suite.Must(t, err)
	unsigned := &tls.Config{InsecureSkipVerify: true, Certificates: certificates}
	return &http.Client{
		Jar:           jar,
		Transport:     &http.Transport{TLSClientConfig: unsigned},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// visit gets a page, with a bearer token unless it is empty.
func visit(t *testing.T, by *http.Client, address, token string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	suite.Must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := by.Do(request)
	suite.Must(t, err)
	text, err := io.ReadAll(response.Body)
	suite.Must(t, err)
	suite.Must(t, response.Body.Close())
	return response.StatusCode, string(text)
}

// wantOneLine waits for the line about client certificates that are not accepted, which is the only one of its kind.
func wantOneLine(t *testing.T, replica *suite.Replica) {
	t.Helper()
	suite.Eventually(t, "waiting for the line about client certificates", func() error {
		if !strings.Contains(replica.Stderr.String(), "Client certificates are not accepted") {
			return errors.New("it is not there")
		}
		return nil
	})
	lines := 0
	for line := range strings.Lines(replica.Stderr.String()) {
		if !strings.Contains(line, "extension-apiserver-authentication") {
			continue
		}
		lines++
		if line[0] != 'I' || !strings.Contains(line, "Bind the Role extension-apiserver-authentication-reader in kube-system") {
			t.Errorf("the log has %q", line)
		}
	}
	if lines != 1 {
		t.Errorf("the log has %d lines about the authorities of client certificates, want one", lines)
	}
}

// docs/dashboard.md: leader and standby serve the pages to everybody who logs in, by a token or a client certificate, with what kubectl auth can-i
// allows; a right that is taken away is gone.
func TestDashboardOfTheHub(t *testing.T) {
	h := suite.StartHub(t)
	suite.Run(t, "run", "--kubeconfig", h.AdminKubeconfig, "--once", "--samples").WantExit(t, 0)
	var addresses []string
	for n := range 2 { // The second one waits for the Lease.
		address, err := loopback.FreeAddress(t.Context())
		suite.Must(t, err)
		replica := h.StartReplica(t, "--dashboard-listen="+address)
		addresses = append(addresses, "https://"+address)
		if n == 0 {
			wantOneLine(t, replica)
			suite.Must(t, h.Client.Create(t.Context(), &rbacv1.RoleBinding{ // deploy/components/dashboard has it.
				ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "placement-hub-dashboard"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "extension-apiserver-authentication-reader"},
				Subjects: []rbacv1.Subject{{
					Kind: rbacv1.ServiceAccountKind, Namespace: "open-cluster-management-hub", Name: "placement-controller-sa",
				}},
			}))
		}
	}
	withRoles(t, h, "page-viewer", shippedView)
	token := h.Token(t, "page-viewer")
	admin := h.Environment.AdminConfig()
	certificate, err := tls.X509KeyPair(admin.CertData, admin.KeyData)
	suite.Must(t, err)
	for _, address := range addresses {
		suite.Eventually(t, "waiting for the authorities of client certificates", func() error {
			if code, _ := visit(t, browser(t, certificate), address+"/", ""); code != http.StatusOK {
				return fmt.Errorf("status %d", code)
			}
			return nil
		})
	}

	for i, address := range addresses {
		t.Run(fmt.Sprintf("replica %d", i+1), func(t *testing.T) {
			if code, text := visit(t, browser(t), address+"/placements/team-a/standby", token); code != http.StatusOK ||
				!strings.Contains(text, "1 of 2 wanted selected") || strings.Contains(text, "edge-ams") {
				t.Errorf("a tenant: status %d: %s", code, text)
			}
			if code, text := visit(t, browser(t), address+"/placements/team-b/training", token); code != http.StatusForbidden ||
				strings.Contains(text, "gpu2") {
				t.Errorf("another namespace: status %d: %s", code, text)
			}
			if code, text := visit(t, browser(t, certificate), address+"/clusters/edge-ams", ""); code != http.StatusOK ||
				!strings.Contains(text, "team-b/inference-at-the-edge") {
				t.Errorf("an administrator with a certificate: status %d: %s", code, text)
			}
			for reason, wrong := range map[string]string{"nobody": "", "a token of nobody": "x"} {
				if code, _ := visit(t, browser(t), address+"/", wrong); code != http.StatusSeeOther {
					t.Errorf("%s: status %d, want the login", reason, code)
				}
			}
		})
	}

	t.Run("the JSON of a page is that of explain", func(t *testing.T) {
		type explanations struct {
			Placements []any `json:"placements"`
		}
		for _, name := range []string{"standby", "rollout", "payments"} {
			var page, command explanations
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, addresses[0]+"/placements/team-a/"+name, http.NoBody)
			suite.Must(t, err)
			request.Header.Set("Accept", "application/json")
			response, err := browser(t, certificate).Do(request)
			suite.Must(t, err)
			suite.Must(t, json.NewDecoder(response.Body).Decode(&page))
			suite.Must(t, response.Body.Close())
			explained := suite.Run(t, "explain", "--kubeconfig", h.AdminKubeconfig, "team-a/"+name, "-o", "json")
			explained.WantExit(t, 0)
			suite.Must(t, json.Unmarshal([]byte(explained.Stdout.String()), &command))
			if diff := cmp.Diff(command, page); diff != "" || len(page.Placements) != 1 {
				t.Errorf("%s (-explain +page):\n%s", name, diff)
			}
		}
	})

	t.Run("a login is valid on both replicas", func(t *testing.T) {
		person := browser(t)
		response, err := person.PostForm(addresses[0]+"/login", url.Values{"token": {token}, "to": {"/"}})
		suite.Must(t, err)
		suite.Must(t, response.Body.Close())
		for _, address := range addresses { // Cookies know hosts, and not ports.
			if code, text := visit(t, person, address+"/", ""); code != http.StatusOK || !strings.Contains(text, "team-a/standby") ||
				strings.Contains(text, "team-b") {
				t.Errorf("%s: status %d: %s", address, code, text)
			}
		}
	})

	t.Run("a right that is taken away is gone", func(t *testing.T) {
		suite.Must(t, h.Client.DeleteAllOf(t.Context(), &rbacv1.RoleBinding{}, client.InNamespace("team-a")))
		suite.Eventually(t, "waiting for the reviews", func() error {
			if code, text := visit(t, browser(t), addresses[1]+"/placements/team-a/standby", token); code != http.StatusForbidden {
				return fmt.Errorf("status %d: %s", code, text)
			}
			return nil
		})
	})
}
