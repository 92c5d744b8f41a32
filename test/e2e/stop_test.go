package e2e

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

	"github.com/placement-hub/placement-hub/test/env/faults"
)

// errorLine is a line of the log that says that something failed.
var errorLine = regexp.MustCompile(`(?m)^[EF]\d{4} .*$`)

// kept are the kinds that the controllers write to.
var kept = []string{
	"placementdecisions", "placementdecisions/status", "placements/status", "managedclustersets", "managedclustersets/status",
	"managedclustersetbindings", "managedclustersetbindings/status", "managedclusters", "clusterroles", "configmaps", "secrets", "events",
}

// TestStopIsNoError stops a replica while requests of every controller are under way, and while it still reads the hub.
func TestStopIsNoError(t *testing.T) {
	h := startHub(t)
	must(t, h.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}))
	proxy := throughProxy(t, h)

	for _, tc := range []struct {
		reason string
		hang   faults.Match
		// warm waits until the replica is ready before its requests hang.
		warm bool
	}{
		{"while it reads the hub", faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{"managedclusters", "placements"}}, false},
		{"while it reads what it keeps indexes of", faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{"placementdecisions"}}, false},
		{"while it writes for the first time", faults.Match{Verbs: []string{"create", "update", "patch"}, Resources: kept}, false},
		{"while it writes", faults.Match{Verbs: []string{"create", "update", "patch"}, Resources: kept}, true},
		{"at rest", faults.Match{Verbs: []string{"none"}}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			begin := func() *program {
				return start(t, "controller", "--kubeconfig", h.kubeconfig, "--controllers=*", "--listen=127.0.0.1:0", "--webhook-listen=127.0.0.1:0")
			}
			var p *program
			if tc.warm {
				p = h.startReplica(t).program
				p.waitFor(t, &p.stderr, `"Successfully acquired lease"`)
			}
			before := len(proxy.Requests(tc.hang))
			mend := proxy.Break(faults.Rule{Match: tc.hang, Fault: faults.Hang})
			defer mend()
			if !tc.warm {
				p = begin()
			}
			name := strings.ReplaceAll(tc.reason, " ", "-")
			must(t, h.client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}))
			must(t, h.client.Create(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}))
			if tc.hang.Resources != nil {
				awaitRequests(t, proxy, tc.hang, before+2)
			} else {
				h.wantDecisions(t, types.NamespacedName{Namespace: "team", Name: name})
			}
			p.signal(t, syscall.SIGTERM)
			p.wantExit(t, 0)
			if lines := errorLine.FindAllString(p.stderr.String(), -1); len(lines) > 0 {
				t.Errorf("a stop logs %d errors:\n%s", len(lines), strings.Join(lines, "\n"))
			}
			must(t, client.IgnoreNotFound(h.client.DeleteAllOf(t.Context(), &clusterv1beta1.Placement{}, client.InNamespace("team"))))
		})
	}
}
