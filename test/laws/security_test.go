// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

const (
	// securityPage has the table of rights: a row for each role of the manifests that permits more than reading.
	securityPage = "docs/security.md"
	// rolePrefix is left out in the table.
	rolePrefix = "open-cluster-management:placement-hub:"
)

// rightsRow matches a row of the table of rights: the name of a role, its holder, and what it may write.
var (
	rightsRow = regexp.MustCompile("^\\| `([\\w:.-]+)` \\| [^|]+ \\| ([^|]+) \\|")
	quoted    = regexp.MustCompile("`([^`]+)`")
)

// ordinaryVerbs are the verbs whose rights the table names by their resource alone; reading is not in the table.
var ordinaryVerbs = map[string]bool{
	"create": true, "update": true, "patch": true, "delete": true, "deletecollection": true, "post": true,
	"get": false, "list": false, "watch": false,
}

// docs/spec/trust.md R1: each right of the manifests is in the table, and each right of the table is in the manifests.
func TestSecurityPageHasEveryRight(t *testing.T) {
	expectLaw(t, checkRights(t, os.DirFS(root(t))))
}

// checkRights compares the roles of the manifests with the table of securityPage.
func checkRights(t *testing.T, repository fs.FS) []string {
	t.Helper()
	granted, written := grantedRights(t, repository), writtenRights(t, repository)
	var findings []string
	for _, role := range slices.Sorted(maps.Keys(granted)) {
		if got, want := strings.Join(written[role], ", "), strings.Join(granted[role], ", "); got != want {
			findings = append(findings, fmt.Sprintf("%s: the row of %s has the rights %q, the manifests grant %q", securityPage, role, got, want))
		}
	}

	for _, role := range slices.Sorted(maps.Keys(written)) {
		if _, is := granted[role]; !is {
			findings = append(findings, fmt.Sprintf("%s: %s is no role of the manifests with rights to write", securityPage, role))
		}
	}
	return findings
}

// grantedRights returns what the roles of the manifests permit beyond reading, sorted. A ClusterRole and a Role of one name are one entry.
func grantedRights(t *testing.T, repository fs.FS) map[string][]string {
	t.Helper()
	granted := map[string][]string{}
	walk(t, repository, func(file string, entry fs.DirEntry) {
		if entry.IsDir() || !within(file, "manifests") || path.Ext(file) != ".yaml" {
			return
		}
		for _, role := range rolesOf(t, file, readFile(t, repository, file)) {
			name := strings.TrimPrefix(role.Name, rolePrefix)
			granted[name] = append(granted[name], rightsOf(role.Rules)...)
		}
	})

	maps.DeleteFunc(granted, func(_ string, rights []string) bool { return len(rights) == 0 })
	for name, rights := range granted {
		slices.Sort(rights)
		granted[name] = slices.Compact(rights)
	}
	return granted
}

// rolesOf returns the ClusterRoles and Roles of a file.
func rolesOf(t *testing.T, file, text string) []rbacv1.ClusterRole {
	t.Helper()
	var roles []rbacv1.ClusterRole
	for documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return roles
		}
		var meta metav1.TypeMeta
		if err := errors.Join(err, sigsyaml.Unmarshal(document, &meta)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}

		if meta.Kind != "ClusterRole" && meta.Kind != "Role" {
			continue
		}
		var role rbacv1.ClusterRole
		if err := sigsyaml.Unmarshal(document, &role); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		roles = append(roles, role)
	}
}

// rightsOf returns the resources that rules permit to write, and verb and resource where the verb is none of those of every resource.
func rightsOf(rules []rbacv1.PolicyRule) []string {
	var rights []string
	for _, rule := range rules {
		for _, resource := range slices.Concat(rule.Resources, rule.NonResourceURLs) {
			for _, verb := range rule.Verbs {
				switch writes, ordinary := ordinaryVerbs[verb]; {
				case writes:
					rights = append(rights, resource)
				case !ordinary:
					rights = append(rights, verb+" "+resource)
				}
			}
		}
	}

	return rights
}

// writtenRights returns the rights in the table of securityPage, sorted.
func writtenRights(t *testing.T, repository fs.FS) map[string][]string {
	t.Helper()
	written := map[string][]string{}
	for line := range strings.Lines(readFile(t, repository, securityPage)) {
		row := rightsRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		rights := []string{}
		for _, right := range quoted.FindAllStringSubmatch(row[2], -1) {
			rights = append(rights, right[1])
		}
		slices.Sort(rights)
		written[row[1]] = rights
	}

	return written
}

func TestRightsAreCompared(t *testing.T) {
	const role = "kind: ClusterRole\nmetadata: {name: 'open-cluster-management:placement-hub:x'}\nrules:\n" +
		"- {resources: [pods], verbs: [get, create, patch]}\n- {resources: [sets], verbs: [bind]}\n"
	const rowOf = securityPage + ": the row of x has the rights "
	for name, test := range map[string]struct {
		page string
		want []string
	}{
		"agree":  {page: "| `x` | the hub | `pods`, `bind sets` | nothing |\n"},
		"no row": {want: []string{rowOf + `"", the manifests grant "bind sets, pods"`}},
		"less":   {page: "| `x` | the hub | `pods` | |\n", want: []string{rowOf + `"pods", the manifests grant "bind sets, pods"`}},
		"no role": {
			page: "| `x` | a | `pods`, `bind sets` | |\n| `y` | a | `pods` | |\n",
			want: []string{securityPage + ": y is no role of the manifests with rights to write"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectFindings(t, checkRights(t, fstest.MapFS{
				securityPage: {Data: []byte(test.page)}, "manifests/a.yaml": {Data: []byte(role)},
			}), test.want)
		})
	}
}
