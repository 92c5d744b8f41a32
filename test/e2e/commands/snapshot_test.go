// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// standbyOfOne is a change of the Placement standby of the samples.
const standbyOfOne = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {namespace: team-a, name: standby}
spec: {numberOfClusters: 1, clusterSets: [none]}
`

// standbyCases is a case that holds for the samples, and one that does not.
const standbyCases = `apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementTest
metadata: {name: holds}
spec:
  objects: {placement: team-a/standby}
  expect: {selected: {exactly: [ap1]}, because: [{cluster: eu1, stage: Predicate}]}
---
apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementTest
metadata: {name: fails}
spec:
  objects: {placement: team-a/standby}
  when: {lost: {clusters: [ap1]}}
  expect: {satisfied: true}
`

// SN1, SN2, SN3: checkSnapshot takes snapshots of a hub as an administrator and as a tenant, and compares what is read from them with what is
// read from the hub.
func checkSnapshot(t *testing.T, h *suite.Hub) {
	t.Helper()
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "snapshot", Labels: map[string]string{federation.FederatedLabel: "true"},
	}}))
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "snapshot", Name: "password", Annotations: map[string]string{federation.SelectorAnnotation: "[]"}},
		StringData: map[string]string{"password": "hunter2"},
	}))
	path := filepath.Join(t.TempDir(), "state.yaml")
	suite.Must(t, os.WriteFile(path, []byte("old"), 0o644))
	p := suite.Run(t, "snapshot", "--kubeconfig", h.AdminKubeconfig, "-A", "-o", path)
	p.WantExit(t, 0)
	info, err := os.Stat(path)
	suite.Must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, want that its owner alone may read it", info.Mode())
	}
	content, err := os.ReadFile(path)
	suite.Must(t, err)
	if text := string(content); strings.Contains(text, "hunter2") || strings.Contains(text, "aHVudGVyMg") || !strings.Contains(text,
		"name: password") {
		t.Error("the snapshot has the data of a Secret, or lacks the Secret")
	}

	t.Run("a snapshot is explained as the hub is", func(t *testing.T) {
		for _, args := range [][]string{
			{"explain", "--all", "-A", "-o", "name"}, {"explain", "team-a/standby", "--cluster", "eu1"}, {"explain", "-n", "team-a", "standby"},
			{"simulate", "-o", "name"}, {"simulate", "--drain", "ap1"}, {"federated", "-A", "-o", "name"},
		} {
			live := suite.Run(t, append(args, "--kubeconfig", h.AdminKubeconfig)...)
			file := suite.Run(t, append(args, "-f", path)...)
			ofHub := strings.ReplaceAll(live.Stdout.String(),
				"installed on this hub (manifests/manifestworks, which deploy/components/federation needs, installs them)",
				"installed on the hub of the snapshot")
			if live.ExitCode(t) != file.ExitCode(t) || ofHub != file.Stdout.String() {
				t.Errorf("%v of the hub\n%s\nof the snapshot\n%s\n%s", args, ofHub, file.Stdout.String(), file.Stderr.String())
			}
		}
	})

	t.Run("a change is compared with a snapshot", func(t *testing.T) {
		changed := filepath.Join(t.TempDir(), "standby.yaml")
		suite.Must(t, os.WriteFile(changed, []byte(standbyOfOne), 0o600))
		file := suite.Run(t, "diff", "--hub", path, "-f", changed, "-o", "name")
		live := suite.Run(t, "diff", "--kubeconfig", h.AdminKubeconfig, "-f", changed, "-o", "name")
		if file.ExitCode(t) != live.ExitCode(t) || file.Stdout.String() != live.Stdout.String() || file.Stdout.String() == "" {
			t.Errorf("diff of the hub\n%s%s\nof the snapshot\n%s%s", live.Stdout.String(), live.Stderr.String(), file.Stdout.String(),
				file.Stderr.String())
		}
	})

	t.Run("cases are tested in a snapshot as on the hub", func(t *testing.T) {
		cases := filepath.Join(t.TempDir(), "cases.yaml")
		suite.Must(t, os.WriteFile(cases, []byte(standbyCases), 0o600))
		live := suite.Run(t, "test", "--kubeconfig", h.AdminKubeconfig, "-f", cases, "--verbose", "-o", "json")
		live.WantExit(t, 1)
		live.WantStdout(t, `"name": "holds"`, `"name": "fails"`)
		file := suite.Run(t, "test", "--hub", path, "-f", cases, "--verbose", "-o", "json")
		timed := regexp.MustCompile(`"now": "[^"]*"`)
		same := timed.ReplaceAllString(file.Stdout.String(), "") == timed.ReplaceAllString(live.Stdout.String(), "")
		if file.ExitCode(t) != live.ExitCode(t) || !same {
			t.Errorf("test of the hub\n%s\nof the snapshot\n%s%s", live.Stdout.String(), file.Stdout.String(), file.Stderr.String())
		}
	})

	t.Run("the pages show a snapshot", func(t *testing.T) { checkSnapshotPages(t, path) })

	t.Run("the sets of a snapshot are listed", func(t *testing.T) {
		p := suite.Run(t, "sets", "-f", path, "-A")
		p.WantExit(t, 0)
		p.WantStdout(t, "all namespaces: ", " sets, ", " bound\n", "SET ", "  prod ", "team-a")
		if strings.Contains(p.Stdout.String(), "MAY BIND") {
			t.Errorf("a snapshot says who may bind sets: %s", p.Stdout.String())
		}
	})

	t.Run("a tenant's snapshot says what it lacks", func(t *testing.T) {
		tenant := withRoles(t, h, "snapshot-tenant", "open-cluster-management:placement-hub:view")
		path := filepath.Join(t.TempDir(), "state.yaml")
		p := suite.Run(t, "snapshot", "--kubeconfig", tenant, "-n", "team-a", "-o", path)
		p.WantExit(t, 0)
		p.WantStderr(t, "not read: managedclusters.cluster.open-cluster-management.io is forbidden")
		content, err := os.ReadFile(path)
		suite.Must(t, err)
		if text := string(content); !strings.Contains(text, "name: standby") || strings.Contains(text, "namespace: team-b") {
			t.Error("the snapshot lacks a Placement of the tenant, or has objects of another namespace")
		}
		p = suite.Run(t, "explain", "-f", path, "team-a/standby")
		p.WantExit(t, 2)
		p.WantStderr(t, "ManagedClusters decide about Placements", "fleet-view")
		wantOnlyReads(t, h, "system:serviceaccount:default:snapshot-tenant")
	})

	t.Run("mistakes are named", func(t *testing.T) {
		for want, args := range map[string][]string{
			"--output: name the file":                         {},
			"contradict each other":                           {"-A", "-n", "team-a", "-o", "-"},
			"--output: open " + filepath.Join(path, "x.yaml"): {"-o", filepath.Join(path, "x.yaml")},
		} {
			suite.Run(t, append([]string{"snapshot", "--kubeconfig", h.AdminKubeconfig}, args...)...).WantStderr(t, want)
		}
	})
}

