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
	// accessPage has the table of verbs: a row for each right that a policy asks the authorizer for.
	accessPage = "docs/access.md"
	// policyPrefix is left out in the table.
	policyPrefix = "open-cluster-management-placement-hub-"
)

var (
	// verbsRow matches a row of the table of verbs: verb, resource, group, what it is for, policies and holders.
	verbsRow = regexp.MustCompile("^\\| `([\\w-]+)` \\| `([\\w/]+)` \\| `([\\w.-]+)` \\| [^|]+ \\| ([^|]+) \\| ([^|]+) \\|")
	// askedVerb matches a question of a policy to the authorizer.
	askedVerb = regexp.MustCompile(`\.check\('([\w-]+)'\)`)
)

// askedRight is a row of the table of verbs.
type askedRight struct {
	verb, resource, group string
	policies, holders     []string
}

// docs/spec/trust.md R2: the table of verbs has each verb that a policy asks for, with the policy and the roles of the manifests that have it.
func TestAccessPageHasEveryVerb(t *testing.T) {
	expectLaw(t, checkVerbs(t, os.DirFS(root(t))))
}

// checkVerbs compares the policies and roles of the manifests with the table of accessPage.
func checkVerbs(t *testing.T, repository fs.FS) []string {
	t.Helper()
	policies, rows := askingPolicies(t, repository), verbRows(t, repository)
	var findings []string
	for _, policy := range slices.Sorted(maps.Keys(policies)) {
		for _, verb := range askedVerbs(policies[policy]) {
			if !slices.ContainsFunc(rows, func(r askedRight) bool { return r.verb == verb && slices.Contains(r.policies, policy) }) {
				findings = append(findings, fmt.Sprintf("%s: no row of the verb %s names the policy %s, which asks for it", accessPage, verb, policy))
			}
		}
	}

	for _, row := range rows {
		for _, policy := range row.policies {
			if !row.isAskedBy(policies[policy]) {
				findings = append(findings, fmt.Sprintf("%s: the policy %s does not ask for %s on %s", accessPage, policy, row.verb, row.resource))
			}
		}
	}
	return append(findings, checkHolders(t, repository, rows)...)
}

// isAskedBy reports whether the text of a policy asks for the right of the row.
func (r askedRight) isAskedBy(policy string) bool {
	if !slices.Contains(askedVerbs(policy), r.verb) || !strings.Contains(policy, "group('"+r.group+"')") {
		return false
	}
	for part := range strings.SplitSeq(r.resource, "/") {
		if !strings.Contains(policy, "'"+part+"'") {
			return false
		}
	}
	return true
}

// isGrantedBy reports whether a rule of a role grants the right of the row.
func (r askedRight) isGrantedBy(rule rbacv1.PolicyRule) bool {
	return slices.Contains(rule.Verbs, r.verb) && slices.Contains(rule.Resources, r.resource) && slices.Contains(rule.APIGroups, r.group)
}

// checkHolders returns a finding for each role of the manifests that has the right of a row which does not name it. Rows of reading are exempt.
func checkHolders(t *testing.T, repository fs.FS, rows []askedRight) []string {
	t.Helper()
	var findings []string
	walkManifests(t, repository, func(file, text string) {
		for _, role := range rolesOf(t, file, text) {
			name := strings.TrimPrefix(role.Name, rolePrefix)
			for _, row := range rows {
				if writes, ordinary := ordinaryVerbs[row.verb]; ordinary && !writes || slices.Contains(row.holders, name) {
					continue
				}
				if slices.ContainsFunc(role.Rules, row.isGrantedBy) {
					findings = append(findings,
						fmt.Sprintf("%s: the row of %s on %s does not name %s, which has it", accessPage, row.verb, row.resource, name))
				}
			}
		}
	})

	return findings
}

