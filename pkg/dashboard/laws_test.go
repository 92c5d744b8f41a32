// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/history"
)

// allPaths are pages of every kind, of the objects of everything.
var allPaths = []string{
	"/", "/?namespace=team-a", "/search?q=web", "/placements", "/placements?namespace=team-a&label=region&set=prod",
	"/placements/team-a/web", "/placements/team-a/web?cluster=us1", "/placements/team-a/web?rows=all&verdict=Predicate",
	"/placements/team-a/web/fleet", "/placements/team-a/web/history", "/fleet", "/fleet?by=region&colour=load",
	"/clusters", "/clusters/eu1", "/clusters/eu1?drain=true", "/clusters/eu1/history", "/sets", "/sets?namespace=team-a",
	"/objects", "/objects?namespace=team-a", "/objects/team-a/ConfigMap/bad", "/objects/team-a/ConfigMap/bad?cluster=us1",
	"/objects/team-a/ConfigMap/bad/history", "/requests", "/requests/team-a/ci", "/requests/team-a/ci/history",
	"/workloads", "/workloads?namespace=team-a&kind=Pod&name=web", "/workloads/team-a/Pod/web",
	"/history", "/history?cluster=eu1&since=24h", "/history?since=%22%3E%3Cscript%3E", "/runbooks",
}

// everything returns a hub with objects of all pages, whose messages and labels are hostile.
func everything(t *testing.T, more ...client.Object) *deliveringHub {
	t.Helper()
	request := denied("ci", hostile)
	request.Spec.Purposes, request.Annotations = []openmcpv1alpha1.PurposeName{"build"}, map[string]string{"meta.helm.sh/release-name": hostile}
	bad := work(t, "bad", workv1.WorkApplied, metav1.ConditionFalse)
	if one, is := bad.(*workv1.ManifestWork); is {
		one.Namespace, one.Status.Conditions[0].Message = "us1", hostile
	}
	hub := deliveriesOf(t, append(more, request, bad, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}})...)
	lost := moveOf("web", 3, []string{"us1"}, []string{"eu1"}, tainted("us1", history.Added, hostile))
	lost.Reasons = []history.Reason{{Cluster: "eu1", Text: hostile}}
	hub.remembers(lost)
	return hub
}

// The laws of all pages are about pages that exist.
func TestAllPathsArePages(t *testing.T) {
	pages := newPages(everything(t))
	for _, path := range allPaths {
		want := http.StatusOK
		if strings.Contains(path, "script") {
			want = http.StatusBadRequest
		}
		if response := as(t, pages, "jane", http.MethodGet, path, ""); response.Code != want {
			t.Errorf("%s: status %d, want %d: %s", path, response.Code, want, response.Body)
		}
	}
}

// No page has a script, a style or a handler of its own, whatever the names and messages in it are: the policy of its content forbids them, and
// browsers that do not know the policy would run them.
func TestPagesAreInert(t *testing.T) {
	pages := newPages(everything(t))
	for _, path := range append(allPaths, "/search?q="+"%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "/placements/team-a/%3Cimg%20src=x%3E") {
		response := as(t, pages, "jane", http.MethodGet, path, "")
		for _, active := range activeParts(t, response.Body.String()) {
			t.Errorf("%s: %s", path, active)
		}
		if strings.Contains(response.Body.String(), "\u202e") {
			t.Errorf("%s has a letter that changes the direction of the text around it", path)
		}
		policy := response.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
	}
}

// The name of a user breaks behind its colons, and is no HTML.
func TestNamesOfUsersBreakBehindColons(t *testing.T) {
	for name, want := range map[string]string{
		"jane": "<bdi>jane</bdi>", "system:serviceaccount:a:b": "<bdi>system:<wbr>serviceaccount:<wbr>a:<wbr>b</bdi>",
		"<b>:&": "<bdi>&lt;b&gt;:<wbr>&amp;</bdi>",
	} {
		if text := as(t, newPages(newTestHub()), name, http.MethodGet, "/", "").Body.String(); strings.Count(text, want) != 2 {
			t.Errorf("the page of %s lacks %s: %s", name, want, text)
		}
	}
}

// tags are those of a page, without its text; the templates quote every attribute.
var (
	tags       = regexp.MustCompile(`<[a-zA-Z!/][^<>]*>`)
	attributes = regexp.MustCompile(`="[^"]*"`)
	activeTag  = regexp.MustCompile(`(?i)^<(?:img|style|iframe|object|embed|base|meta http)|^<script(?: defer| src)*>| (?:style|on[a-z]+)(?:[ >=]|$)`)
)

// activeParts returns the tags of a page that a browser would run or load.
func activeParts(t *testing.T, page string) []string {
	t.Helper()
	var active []string
	for _, tag := range tags.FindAllString(page, -1) {
		if bare := attributes.ReplaceAllString(tag, ""); activeTag.MatchString(bare) && tag != `<script src="/assets/app.js" defer>` {
			active = append(active, tag)
		}
	}
	return active
}

// Every page has a JSON twin.
func TestPagesHaveJSON(t *testing.T) {
	pages := newPages(everything(t))
	for _, path := range append(allPaths, "/nothing", "/clusters/none") {
		response := as(t, pages, "jane", http.MethodGet, path, "", "Accept", "application/json")
		if kind := response.Header().Get("Content-Type"); kind != "application/json" || !json.Valid(response.Body.Bytes()) {
			t.Errorf("%s: %s is no JSON: %s", path, kind, response.Body)
		}
	}
}
