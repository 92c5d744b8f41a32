// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

var errRefused = errors.New("refused")

// server is a fake API server that logs the requests and rejects one.
type server struct {
	client.Client

	requests []string
	refuse   string
	// wait is called before each request; nil does not wait.
	wait func(context.Context) error
}

func newServer(t *testing.T, objects ...client.Object) *server {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clusterv1beta1.Install(scheme), placementv1alpha1.Install(scheme)); err != nil {
		t.Fatal(err)
	}

	s := &server{}
	s.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}, &placementv1alpha1.Placement{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
				return s.log(ctx, "create "+obj.GetName(), func() error { return c.Create(ctx, obj, opts...) })
			},
			Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
				return s.log(ctx, "patch "+obj.GetName()+" "+body(t, obj, patch), func() error { return c.Patch(ctx, obj, patch, opts...) })
			},
			SubResourcePatch: func(
				ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
			) error {
				return s.log(ctx, "patch "+obj.GetName()+"/"+name+" "+body(t, obj, patch), func() error {
					return c.SubResource(name).Patch(ctx, obj, patch, opts...)
				})
			},
			Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
				options := (&client.DeleteOptions{}).ApplyOptions(opts).Preconditions
				line := fmt.Sprintf("delete %s uid=%s rv=%s", obj.GetName(), *options.UID, *options.ResourceVersion)
				return s.log(ctx, line, func() error { return c.Delete(ctx, obj, opts...) })
			},
		}).Build()

	return s
}

func (s *server) log(ctx context.Context, request string, send func() error) error {
	s.requests = append(s.requests, request)
	if s.wait != nil {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	if s.refuse != "" && strings.HasPrefix(request, s.refuse) {
		return errRefused
	}
	return send()
}

// body is what is in a merge patch, with its preconditions. Nothing of the object but its name is sent beside it.
func body(t *testing.T, obj client.Object, patch client.Patch) string {
	t.Helper()
	data, err := patch.Data(obj)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(data, &content); err != nil {
		t.Fatal(err)
	}

	metadata, ok := content["metadata"].(map[string]any)
	if !ok || metadata["uid"] == nil || metadata["resourceVersion"] == nil {
		t.Errorf("the patch of %s has no preconditions: %s", obj.GetName(), data)
	}
	parts := []string{fmt.Sprintf("uid=%s rv=%s", metadata["uid"], metadata["resourceVersion"]), string(patch.Type())}
	for _, key := range []string{"labels", "ownerReferences"} {
		if _, there := metadata[key]; there {
			parts = append(parts, key)
		}
	}

	for _, key := range []string{"status", "decisions"} {
		if value, there := content[key]; there {
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, string(text))
		}
	}
	return strings.Join(parts, " ")
}

func (s *server) get(t *testing.T, name string) *clusterv1beta1.PlacementDecision {
	t.Helper()
	found := &clusterv1beta1.PlacementDecision{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// four is a plan with one write of each kind, and what exists for it.
func four() (Plan, []client.Object) {
	placement := placementOf(clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromInt32(1), "canary")})
	stale := edited(page(2, 1, "", "c-9"), func(p *api.Page) {
		p.OwnerReferences = nil
		p.Labels["team"] = "a"
		p.Annotations = map[string]string{"note": "b"}
	})
	lost := edited(page(1, 0, "canary", "canary-1"), func(p *api.Page) { p.OwnerReferences = nil })
	present := pages{lost, stale, page(4, 3, "", "c-3"), page(5, 4, "", "c-4")}
	objects := make([]client.Object, 0, len(present))
	for _, p := range present {
		objects = append(objects, api.V1beta1.Codec().Write(p))
	}

	return planOf(selecting(placement, "canary-1", "c-1", "c-2"), existingOf(placement, present...)), objects
}

func observer(told *[]string) Observer {
	return func(action Action, page *api.Page, err error) {
		*told = append(*told, fmt.Sprintf("%s %s %v", action, page.Name, err))
	}
}

