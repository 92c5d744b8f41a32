// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"net/http"
	"strconv"
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
	objects := append(world(), outside, decisionOn("eu1"), &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "named"}, Spec: clusterv1beta1.PlacementSpec{ClusterSets: []string{"lab"}},
	})
	pages := newPages(newTestHub(objects...))
	for _, tc := range []struct {
		path      string
		want, not []string
	}{
		{"/placements/team-a/web/fleet", []string{
			`<bdi>Selected</bdi> 1`, `<bdi>Predicate</bdi> 1`, `<bdi>OutOfScope</bdi> 1`, `<a href="/clusters?label=region%3Deu">`,
			"<figcaption><bdi>af</bdi> 1",
			`<small>binding</small> <bdi>prod</bdi>`, `<small>set by label</small>`, `<small>2 clusters</small>`,
			"<title>eu1: Selected, score 200, rank 1 of 1</title>", "<title>us1: Predicate, predicate 1 label region In [eu]: is us</title>",
			"<title>far1: OutOfScope</title>",
			`<a href="/placements/team-a/web?cluster=eu1#detail" tabindex="-1"><rect class="cell good v0" x="0" y="0" width="9" height="9">`,
		}, nil},
		{"/placements/team-a/named/fleet", []string{
			`<small class="bad">none</small>`, `<bdi>lab</bdi>`, "the set is not bound to the namespace",
			"not used by the Placement: <bdi>prod</bdi>.",
		}, []string{`<small>binding</small> <bdi>prod</bdi>`}},
		{"/placements/team-a/web/fleet?by=none", []string{"no value 3"}, []string{"/clusters?label"}},
		{
			"/placements/team-a/web/fleet?colour=load", []string{"<bdi>1 decision</bdi> 1", "<bdi>no decision</bdi> 2"},
			[]string{"<bdi>Predicate</bdi> 1,"},
		},
		{"/fleet", []string{"<bdi>Unavailable</bdi> 3", "<title>eu1: Unavailable, &#34;&gt;&lt;script&gt;",
			`<a href="/clusters/eu1" tabindex="-1">`}, nil},
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

// pictureOf renders the picture of a fleet with a reason for each cluster.
func pictureOf(tb testing.TB, clusters int, by, reason string) string {
	tb.Helper()
	seen := make([]item, 0, clusters)
	verdicts := []string{"Selected", "Taint", "Predicate", "Rank"}
	for i := range clusters {
		name := fmt.Sprintf("cluster-%05d", i)
		seen = append(seen, item{Name: name, Labels: map[string]string{"region": fmt.Sprint("region-", i%10), "name": name}})
	}
	shown := &fleetPicture{By: by, Count: clusters}
	at := 0
	shown.draw(seen, func(*item) picture.Class { at++; return verdictClass(verdicts[at%len(verdicts)]) },
		func(o *item) (string, string) { return reason, "/clusters/" + o.Name })
	text, err := render("picture", shown)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// The picture of 10,000 clusters takes less than 300 kB, in ten regions and with a value of its own for each cluster. The cells of a fleet that
// leaves room for it have names; the page of others says that they have none.
func TestThePictureOfALargeFleetIsSmall(t *testing.T) {
	const most = 300 << 10
	for _, tc := range []struct {
		clusters int
		reason   string
		named    bool
	}{
		{10000, "predicate 1 label region In [eu]: is us", false}, {picture.NamesShown + 1, "", false}, {picture.NamesShown, "", true},
		{picture.NamesShown, strings.Repeat("<", maxCause), false}, {400, strings.Repeat("r", maxCause), true},
	} {
		for _, by := range []string{"region", "name", "nothing"} {
			text := pictureOf(t, tc.clusters, by, tc.reason)
			if len(text) > most {
				t.Errorf("the picture of %d clusters by %s has %d bytes, want at most %d", tc.clusters, by, len(text), most)
			}
			if names := strings.Count(text, "<title>cluster-"); names != map[bool]int{true: tc.clusters}[tc.named] {
				t.Errorf("%d of %d cells have names", names, tc.clusters)
			}
			if strings.Contains(text, "have no names") == tc.named {
				t.Errorf("the page of %d clusters says otherwise whether the cells have names", tc.clusters)
			}
		}
	}
}

func BenchmarkPicture(b *testing.B) {
	for _, clusters := range []int{1000, 10000} {
		b.Run(strconv.Itoa(clusters), func(b *testing.B) {
			for b.Loop() {
				pictureOf(b, clusters, "region", "")
			}
		})
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
