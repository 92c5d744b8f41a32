// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/dashboard/picture"
)

// The picture of a Placement has a cell for each cluster, by its verdict, and the way from the namespace to the clusters.
func TestThePictureOfAPlacement(t *testing.T) {
	outside := cluster("far1", "af")
	outside.Labels["cluster.open-cluster-management.io/clusterset"] = "other"
	objects := append(world(), outside, &clusterv1beta1.PlacementDecision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "web"}},
		Status:     clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{{ClusterName: "eu1"}}},
	})
	pages := newPages(newTestHub(objects...))
	for _, tc := range []struct {
		path      string
		want, not []string
	}{
		{"/placements/team-a/web/fleet", []string{
			`<bdi>Selected</bdi> 1`, `<bdi>Predicate</bdi> 1`, `<bdi>OutOfScope</bdi> 1`, `<a href="/clusters?label=region%3Deu">`,
			"<figcaption><bdi>af</bdi> 1",
			`<small>binding</small> <bdi>prod</bdi>`, `<small>set by label</small>`, `<small>2 clusters</small>`, `class="line good v0" d="M0 5h9"`,
		}, nil},
		{"/placements/team-a/web/fleet?by=none", []string{"no value 3"}, []string{"/clusters?label"}},
		{
			"/placements/team-a/web/fleet?colour=load", []string{"<bdi>1 decision</bdi> 1", "<bdi>no decision</bdi> 2"},
			[]string{"<bdi>Predicate</bdi> 1,"},
		},
		{"/fleet", []string{"<bdi>Unavailable</bdi> 3"}, nil},
		{"/fleet?colour=load", []string{"<bdi>no decision</bdi> 2"}, nil},
		{"/placements/team-a/none/fleet", []string{"there is no such Placement"}, nil},
	} {
		text := as(t, pages, "jane", http.MethodGet, tc.path, "").Body.String()
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %s", tc.path, want, text)
			}
		}
		for _, not := range tc.not {
			if strings.Contains(text, not) {
				t.Errorf("%s has %q", tc.path, not)
			}
		}
	}
}

// The picture of 10,000 clusters takes less than 300 kB, in ten regions and with a value of its own for each cluster.
func TestThePictureOfALargeFleetIsSmall(t *testing.T) {
	const clusters, most = 10000, 300 << 10
	seen := make([]item, 0, clusters)
	verdicts := []string{"Selected", "Taint", "Predicate", "Rank"}
	for i := range clusters {
		name := fmt.Sprintf("cluster-%05d", i)
		seen = append(seen, item{Name: name, Labels: map[string]string{"region": fmt.Sprint("region-", i%10), "name": name}})
	}
	for _, by := range []string{"region", "name", "nothing"} {
		shown := &fleetPicture{By: by, Count: clusters}
		at := 0
		shown.draw(seen, func(*item) picture.Class { at++; return verdictClass(verdicts[at%len(verdicts)]) })
		text, err := render("picture", shown)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > most {
			t.Errorf("the picture by %s has %d bytes, want at most %d", by, len(text), most)
		}
	}
}

// The classes of loads cover every number of decisions once.
func TestLoads(t *testing.T) {
	for _, most := range []int{1, 2, 3, 4, 5, 17, 400} {
		last := ""
		seen := map[string]bool{}
		for count := range most + 1 {
			class := loadClass(count, most)
			if class.Name != last && seen[class.Name] {
				t.Errorf("%d of %d: the class %q is there twice", count, most, class.Name)
			}
			seen[class.Name], last = true, class.Name
			var from, to int
			if n, _ := fmt.Sscanf(class.Name, "%d–%d", &from, &to); n == 2 && (count < from || count > to) {
				t.Errorf("%d of %d is in %q", count, most, class.Name)
			}
		}
	}
}
