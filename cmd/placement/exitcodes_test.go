// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/test/expect"
)

// The page about the command line has the exit codes of the program.
func TestExitCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands.md")
	expect.NoError(t, err)
	for _, described := range exit.Codes {
		cells := []string{described.Means, described.Comparing, described.Stdout, described.Stderr}
		if row := fmt.Sprintf("| %d | %s |\n", described.Code, strings.Join(cells, " | ")); !strings.Contains(string(page), row) {
			t.Errorf("docs/commands.md lacks %q", row)
		}
	}
}

// commandLines are command lines of commands that need arguments.
var commandLines = map[string][]string{
	"placement explain": {"team-a/rollout"}, "placement diff": {"-f", "../../docs/examples/new-placement.yaml"},
	"placement uninstall": {"--release-finalizers"}, "placement provider": {"loopback"}, "placement snapshot": {"-o", "-"},
	"placement test": {"-f", "../../docs/examples/placement-test.yaml"},
}

// The same outcome has the same exit code in every command, nothing on stdout where it fails as a whole, and its cause on stderr.
func TestExitCodesOfAllCommands(t *testing.T) {
	var started bool
	missing := filepath.Join(t.TempDir(), "nosuch")
	valid := expect.File(t, filepath.Join(t.TempDir(), "kubeconfig"), expect.Kubeconfig("https://127.0.0.1:1"))
	for _, command := range newRootCommand(&started, func() {}).Commands() {
		if !command.IsAvailableCommand() {
			continue
		}
		comparing := command.Name() == "diff" || command.Name() == "test"
		nowhere := []string{"--server", "http://127.0.0.1:1", "--request-timeout", "1s"}
		for _, tc := range []struct {
			outcome, flag, kubeconfig string
			args                      []string
			want                      int
			stderr                    string
		}{
			{outcome: "help", args: []string{"--help"}, want: exit.OK},
			{outcome: "an unknown flag", args: []string{"--nosuch"}, want: exit.Usage, stderr: "unknown flag: --nosuch"},
			{outcome: "an unknown format", flag: "output", args: []string{"-o", "nosuch"}, want: exit.Usage, stderr: `"nosuch"`},
			{
				outcome: "an unreadable timeout", flag: hubflags.TimeoutFlag,
				args: []string{"--server", "http://127.0.0.1:1", "--request-timeout", "soon"},
				want: exit.Usage, stderr: `"soon" is no time`,
			},
			{
				outcome: "no server", flag: hubflags.TimeoutFlag, args: nowhere, stderr: "127.0.0.1:1",
				want: map[bool]int{false: exit.Failure, true: exit.NotCompared}[comparing],
			},
			{
				outcome: "a kubeconfig that does not exist", flag: "kubeconfig", args: []string{"--kubeconfig", missing}, want: exit.Usage,
				stderr: missing,
			},
			{
				outcome: "a kubeconfig of the environment that does not exist", flag: hubflags.TimeoutFlag, kubeconfig: missing, want: exit.Usage,
				stderr: "Error: $KUBECONFIG: there is no file " + missing,
			},
			{
				outcome: "a file that does not exist", flag: "filename", kubeconfig: valid, args: []string{"-f", missing}, want: exit.Usage,
				stderr: missing,
			},
			{
				outcome: "a directory without files", flag: "filename", kubeconfig: valid, args: []string{"-f", filepath.Dir(missing)},
				want: exit.Usage, stderr: "has no file",
			},
			{outcome: "a file that does not exist, of a hub", flag: "hub", args: []string{"--hub", missing}, want: exit.Usage, stderr: missing},
		} {
			names := tc.flag == "output" && command.Name() == "snapshot" // Its -o names a file.
			if names || tc.flag != "" && command.Flags().Lookup(tc.flag) == nil {
				continue
			}
			t.Run(command.Name()+" "+tc.outcome, func(t *testing.T) {
				t.Setenv("KUBECONFIG", tc.kubeconfig)
				var stdout, stderr bytes.Buffer
				args := slices.Concat([]string{command.Name()}, commandLines[command.CommandPath()], tc.args)
				if code := execute(t.Context(), args, &stdout, &stderr); code != tc.want {
					t.Errorf("exit code %d, want %d; stderr %s", code, tc.want, &stderr)
				}
				if !strings.Contains(stderr.String(), tc.stderr) || (stdout.Len() > 0) != (tc.want == exit.OK) {
					t.Errorf("stdout %q, stderr %q; want %q in stderr", &stdout, &stderr, tc.stderr)
				}
			})
		}
	}
}