// checkSnapshotPages visits the pages of a snapshot without a hub.
func checkSnapshotPages(t *testing.T, path string) {
	t.Helper()
	p := suite.Start(t, "dashboard", "-f", path)
	opened := regexp.MustCompile(`http://\S+`)
	var address string
	suite.Eventually(t, "waiting for the URL", func() error {
		if address = opened.FindString(p.Stdout.String()); address == "" {
			return errors.New("it is not printed")
		}
		return nil
	})
	by := browser(t)
	if code, text := visit(t, by, address, ""); code != http.StatusSeeOther && code != http.StatusFound {
		t.Fatalf("the URL opens with %d %s", code, text)
	}
	at, err := url.Parse(address)
	suite.Must(t, err)
	for page, want := range map[string]string{
		"/": "team-a", "/placements": "standby", "/placements/team-a/standby": "ap1", "/placements/team-a/standby/fleet": "<svg", "/clusters": "eu2",
		"/clusters/eu2": "eu2", "/fleet": "<svg", "/objects": "Delivered objects",
		"/workloads": "Workloads", "/requests": "Cluster requests", "/search?q=standby": "standby",
	} {
		at.Path, at.RawQuery, _ = strings.Cut(page, "?")
		code, text := visit(t, by, at.String(), "")
		if code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, want a page with %q:\n%.2000s", page, code, want, text)
		}
	}
	p.Signal(t, syscall.SIGINT)
	p.WantExit(t, 0)
	broken := filepath.Join(t.TempDir(), "world.yaml")
	suite.Must(t, os.WriteFile(broken, []byte(standbyOfOne), 0o600))
	p = suite.Run(t, "dashboard", "-f", broken)
	p.WantExit(t, 2)
	p.WantStderr(t, "is no snapshot", "placement snapshot writes one")
}
