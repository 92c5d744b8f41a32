// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"pgregory.net/rapid"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/test/property"
)

func TestIsolate(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"plain 3", "plain 3"},
		{"מרכז 101", "<bdi>מרכז</bdi> 101"},
		{"is מרכז (3 selected)", "is <bdi>מרכז</bdi> (3 selected)"},
		{"region=תל אביב, 7", "<bdi>region=תל אביב</bdi>, 7"},
		{"In [מרכז]: is x", "In [<bdi>מרכז</bdi>]: is x"},
		{"&#34;מרכז&#34; 5", "<bdi>&#34;מרכז&#34;</bdi> 5"},
		{`<b title="מרכז 5">מרכז 5</b>`, `<b title="מרכז 5"><bdi>מרכז</bdi> 5</b>`},
		{"<bdi>מרכז 5</bdi> מרכז 6", "<bdi>מרכז 5</bdi> <bdi>מרכז</bdi> 6"},
		{"<option>מרכז 5</option>", "<option>מרכז 5</option>"},
		{"<title>מרכז</title><p>مرحبا 1\n2</p>", "<title>מרכז</title><p><bdi>مرحبا</bdi> 1\n2</p>"},
	} {
		if got := isolate(tc.text); got != tc.want {
			t.Errorf("isolate(%q) = %q, want %q", tc.text, got, tc.want)
		}
	}
}

// Nothing is lost or added but elements bdi, of which none is left open, and no letter from right to left is outside of them.
func TestIsolateKeepsTheText(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"מ", "رح", "a", "1", " ", "\n", ",", "(", ")", "[", "]", "&#34;", "<b>", "</b>", "=", ":", "é",
		})).Draw(t, "text"), "")
		got := isolate(text)
		bare := strings.NewReplacer("<bdi>", "", "</bdi>", "").Replace(got)
		if bare != text || strings.Count(got, "<bdi>") != strings.Count(got, "</bdi>") {
			t.Fatalf("isolate(%q) = %q", text, got)
		}
		if outside := regexp.MustCompile(`<bdi>[^<]*</bdi>`).ReplaceAllString(got, ""); strings.ContainsFunc(outside, isRightToLeft) {
			t.Fatalf("isolate(%q) = %q leaves letters outside", text, got)
		}
	})
}

// Each value that users write is in an element bdi.
func TestValuesOfUsersAreIsolated(t *testing.T) {
	const region = "מרכז"
	request := denied("rtl", "לא "+region)
	request.Labels, request.Spec.Purposes = map[string]string{"region": region}, []openmcpv1alpha1.PurposeName{"build"}
	bad := work(t, "rtl", workv1.WorkApplied, metav1.ConditionFalse)
	if one, is := bad.(*workv1.ManifestWork); is {
		one.Status.Conditions[0].Message = "לא " + region
	}
	hub := everything(t, cluster("il1", region), request, bad)
	lost := moveOf("web", 3, []string{"us1"}, []string{"eu1"}, tainted("us1", history.Added, region))
	lost.Reasons = []history.Reason{{Cluster: "eu1", Text: "region=" + region}}
	hub.remembers(lost)
	pages := newPages(hub)
	for _, path := range append(allPaths, "/placements/team-a/web?cluster=il1", "/clusters/il1", "/clusters/il1?label=region%3D"+region,
		"/fleet?by=region", "/placements/team-a/web/fleet?by=region", "/requests/team-a/rtl", "/clusters?label=region%3D"+region) {
		text := as(t, pages, "jane", http.MethodGet, path, "").Body.String()
		if outside := valuesOutside(text); outside != "" {
			t.Errorf("%s: a value is outside of bdi: %q", path, outside)
		}
	}
}

// valuesOutside returns the text around the first right-to-left letter of a page that no element isolates; it is empty if there is none.
func valuesOutside(text string) string {
	outside := regexp.MustCompile(`(?s)<(bdi|title|textarea|option)[^>]*>.*?</(bdi|title|textarea|option)>|<[^>]*>`).ReplaceAllString(text, "")
	at := strings.IndexFunc(outside, isRightToLeft)
	if at < 0 {
		return ""
	}
	return outside[max(0, at-40):min(len(outside), at+40)]
}