// docs/spec/differences.md B1 and B6: every request has its preconditions, in the order of the plan, and the observer hears of each.
func TestWriter(t *testing.T) {
	plan, objects := four()
	s := newServer(t, objects...)
	var told []string
	written, err := Writer{Client: s}.Write(t.Context(), plan, observer(&told))
	if err != nil {
		t.Fatal(err)
	}
	if err := (Writer{Client: s}).Delete(t.Context(), plan, written, observer(&told)); err != nil {
		t.Fatal(err)
	}

	expect(t, "requests", []string{
		"patch p-decision-2 uid=uid-2 rv=2 application/merge-patch+json labels ownerReferences",
		`patch p-decision-2/status uid=uid-2 rv=3 application/merge-patch+json {"decisions":[{"clusterName":"c-1","reason":""}]}`,
		"create p-decision-3",
		`patch p-decision-3/status uid= rv=1 application/merge-patch+json {"decisions":[{"clusterName":"c-2","reason":""}]}`,
		"patch p-decision-1 uid=uid-1 rv=1 application/merge-patch+json labels ownerReferences",
		"delete p-decision-5 uid=uid-5 rv=5",
		"delete p-decision-4 uid=uid-4 rv=4",
	}, s.requests)
	expect(t, "told", []string{
		"update_metadata p-decision-2 <nil>", "update_decisions p-decision-2 <nil>", "create p-decision-3 <nil>",
		"update_decisions p-decision-3 <nil>", "update_metadata p-decision-1 <nil>",
		"delete p-decision-5 <nil>", "delete p-decision-4 <nil>",
	}, told)

	second := s.get(t, "p-decision-2")
	expect(t, "labels", "a", second.Labels["team"])
	expect(t, "annotations", map[string]string{"note": "b"}, second.Annotations)
	expect(t, "decisions", "c-1", clustersOf(api.V1beta1.Codec().Read(second)))
	expect(t, "owners", 1, len(second.OwnerReferences))
	expect(t, "decisions of the new one", "c-2", clustersOf(api.V1beta1.Codec().Read(s.get(t, "p-decision-3"))))
}

func TestWriterStopsAtTheFirstError(t *testing.T) {
	for _, tc := range []struct {
		refuse, want string
		told         []string
	}{
		{"patch p-decision-2 ", "updating labels and owners of PlacementDecision ns/p-decision-2: refused",
			[]string{"update_metadata p-decision-2 refused"}},
		{"patch p-decision-2/status", "writing the decisions of PlacementDecision ns/p-decision-2: refused",
			[]string{"update_metadata p-decision-2 <nil>", "update_decisions p-decision-2 refused"}},
		{"create p-decision-3", "creating PlacementDecision ns/p-decision-3: refused",
			[]string{"update_metadata p-decision-2 <nil>", "update_decisions p-decision-2 <nil>", "create p-decision-3 refused"}},
		{"patch p-decision-3/status", "writing the decisions of PlacementDecision ns/p-decision-3: refused",
			[]string{
				"update_metadata p-decision-2 <nil>", "update_decisions p-decision-2 <nil>", "create p-decision-3 <nil>",
				"update_decisions p-decision-3 refused",
			}},
		{"delete p-decision-5", "deleting PlacementDecision ns/p-decision-5: refused", []string{
			"update_metadata p-decision-2 <nil>", "update_decisions p-decision-2 <nil>", "create p-decision-3 <nil>",
			"update_decisions p-decision-3 <nil>", "update_metadata p-decision-1 <nil>",
			"delete p-decision-5 refused",
		}},
	} {
		t.Run(tc.refuse, func(t *testing.T) {
			plan, objects := four()
			s := newServer(t, objects...)
			s.refuse = tc.refuse
			var told []string
			written, err := Writer{Client: s}.Write(t.Context(), plan, observer(&told))
			if err == nil {
				err = Writer{Client: s}.Delete(t.Context(), plan, written, observer(&told))
			}

			if !errors.Is(err, errRefused) || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
			expect(t, "told", tc.told, told)
		})
	}
}