// walkManifests calls visit with each YAML file of the manifests.
func walkManifests(t *testing.T, repository fs.FS, visit func(file, text string)) {
	t.Helper()
	walk(t, repository, func(file string, entry fs.DirEntry) {
		if !entry.IsDir() && within(file, "manifests") && path.Ext(file) == ".yaml" {
			visit(file, readFile(t, repository, file))
		}
	})
}

// askedVerbs returns the verbs that the text of a policy asks for, each once.
func askedVerbs(policy string) []string {
	var asked []string
	for _, match := range askedVerb.FindAllStringSubmatch(policy, -1) {
		asked = append(asked, match[1])
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// askingPolicies returns the text of each ValidatingAdmissionPolicy of the manifests that asks the authorizer, by its name.
func askingPolicies(t *testing.T, repository fs.FS) map[string]string {
	t.Helper()
	policies := map[string]string{}
	walkDocuments(t, repository, func(object metav1.PartialObjectMetadata, document []byte) {
		if object.Kind == "ValidatingAdmissionPolicy" && askedVerb.Match(document) {
			policies[strings.TrimPrefix(object.Name, policyPrefix)] = string(document)
		}
	})
	return policies
}

// walkDocuments calls visit with each YAML document of the manifests.
func walkDocuments(t *testing.T, repository fs.FS, visit func(object metav1.PartialObjectMetadata, document []byte)) {
	t.Helper()

	walkManifests(t, repository, func(file, text string) {
		for documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			var object metav1.PartialObjectMetadata
			if err := errors.Join(err, sigsyaml.Unmarshal(document, &object)); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			visit(object, document)
		}
	})
}

// verbRows returns the rows of the table of accessPage.
func verbRows(t *testing.T, repository fs.FS) []askedRight {
	t.Helper()
	var rows []askedRight
	for line := range strings.Lines(readFile(t, repository, accessPage)) {
		if row := verbsRow.FindStringSubmatch(line); row != nil {
			rows = append(rows, askedRight{verb: row[1], resource: row[2], group: row[3], policies: allQuoted(row[4]), holders: allQuoted(row[5])})
		}
	}
	return rows
}

// allQuoted returns what is between backticks in a cell.
func allQuoted(cell string) []string {
	var all []string
	for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, match[1])
	}
	return all
}

func TestVerbsAreCompared(t *testing.T) {
	const policy = "kind: ValidatingAdmissionPolicy\nmetadata: {name: open-cluster-management-placement-hub-x}\n" +
		"spec: \"authorizer.group('g').resource('things').check('use')\"\n"
	const role = "kind: ClusterRole\nmetadata: {name: 'open-cluster-management:placement-hub:user'}\n" +
		"rules: [{apiGroups: [g], resources: [things], verbs: [use]}]\n"
	const agreeing = "| `use` | `things` | `g` | use it | `x` | `user` |\n"

	for name, test := range map[string]struct {
		page string
		want []string
	}{
		"agree":  {page: agreeing},
		"no row": {want: []string{accessPage + ": no row of the verb use names the policy x, which asks for it"}},
		"no holder": {
			page: "| `use` | `things` | `g` | use it | `x` | a |\n",
			want: []string{accessPage + ": the row of use on things does not name user, which has it"},
		},
		"other verb": {
			page: agreeing + "| `eat-up` | `things` | `g` | a | `x` | a |\n",
			want: []string{accessPage + ": the policy x does not ask for eat-up on things"},
		},
		"other group": {
			page: agreeing + "| `use` | `things` | `h` | a | `x` | a |\n",
			want: []string{accessPage + ": the policy x does not ask for use on things"},
		},
		"other resource": {
			page: agreeing + "| `use` | `others` | `g` | a | `x` | a |\n",
			want: []string{accessPage + ": the policy x does not ask for use on others"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectFindings(t, checkVerbs(t, fstest.MapFS{
				accessPage: {Data: []byte(test.page)}, "manifests/a.yaml": {Data: []byte(policy)}, "manifests/b.yaml": {Data: []byte(role)},
			}), test.want)
		})
	}
}
