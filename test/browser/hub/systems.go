// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/checkout"
	"github.com/placement-hub/placement-hub/test/env/loopback"
	"github.com/placement-hub/placement-hub/test/program"
)

// nameField is the field of an object that has its name.
const nameField = "name"

// systems are the opt-in systems, whose manifests are in directories of these names.
var systems = []string{"federation", "clusterrequest", "podscheduling", "affinityclass"}

// dashboardAddress matches the address of the dashboard in the log of a replica.
var dashboardAddress = regexp.MustCompile(`"Serving the dashboard over HTTPS" address="([^"]+)"`)

// webhookService matches the Service of a webhook, with the path. Here the API server calls a replica at its address.
var webhookService = regexp.MustCompile(`( +)service:\n +name: placement-webhook\n +namespace: .+\n +path: (\S+)\n +port: 443\n`)

// Systems are the opt-in systems of a hub, with their samples, and what serves the dashboard to everybody who logs in.
type Systems struct {
	// Origins are the addresses of the dashboards of leader and standby.
	Origins []string

	hub *Hub
}

// StartSystems installs the opt-in systems and starts two replicas of `placement controller` with their controllers and a provider of clusters,
// which end with the test. The controllers for placements are those of `placement run`.
func (h *Hub) StartSystems(t *testing.T) *Systems {
	t.Helper()
	s := &Systems{hub: h}
	webhook, err := loopback.FreeAddress(t.Context())
	program.Must(t, err)
	h.kubectl(t, h.manifests(t, webhook), "apply", "--server-side", "-f", "-")
	kubeconfig := h.KubeconfigOf(t, h.token(t, "open-cluster-management-hub", "placement-controller-sa"))
	controllers := "--controllers=" + strings.Join(systems, "/*,") + "/*"
	for _, listen := range []string{webhook, "127.0.0.1:0"} { // The API server calls the webhooks of the first one.
		replica := start(t, h.environment, "controller", "--kubeconfig", kubeconfig, controllers, "--listen=127.0.0.1:0",
			"--webhook-listen="+listen, "--dashboard-listen=127.0.0.1:0")
		s.Origins = append(s.Origins, "https://"+waitFor(t, replica, &replica.Stderr, dashboardAddress))
	}
	start(t, h.environment, "provider", "null", "--kubeconfig", h.Kubeconfig, "--kubernetes-versions=1.35.4",
		"--traits=cluster.openmcp.cloud/workerless")
	for _, origin := range s.Origins {
		program.Eventually(t, "waiting for "+origin, func() error { return answers(t, origin+"/login") })
	}
	return s
}

// manifests returns the objects that the systems need, with webhooks at an address.
func (h *Hub) manifests(t *testing.T, webhook string) string {
	t.Helper()
	root, err := checkout.Root()
	program.Must(t, err)
	directory := t.TempDir()
	up, err := filepath.Rel(directory, root)
	program.Must(t, err)
	var kustomization strings.Builder
	kustomization.WriteString("resources:\n- " + filepath.Join(up, "manifests", "manifestworks") + "\n")
	for _, system := range systems {
		kustomization.WriteString("- " + filepath.Join(up, "manifests", system) + "\n")
	}
	program.Must(t, os.WriteFile(filepath.Join(directory, "kustomization.yaml"), []byte(kustomization.String()), 0o600))
	objects := h.kubectl(t, "", "kustomize", directory)
	objects = webhookService.ReplaceAllString(objects, "${1}url: https://"+webhook+"${2}\n")
	binding, err := os.ReadFile(filepath.Join(root, "deploy", "components", "dashboard", "rolebinding.yaml"))
	program.Must(t, err)
	return objects + "---\n" + h.sample(t, "pods/00-definitions.yaml") + "---\n" + string(binding)
}

// sample returns a file of deploy/samples. Its member clusters and their namespace have names that no other sample has.
func (h *Hub) sample(t *testing.T, name string) string {
	t.Helper()
	root, err := checkout.Root()
	program.Must(t, err)
	content, err := os.ReadFile(filepath.Join(root, "deploy", "samples", filepath.FromSlash(name)))
	program.Must(t, err)
	if !strings.HasPrefix(name, "federation/") {
		return string(content)
	}
	return strings.NewReplacer("eu1", "member-eu1", "eu2", "member-eu2", "us1", "member-us1", "shop", "store").Replace(string(content))
}

