// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"cmp"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Writes say how objects of files are written. A nil pointer leaves that to the live objects.
type Writes struct {
	// Chosen is how all are written; without a Method the live object says it.
	Chosen writes.Write
	// InDoubt is the Method for live objects of which it is not known; the default is ClientSide.
	InDoubt writes.Method
	// Asked is what the API server has said, by Manifest.Identity. What it was not asked about is merged here.
	Asked map[string]*Asked
	// Review evaluates the admission policies for objects about which the API server was not asked; nil evaluates none.
	Review admission.Reviewer
	// Vocabulary returns the ConfigMap placement-vocabulary of a hub that has none in its State; nil for a hub that writes it itself.
	Vocabulary func(after *explain.State) *unstructured.Unstructured
	// Namespaces are those of such objects on a live hub, and Unread the names of those that may not be read.
	Namespaces []*corev1.Namespace
	Unread     sets.Set[string]
}

// Asked is what the API server has said of an object of files.
type Asked struct {
	// Live is the live object; nil if there is none.
	Live *unstructured.Unstructured
	// Answers are those to its writes.
	Answers map[writes.Method]Answer
}

// Offline reports whether the API server has not answered to one of the writes.
func (a *Asked) Offline() bool {
	for _, answer := range a.Answers {
		if answer.Offline != "" {
			return true
		}
	}
	return len(a.Answers) == 0
}

// Answer is that of the API server to a write that it has not stored. One field is set.
type Answer struct {
	// Object is what it would store, and Refused why it would store nothing.
	Object  *unstructured.Unstructured
	Refused string
	// Offline says why it could not be asked.
	Offline string
}

// The reasons for which it is not known how an object is written.
const (
	doubtHidden = "the files hide their managedFields, which say what server-side apply removes: add --show-managed-fields to kubectl get"
	doubtTool   = "their managedFields name no apply of a tool that is known here: add --server-side%s, --server-side=false or --replace"
)

// Of returns how an object is written that is live, and why that is not known; empty if it is.
func (w *Writes) Of(live metav1.Object) (write writes.Write, doubt string) {
	var chosen writes.Write
	inDoubt := writes.ClientSide
	if w != nil {
		chosen, inDoubt = w.Chosen, cmp.Or(w.InDoubt, inDoubt)
	}
	known, hidden := chosen.Method != "", writes.IsHidden(live)
	if !known {
		chosen, known = writes.Of(live)
	}

	switch {
	case chosen.Method == writes.ServerSide && hidden, !known && hidden:
		doubt = doubtHidden
	case !known:
		manager := ""
		if chosen.FieldManager != "" {
			manager = " --field-manager " + chosen.FieldManager
		}
		doubt = fmt.Sprintf(doubtTool, manager)
	default:
		return chosen, ""
	}
	if inDoubt == writes.ServerSide {
		return writes.Write{Method: writes.ServerSide, FieldManager: cmp.Or(chosen.FieldManager, writes.Kubectl), Force: true}, doubt
	}
	return writes.Write{Method: inDoubt}, doubt
}

// Ways returns how an object may be written: two ways if that is not known. An object that is not live is created.
func (w *Writes) Ways(live *unstructured.Unstructured) []writes.Write {
	if live == nil {
		return []writes.Write{w.Chosen}
	}
	write, doubt := w.Of(live)
	if doubt == "" {
		return []writes.Write{write}
	}
	other := *w
	other.InDoubt = writes.ServerSide
	serverSide, _ := other.Of(live)
	return []writes.Write{write, serverSide}
}

// Manifest is an object of files that is to be written.
type Manifest struct {
	// Identity names the object in messages: "Placement team-a/rollout".
	Identity string
	Kind     *explain.Kind
	// Object is the object as it was given, with its namespace.
	Object *unstructured.Unstructured
}

// Identity returns Manifest.Identity of an object.
func Identity(kind *explain.Kind, object metav1.Object) string {
	return identityOf(kind.GroupVersionKind, object)
}

// Manifests returns the objects of the files. The error is an *InputError.
func (c *ChangeReader) Manifests() ([]Manifest, error) {
	given, err := c.State()
	if err != nil {
		return nil, err
	}
	var manifests []Manifest
	for kind, object := range given.Each(everything) {
		identity := identityOf(kind.GroupVersionKind, object)
		fields := runtime.DeepCopyJSON(c.reader.rules.given[identity])
		manifests = append(manifests, Manifest{Identity: identity, Kind: kind, Object: &unstructured.Unstructured{Object: fields}})
	}
	return manifests, nil
}

// Patch returns the patch that kubectl apply sends for a live object.
func (m *Manifest) Patch(live *unstructured.Unstructured) (types.PatchType, []byte, error) {
	last, err := lastApplied(live)
	if err != nil {
		return "", nil, fmt.Errorf("applying %s: %w", m.Identity, err)
	}
	patchType, patch, err := patchOf(m.Kind, desired(last), desired(m.Object.Object), desired(live.Object))
	if err != nil {
		return "", nil, fmt.Errorf("applying %s: %w", m.Identity, err)
	}
	return patchType, patch, nil
}

