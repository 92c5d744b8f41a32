// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
)

// ConditionAffinityClassResolved is False on an application whose class is not in its HelmRelease.
const ConditionAffinityClassResolved = "AffinityClassResolved"

// The reasons of the condition AffinityClassResolved beside affinityclass.ReasonReleaseNotFound and affinityclass.ReasonReleaseAmbiguous.
const (
	reasonResolved = "Resolved"
	reasonRefused  = "Refused"
)

// actionResolve is the action of events about applications.
const actionResolve = "ResolveAffinityClass"

// outcome is the condition AffinityClassResolved of an application.
type outcome struct {
	status          metav1.ConditionStatus
	reason, message string
}

// resolved returns the outcome of an application whose HelmRelease has its class; empty for no class.
func resolved(class string) *outcome {
	if class == "" {
		return &outcome{metav1.ConditionTrue, reasonResolved, "the application has no AffinityClass"}
	}
	return &outcome{metav1.ConditionTrue, reasonResolved, fmt.Sprintf("the HelmRelease has AffinityClass %q", class)}
}

// reporter writes outcomes to applications: as the condition AffinityClassResolved, if the API server keeps it, and as a Warning when a
// refusal is new. It is safe for concurrent use.
type reporter struct {
	writer   client.Client
	recorder events.EventRecorder
	clock    clock.PassiveClock

	// live reads from the API server.
	live client.Reader
	// problems has the refusals of applications that have no condition to read them from.
	problems *problems.Memory[applicationKey]
}

// forget drops what is known of an application that is gone.
func (r *reporter) forget(key applicationKey) { r.problems.Forget(key) }

// report writes the outcome of an application if it is new.
func (r *reporter) report(ctx context.Context, of kind, application *unstructured.Unstructured, now outcome) error {
	if of.conditions {
		written, err := objects.PatchStatus(ctx, r.writer, application, func(changed *unstructured.Unstructured) { r.setCondition(changed, now) })
		if err != nil || written == application {
			return err
		}
	} else if isNew, err := r.isNew(ctx, of, application, now); err != nil || !isNew {
		return err
	}

	if now.status == metav1.ConditionFalse {
		r.recorder.Eventf(application, nil, corev1.EventTypeWarning, now.reason, actionResolve, "%s", now.message)
	}
	return nil
}

// isNew reports whether an outcome of an application without conditions is a refusal that has no Warning yet.
func (r *reporter) isNew(ctx context.Context, of kind, application *unstructured.Unstructured, now outcome) (bool, error) {
	look := problems.Look{Notes: map[string]string{}, Changed: func() (time.Time, error) { return r.lastChange(ctx, of, application) }}
	if now.status == metav1.ConditionFalse {
		look.Notes[now.reason] = now.message
	}
	fresh, err := r.problems.New(applicationKey{client.ObjectKeyFromObject(application), of.Kind}, look)
	if err != nil {
		return false, fmt.Errorf("reporting on %s %s: %w", of.Kind, client.ObjectKeyFromObject(application), err)
	}
	return len(fresh) > 0, nil
}

// lastChange returns when an application was changed last; zero if it is gone. The hub may list applications, and not get them.
func (r *reporter) lastChange(ctx context.Context, of kind, application *unstructured.Unstructured) (time.Time, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind + "List"))
	err := r.live.List(ctx, list, client.InNamespace(application.GetNamespace()),
		client.MatchingFields{metav1.ObjectNameField: application.GetName()})
	if err != nil {
		return time.Time{}, fmt.Errorf("reading it from the API server: %w", err)
	}
	var last time.Time

	for i := range list.Items {
		if list.Items[i].GetName() == application.GetName() {
			last = problems.LastChange(&list.Items[i])
		}
	}
	return last, nil
}

// setCondition sets the condition of an application.
func (r *reporter) setCondition(application *unstructured.Unstructured, now outcome) {
	conditions, _, _ := unstructured.NestedSlice(application.Object, "status", "conditions")
	condition := map[string]any{
		"type": ConditionAffinityClassResolved, "status": string(now.status), "reason": now.reason, "message": now.message,
		"lastTransitionTime": r.clock.Now().UTC().Format(time.RFC3339),
	}

	at := slices.IndexFunc(conditions, func(entry any) bool {
		fields, isMap := entry.(map[string]any)
		return isMap && fields["type"] == ConditionAffinityClassResolved
	})
	if at < 0 {
		conditions = append(conditions, condition)
	} else {
		before, _ := conditions[at].(map[string]any)
		if before["status"] == condition["status"] {
			if before["reason"] == condition["reason"] && before["message"] == condition["message"] {
				return
			}
			condition["lastTransitionTime"] = before["lastTransitionTime"]
		}
		conditions[at] = condition
	}

	status, isMap := application.Object["status"].(map[string]any)
	if !isMap {
		status = map[string]any{}
		application.Object["status"] = status
	}
	status["conditions"] = conditions
}

func joinSorted(names []string) string {
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
