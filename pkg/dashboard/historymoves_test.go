// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/history/changes"
)

// docs/spec/history.md HI23: the change of a taint, a label or a claim has a what-if that undoes it, while the cluster is as the change left it.
func TestHI23AChangeIsUndoneInAWhatIf(t *testing.T) {
	label := history.Cause{
		Group: clusterv1.GroupName, Kind: "ManagedCluster", Name: "us1", Action: history.Changed, Field: "metadata.labels[region]",
		What: "label region", Old: "eu", New: "us",
	}
	later, gone := label, label
	later.Old, later.New, gone.Name = "us", "af", "gone"
	spec := history.Cause{
		Group: clusterv1.GroupName, Kind: "Placement", Namespace: "team-a", Name: "web", Action: history.Changed, Field: "spec.numberOfClusters",
	}
	hub := newTestHub(world()...)
	hub.remembers(
		moveOf("web", 9, []string{"eu1"}, nil, tainted("eu1", history.Added, "")), moveOf("web", 8, nil, []string{"eu1"},
			tainted("eu1", history.Removed, "")), moveOf("web", 5, []string{"us1"}, nil, label, spec),
		moveOf("web", 4, []string{"us1"}, nil, later, gone),
	)
	_, text := shownAs(t, newPages(hub), "/history")
	links := []string{"/clusters/us1?label=region%3Deu#whatif", "/clusters/eu1?taint=maintenance%3ANoSelect#whatif"}
	for _, want := range links {
		if !strings.Contains(text, `<a href="`+want+`">What if it were undone?`) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
	if count := strings.Count(text, "What if it were undone?"); count != len(links) {
		t.Errorf("%d changes may be undone, want %d: %s", count, len(links), text)
	}
	if code, whatIf := shownAs(t, newPages(hub), strings.TrimSuffix(links[0], "#whatif")); code != http.StatusOK ||
		!strings.Contains(whatIf, "1 placement gains 1 cluster") {
		t.Errorf("the link leads to status %d: %s", code, whatIf)
	}
	hub.Client = listsNoClusters{hub.Client}
	code, text := shownAs(t, newPages(hub), "/placements/team-a/web/history")
	if code != http.StatusOK || strings.Contains(text, "undone?") || !strings.Contains(text, "label region") {
		t.Errorf("a user who may not list clusters gets status %d: %s", code, text)
	}
}

// listsNoClusters is a client of a user who may not list clusters.
type listsNoClusters struct{ client.Client }

func (l listsNoClusters) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*clusterv1.ManagedClusterList); is {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "managedclusters"}, "", errors.New("refused"))
	}
	return l.Client.List(ctx, list, options...)
}

// docs/spec/history.md HI23: the inverse of each change of a cluster that has one restores the cluster, and others have none.
func TestHI23TheInverseRestoresTheCluster(t *testing.T) {
	parse := map[string]func(string) (whatif.Change, error){
		taintField: whatif.ParseTaint, labelField: whatif.ParseLabel, claimField: whatif.ParseClaim,
	}
	states := func(name string, values ...string) []*clusterv1.ManagedCluster {
		var made []*clusterv1.ManagedCluster
		for i, value := range append([]string{"\x00"}, values...) {
			c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c7", ResourceVersion: itoa(i), Labels: map[string]string{"a": "b"}}}
			if value != "\x00" {
				switch name {
				case labelField:
					c.Labels["region"] = value
				case taintField:
					c.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Value: value, Effect: clusterv1.TaintEffectNoSelect}}
				default:
					c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "version", Value: value}}
				}
			}
			made = append(made, c)
		}
		return made
	}
	for name, all := range map[string][]*clusterv1.ManagedCluster{
		labelField: states(labelField, "", "eu", "us"), taintField: states(taintField, "", "a100", "x:y"),
		claimField: states(claimField, "1.30", "a=b:c-"),
	} {
		for _, before := range all {
			for _, after := range all {
				for _, change := range changes.Between(before, after) {
					field, value := inverseOf(&change.Cause)
					if field != name {
						t.Errorf("%+v has the inverse %s=%s", change.Cause, field, value)
						continue
					}
					if (undoable{"c7": after}).link(&change.Cause) == "" || (undoable{"c7": before}).link(&change.Cause) != "" {
						t.Errorf("%+v is undone when it is not there, or not when it is", change.Cause)
					}
					undo, err := parse[field]("c7:" + value)
					if err != nil {
						t.Errorf("%s=%s: %v", field, value, err)
						continue
					}
					undone, err := whatif.Apply(&explain.State{Clusters: []*clusterv1.ManagedCluster{after}}, now, undo)
					if err != nil {
						t.Errorf("%s=%s: %v", field, value, err)
						continue
					}
					undone.Clusters[0].ResourceVersion = before.ResourceVersion + "-restored"
					if left := changes.Between(before, undone.Clusters[0]); len(left) > 0 {
						t.Errorf("%s=%s leaves %+v", field, value, left[0].Cause)
					}
				}
			}
		}
	}
	long := changes.Between(states(claimField, strings.Repeat("x", 300))[1], states(claimField)[0])
	for _, none := range []history.Cause{
		{Group: clusterv1.GroupName, Kind: "ManagedCluster", Name: "c7", Action: history.Deleted},
		{Group: clusterv1.GroupName, Kind: "ManagedCluster", Name: "c7", Action: history.Changed, Field: "spec.hubAcceptsClient"},
		{Group: clusterv1.GroupName, Kind: "Placement", Name: "c7", Action: history.Added, Field: "metadata.labels[region]"},
		{Group: clusterv1.GroupName, Kind: "ManagedCluster", Name: "c7", Action: history.Removed, Field: "status.clusterClaims[a=b]", Old: "c"},
		{Group: clusterv1.GroupName, Kind: "ManagedCluster", Name: "c7", Action: history.Removed, Field: "status.clusterClaims[a]", Old: " c"},
		long[0].Cause,
	} {
		if field, value := inverseOf(&none); field != "" {
			t.Errorf("%+v has the inverse %s=%s", none, field, value)
		}
	}
}
