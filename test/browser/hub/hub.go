// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/browser/checkout"
	"github.com/placement-hub/placement-hub/test/program"
)

// assetsVariable is the environment variable with the directory of the control plane's binaries, as `placement run` reads it.
const assetsVariable = "KUBEBUILDER_ASSETS"

// address matches the URL that opens a dashboard once.
var address = regexp.MustCompile(`(http://127\.0\.0\.1:\d+/\?token=\S+)`)

// Hub is a hub with the sample fleet on a control plane of its own.
type Hub struct {
	// URL opens the dashboard of `placement run` once, as the administrator.
	URL string
	// Kubeconfig is that of the administrator.
	Kubeconfig string

	t           *testing.T
	data        string
	environment []string
	running     *program.Program
}

// Start starts a hub, which ends with the test, and returns when its samples have decisions.
func Start(t *testing.T) *Hub {
	t.Helper()
	h := &Hub{t: t, data: filepath.Join(t.TempDir(), "data")}
	h.Kubeconfig = filepath.Join(h.data, "kubeconfig")
	h.environment = []string{assetsVariable + "=" + assets(t)}
	h.run()
	t.Cleanup(h.logPlane)
	waitFor(t, h.running, &h.running.Stdout, regexp.MustCompile(`\n(team-b/typo) +0/all +Misconfigured`))
	return h
}

// run starts `placement run` on the data.
func (h *Hub) run() {
	h.t.Helper()
	h.running = start(h.t, h.environment, "run", "--data-dir", h.data)
	h.URL = waitFor(h.t, h.running, &h.running.Stdout, address)
}

// logPlane logs the last lines of the logs of the control plane if the test has failed.
func (h *Hub) logPlane() {
	h.t.Helper()
	if !h.t.Failed() {
		return
	}
	files, err := filepath.Glob(filepath.Join(h.data, "*.log"))
	program.Must(h.t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		program.Must(h.t, err)
		h.t.Logf("%s ends with:\n%s", filepath.Base(file), program.LastLines(string(content)))
	}
}

// Restart stops `placement run` with the control plane, and starts both again with the same objects.
func (h *Hub) Restart(meanwhile func()) {
	h.t.Helper()
	stop(h.t, h.running)
	meanwhile()
	h.run()
}

// Dashboard starts `placement dashboard` for the user of a kubeconfig, and returns the URL that opens it once.
func (h *Hub) Dashboard(t *testing.T, kubeconfig string) string {
	t.Helper()
	p := start(t, h.environment, "dashboard", "--kubeconfig", kubeconfig)
	return waitFor(t, p, &p.Stdout, address)
}

// Tenant creates a ServiceAccount with a ClusterRole, such as view, in a namespace, and returns a token of it.
func (h *Hub) Tenant(t *testing.T, namespace, name, role string) string {
	t.Helper()
	h.Kubectl(t, "create", "serviceaccount", name, "-n", namespace)
	h.Kubectl(t, "create", "rolebinding", name, "-n", namespace, "--clusterrole="+role, "--serviceaccount="+namespace+":"+name)
	return h.token(t, namespace, name)
}

// token returns a token of a ServiceAccount.
func (h *Hub) token(t *testing.T, namespace, name string) string {
	t.Helper()
	return strings.TrimSpace(h.Kubectl(t, "create", "token", name, "-n", namespace))
}

// KubeconfigOf returns the path of a kubeconfig with a token.
func (h *Hub) KubeconfigOf(t *testing.T, token string) string {
	t.Helper()
	var config struct {
		Clusters []struct {
			Cluster map[string]any `json:"cluster"`
		} `json:"clusters"`
	}
	program.Must(t, json.Unmarshal([]byte(h.Kubectl(t, "config", "view", "--raw", "--minify", "--flatten", "-o", "json")), &config))
	if len(config.Clusters) != 1 {
		t.Fatalf("the kubeconfig has %d clusters", len(config.Clusters))
	}
	content, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "hub",
		"clusters": []any{map[string]any{nameField: "hub", "cluster": config.Clusters[0].Cluster}},
		"users":    []any{map[string]any{nameField: "owner", "user": map[string]any{"token": token}}},
		"contexts": []any{map[string]any{nameField: "hub", "context": map[string]any{"cluster": "hub", "user": "owner"}}},
	})
	program.Must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	program.Must(t, os.WriteFile(path, content, 0o600))
	return path
}

// Kubectl runs kubectl as the administrator, and returns what it prints.
func (h *Hub) Kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	return h.kubectl(t, "", arguments...)
}

// Apply applies objects, which are YAML.
func (h *Hub) Apply(t *testing.T, objects string) {
	t.Helper()
	h.kubectl(t, objects, "apply", "-f", "-")
}

func (h *Hub) kubectl(t *testing.T, input string, arguments ...string) string {
	t.Helper()
	output, err := h.try(t, input, arguments...)
	program.Must(t, err)
	return output
}

// try runs kubectl, which may fail.
func (h *Hub) try(t *testing.T, input string, arguments ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(assets(t), "kubectl"), append([]string{"--kubeconfig", h.Kubeconfig}, arguments...)...)
	cmd.Env = append(os.Environ(), "KUBERC=off") // Preferences of who runs the tests change what kubectl does.
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// assets returns the directory with the programs of the control plane.
func assets(t *testing.T) string {
	t.Helper()
	if named := os.Getenv(assetsVariable); named != "" {
		return named
	}
	root, err := checkout.Root()
	program.Must(t, err)
	directory := filepath.Join(root, "bin", "controlplane")
	if _, err := os.Stat(filepath.Join(directory, "kubectl")); err != nil {
		t.Fatalf("no control plane to test with: run `make assets`, or name a directory with %s: %v", assetsVariable, err)
	}
	return directory
}