// ApplySamples applies the samples of the systems, and waits until the hub has made of them what they depend on.
func (s *Systems) ApplySamples(t *testing.T) {
	t.Helper()
	s.apply(t, "pods/10-nodes.yaml", "pods/20-namespaces.yaml", "pods/21-classes.yaml", "pods/22-tenant.yaml", "pods/30-policies.yaml",
		"pods/40-applications.yaml", "clusters/10-platform.yaml", "federation/10-clusters.yaml", "federation/20-namespace.yaml")
	// No kubelet removes the taint that the API server gives new Nodes.
	s.hub.Kubectl(t, "taint", "nodes", "--all", "node.kubernetes.io/not-ready:NoSchedule-")
	const available = `{"status": {"conditions": [{"type": "ManagedClusterConditionAvailable", "status": "True", "reason": "Available",
		"message": "Managed cluster is available", "lastTransitionTime": "2024-01-12T08:01:00Z"}]}}`
	s.hub.Kubectl(t, "patch", "managedcluster", "member-eu1", "member-eu2", "member-us1", "--subresource=status", "--type=merge", "-p", available)
	program.Eventually(t, "waiting for the classes of the applications and a profile of clusters", func() error {
		releases := s.hub.Kubectl(t, "get", "helmreleases", "-n", "tenant-acme", "-o", "name")
		if strings.Count(releases, "\n") < 2 {
			return fmt.Errorf("there are the releases %q", releases)
		}
		if profiles := s.hub.Kubectl(t, "get", "clusterproviders", "null", "-o", "jsonpath={.status.profiles}"); profiles == "" {
			return errors.New("the provider has no profile")
		}
		return nil
	})
	s.apply(t, "pods/50-workloads.yaml", "clusters/20-requests.yaml", "federation/30-objects.yaml")
}

// apply applies files of deploy/samples. It repeats that while the API server knows a webhook configuration and not its certificate yet.
func (s *Systems) apply(t *testing.T, files ...string) {
	t.Helper()
	var objects strings.Builder
	for _, file := range files {
		objects.WriteString("---\n" + s.hub.sample(t, file) + "\n")
	}
	program.Eventually(t, "applying samples", func() error {
		_, err := s.hub.try(t, objects.String(), "apply", "--server-side", "-f", "-")
		return err
	})
}

// Report is what the agent of a cluster reports about a delivered object.
type Report struct {
	Cluster, Kind, Name string
	// Problem says why the agent could not apply the object; empty if it could.
	Problem string
	// Available reports that the object works, and Ready is the number of its replicas that are ready.
	Available bool
	Ready     int
}

// Report writes reports to the ManifestWorks of the sample, as the agents of its clusters would.
func (s *Systems) Report(t *testing.T, reports ...Report) {
	t.Helper()
	for _, report := range reports {
		var work string
		selector := "federation.kubernetes.io/kind=" + report.Kind + ",federation.kubernetes.io/name=" + report.Name
		program.Eventually(t, "waiting for the ManifestWork of "+selector, func() error {
			if work = s.hub.Kubectl(t, "get", "manifestworks", "-n", report.Cluster, "-l", selector, "-o", "name"); work == "" {
				return fmt.Errorf("there is none in namespace %s", report.Cluster)
			}
			return nil
		})
		status, err := json.Marshal(map[string]any{"status": report.status()})
		program.Must(t, err)
		s.hub.Kubectl(t, "patch", strings.TrimSpace(work), "-n", report.Cluster, "--subresource=status", "--type=merge", "-p", string(status))
	}
}

// status returns the status of a ManifestWork.
func (r *Report) status() map[string]any {
	condition := func(kind string, holds bool) map[string]any {
		status, reason := "True", kind
		if !holds {
			status, reason = "False", kind+"Failed"
		}
		return map[string]any{
			"type": kind, "status": status, "reason": reason, "message": r.Problem, "lastTransitionTime": "2026-01-01T00:00:00Z",
		}
	}
	conditions := []any{condition("Applied", r.Problem == ""), condition("Available", r.Available)}
	return map[string]any{"conditions": conditions, "resourceStatus": map[string]any{"manifests": []any{map[string]any{
		"resourceMeta": map[string]any{"ordinal": 0, "kind": r.Kind, nameField: r.Name},
		"conditions":   conditions,
		"statusFeedback": map[string]any{"values": []any{
			map[string]any{nameField: "ReadyReplicas", "fieldValue": map[string]any{"type": "Integer", "integer": r.Ready}},
		}},
	}}}}
}

// answers returns an error unless an address answers, whatever its certificate.
func answers(t *testing.T, address string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	program.Must(t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", address, err)
	}
	program.Must(t, response.Body.Close())
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers with the status %d", address, response.StatusCode)
	}
	return nil
}
