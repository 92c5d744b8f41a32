// SPDX-License-Identifier: Apache-2.0

package system

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// A hub that refers to ClusterProfiles and makes none says so once if there is none.
func TestTheWarningWithoutClusterProfiles(t *testing.T) {
	profile := func(manager string) client.Object {
		of := &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: manager}}
		of.Spec.ClusterManager.Name = manager
		return of
	}
	for _, c := range []struct {
		reason   string
		profiles []client.Object
		warns    bool
	}{
		{"without any", nil, true},
		{"with one of another cluster manager", []client.Object{profile("elsewhere")}, true},
		{"with one of ManagedClusters", []client.Object{profile("elsewhere"), profile("open-cluster-management")}, false},
	} {
		var lines []string
		logger := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		check := profileCheck{fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(c.profiles...).Build()}
		if err := check.Start(logr.NewContext(t.Context(), logger)); err != nil {
			t.Errorf("%s: %v", c.reason, err)
		}
		if c.warns != (len(lines) == 1 && strings.Contains(lines[0], "No ClusterProfile represents a ManagedCluster")) {
			t.Errorf("%s: the log is %q", c.reason, lines)
		}
	}
	if !(profileCheck{}).NeedLeaderElection() {
		t.Error("each replica warns")
	}

	unread := errors.New("no answer")
	check := profileCheck{interceptor.NewClient(fake.NewClientBuilder().WithScheme(Scheme()).Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return unread },
	})}
	if err := check.Start(t.Context()); !errors.Is(err, unread) {
		t.Errorf("a failed list: %v", err)
	}
}

// The flags of the controller have no effect without it.
func TestFlagsOfClusterProfiles(t *testing.T) {
	for _, c := range []struct {
		reason  string
		options Options
		enabled []string
		want    []string
	}{
		{"the defaults", Options{ClusterProfileClaims: []string{"*"}}, nil, nil},
		{"with the controller", Options{ClusterProfileFormerWriters: []string{"registration"}}, []string{"clusterprofiles"}, nil},
		{"claims alone", Options{ClusterProfileClaims: []string{"a"}}, nil, []string{"--cluster-profile-claims: no effect"}},
		{
			"both", Options{ClusterProfileClaims: []string{"a"}, ClusterProfileFormerWriters: []string{"registration"}}, []string{"placement"},
			[]string{"--cluster-profile-claims: no effect", "--cluster-profile-take-over: no effect"},
		},
	} {
		err := c.options.unusedClusterProfileFlags(c.enabled)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.reason, err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.reason, err, want)
			}
		}
	}
	invalid := Options{ClusterProfileClaims: []string{"*"}, ClusterProfileFormerWriters: []string{""}}
	if err := invalid.validateClusterProfiles(); err == nil || !strings.HasPrefix(err.Error(), "--cluster-profile-take-over: ") {
		t.Errorf("an empty name of a field manager: %v", err)
	}
}
