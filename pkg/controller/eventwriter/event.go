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
	// maxNoteBytes is how many bytes of note events.k8s.io/v1 admits.
	maxNoteBytes = 1024
	// truncatedNoteBytes is how many bytes are left at most of a note that is longer, before the mark.
	truncatedNoteBytes = 1000
	truncationMark     = "......"
)

// seriesKey is what two events of one series have in common. The objects are told without their resourceVersion, which would tell apart
// what is the same to a reader, and the note belongs to it, so that a series never shows a text that is no longer true.
type seriesKey struct {
	regarding, related         corev1.ObjectReference
	kind, reason, action, note string
}

// truncate returns a note that the API server takes: one that is too long is cut between two characters, as upstream cuts its scores.
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

// setReferences sets the objects that an event is about; related may be nil.
func (w *seriesKey) setReferences(regarding, related runtime.Object) error {
	about, err := reference.GetReference(nil, regarding)
	if err != nil {
		return fmt.Errorf("referring to %T: %w", regarding, err)
	}

	w.regarding = *about
	w.regarding.ResourceVersion = ""

	if related == nil {
		return nil
	}

	with, err := reference.GetReference(nil, related)
	if err != nil {
		return fmt.Errorf("referring to %T: %w", related, err)
	}

	w.related = *with
	w.related.ResourceVersion = ""

	return nil
}

// pendingEvent is an event as it was sent, and the series that it began.
type pendingEvent struct {
	seriesKey

	at time.Time
	// serial makes the name of the event unique.
	serial int64
	// original is what this is a copy of, at the time at which it was taken to be written.
	original *pendingEvent
	// queued says that it waits to be written, and created that it exists.
	queued, created bool
	// count is how often it was sent, the last time at lastAt, and written how much of that the API server knows.
	count, written int32
	lastAt         time.Time
}

// source is who sends events.
type source struct {
	controller, instance string
}

// newSource is called as client-go's broadcaster calls it. A host without a name is no reason to be silent.
func newSource(controller string) source {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}

	return source{controller: controller, instance: controller + "-" + host}
}

// event is what the API server is told of a notice.
func (s source) event(n pendingEvent) *eventsv1.Event {
	namespace := n.regarding.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}

	event := &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Name: util.GenerateEventName(n.regarding.Name, n.serial), Namespace: namespace},
		EventTime:           metav1.MicroTime{Time: n.at},
		ReportingController: s.controller, ReportingInstance: s.instance,
		Action: n.action, Reason: n.reason, Type: n.kind, Note: n.note,
		Regarding: n.regarding,
	}
	if n.related != (corev1.ObjectReference{}) {
		event.Related = &n.related
	}

	if n.count > 1 {
		event.Series = &eventsv1.EventSeries{Count: n.count, LastObservedTime: metav1.MicroTime{Time: n.lastAt}}
	}

	return event
}

// seriesPatch is the strategic merge patch that brings the series of an event up to date.
func seriesPatch(event *eventsv1.Event) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{"series": event.Series})
	if err != nil {
		return nil, fmt.Errorf("encoding the series of Event %s/%s: %w", event.Namespace, event.Name, err)
	}

	return patch, nil
}
