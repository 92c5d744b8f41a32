// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/deploy"
	"github.com/placement-hub/placement-hub/manifests"
)

// test/e2e/hub runs the command against an API server.
func TestUninstallSaysWhatItNeeds(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "say what to do: --release-finalizers or --delete-hub-state"},
		{[]string{"--dry-run"}, "say what to do: --release-finalizers or --delete-hub-state"},
		{
			[]string{"--delete-hub-state", "--system=federation"},
			"--delete-hub-state is about a hub that is gone, and --system about one that goes on",
		},
		{
			[]string{"--release-finalizers", "--system=fleet"},
			`--system: there is no system "fleet"; use affinityclass, clusterrequest, federation, podscheduling`,
		},
		{[]string{"--release-finalizers", "-n", "shop"}, "--namespace: objects of all namespaces are released"},
		{[]string{"shop"}, `unknown command "shop" for "placement uninstall"`},
	} {
		var out, errors bytes.Buffer
		code := execute(t.Context(), append([]string{"uninstall"}, c.args...), &out, &errors)
		if code != exit.Usage || !strings.Contains(errors.String(), c.want) || out.Len() > 0 {
			t.Errorf("uninstall %v: exit code %d, want %d; %s", c.args, code, exit.Usage, errors.String())
		}
	}
}

// Every object that the roles of a hub allow it to update in its namespace by name, and the Lease, is known to the command.
func TestUninstallKnowsWhatTheHubWrites(t *testing.T) {
	known, writable := map[string]bool{}, map[string]bool{}
	for _, written := range hubState() {
		if written.Selector != "" {
			continue // Their role is none of those below.
		}
		known[written.Resource.Resource+" "+written.Name] = true
	}
	objects, err := deploy.Objects(deploy.Choices{Systems: manifests.Systems()})
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetKind() != "Role" || object.GetNamespace() != manifests.Namespace {
			continue
		}
		role := &rbacv1.Role{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			if !slices.Contains(rule.Verbs, "update") {
				continue
			}
			names := rule.ResourceNames
			if slices.Equal(rule.Resources, []string{"leases"}) {
				names = []string{election.Defaults().Name}
			}
			if len(names) == 0 {
				t.Errorf("Role %s may update all %v of the namespace of the hub; want names", role.Name, rule.Resources)
			}
			for _, name := range names {
				writable[rule.Resources[0]+" "+name] = true
			}
		}
	}
	if diff := cmp.Diff(writable, known); diff != "" {
		t.Errorf("what uninstall knows (+) differs from what the hub may write (-):\n%s", diff)
	}
}
