// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// profiles is the address at which a replica serves profiles, as controller-runtime logs it at verbosity 2.
var profiles = regexp.MustCompile(`"msg":"starting server","name":"pprof","addr":"([^"]+)"`)

// checkStart compares the log of a standby with what a start may log: the process, its addresses and the lease.
func checkStart(t *testing.T, h *suite.Hub) {
	t.Helper()
	r := h.StartReplica(t, suite.Unevaluated)
	lines := strings.Split(strings.TrimSpace(r.Stderr.String()), "\n")
	for _, part := range []string{`] "Starting" version="`, `commit="`, `"clusterset-roles"`, `"--listen=127.0.0.1:0"`} {
		if !strings.Contains(lines[0], part) {
			t.Errorf("the first line lacks %q: %s", part, lines[0])
		}
	}
	if strings.Contains(lines[0], "--leader-election") || len(lines) > 4 {
		t.Errorf("the start has %d lines, want the process without flags at their defaults, two addresses and the lease:\n%s",
			len(lines), strings.Join(lines, "\n"))
	}
	_, body := r.Get(t, "/metrics", h.MetricsReader(t))
	if !strings.Contains(body, "\nplacement_hub_build_info{commit=") {
		t.Error("the metrics have no build information")
	}
	r.Signal(t, syscall.SIGTERM)
	r.WantExit(t, 0)

	checkJSONAndProfiles(t, h)
}

// checkJSONAndProfiles starts a process whose log is JSON, and which serves profiles on loopback.
func checkJSONAndProfiles(t *testing.T, h *suite.Hub) {
	t.Helper()
	p := suite.Start(t, "controller", "--kubeconfig", h.Kubeconfig, "--listen=127.0.0.1:0", "--log-format=json", "--pprof=127.0.0.1:0", "-v=2")
	var address string
	suite.Eventually(t, "waiting for the address of profiles", func() error {
		found := profiles.FindStringSubmatch(p.Stderr.String())
		if found == nil {
			return fmt.Errorf("it is not in the log; %s", p)
		}
		address = found[1]
		return nil
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/debug/pprof/cmdline", http.NoBody)
	suite.Must(t, err)
	response, err := http.DefaultClient.Do(request)
	suite.Must(t, err)
	body, err := io.ReadAll(response.Body)
	suite.Must(t, err)
	suite.Must(t, response.Body.Close())
	if !strings.Contains(string(body), "--log-format=json") {
		t.Errorf("profiles answer %s: %s", response.Status, body)
	}
	p.Signal(t, syscall.SIGTERM)
	p.WantExit(t, 0)
	for line := range strings.Lines(p.Stderr.String()) {
		if err := json.Unmarshal([]byte(line), &map[string]any{}); err != nil {
			t.Errorf("a line of the log is not JSON: %v: %s", err, line)
		}
	}
}
