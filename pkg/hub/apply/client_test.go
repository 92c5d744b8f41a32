// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// server is an API server with one Widget that answers applies as it is told to, and its Client.
type server struct {
	*Client
	t *testing.T

	api      client.WithWatch
	recorder *events.FakeRecorder
	// answers are those to the next applies, after which applies succeed.
	answers []error
	// sent are the writes, as verb and body.
	sent []string
}

func newServer(t *testing.T, live *unstructured.Unstructured) *server {
	t.Helper()
	s := &server{t: t, recorder: events.NewFakeRecorder(10)}
	build := fake.NewClientBuilder().WithScheme(noScheme()).WithRESTMapper(mapper()).WithReturnManagedFields().WithStatusSubresource(widget(t, "")).
		WithIndex(widget(t, ""), metav1.ObjectNameField, func(object client.Object) []string { return []string{object.GetName()} })
	if live != nil {
		build = build.WithObjects(live)
	}
	s.api = build.WithInterceptorFuncs(s.watch()).Build()
	s.Client = newClient(s.api, s.api, readDocument(t), Options{
		FieldManager: own, Recorder: s.recorder, Stamp: "seen",
		Owns: map[string][]fieldpath.Path{widgets.Kind: {fieldpath.MakePathOrDie("status", "endpoints")}},
	})
	return s
}

// watch records writes, and gives applies their answers.
func (s *server) watch() interceptor.Funcs {
	note := func(verb string, content any) error {
		body, err := runtime.Encode(unstructured.UnstructuredJSONScheme, content.(runtime.Object))
		if err != nil {
			return err
		}
		s.sent = append(s.sent, verb+" "+strings.TrimSpace(string(body)))
		return s.answer()
	}
	patched := func(verb string, object client.Object, patch client.Patch) error {
		body, err := patch.Data(object)
		if err != nil {
			return err
		}
		s.sent = append(s.sent, verb+" "+string(body))
		if patch.Type() == types.ApplyPatchType {
			return s.answer()
		}
		return nil
	}

	return interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, applied runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if err := note("apply", applied); err != nil {
				return err
			}
			return c.Apply(ctx, applied, options...)
		},
		SubResourceApply: func(ctx context.Context, c client.Client, name string, applied runtime.ApplyConfiguration,
			options ...client.SubResourceApplyOption,
		) error {
			if err := note("apply "+name, applied); err != nil {
				return err
			}
			return c.SubResource(name).Apply(ctx, applied, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := patched("patch", object, patch); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption,
		) error {
			if err := patched("patch "+name, object, patch); err != nil {
				return err
			}
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		},
	}
}