// What could be read is printed in the order of the arguments, also when another name is missing. Mistakes in files print nothing.
func TestWhatIsPrinted(t *testing.T) {
	const policy = "---\napiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: {name: p, namespace: team-a}\n"
	world := expect.File(t, filepath.Join(t.TempDir(), "world.yaml"), simulatedClusters+"---\n"+labelledPlacements+policy+
		"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: {federation.kubernetes.io/federated: \"true\"}}\n"+
		configMap("a")+configMap("b")+pod("a")+pod("b")+clusterRequest("a")+clusterRequest("b"))
	mistake := expect.File(t, filepath.Join(t.TempDir(), "mistake.yaml"), simulatedClusters+"---\n"+diffedHead+"metadata: {nam: p}\nspec: {}\n")
	refused := expect.File(t, filepath.Join(t.TempDir(), "refused.yaml"), diffedHead+
		"metadata: {name: r, namespace: team-a}\nspec: {numberOfClusters: -1}\n")
	added := expect.File(t, filepath.Join(t.TempDir(), "added.yaml"), diffedHead+"metadata: {name: new, namespace: team-a}\nspec: {}\n"+policy)
	const skipped = "skipped 1 Policy\n"
	for _, tc := range []struct {
		line   string
		want   int
		stdout []string // in this order
		stderr string
	}{
		{"explain team-b/q team-a/p -f " + world, exit.OK, []string{"team-b/q: ", "team-a/p: "}, skipped},
		{"explain team-b/q team-a/nosuch team-a/p -f " + world, exit.Failure, []string{"team-b/q: ", "team-a/p: "}, "no Placement team-a/nosuch in"},
		{"explain nosuch -f " + world, exit.Failure, nil, "no Placement nosuch in"},
		{"explain nosuch --api v1alpha1 -f " + world, exit.Failure, nil, "no Placement nosuch (placement.open-cluster-management.io) in"},
		{
			"explain configmap/b team-b/q pod/b pod/a team-a/p -f " + world, exit.OK,
			[]string{"ConfigMap/team-a/b: ", "team-b/q: ", "Pod team-a/b: ", "Pod team-a/a: ", "team-a/p: "}, skipped,
		},
		{
			"explain configmap/b configmap/nosuch configmap/a -f " + world, exit.Failure, []string{"ConfigMap/team-a/b: ", "ConfigMap/team-a/a: "},
			"no ConfigMap nosuch",
		},
		{"explain pod b nosuch a -f " + world, exit.Failure, []string{"Pod team-a/b: ", "Pod team-a/a: "}, "no Pod nosuch"},
		{
			"explain clusterrequest b nosuch a -f " + world, exit.Failure, []string{"ClusterRequest/team-a/b: ", "ClusterRequest/team-a/a: "},
			"no ClusterRequest nosuch",
		},
		{"federated configmap b nosuch a -f " + world, exit.Failure, []string{"ConfigMap/team-a/b: ", "ConfigMap/team-a/a: "}, "no ConfigMap nosuch"},
		{"federated -f " + world, exit.OK, []string{"ConfigMap/team-a/a: ", "ConfigMap/team-a/b: "}, skipped},
		{"simulate --placement team-a/nosuch --placement team-a/p -f " + world, exit.Failure, []string{"team-a/p: "}, "no Placement team-a/nosuch"},
		{"simulate --placement team-a/nosuch -f " + world, exit.Failure, nil, "no Placement team-a/nosuch"},
		{"simulate --drain c1 --placement team-a/x --placement team-a/p --show-kept -f " + world, exit.Failure, []string{"team-a/p: "}, "team-a/x"},
		{
			"simulate --drain c1 --exit-code --placement team-a/x --placement team-a/p -f " + world, exit.NotCompared, []string{"team-a/p: "},
			"team-a/x",
		},
		{"simulate -f " + world, exit.OK, []string{"team-a/p: ", "team-b/q: "}, skipped},
		{"diff --hub " + world + " -f " + added, exit.Differs, []string{"team-a/new"}, skipped + skipped},
		{"simulate -f " + mistake, exit.Usage, nil, mistake + ":16: Placement: metadata.nam: unknown field"},
		{"explain team-a/p -f " + mistake, exit.Usage, nil, mistake + ":16: Placement: metadata.nam: unknown field"},
		{"federated -f " + mistake, exit.Usage, nil, mistake + ":16: Placement: metadata.nam: unknown field"},
		{"diff --hub " + world + " -f " + mistake, exit.Usage, nil, mistake + ":16: Placement: metadata.nam: unknown field"},
		{"diff --hub " + mistake + " -f " + added, exit.Usage, nil, mistake + ":16: Placement: metadata.nam: unknown field"},
		{"simulate --add --hub " + world + " -f " + mistake, exit.Usage, nil, mistake + ":16: Placement: metadata.nam: unknown field"},
		{"simulate -f " + world + " -f " + refused, exit.Usage, nil, refused + ":1: Placement team-a/r: ValidatingAdmissionPolicy "},
		{"explain team-a/p -f " + world + " -f " + refused, exit.Usage, nil, refused + ":1: Placement team-a/r: ValidatingAdmissionPolicy "},
		{"federated -f " + world + " -f " + refused, exit.Usage, nil, refused + ":1: Placement team-a/r: ValidatingAdmissionPolicy "},
		{
			"diff --hub " + world + " -f " + added + " -f " + refused, exit.NotCompared, []string{"team-a/new"},
			"Placement team-a/r would be refused, and is not in the comparison: ValidatingAdmissionPolicy ",
		},
	} {
		t.Run(strings.NewReplacer(world, "world", mistake, "mistake", added, "added", refused, "refused").Replace(tc.line), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := execute(t.Context(), strings.Fields(tc.line), &stdout, &stderr); code != tc.want {
				t.Errorf("exit code %d, want %d", code, tc.want)
			}
			rest, inOrder := stdout.String(), true
			for _, part := range tc.stdout {
				_, after, found := strings.Cut(rest, part)
				rest, inOrder = after, inOrder && found
			}
			if !inOrder || tc.stdout == nil && rest != "" || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("stdout %s\nstderr %s\nwant %q and %q", &stdout, &stderr, tc.stdout, tc.stderr)
			}
		})
	}
}