// written is what a write makes of an object.
type written struct {
	explain.Applied

	// live is the object before; nil if there was none. asked reports that the API server has said what it makes of the write.
	live  api.Object
	asked bool
	// raw is the object as the API server would have it, and rawLive the one before; nil if that is not known. Go types, by which To and live have
	// them, have fields that they lack.
	raw, rawLive *unstructured.Unstructured
}

// write returns what a write makes of an object of the files; live is nil if there is none. The errors of a write that is refused are in Result.
func (c *ChangeReader) write(w *Writes, kind *explain.Kind, object, live api.Object) (*written, error) {
	identity := identityOf(kind.GroupVersionKind, object)
	one := &written{Applied: explain.Applied{Kind: kind, To: object}, live: live}
	one.Result.Object, one.Result.New = kind.Name(object), live == nil
	write, asked := writes.Write{Method: writes.ClientSide}, &Asked{}
	if w != nil {
		write = w.Chosen
		if found := w.Asked[identity]; found != nil {
			asked = found
		}
	}
	if live == nil {
		one.raw = c.createdFields(kind, object)
	} else {
		one.rawLive = asked.Live
		if asked.Live != nil {
			write, one.Doubt = w.Of(asked.Live)
		} else {
			write, one.Doubt = w.Of(live)
		}
		if write.Method != writes.ClientSide {
			one.Result.By = write.String()
		}
	}

	answer := asked.Answers[write.Method]
	one.Offline, one.asked = answer.Offline, answer.Refused != "" || answer.Object != nil
	var err error
	switch {
	case answer.Refused != "":
		one.Result.Refused = []string{answer.Refused}
	case answer.Object != nil:
		err = c.take(&one.Applied, asked.Live, answer.Object)
	case live != nil:
		err = c.mergeInto(one, write)
	case write.Method == writes.Replace:
		one.Result.Refused = []string{"it does not exist, and kubectl replace creates nothing; leave --replace out"}
	}
	if err != nil {
		return one, fmt.Errorf("applying %s: %w", identity, err)
	}
	if one.To != object {
		asRead(one.To, live)
	}
	return one, nil
}

// asRead gives an object that was written the managedFields and the status that the State has of the live object, so that both are read alike.
func asRead(written, live api.Object) {
	object, is := written.(*unstructured.Unstructured)
	if !is {
		return
	}
	object.SetManagedFields(nil)
	delete(object.Object, "status")
	if before, has := live.(*unstructured.Unstructured); has {
		object.SetManagedFields(before.GetManagedFields())
		if status, has := before.Object["status"]; has {
			object.Object["status"] = status
		}
	}
}

// take makes the object of an answer the result of a write.
func (c *ChangeReader) take(one *explain.Applied, live, answer *unstructured.Unstructured) error {
	kind, alone := one.Kind, one.To
	if live != nil {
		one.Result.Gone = goneFields(desired(live.Object), desired(answer.Object))
	}
	if kind.Untyped || kind.Type == nil {
		one.To = answer
		return nil
	}
	typed, is := kind.Type.DeepCopyObject().(api.Object)
	if !is {
		return fmt.Errorf("%T is no object", kind.Type)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, typed); err != nil {
		return fmt.Errorf("the answer of the API server cannot be read: %w", err)
	}
	one.To = typed
	if live == nil || kind.Definition == explain.BuiltIn {
		return nil
	}
	var err error
	one.Result.Kept, err = differingFields(alone, typed)
	return err
}

// mergeInto carries out a write to a live object without the API server.
func (c *ChangeReader) mergeInto(one *written, write writes.Write) error {
	result, err := c.merge(write, one.Kind, one.To, one.live, one.rawLive)
	var (
		unknown *writes.UnknownTypeError
		invalid *invalidError
	)
	switch {
	case errors.As(err, &invalid) && write.Method == writes.ServerSide:
		one.Result.Refused = []string{err.Error()}
		return nil
	case apierrors.IsConflict(err):
		one.Result.Refused = []string{ConflictText(err)}
		return nil
	case errors.As(err, &unknown):
		one.Result.Refused = []string{"what server-side apply makes of it cannot be computed, because " + err.Error() + "; ask a live hub"}
		return nil
	case err != nil:
		return err
	}
	one.To, one.Result.Kept, one.Result.Gone = result.object, result.kept, result.gone
	one.raw = result.raw
	return nil
}

// ConflictText returns the text of a conflict of field managers as kubectl shows it, with what to do.
func ConflictText(err error) string {
	return err.Error() + "; use --force-conflicts to become the manager of these fields, leave them out of the file, or give them the live values"
}
