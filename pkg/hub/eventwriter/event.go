// SPDX-License-Identifier: Apache-2.0

package eventwriter

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"
)

const (
	// maxNoteBytes is the greatest length of a note in events.k8s.io/v1, in bytes.
	maxNoteBytes = 1024
	// truncatedNoteBytes is the greatest length of a truncated note without truncationMark, in bytes.
	truncatedNoteBytes = 1000
	truncationMark     = "......"
)

// seriesKey identifies the series of an event. It has no resourceVersions, because they differ between events that are equal to a reader;
// it has the note, so that a series never shows an outdated text.
type seriesKey struct {
	regarding, related         corev1.ObjectReference
	kind, reason, action, note string
}

// truncate cuts a note that is too long for the API server between two characters, as upstream cuts its scores.
func truncate(note string) string {
	if len(note) <= maxNoteBytes {
		return note
	}
	end := truncatedNoteBytes
	for !utf8.RuneStart(note[end]) {
		end--
	}
	return note[:end] + truncationMark
}

// setReferences sets the objects of an event; related may be nil. It returns an error for an object of unknown kind.
func (s *seriesKey) setReferences(regarding, related runtime.Object) error {
	about, err := reference.GetReference(nil, regarding)
	if err != nil {
		return fmt.Errorf("referring to %T: %w", regarding, err)
	}
	s.regarding = *about
	s.regarding.ResourceVersion = ""
	if related == nil {
		return nil
	}

	with, err := reference.GetReference(nil, related)
	if err != nil {
		return fmt.Errorf("referring to %T: %w", related, err)
	}
	s.related = *with
	s.related.ResourceVersion = ""
	return nil
}

// pendingEvent is an event as it was sent, and the series that it started.
type pendingEvent struct {
	seriesKey

	at time.Time
	// serial makes the name of the event unique.
	serial int64
	// original points from a copy that pop returned to the event in the buffer.
	original *pendingEvent
	// queued reports that the event waits to be written, and created that the API server has it.
	queued, created bool
	// count is how often the event was sent, the last time at lastAt, and written is the count that the API server has.
	count, written int32
	lastAt         time.Time
}

// source is the controller and the instance that events name as their reporter.
type source struct {
	controller, instance string
}

// newSource names the instance as the broadcaster of client-go does. An unknown host name is no error.
func newSource(controller string) source {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return source{controller: controller, instance: controller + "-" + host}
}

// event converts a pendingEvent to the object that is sent to the API server.
func (s source) event(p pendingEvent) *eventsv1.Event {
	namespace := p.regarding.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}

	event := &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Name: util.GenerateEventName(p.regarding.Name, p.serial), Namespace: namespace},
		EventTime:           metav1.MicroTime{Time: p.at},
		ReportingController: s.controller, ReportingInstance: s.instance,
		Action: p.action, Reason: p.reason, Type: p.kind, Note: p.note,
		Regarding: p.regarding,
	}
	if p.related != (corev1.ObjectReference{}) {
		event.Related = &p.related
	}

	if p.count > 1 {
		event.Series = &eventsv1.EventSeries{Count: p.count, LastObservedTime: metav1.MicroTime{Time: p.lastAt}}
	}
	return event
}

// seriesPatch returns the strategic merge patch that updates the series of an event.
func seriesPatch(event *eventsv1.Event) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{"series": event.Series})
	if err != nil {
		return nil, fmt.Errorf("encoding the series of Event %s/%s: %w", event.Namespace, event.Name, err)
	}
	return patch, nil
}