func (s *server) answer() error {
	if len(s.answers) == 0 {
		return nil
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	return next
}

// stored returns the Widget.
func (s *server) stored() *unstructured.Unstructured {
	s.t.Helper()
	object := widget(s.t, "")
	if err := s.api.Get(s.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		s.t.Fatal(err)
	}
	return object
}

// expectSent compares the verbs of the writes since the last call.
func (s *server) expectSent(reason string, verbs ...string) {
	s.t.Helper()
	var got []string
	for _, sent := range s.sent {
		verb, _, _ := strings.Cut(sent, " {")
		got = append(got, verb)
	}
	if diff := cmp.Diff(verbs, got); diff != "" {
		s.t.Errorf("%s: writes (-want +got):\n%s\n%s", reason, diff, strings.Join(s.sent, "\n"))
	}
	s.sent = nil
}

// expectEvents compares the Events since the last call.
func (s *server) expectEvents(parts ...string) {
	s.t.Helper()
	for _, part := range parts {
		select {
		case got := <-s.recorder.Events:
			if !strings.Contains(got, part) {
				s.t.Errorf("got the Event %q, want %q in it", got, part)
			}
		default:
			s.t.Errorf("no Event, want %q", part)
		}
	}
	select {
	case got := <-s.recorder.Events:
		s.t.Errorf("got the Event %q", got)
	default:
	}
}

// stale returns a Widget whose managedFields have the version that is gone.
func stale(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	live := widget(t, `{metadata: {labels: {a: theirs, b: ours}, uid: u}, status: {phase: Old, conditions: [{type: Other, status: "True"}]}}`)
	live.SetManagedFields([]metav1.ManagedFieldsEntry{
		managed(others, "v1", `{"f:metadata":{"f:labels":{"f:a":{}}}}`, ""), managed(own, "v2", `{"f:metadata":{"f:labels":{"f:b":{}}}}`, ""),
		managed("yours", "v1", `{"f:metadata":{"f:labels":{"f:a":{}}}}`, ""),
	})
	return live
}

func forced(object *unstructured.Unstructured) runtime.ApplyConfiguration {
	return client.ApplyConfigurationFromUnstructured(object)
}

// What is written is what would have been applied, on the condition that nobody has changed the object, and the cure is said once.
func TestAVersionThatIsGone(t *testing.T) {
	const cured = `kubectl patch widgets.example.com -n team w --type=json -p '[` +
		`{"op":"test","path":"/metadata/managedFields/2/apiVersion","value":"example.com/v1"},{"op":"remove","path":"/metadata/managedFields/2"},` +
		`{"op":"test","path":"/metadata/managedFields/0/apiVersion","value":"example.com/v1"},{"op":"remove","path":"/metadata/managedFields/0"}]'`
	s := newServer(t, stale(t))
	gone := internal(goneAnswer)

	s.answers = []error{gone}
	applied := widget(t, `{metadata: {labels: {c: ours}}}`)
	if err := s.Apply(t.Context(), forced(applied), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "theirs", "c": "ours"}, s.stored().GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s.stored().Object, applied.Object); diff != "" {
		t.Errorf("the response is read into what is applied (-want +got):\n%s", diff)
	}
	if last := s.sent[len(s.sent)-1]; !strings.Contains(last, `"resourceVersion":"999"`) || strings.Contains(last, "managedFields") {
		t.Errorf("sent %s, want a resourceVersion and no managedFields", last)
	}
	s.expectSent("an object", "apply", "patch")
	s.expectEvents(cured)

	s.answers = []error{gone}
	response := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v2", Kind: "Widget"}}
	response.Namespace, response.Name = "team", "w"
	body := []byte(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"namespace":"team","name":"w","labels":{"c":"again"}}}`)
	if err := s.Patch(t.Context(), response, client.RawPatch(types.ApplyPatchType, body), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	if response.Labels["c"] != "again" || response.ResourceVersion != s.stored().GetResourceVersion() {
		t.Errorf("got the response %v", response)
	}
	s.expectSent("an object, as a patch", "patch", "patch")

	s.answers = []error{gone}
	applied = widget(t, `{status: {phase: New, conditions: [{type: Healthy, status: "True"}]}}`)
	if err := s.Status().Apply(t.Context(), forced(applied), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	want := widget(t, `{status: {phase: New, conditions: [{type: Other, status: "True"}, {type: Healthy, status: "True"}]}}`)
	if diff := cmp.Diff(want.Object["status"], s.stored().Object["status"]); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	s.expectSent("a status", "apply status", "patch status")

	if err := s.Apply(t.Context(), forced(widget(t, `{metadata: {labels: {c: ours}}}`)), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	s.expectSent("it was cured", "apply")
	s.expectEvents()
}

func TestAVersionThatIsGoneKeepsTheConditionsOfApply(t *testing.T) {
	for _, tc := range []struct {
		reason string
		live   *unstructured.Unstructured
		change func(applied *unstructured.Unstructured)
		is     func(error) bool
	}{
		{"the object has changed", stale(t), func(applied *unstructured.Unstructured) { applied.SetResourceVersion("1") }, apierrors.IsConflict},
		{"it is another object", stale(t), func(applied *unstructured.Unstructured) { applied.SetUID("former") }, apierrors.IsConflict},
		{"it is gone", nil, func(*unstructured.Unstructured) {}, apierrors.IsNotFound},
		{
			"others have the field", stale(t), func(applied *unstructured.Unstructured) { applied.SetLabels(map[string]string{"a": "ours"}) },
			func(err error) bool { return apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) },
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := newServer(t, tc.live)
			s.answers = []error{internal(goneAnswer)}
			applied := widget(t, "")
			tc.change(applied)
			if err := s.Apply(t.Context(), forced(applied)); !tc.is(err) {
				t.Errorf("got %v", err)
			}
			s.expectSent("nothing is written", "apply")
		})
	}
}

// A definition that is older than the hub costs a status the fields that it lacks, and no endless writes with a new stamp.
func TestADefinitionThatIsOlder(t *testing.T) {
	s := newServer(t, stale(t))
	apply := func(seen string) {
		t.Helper()
		applied := widget(t, `{status: {phase: New, newer: x, seen: "`+seen+`"}}`)
		applied.SetResourceVersion(s.stored().GetResourceVersion())
		if err := s.Status().Apply(t.Context(), forced(applied), client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
	}
	lacks := internal(lackAnswer)

	s.answers = []error{lacks}
	apply("1")
	if diff := cmp.Diff("New", s.stored().Object["status"].(map[string]any)["phase"]); diff != "" {
		t.Errorf("phase (-want +got):\n%s", diff)
	}
	s.expectSent("the whole, and the rest", "apply status", "apply status")
	apply("2")
	s.expectSent("nothing has changed")

	other := s.stored()
	other.SetLabels(map[string]string{"new": "label"})
	if err := s.api.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	s.answers = []error{lacks, internal(goneAnswer)}
	apply("3")
	s.expectSent("the object has changed, and has a version that is gone", "apply status", "apply status", "patch status")
	s.expectEvents("kubectl patch")
	apply("4")
	s.expectSent("nothing has changed")
}

// The API server has not recorded who has written the endpoints, and applies without removing them.
func TestFieldsThatApplyLeavesAreRemoved(t *testing.T) {
	s := newServer(t, widget(t, `{status: {phase: Old, endpoints: [{url: a}], seen: theirs}}`))
	applied := widget(t, `{status: {phase: New}}`)
	if err := s.Status().Apply(t.Context(), forced(applied), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"phase": "New", "seen": "theirs"}
	if diff := cmp.Diff(want, s.stored().Object["status"]); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(s.stored().Object, applied.Object); diff != "" {
		t.Errorf("the response is read into what is applied (-want +got):\n%s", diff)
	}
	s.expectSent("apply leaves a field", "apply status", "patch status")

	if err := s.Status().Apply(t.Context(), forced(widget(t, `{status: {phase: New}}`)), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	s.expectSent("nothing is left", "apply status")
}

func TestASpecIsAppliedWholeOrNotAtAll(t *testing.T) {
	s := newServer(t, stale(t))
	s.answers = []error{internal(lackAnswer)}
	applied := widget(t, `{spec: {newer: 1, parts: [{name: a, also: b}]}}`)
	err := s.Apply(t.Context(), forced(applied), client.ForceOwnership)

	var older *OlderDefinitionError
	want := &OlderDefinitionError{Definition: "widgets.example.com", Fields: []string{"spec.newer", "spec.parts[].also"}}
	if !errors.As(err, &older) || cmp.Diff(want, older) != "" {
		t.Errorf("got %v, want %v", err, want)
	}
	s.expectSent("nothing is written", "apply")
}

// Other errors, and those whose cause has gone meanwhile, are those of the API server.
func TestOtherErrorsStay(t *testing.T) {
	refusals := []error{
		apierrors.NewForbidden(schemaResource, "w", errors.New("field not declared in schema")), internal("etcdserver: request timed out"),
		internal(lackAnswer), errors.New(goneAnswer),
	}
	for _, refusal := range refusals {
		s := newServer(t, stale(t))
		s.answers = []error{refusal}
		if err := s.Status().Apply(t.Context(), forced(widget(t, `{status: {phase: New}}`))); !errors.Is(err, refusal) {
			t.Errorf("got %v, want %v", err, refusal)
		}
		s.expectSent(refusal.Error(), "apply status")
	}
}
