// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
)

// test/e2e/hub runs the command against an API server.
func TestUninstallSaysWhatItNeeds(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "say what to do: --release-finalizers"},
		{
			[]string{"--release-finalizers", "--system=fleet"},
			`--system: there is no system "fleet"; use affinityclass, clusterrequest, federation, podscheduling`,
		},
		{[]string{"--release-finalizers", "-n", "shop"}, "--namespace: objects of all namespaces are released"},
		{[]string{"shop"}, `unknown command "shop" for "placement uninstall"`},
	} {
		var out, errors bytes.Buffer
		code := execute(t.Context(), append([]string{"uninstall"}, c.args...), &out, &errors)
		if code != exitUsage || !strings.Contains(errors.String(), c.want) || out.Len() > 0 {
			t.Errorf("uninstall %v: exit code %d, want %d; %s", c.args, code, exitUsage, errors.String())
		}
	}
}