// A plan that was made on an old view is rejected.
func TestWriterIsRefusedOnAnOldView(t *testing.T) {
	plan, objects := four()
	for _, object := range objects {
		object.SetResourceVersion("1000")
	}

	for _, write := range plan.Writes {
		if write.Current == nil {
			objects = append(objects, &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: write.Desired.Name}})
		}
		_, err := Writer{Client: newServer(t, objects...)}.Write(t.Context(), Plan{Codec: plan.Codec, Writes: []Write{write}},
			func(Action, *api.Page, error) {})
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			t.Errorf("writing %s: got %v, want a conflict", write.Desired.Name, err)
		}

		if _, err := (Writer{Client: newServer(t)}).Write(t.Context(), Plan{Codec: plan.Codec, Writes: []Write{write}},
			func(Action, *api.Page, error) {}); write.Current != nil &&
			!apierrors.IsNotFound(err) {
			t.Errorf("writing %s that is gone: got %v, want not found", write.Desired.Name, err)
		}
	}

	for _, surplus := range plan.Deletes {
		err := (Writer{Client: newServer(t, objects...)}).Delete(t.Context(), Plan{Codec: plan.Codec, Deletes: pages{surplus}}, nil,
			func(Action, *api.Page, error) {})
		if !apierrors.IsConflict(err) {
			t.Errorf("deleting %s: got %v, want a conflict", surplus.Name, err)
		}
	}
}

// docs/spec/differences.md B22: a page that a finalizer keeps after its deletion loses its clusters before.
func TestDeletingWhatAFinalizerKeeps(t *testing.T) {
	const empties = `patch p-decision-1/status uid=uid-1 rv=1 application/merge-patch+json {"decisions":[]}`
	for _, tc := range []struct {
		reason string
		page   *api.Page
		refuse string
		want   []string
		err    string
	}{
		{"no finalizer", page(1, 0, "", "c-1"), "", []string{"delete p-decision-1 uid=uid-1 rv=1"}, ""},
		{"a finalizer", edited(page(1, 0, "", "c-1"), waits), "", []string{empties, "delete p-decision-1 uid=uid-1 rv=2"}, ""},
		{"a finalizer, and no clusters", edited(page(1, 0, ""), waits), "", []string{"delete p-decision-1 uid=uid-1 rv=1"}, ""},
		{"it cannot be emptied", edited(page(1, 0, "", "c-1"), waits), "patch", []string{empties},
			"writing the decisions of PlacementDecision ns/p-decision-1: refused"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := newServer(t, api.V1beta1.Codec().Write(tc.page))
			s.refuse = tc.refuse
			var told []string
			err := Writer{Client: s}.Delete(t.Context(), Plan{Codec: api.V1beta1.Codec(), Deletes: pages{tc.page}}, nil, observer(&told))
			if got := fmt.Sprint(err); tc.err == "" && err != nil || tc.err != "" && got != tc.err {
				t.Errorf("got %v, want %q", err, tc.err)
			}
			expect(t, "requests", tc.want, s.requests)
			expect(t, "number of observed requests", len(tc.want), len(told))
		})
	}
}

func TestDeletingWhatIsGone(t *testing.T) {
	plan, _ := four()
	var told []string
	if err := (Writer{Client: newServer(t)}).Delete(t.Context(), plan, nil, observer(&told)); err != nil {
		t.Error(err)
	}
	expect(t, "told", []string{"delete p-decision-5 <nil>", "delete p-decision-4 <nil>"}, told)
}

// docs/spec/differences.md B6: one patch if the status differs, none if it does not; and what is gone from the status is gone from the
// object.
func TestWriteStatus(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	placement.Status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{{DecisionGroupName: "old", Decisions: []string{"p-decision-1"}}}
	s := newServer(t, placement.DeepCopy())
	before := api.V1beta1.Read(placement)
	status := NewStatus(selecting(placement, "c-1"), Plan{}, before, now)

	written, err := (Writer{Client: s}).WriteStatus(t.Context(), before, status)
	if err != nil {
		t.Fatal(err)
	}
	if !sameStatus(api.V1beta1, written.Status, status) {
		t.Errorf("got %v, want %v", written.Status, status)
	}
	if len(placement.Status.Conditions) > 0 || len(before.Status.Conditions) > 0 {
		t.Error("the placement of the cache was changed")
	}

	if again, err := (Writer{Client: s}).WriteStatus(t.Context(), written, status); err != nil || again != nil {
		t.Errorf("an equal status gives %v, %v, want nothing", again, err)
	}
	expect(t, "requests", 1, len(s.requests))
	_, err = (Writer{Client: s}).WriteStatus(t.Context(), before, api.Status{})
	if !apierrors.IsConflict(err) || !strings.HasPrefix(err.Error(), "writing the status of Placement ns/p: ") {
		t.Errorf("got %v, want a conflict", err)
	}
}

