// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Role is what the objects of files are to a hub.
type Role int

const (
	// Stored objects are what a hub has, which has admitted them.
	Stored Role = iota
	// Described objects are those of a hub that need not exist. Objects with a metadata.uid are Stored, and the others would be created.
	Described
	// Applied objects are written to a hub: created, or updated if it has them.
	Applied
)

// submitted is an object that policies are evaluated for.
type submitted struct {
	kind *explain.Kind
	// object has the defaults, and identity and at say where it was given.
	object   *unstructured.Unstructured
	identity string
	at       position
}

// Enforce has Review evaluate policies for the objects of the following files, which have a role. By default all are Stored.
func (r *Reader) Enforce(policies *admission.Policies, role Role) {
	r.policies, r.role = policies, role
}

// submit keeps an object for Review.
func (r *Reader) submit(at position, identity string, kind *explain.Kind, fields map[string]any) {
	if object := (&unstructured.Unstructured{Object: fields}); r.isSubmitted(kind, object) {
		r.submissions = append(r.submissions, submitted{kind: kind, object: object.DeepCopy(), identity: identity, at: at})
	}
}

// Update has Review take these live objects, by Manifest.Identity, as they are given, and not as a State has them: what the files do not change
// would differ by the empty fields of Go types.
func (r *Reader) Update(live map[string]*Asked) { r.updated = live }

// Review evaluates the validation rules of the definitions, what webhooks check, and the policies for the objects of the files, of which Applied
// ones update those of the same name that one of the hubs has. It returns the warnings and what was not evaluated, one line each, and an *InputError
// about the objects that are refused.
func (r *Reader) Review(ctx context.Context, hubs ...*explain.State) (notes []string, err error) {
	if len(r.submissions) == 0 {
		return nil, nil
	}
	var (
		all      reviewNotes
		left     []int // indices of the submissions that violate no rule
		requests []admission.Request
	)
	problems := make([][]Problem, len(r.submissions))
	for i, one := range r.submissions {
		request, err := one.request(r.updated, hubs)
		if err != nil {
			return nil, err
		}
		findings, warnings, err := r.check(ctx, &one, request)
		if err != nil {
			return nil, err
		}
		for _, warning := range warnings {
			all.Warnings = append(all.Warnings, one.at.problem(one.identity, "", warning).String())
		}
		for _, found := range findings {
			problems[i] = append(problems[i], one.at.problem(one.identity, found.path, found.text))
		}
		if len(problems[i]) == 0 {
			left, requests = append(left, i), append(requests, request)
		}
	}
	answers, err := r.policies.ReviewAll(ctx, worldOf(append(hubs, &r.state), nil), 0, requests)
	if err != nil {
		return nil, err
	}
	for i, answer := range answers {
		one := &r.submissions[left[i]]
		for _, warning := range answer.Warnings {
			all.Warnings = append(all.Warnings, one.at.problem(one.identity, "", warning).String())
		}
		if answer.Refusal != "" {
			problems[left[i]] = []Problem{one.at.problem(one.identity, "", answer.Refusal)}
		}
		if r.role == Applied { // Somebody had the rights for Described ones.
			all.add(&answer)
		}
	}
	if found := slices.Concat(problems...); len(found) > 0 {
		err = &InputError{Problems: found}
	}
	return all.notes(), err
}

// review evaluates the validation rules of definitions and the policies for the objects of which the API server has not said what it would store.
// Refusals are in Result.
func (c *ChangeReader) review(hub *explain.State, w *Writes, all []*written) error {
	left, err := c.violated(slices.DeleteFunc(slices.Clone(all), func(one *written) bool { return one.asked || len(one.Result.Refused) > 0 }))
	if err != nil || w == nil || w.Review == nil || len(left) == 0 {
		return err
	}
	world, err := w.world(hub, all, left)
	if err != nil {
		return err
	}
	requests := make([]admission.Request, len(left))
	for i, one := range left {
		var err error
		if requests[i], err = one.request(); err != nil {
			return err
		}
	}
	answers, err := w.Review(world, hub.Workers, requests)
	if err != nil {
		return err
	}
	c.reviewed = reviewNotes{}
	for i, answer := range answers {
		result := &left[i].Result
		for _, warning := range answer.Warnings {
			c.reviewed.Warnings = append(c.reviewed.Warnings, result.Object+": "+warning)
		}
		if answer.Refusal != "" {
			result.Refused = []string{answer.Refusal}
		}
		c.reviewed.add(&answer)
	}
	return nil
}

