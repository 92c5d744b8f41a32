// SPDX-License-Identifier: Apache-2.0

package dryrun

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
)

// atOnce bounds the objects that are asked about at the same time.
const atOnce = 8

// The field managers of kubectl.
const (
	clientSideManager = "kubectl-client-side-apply"
	replaceManager    = "kubectl-replace"
)

// The reasons for which the API server is not asked.
const (
	notServed    = "the API server does not serve this kind yet"
	ownNamespace = "their Namespace does not exist yet"
	noDryRun     = "a webhook does not support dry run"
	takesOver    = "kubectl and Helm take the fields of their earlier writes over by several writes, which a dry run cannot do"
	mayNotRead   = "this user may not get them"
)

// Ask asks the API server about the objects of files, and returns the answers by Manifest.Identity. An error is about a request without an answer.
func Ask(ctx context.Context, hub client.Client, manifests []statefile.Manifest, how *statefile.Writes) (map[string]*statefile.Asked, error) {
	a := &asker{hub: hub, how: how, namespaces: map[string]bool{}}
	for i := range manifests {
		if manifests[i].Kind.Kind == "Namespace" {
			a.namespaces[manifests[i].Object.GetName()] = true
		}
	}
	answers := make([]*statefile.Asked, len(manifests))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range manifests {
		group.Go(func() (err error) {
			answers[i], err = a.ask(ctx, &manifests[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err //nolint:wrapcheck // It names the object.
	}

	asked := make(map[string]*statefile.Asked, len(manifests))
	for i := range manifests {
		asked[manifests[i].Identity] = answers[i]
	}
	return asked, nil
}

// Live lists the live objects of files as the API server has them, without writes. It leaves out those that may not be listed.
func Live(ctx context.Context, hub client.Reader, manifests []statefile.Manifest) (map[string]*statefile.Asked, error) {
	asked := make(map[string]*statefile.Asked, len(manifests))
	for i := range manifests {
		live, err := list(ctx, hub, &manifests[i])
		if _, known := unread(err); err != nil && !known {
			return nil, readError(&manifests[i], err)
		}
		if live != nil {
			asked[manifests[i].Identity] = &statefile.Asked{Live: live}
		}
	}
	return asked, nil
}

// list reads a live object by the right to list it; nil if there is none.
func list(ctx context.Context, hub client.Reader, manifest *statefile.Manifest) (*unstructured.Unstructured, error) {
	found, kind := &unstructured.UnstructuredList{}, manifest.Kind.GroupVersionKind
	found.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := hub.List(ctx, found, client.InNamespace(manifest.Object.GetNamespace()), client.MatchingFields{"metadata.name": manifest.Object.GetName()})
	if err != nil || len(found.Items) == 0 {
		return nil, err //nolint:wrapcheck // Its kind decides what is done.
	}
	return &found.Items[0], nil
}

// asker asks about objects.
type asker struct {
	hub client.Client
	how *statefile.Writes
	// namespaces are those of the files.
	namespaces map[string]bool
}

// ask asks about one object: about both writes if it is not known how it is written.
func (a *asker) ask(ctx context.Context, manifest *statefile.Manifest) (*statefile.Asked, error) {
	live, reason, err := a.read(ctx, manifest)
	if err != nil {
		return nil, err
	}
	asked := &statefile.Asked{Live: live, Answers: map[writes.Method]statefile.Answer{}}
	if reason != "" {
		if asked.Live, err = list(ctx, a.hub, manifest); err != nil {
			asked.Live = nil // Then the object counts as it was read with the others.
		}
		for _, method := range []writes.Method{"", writes.ClientSide, writes.ServerSide, writes.Replace} {
			asked.Answers[method] = statefile.Answer{Offline: reason}
		}
		return asked, nil
	}
	for _, write := range a.how.Ways(live) {
		if asked.Answers[write.Method], err = a.answer(ctx, manifest, live, write); err != nil {
			return nil, err
		}
	}
	return asked, nil
}

// read reads the live object; nil if there is none. The reason is that for which it may not be read.
func (a *asker) read(ctx context.Context, manifest *statefile.Manifest) (live *unstructured.Unstructured, reason string, err error) {
	live = &unstructured.Unstructured{}
	live.SetGroupVersionKind(manifest.Kind.GroupVersionKind)
	if err = a.hub.Get(ctx, client.ObjectKeyFromObject(manifest.Object), live); err == nil {
		return live, "", nil
	}
	reason, known := unread(err)
	if !known {
		return nil, "", readError(manifest, err)
	}
	return nil, reason, nil
}

// unread returns the reason for which an object may not be read; empty if there is none. It returns false for another error.
func unread(err error) (reason string, known bool) {
	switch {
	case meta.IsNoMatchError(err):
		return notServed, true
	case apierrors.IsForbidden(err):
		return mayNotRead, true
	default:
		return "", apierrors.IsNotFound(err)
	}
}

func readError(manifest *statefile.Manifest, err error) error {
	return fmt.Errorf("reading %s: %w; check the connection to the hub and try again", manifest.Identity, err)
}

// answer sends a write that is not stored.
func (a *asker) answer(
	ctx context.Context, manifest *statefile.Manifest, live *unstructured.Unstructured, write writes.Write,
) (statefile.Answer, error) {
	if live != nil && write.TakesOver(live) {
		return statefile.Answer{Offline: takesOver}, nil
	}
	object, verb, err := a.send(ctx, manifest, live, write)
	switch {
	case err == nil:
		return statefile.Answer{Object: object}, nil
	case a.offline(manifest, err) != "":
		return statefile.Answer{Offline: a.offline(manifest, err)}, nil
	case apierrors.IsConflict(err) && write.Method == writes.ServerSide:
		return statefile.Answer{Refused: statefile.ConflictText(err)}, nil
	case apierrors.IsForbidden(err):
		allowed, reviewErr := a.allowed(ctx, manifest, verb)
		if reviewErr == nil && !allowed {
			return statefile.Answer{Offline: fmt.Sprintf("this user may not %s them", verb)}, nil
		}
		return statefile.Answer{Refused: err.Error()}, reviewErr
	case isRefusal(err):
		return statefile.Answer{Refused: err.Error()}, nil
	default:
		return statefile.Answer{}, fmt.Errorf("asking what a %s of %s would store: %w; check the connection to the hub and try again",
			verb, manifest.Identity, err)
	}
}

// offline returns why the API server cannot say what it would store once all files are written; empty if it has said it.
func (a *asker) offline(manifest *statefile.Manifest, err error) string {
	switch {
	case apierrors.IsNotFound(err) && a.namespaces[manifest.Object.GetNamespace()]:
		return ownNamespace
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run"):
		return noDryRun
	default:
		return ""
	}
}

// isRefusal reports whether an error is the answer of an API server that it would not store an object.
func isRefusal(err error) bool {
	return apierrors.ReasonForError(err) != metav1.StatusReasonUnknown && !apierrors.IsUnauthorized(err) && !apierrors.IsTooManyRequests(err)
}

// strict has the API server refuse unknown fields, as kubectl does.
var strict = client.FieldValidation(metav1.FieldValidationStrict)

// send sends a write with dryRun=All, and returns what the API server would store, and the verb of the request.
//
//nolint:wrapcheck // The answer of the API server decides what is done.
func (a *asker) send(
	ctx context.Context, manifest *statefile.Manifest, live *unstructured.Unstructured, write writes.Write,
) (object *unstructured.Unstructured, verb string, err error) {
	object = manifest.Object.DeepCopy()
	switch {
	case write.Method == writes.ServerSide:
		body, err := json.Marshal(object)
		if err != nil {
			return nil, "", fmt.Errorf("encode: %w", err)
		}
		options := []client.PatchOption{client.DryRunAll, strict, client.FieldOwner(write.FieldManager)}
		if write.Force {
			options = append(options, client.ForceOwnership)
		}
		return object, "patch", a.hub.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, body), options...)
	case write.Method == writes.Replace:
		if live != nil {
			object.SetResourceVersion(live.GetResourceVersion())
		}
		return object, "update", a.hub.Update(ctx, object, client.DryRunAll, strict, client.FieldOwner(replaceManager))
	case live == nil:
		return object, "create", a.hub.Create(ctx, object, client.DryRunAll, strict, client.FieldOwner(clientSideManager))
	default:
		patchType, patch, err := manifest.Patch(live)
		if err != nil {
			return nil, "patch", err
		}
		return object, "patch", a.hub.Patch(ctx, object, client.RawPatch(patchType, patch), client.DryRunAll, strict,
			client.FieldOwner(clientSideManager))
	}
}

// allowed reports whether the user may send a write. What admission refuses is Forbidden too.
func (a *asker) allowed(ctx context.Context, manifest *statefile.Manifest, verb string) (bool, error) {
	kind := manifest.Kind.GroupVersionKind
	mapping, err := a.hub.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return false, fmt.Errorf("finding the resource of %s: %w", manifest.Identity, err)
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: manifest.Object.GetNamespace(), Verb: verb, Group: mapping.Resource.Group, Version: mapping.Resource.Version,
			Resource: mapping.Resource.Resource, Name: manifest.Object.GetName(),
		},
	}}
	if err := a.hub.Create(ctx, review); err != nil {
		return false, fmt.Errorf("asking whether this user may %s %s: %w", verb, manifest.Identity, err)
	}
	return review.Status.Allowed, nil
}
