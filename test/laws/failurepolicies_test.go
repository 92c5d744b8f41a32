// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"
)

// isUnreachableByWebhooks reports whether a package runs controllers, or connects to other clusters.
func isUnreachableByWebhooks(path string) bool {
	if slices.Contains(reachable, path) {
		return false
	}
	isBelow := func(parent string) bool { return within(path, parent) }
	return within(path, "pkg") && strings.HasSuffix(path, "/controller") ||
		slices.ContainsFunc([]string{"pkg/system", "pkg/hub", "pkg/clusterrequest/provider", "pkg/localplane"}, isBelow)
}

// reachable are the packages of hub that webhooks may stand on: they run no controller, and read from the API server of their manager alone.
var reachable = []string{responses, "pkg/hub/objects", "pkg/hub/extracache"}

// responses is the package of hub that the webhooks of the systems share.
const responses = "pkg/hub/webhook"

// Law 10: no webhook configuration of the manifests mixes webhooks that fail open with webhooks that fail closed.
func TestFailurePoliciesAreNotMixed(t *testing.T) {
	expectLaw(t, checkFailurePolicies(t, os.DirFS(root(t))))
}

// Law 10: admission waits for no controller and calls no other cluster.
func TestWebhooksReachNoController(t *testing.T) {
	expectLaw(t, checkWebhookReach(importGraph(t)))
}

// checkFailurePolicies finds webhooks of the manifests without a failure policy, and those whose policy is not that of the first webhook of
// their configuration.
func checkFailurePolicies(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	walkDocuments(t, repository, func(object metav1.PartialObjectMetadata, document []byte) {
		if object.Kind != "MutatingWebhookConfiguration" && object.Kind != "ValidatingWebhookConfiguration" {
			return
		}

		// Both kinds have the fields that are read here.
		var configuration admissionregistrationv1.ValidatingWebhookConfiguration
		if err := sigsyaml.Unmarshal(document, &configuration); err != nil {
			t.Fatalf("%s %s: %v", object.Kind, object.Name, err)
		}

		for _, webhook := range configuration.Webhooks {
			first := configuration.Webhooks[0].FailurePolicy
			switch {
			case webhook.FailurePolicy == nil:
				findings = append(findings, fmt.Sprintf("%s: webhook %s states no failurePolicy", object.Name, webhook.Name))
			case first != nil && *webhook.FailurePolicy != *first:
				findings = append(findings, fmt.Sprintf("%s: webhook %s has failurePolicy %s, and the first one %s",
					object.Name, webhook.Name, *webhook.FailurePolicy, *first))
			}
		}
	})

	return findings
}

// checkWebhookReach finds webhooks of systems that reach a controller or another cluster, over any number of imports.
func checkWebhookReach(g graph) []string {
	var findings []string
	for _, path := range g.own() {
		if !within(path, "pkg") || !strings.HasSuffix(path, "/webhook") {
			continue
		}
		chain := g.chain(module+path, func(imported string) bool {
			own, is := strings.CutPrefix(imported, module)
			return is && isUnreachableByWebhooks(own)
		})
		if chain != nil {
			findings = append(findings, fmt.Sprintf("%s: admission waits for no controller and calls no other cluster: %s", path, route(chain)))
		}
	}

	return findings
}

func TestFailurePolicyCheckerFindsMixtures(t *testing.T) {
	const head = "kind: MutatingWebhookConfiguration\nmetadata: {name: x}\nwebhooks:\n- {name: a, failurePolicy: Fail}\n"
	for name, test := range map[string]struct {
		second string
		want   []string
	}{
		"equal":  {second: "- {name: b, failurePolicy: Fail}\n"},
		"mixed":  {second: "- {name: b, failurePolicy: Ignore}\n", want: []string{"x: webhook b has failurePolicy Ignore, and the first one Fail"}},
		"absent": {second: "- {name: b}\n", want: []string{"x: webhook b states no failurePolicy"}},
	} {
		t.Run(name, func(t *testing.T) {
			expectFindings(t, checkFailurePolicies(t, fstest.MapFS{"manifests/a.yaml": {Data: []byte(head + test.second)}}), test.want)
		})
	}
}

func TestWebhookReachCheckerFindsControllers(t *testing.T) {
	expectFindings(t, checkWebhookReach(graph{
		module + "pkg/a/webhook":    {module + "pkg/b"},
		module + "pkg/b":            {module + "pkg/hub/queue"},
		module + "pkg/c/webhook":    {module + "pkg/c/controller"},
		module + "pkg/explain":      {module + "pkg/localplane"},
		module + "pkg/good/webhook": {module + "pkg/good", module + responses},
	}), []string{
		"pkg/a/webhook: admission waits for no controller and calls no other cluster: pkg/a/webhook -> pkg/b -> pkg/hub/queue",
		"pkg/c/webhook: admission waits for no controller and calls no other cluster: pkg/c/webhook -> pkg/c/controller",
	})
}
