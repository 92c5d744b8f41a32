// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	statefulSets = "/apis/apps/v1/namespaces/tenant-acme/statefulsets"
	replicaSets  = "/apis/apps/v1/namespaces/tenant-acme/replicasets"
	releases     = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/tenant-acme/helmreleases"
	denial       = `pod tenant-acme/main-db-0 belongs to application with AffinityClass "dc1" but missing required nodeSelector ` + zone + "=dc1"
)

func TestPods(t *testing.T) {
	statefulSet := owner("apps/v1", "StatefulSet", "db")
	fluxed := map[string]string{fluxLabel: "main-db"}
	without := func(name string) func(*world) {
		return func(w *world) {
			w.cached = slices.DeleteFunc(w.cached, func(object client.Object) bool { return object.GetName() == name })
		}
	}
	for _, tc := range []struct {
		reason  string
		change  func(*world)
		request admission.Request
		code    int32
		message string
	}{
		{reason: "affinity-class A9: StatefulSet, label, HelmRelease", request: podRequest(t, map[string]string{zone: "dc1"}, nil, statefulSet)},
		{reason: "affinity-class A10: no nodeSelector", request: podRequest(t, nil, nil, statefulSet), code: 403, message: denial},
		{reason: "affinity-class 1.4: the label of the Pod itself", request: podRequest(t, nil, fluxed), code: 403, message: denial},
		{reason: "affinity-class A15: a class that nobody has", change: without("dc1"), request: podRequest(t, nil, fluxed), code: 403,
			message: `AffinityClass "dc1" not found`},
		{reason: "affinity-class A16: a class that only the API server has yet", request: podRequest(t, map[string]string{zone: "dc1"}, fluxed),
			change: func(w *world) {
				without("dc1")(w)
				w.live = []client.Object{class("dc1")}
			}},
		{reason: "affinity-class 1.4: a HelmRelease that only the API server has yet", request: podRequest(t, nil, fluxed),
			change: func(w *world) {
				without("main-db")(w)
				w.server.add(releases+"/main-db", release("dc1").GetLabels())
			}, code: 403, message: denial},
		{reason: "affinity-class 1.4: a HelmRelease that was deleted and created again since", code: 403, message: denial,
			request: podRequest(t, nil, nil, owner("helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", "main-db")),
			change: func(w *world) {
				without("main-db")(w)
				old := release("")
				old.SetUID("old")
				w.cached = append(w.cached, old)
				w.server.add(releases+"/main-db", release("dc1").GetLabels())
			}},
		{reason: "affinity-class A17: a HelmRelease without a class", request: podRequest(t, nil, fluxed), change: func(w *world) {
			without("main-db")(w)
			w.cached = append(w.cached, release(""))
		}},
		{reason: "affinity-class A18: a bare Pod", request: podRequest(t, nil, nil)},
		{reason: "affinity-class A34: an owner that is gone", request: podRequest(t, nil, nil, owner("apps/v1", "StatefulSet", "gone"))},
		{reason: "affinity-class A34: a kind without a definition", request: podRequest(t, nil, nil, owner("nobody.example.com/v1", "Thing", "x"))},
		{reason: "affinity-class A34: a name that no object has", request: podRequest(t, nil, nil, owner("apps/v1", "StatefulSet", "../db"))},
		{reason: "affinity-class 1.4: a kind whose version in the reference is not served any more",
			request: podRequest(t, nil, nil, owner("apps/v1beta2", "StatefulSet", "db")), code: 403, message: denial},
		{reason: "affinity-class 1.4: an owner without a namespace", request: podRequest(t, nil, nil, owner("example.com/v1", "Plant", "oak")),
			code: 403, message: denial},
		{reason: "affinity-class A33: an owner that may not be read", request: podRequest(t, nil, nil, statefulSet),
			change: func(w *world) { w.server.broken[statefulSets+"/db"] = http.StatusForbidden },
			code:   500, message: "owner StatefulSet.apps tenant-acme/db: it is broken"},
		{reason: "affinity-class 1.4: any other error of a read", request: podRequest(t, nil, nil, statefulSet),
			change: func(w *world) { w.server.broken[statefulSets+"/db"] = http.StatusInternalServerError },
			code:   500, message: "owner StatefulSet.apps tenant-acme/db: it is broken"},
		{reason: "affinity-class 1.4: an aggregated API server that is down says nothing about its kinds",
			request: podRequest(t, nil, nil, owner("down.example.com/v1", "Thing", "x")),
			change:  func(w *world) { w.server.broken["/apis/down.example.com/v1"] = http.StatusServiceUnavailable },
			code:    500, message: "owner Thing.down.example.com tenant-acme/x: asking which resources down.example.com/v1 has: it is broken"},
		{reason: "affinity-class 1.4: groups that cannot be read", request: podRequest(t, nil, nil, owner("nobody.example.com/v1", "Thing", "x")),
			change: func(w *world) { w.server.broken["/apis"] = http.StatusInternalServerError },
			code:   500, message: `owner Thing.nobody.example.com tenant-acme/x: asking for the versions of "nobody.example.com": ` +
				`an error on the server ("unknown") has prevented the request from succeeding`},
		{reason: "affinity-class 1.4: groups that may not be read", request: podRequest(t, nil, nil, owner("nobody.example.com/v1", "Thing", "x")),
			change: func(w *world) { w.server.broken["/apis"] = http.StatusForbidden }, code: 500,
			message: `owner Thing.nobody.example.com tenant-acme/x: asking for the versions of "nobody.example.com": unknown`},
		{reason: "affinity-class A35: a Secret", request: podRequest(t, nil, nil, owner("v1", "Secret", "s")), code: 500,
			message: "owner Secret tenant-acme/s: forbidden: secrets are never read as owners"},
		{reason: "affinity-class A24: an update", request: request(t, admissionv1.Update, metav1.GroupVersionKind{Version: "v1", Kind: "Pod"},
			"tenant-acme", map[string]any{}, map[string]any{})},
		{reason: "another kind", request: request(t, admissionv1.Create, metav1.GroupVersionKind{Version: "v1", Kind: "Node"}, "", nil, 1),
			code: 400, message: "/validate-pod-affinityclass reviews Pods, and got a /v1, Kind=Node: correct the rules of the webhook"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t)
			w.server.add(statefulSets+"/db", fluxed)
			w.server.add("/apis/example.com/v1/plants/oak", fluxed)
			if tc.change != nil {
				tc.change(w)
			}
			expectResponse(t, w.handle(t, PodPath, tc.request), tc.code, tc.message)
		})
	}
}