// docs/spec/differences.md B7: with sortBy: ClusterName again, lastScoreUpdateTime is gone, which a merge patch has to say. What was not
// there is not said.
func TestWriteStatusDropsTheTimeOfTheScores(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	placement.Status.LastScoreUpdateTime = &metav1.Time{Time: now.Time}
	before := api.V1beta1.Read(placement)
	s := newServer(t, placement.DeepCopy())

	written, err := (Writer{Client: s}).WriteStatus(t.Context(), before, api.Status{Selected: 3})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "the time of the scores", (*metav1.Time)(nil), written.Status.LastScoreUpdate)
	later := metav1.NewTime(now.Add(time.Minute))

	written, err = (Writer{Client: s}).WriteStatus(t.Context(), written, api.Status{Selected: 3, LastScoreUpdate: &later})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "the new time of the scores", later.Unix(), written.Status.LastScoreUpdate.Unix())
	const patch = "patch p/status uid=uid-p rv=%d application/merge-patch+json "

	expect(t, "requests", []string{
		fmt.Sprintf(patch, 70) + `{"conditions":null,"decisionGroups":null,"lastScoreUpdateTime":null,"numberOfSelectedClusters":3}`,
		fmt.Sprintf(patch, 71) + `{"conditions":null,"decisionGroups":null,"lastScoreUpdateTime":"2026-01-02T03:05:05Z",` +
			`"numberOfSelectedClusters":3}`,
	}, s.requests)
}

func TestCause(t *testing.T) {
	resource := schema.GroupResource{Group: clusterv1beta1.GroupName, Resource: "placementdecisions"}
	terminating := apierrors.NewForbidden(resource, "p-decision-1", errRefused)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	const forbidden = "Forbidden: a ResourceQuota or an admission policy is against it, or the hub lacks the right (kubectl auth can-i); " +
		"the log of the hub has the words of the API server"
	lost := &api.Page{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p-decision-1"}}
	for _, tc := range []struct {
		reason string
		err    error
		cause  string
	}{
		{"conflict", apierrors.NewConflict(resource, "p-decision-1", errRefused), "Conflict"},
		{"gone", apierrors.NewNotFound(resource, "p-decision-1"), "NotFound"},
		{"there already", apierrors.NewAlreadyExists(resource, "p-decision-1"), "AlreadyExists"},
		{"forbidden", apierrors.NewForbidden(resource, "p-decision-1", errRefused), forbidden},
		{"A7: which request on which object", newPageError("deleting", lost, apierrors.NewForbidden(resource, "p-decision-1", errRefused)),
			"deleting PlacementDecision ns/p-decision-1: " + forbidden},
		{"which request was not answered", newPageError("creating", lost, context.DeadlineExceeded),
			"creating PlacementDecision ns/p-decision-1: the API server could not be asked"},
		{"the namespace goes", terminating, forbidden},
		{"too many requests", apierrors.NewTooManyRequestsError("slow down"), "TooManyRequests"},
		{"no answer", context.DeadlineExceeded, "the API server could not be asked"},
		{"nothing", nil, "the API server could not be asked"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			err := tc.err
			if err != nil {
				err = fmt.Errorf("writing: %w", err)
			}
			expect(t, "cause", tc.cause, Cause(err))
		})
	}
}

// A request without a response ends the plan after the timeout, and a plan whose requests have responses takes longer than it.
func TestWriterBoundsEachRequest(t *testing.T) {
	for _, tc := range []struct {
		each time.Duration
		want bool
	}{{40 * time.Second, true}, {2 * time.Minute, false}} {
		synctest.Test(t, func(t *testing.T) {
			plan, objects := four()
			s := newServer(t, objects...)
			s.wait = func(ctx context.Context) error {
				select {
				case <-time.After(tc.each):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			writer, begin := Writer{Client: s, Timeout: time.Minute}, time.Now()
			written, err := writer.Write(t.Context(), plan, func(Action, *api.Page, error) {})
			if err == nil {
				err = writer.Delete(t.Context(), plan, written, func(Action, *api.Page, error) {})
			}
			switch took := time.Since(begin); {
			case tc.want && (err != nil || took <= time.Minute):
				t.Errorf("after %s: %v", took, err)
			case !tc.want && (!errors.Is(err, context.DeadlineExceeded) || took != time.Minute):
				t.Errorf("after %s: %v", took, err)
			}
		})
	}
}