func configMap(name string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: team-a}\n"
}

func pod(name string) string {
	return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: team-a}\nspec: {containers: [{name: a, image: a}]}\n"
}

func clusterRequest(name string) string {
	return "---\napiVersion: cluster.openmcp.cloud/v1alpha1\nkind: ClusterRequest\nmetadata: {name: " + name + ", namespace: team-a}\n" +
		"spec: {purposes: [test]}\n"
}

// setsHub is an API server for placement sets. Its user may bind the set edge, and may not list what hidden names.
func setsHub(t *testing.T, hidden ...string) string {
	t.Helper()
	const group, version = "cluster.open-cluster-management.io", "v1beta2"
	type object = map[string]any
	resource := func(name, kind string, namespaced bool) object {
		return object{"name": name, "kind": kind, "namespaced": namespaced, "verbs": []string{"list"}}
	}
	named := func(kind, namespace, name string) object {
		return object{
			"apiVersion": group + "/" + version, "kind": kind, "metadata": object{"namespace": namespace, "name": name},
			"spec": object{"clusterSet": name},
		}
	}
	failure := func(reason string, code int) object {
		return object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
	}
	list := func(kind string, items ...object) object {
		return object{"apiVersion": group + "/" + version, "kind": kind + "List", "items": items}
	}
	versions := []object{{"groupVersion": group + "/" + version, "version": version}}
	const sets, bindings = "/apis/" + group + "/" + version + "/managedclustersets", "/apis/" + group + "/" + version +
		"/namespaces/team-a/managedclustersetbindings"
	const setKind, bindingKind = "ManagedClusterSet", "ManagedClusterSetBinding"
	answers := map[string]object{
		"/version": {"major": "1", "minor": "36"},
		"/api":     {"kind": "APIVersions", "versions": []string{"v1"}},
		"/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []object{
			{"name": group, "versions": versions, "preferredVersion": versions[0]},
			{"name": "authorization.k8s.io", "versions": []object{{"groupVersion": "authorization.k8s.io/v1", "version": "v1"}}},
		}},
		"/apis/" + group + "/" + version: {
			"kind": "APIResourceList", "groupVersion": group + "/" + version, "resources": []object{
				resource("managedclustersets", setKind, false), resource("managedclustersetbindings", bindingKind, true),
			},
		},
		"/apis/authorization.k8s.io/v1": {
			"kind": "APIResourceList", "groupVersion": "authorization.k8s.io/v1",
			"resources": []object{resource("selfsubjectaccessreviews", "SelfSubjectAccessReview", false)},
		},
		sets:     list(setKind, named(setKind, "", "edge"), named(setKind, "", "prod"), named(setKind, "", "secret")),
		bindings: list(bindingKind, named(bindingKind, "team-a", "prod")),
	}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		content, known := answers[request.URL.Path]
		code := http.StatusOK
		switch {
		case request.Method == http.MethodPost:
			body, err := io.ReadAll(request.Body)
			expect.NoError(t, err)
			code, content = http.StatusCreated, object{
				"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
				"status": object{"allowed": bytes.Contains(body, []byte("edge"))},
			}
		case slices.Contains(hidden, path.Base(request.URL.Path)):
			code, content = http.StatusForbidden, failure("Forbidden", http.StatusForbidden)
		case !known:
			code, content = http.StatusNotFound, failure("NotFound", http.StatusNotFound)
		}
		answer.Header().Set("Content-Type", "application/json")
		answer.WriteHeader(code)
		expect.NoError(t, json.NewEncoder(answer).Encode(content))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A tenant gets the sets that are bound or may be bound with exit code 0, also without the right to list all sets. Bindings that may not be listed
// are a failure.
func TestExitCodesOfSetsForATenant(t *testing.T) {
	for _, tc := range []struct {
		reason         string
		hidden         []string
		want           int
		stdout, stderr string
	}{
		{"everything may be listed", nil, exit.OK, "edge\nprod\n", ""},
		{
			"the sets may not be listed", []string{"managedclustersets"}, exit.OK, "prod\n",
			"note: the hub does not allow this user to list all of it",
		},
		{
			"the bindings may not be listed", []string{"managedclustersetbindings"}, exit.Failure, "edge\n",
			"Error: the hub does not allow this user to list all of it",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), []string{"sets", "--server", setsHub(t, tc.hidden...), "-n", "team-a", "-o", "name"}, &stdout, &stderr)
			if code != tc.want || stdout.String() != tc.stdout {
				t.Errorf("exit code %d, want %d; stdout %q, want %q", code, tc.want, &stdout, tc.stdout)
			}
			if !strings.HasPrefix(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stderr %q, want %q", &stderr, tc.stderr)
			}
		})
	}
}