func expectResponse(t *testing.T, response admission.Response, code int32, message string) {
	t.Helper()
	if code == 0 {
		if !response.Allowed {
			t.Errorf("refused: %+v, want it allowed", response.Result)
		}
		return
	}
	if response.Allowed || response.Result.Code != code || response.Result.Message != message {
		t.Errorf("allowed %t, %+v, want the code %d and the message %s", response.Allowed, response.Result, code, message)
	}
}

// docs/spec/affinity-class.md 1.4: owners are cached for a minute, unless they end the walk without a HelmRelease.
func TestOwnersAreCached(t *testing.T) {
	w := newWorld(t)
	w.server.add(replicaSets+"/rs", nil, owner("apps/v1", "StatefulSet", "db"))
	w.server.add(statefulSets+"/db", map[string]string{fluxLabel: "main-db"})
	w.server.add(statefulSets+"/leaf", nil)

	pods := handlers(w.readers(t), hub)[PodPath]
	read := func(owners ...metav1.OwnerReference) []string {
		t.Helper()
		response := pods.Handle(t.Context(), podRequest(t, map[string]string{zone: "dc1"}, nil, owners...))
		expectResponse(t, response, 0, "")
		return slices.DeleteFunc(w.server.taken(), func(path string) bool { return path == "/apis/apps/v1" })
	}
	both := []metav1.OwnerReference{owner("apps/v1", "ReplicaSet", "rs"), owner("apps/v1", "StatefulSet", "leaf")}
	leaf := []string{statefulSets + "/leaf"}
	expect := func(reason string, got, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: reads (-want +got):\n%s", reason, diff)
		}
	}

	expect("the first Pod", read(both...), []string{replicaSets + "/rs", statefulSets + "/db", statefulSets + "/leaf"})
	expect("the second Pod", read(both...), leaf)
	w.clock.SetTime(w.clock.Now().Add(ownerTTL - time.Second))
	expect("within a minute", read(both...), leaf)
	other := owner("apps/v1", "StatefulSet", "db")
	other.Name = "other"
	expect("the UID alone is not enough", read(other), []string{statefulSets + "/other"})

	w.clock.SetTime(w.clock.Now().Add(2 * time.Second))
	expect("after a minute", read(both[0]), []string{replicaSets + "/rs", statefulSets + "/db"})
}

// The resource of a kind is cached, and found again after another version has replaced it.
func TestKindsAreRefreshed(t *testing.T) {
	w := newWorld(t)
	w.server.add(statefulSets+"/db", map[string]string{fluxLabel: "main-db"})

	pods := handlers(w.readers(t), hub)[PodPath]
	expect := func(uid string, want ...string) {
		t.Helper()
		reference := owner("apps/v1", "StatefulSet", "db")
		reference.UID = types.UID(uid) // Another UID is not in the cache of owners.
		expectResponse(t, pods.Handle(t.Context(), podRequest(t, nil, nil, reference)), 0, "")
		if diff := cmp.Diff(want, w.server.taken()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
	expect("1", "/apis/apps/v1", statefulSets+"/db")
	expect("2", statefulSets+"/db")
	w.server.replaceVersion("apps", "v1", "v2")
	expect("3", statefulSets+"/db", "/apis/apps/v1", "/api", "/apis", "/apis/apps/v2", strings.Replace(statefulSets, "v1", "v2", 1)+"/db")
	expect("4", strings.Replace(statefulSets, "v1", "v2", 1)+"/db")
}

// docs/spec/affinity-class.md 1.4: all reads of one review share three seconds.
func TestReadsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.server.broken[statefulSets+"/db"] = -1
	response := handlers(w.readers(t), hub)[PodPath].Handle(canceled(t), podRequest(t, nil, nil, owner("apps/v1", "StatefulSet", "db")))
	if response.Allowed || response.Result.Code != http.StatusInternalServerError ||
		!strings.HasPrefix(response.Result.Message, "owner StatefulSet.apps tenant-acme/db: ") {
		t.Errorf("response %+v, want a refusal that names the owner", response)
	}
}
