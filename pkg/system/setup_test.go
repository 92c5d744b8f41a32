// SPDX-License-Identifier: Apache-2.0

package system

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/manifests"
)

// The table of controllers in docs/controllers.md has every controller, in the order of the list.
func TestReadmeListsTheControllers(t *testing.T) {
	page, err := os.ReadFile("../../docs/controllers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| controller |")
	table, _, _ = strings.Cut(table, "\n\n")
	var got []string
	for line := range strings.Lines(table) {
		if row, found := strings.CutPrefix(line, "| `"); found {
			name, _, _ := strings.Cut(row, "`")
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(Names(), got); diff != "" {
		t.Errorf("controllers in docs/controllers.md (-want +got):\n%s", diff)
	}
}

// docs/uninstall.md says what stays of each system that can be turned off, and of each of its finalizers.
func TestThePageAboutUninstallingHasEverySystem(t *testing.T) {
	page, err := os.ReadFile("../../docs/uninstall.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "\n| system |")
	rows, _, _ = strings.Cut(rows, "\n\n")
	for _, name := range manifests.Systems() {
		if !strings.Contains(rows, "\n| ["+name+"](") {
			t.Errorf("docs/uninstall.md has no row for the system %s", name)
		}
	}
	for _, entry := range (&Options{}).Systems() {
		for _, finalizer := range entry.Finalizers {
			if !strings.Contains(string(page), "\n| `"+finalizer.String()+"` |") {
				t.Errorf("docs/uninstall.md has no row for the finalizer %s of the system %s", finalizer, entry.Name)
			}
		}
	}
}

// Only the controller of Tenants may read the Secrets of other namespaces, and only those of its name: docs/spec/affinity-class.md 1.1.
func TestSecretsInTheCache(t *testing.T) {
	for _, tc := range []struct {
		controllers []string
		want        map[string]string
	}{
		{[]string{"*"}, map[string]string{"hub": "metadata.name=placement-webhook-certificates"}},
		{[]string{"affinityclass/classes"}, map[string]string{"hub": "metadata.name=placement-webhook-certificates"}},
		{[]string{"affinityclass/*"}, map[string]string{
			"hub": "metadata.name=placement-webhook-certificates", "": "metadata.name=cozystack-values",
		}},
	} {
		got := map[string]string{}
		for object, by := range (Options{Controllers: tc.controllers, Namespace: "hub"}).CacheOptions().ByObject {
			if _, isSecret := object.(*corev1.Secret); isSecret {
				for namespace, config := range by.Namespaces {
					got[namespace] = config.FieldSelector.String()
				}
			}
		}

		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.controllers, diff)
		}
	}
}

// A review of a webhook that is off is answered by what an administrator has to do.
func TestWebhooksThatAreOffSayWhatToDo(t *testing.T) {
	options := Options{Controllers: []string{"*", "affinityclass/classes", "podscheduling/*"}}
	enabled, err := options.Enabled()
	if err != nil {
		t.Fatal(err)
	}
	off := pathsOff(options.all(enabled), enabled)
	for _, member := range options.all(enabled) {
		if member.system != "" && (member.Webhook != nil) != (len(member.Served.Paths) > 0) {
			t.Errorf("the paths of %s are %q, which is known while it is off", member.Name, member.Served.Paths)
		}
		for _, path := range member.Served.Paths {
			why := off[path]
			if slices.Contains(enabled, member.Name) != (why == nil) {
				t.Errorf("path %s of %s: %v", path, member.Name, why)
			}
			if why != nil && !strings.Contains(why.Error(), member.Name+" of the hub is off") {
				t.Errorf("path %s: %v, want the name %s", path, why, member.Name)
			}
		}
	}
	const path, want = "/validate-application", "the controller affinityclass/webhook of the hub is off; an administrator enables it, or runs: " +
		"kubectl delete validatingwebhookconfiguration/open-cluster-management-placement-hub-affinityclass"
	if got := off[path]; got == nil || got.Error() != want {
		t.Errorf("%s: %v, want %s", path, got, want)
	}
}