// world returns what policies read when objects are written, of which they review those that are left.
func (w *Writes) world(hub *explain.State, all, left []*written) (*admission.World, error) {
	live, after := &explain.State{}, &explain.State{}
	live.Pods.Namespaces = w.Namespaces
	if w.Vocabulary != nil { // It has the objects of the files, so that none is unknown to another.
		written, _, err := hub.With(each(left))
		if err != nil {
			return nil, err
		}
		live.Federated.Objects = []*unstructured.Unstructured{w.Vocabulary(written)}
	}
	for _, one := range all {
		switch object := one.To.(type) {
		case *corev1.Namespace:
			after.Pods.Namespaces = append(after.Pods.Namespaces, object)
		case *unstructured.Unstructured:
			after.Federated.Objects = append(after.Federated.Objects, object)
		}
	}
	return worldOf([]*explain.State{live, hub, after}, w.Unread), nil
}

// request returns the request of a write. Both objects are as the API server has them, or both as Go types have them, so that what the write does not
// change is equal in both.
func (w *written) request() (request admission.Request, err error) {
	if w.raw != nil && (w.live == nil || w.rawLive != nil) {
		return admission.Request{Object: withoutNulls(w.raw), Old: withoutNulls(w.rawLive)}, nil
	}
	gvk := w.Kind.GroupVersionKind
	if untyped, is := w.To.(*unstructured.Unstructured); is {
		gvk = untyped.GroupVersionKind()
	}
	if request.Object, err = asSent(gvk, w.To); err == nil {
		request.Old, err = asSent(gvk, w.live)
	}
	return request, err
}

// ReviewNotes returns the warnings of the policies about the objects that were applied last, and what was not evaluated, one line each.
func (c *ChangeReader) ReviewNotes() []string { return c.reviewed.notes() }

// request returns the request of a submission: an update of the object that is live, or of that of the first hub that has it.
func (s *submitted) request(live map[string]*Asked, hubs []*explain.State) (request admission.Request, err error) {
	request.Object = s.object
	if found := live[s.identity]; found != nil && found.Live != nil {
		request.Old = withoutNulls(found.Live)
		return request, nil
	}
	for _, hub := range hubs {
		if request.Old, err = s.liveOn(hub); err != nil || request.Old != nil {
			break
		}
	}
	return request, err
}

// liveOn returns the object of a hub; nil if the hub has none.
func (s *submitted) liveOn(hub *explain.State) (*unstructured.Unstructured, error) {
	object, err := s.kind.Decode(s.object.DeepCopy().Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.identity, err)
	}
	return asSent(s.object.GroupVersionKind(), s.kind.Find(hub, object))
}

// asSent returns an object of a State as an API server reads it; nil if there is none.
func asSent(gvk schema.GroupVersionKind, object api.Object) (*unstructured.Unstructured, error) {
	if object == nil {
		return nil, nil
	}
	fields, err := fieldsOf(object)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", gvk.Kind, object.GetName(), err)
	}
	dropNulls(fields)
	untyped := &unstructured.Unstructured{Object: fields}
	untyped.SetGroupVersionKind(gvk)
	return untyped, nil
}

// withoutNulls returns a copy of an object without its nulls; nil of nil.
func withoutNulls(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object == nil {
		return nil
	}
	copied := object.DeepCopy()
	dropNulls(copied.Object)
	return copied
}

// worldOf returns what policies read of hubs, of which later ones replace the objects of those before.
func worldOf(hubs []*explain.State, unread sets.Set[string]) *admission.World {
	var (
		namespaces []*corev1.Namespace
		objects    []*unstructured.Unstructured
	)
	for _, hub := range hubs {
		namespaces = slices.Concat(namespaces, hub.Pods.Namespaces, hub.Federated.Namespaces)
		objects = slices.Concat(objects, hub.Federated.Objects)
	}
	return admission.NewWorld(namespaces, objects, unread)
}

// reviewNotes are what the policies say of several objects, without refusals.
type reviewNotes admission.Answer

// add adds the policies of an answer that were not evaluated, or not for every user.
func (r *reviewNotes) add(answer *admission.Answer) {
	r.Rights = append(r.Rights, answer.Rights...)
	r.Unread = append(r.Unread, answer.Unread...)
}

// notes returns the warnings, and a line for each reason for which policies were not evaluated.
func (r *reviewNotes) notes() []string {
	notes := make([]string, 0, len(r.Warnings)+2) //nolint:mnd // Those below.
	for _, warning := range r.Warnings {
		notes = append(notes, "Warning: "+warning)
	}
	for _, left := range []struct {
		text     string
		policies []string
	}{
		{"not evaluated: the rights for which admission policies ask: ", r.Rights},
		{"not evaluated, because Namespaces may not be read: admission policies: ", r.Unread},
	} {
		slices.Sort(left.policies)
		if len(left.policies) > 0 {
			notes = append(notes, left.text+strings.Join(slices.Compact(left.policies), ", "))
		}
	}
	return notes
}
