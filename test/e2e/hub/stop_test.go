// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// errorLine is a line of the log that says that something failed.
var errorLine = regexp.MustCompile(`(?m)^[EF]\d{4} .*$`)

// kept are the kinds that the controllers write to.
var kept = []string{
	"placementdecisions", "placementdecisions/status", "placements/status", "managedclustersets", "managedclustersets/status",
	"managedclustersetbindings", "managedclustersetbindings/status", "managedclusters", "clusterroles", "configmaps", "secrets", "events",
}

// live are the kinds that the controllers read without a cache.
var live = []string{"configmaps", "customresourcedefinitions", "managedclusters", "managedclustersets", "managedclustersetbindings", "placements"}

// writes are the requests that change what is kept.
var writes = faults.Match{Verbs: []string{"create", "update", "patch"}, Resources: kept}

// reads are the requests that read resources.
func reads(resources ...string) faults.Match {
	return faults.Match{Verbs: []string{"list", "watch"}, Resources: resources}
}

// TestStopIsNoError stops a replica while requests of every controller are under way, and while it still reads the hub.
func TestStopIsNoError(t *testing.T) {
	h := suite.StartHub(t)
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}))
	proxy := suite.ThroughProxy(t, h)
	for _, tc := range []struct {
		reason string
		hang   faults.Match
		fault  faults.Fault
		// warm waits until the replica is ready before its requests hang.
		warm bool
	}{
		{"while it reads the hub", reads("managedclusters", "placements"), faults.Hang, false},
		{"while it reads its rights", faults.Match{Resources: []string{"selfsubjectaccessreviews"}}, faults.Stall, false},
		{"while it reads an answer about the hub", faults.Match{Verbs: []string{"get", "list"}, Resources: live}, faults.Stall, false},
		{"while it reads what it keeps indexes of", reads("placementdecisions"), faults.Hang, false},
		{"while it writes for the first time", writes, faults.Hang, false},
		{"while it writes", writes, faults.Hang, true},
		{"while it reads responses", writes, faults.Stall, true},
		{"at rest", faults.Match{Verbs: []string{"none"}}, faults.Hang, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			begin := func() *suite.Program {
				return suite.Start(t, "controller", "--kubeconfig", h.Kubeconfig, "--controllers=*",
					"--listen=127.0.0.1:0", "--webhook-listen=127.0.0.1:0")
			}
			var p *suite.Program
			if tc.warm {
				p = h.StartReplica(t).Program
				p.WaitFor(t, &p.Stderr, `"Successfully acquired lease"`)
			}
			before := len(proxy.Requests(tc.hang))
			mend := proxy.Break(faults.Rule{Match: tc.hang, Fault: tc.fault})
			defer mend()
			if !tc.warm {
				p = begin()
			}
			name := strings.ReplaceAll(tc.reason, " ", "-")
			suite.Must(t, h.Client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}))
			suite.Must(t, h.Client.Create(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}))
			if tc.hang.Resources != nil {
				suite.AwaitRequests(t, proxy, tc.hang, before+2)
			} else {
				h.WantDecisions(t, types.NamespacedName{Namespace: "team", Name: name})
			}
			p.Signal(t, syscall.SIGTERM)
			p.WantExit(t, 0)
			h.WantHolder(t, nil)
			if lines := errorLine.FindAllString(p.Stderr.String(), -1); len(lines) > 0 {
				t.Errorf("a stop logs %d errors:\n%s", len(lines), strings.Join(lines, "\n"))
			}
			suite.Must(t, client.IgnoreNotFound(h.Client.DeleteAllOf(t.Context(), &clusterv1beta1.Placement{}, client.InNamespace("team"))))
		})
	}
}
