// SPDX-License-Identifier: Apache-2.0

package leftfinalizers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/reference"

	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

var (
	group    = schema.GroupVersion{Group: "example.com", Version: "v1"}
	requests = group.WithResource("requests")
	grants   = group.WithResource("grants")
)

// off is a system with a finalizer for each of two resources, and one whose resource is not known.
var off = systems.Entry{Name: "leasing", Finalizers: []systems.Finalizer{
	{Name: "example.com/request", Resource: requests, Waits: "until the request has left its grant"},
	{Name: "example.com/of-", Prefix: true, Resource: grants, Waits: "until the request with that UID is gone"},
	{Name: "example.com/anywhere", Waits: "until its copies are gone"},
}}

// server answers lists of metadata in pages of one object.
type server struct {
	objects map[string][]metav1.PartialObjectMetadata // by resource
	codes   map[string]int                            // by resource, of a failure
	lists   map[string]int
}

func (s *server) RoundTrip(request *http.Request) (*http.Response, error) {
	resource := path.Base(request.URL.Path)
	if resource == requests.Resource && request.URL.Query().Get("limit") == "" {
		return nil, errors.New("all objects are asked for at once")
	}
	s.lists[resource]++
	code := http.StatusOK
	var answer any
	if failure := s.codes[resource]; failure != 0 {
		code = failure
		answer = metav1.Status{Status: metav1.StatusFailure, Code: int32(failure), Reason: map[int]metav1.StatusReason{
			http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound,
		}[failure]}
	} else {
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}}
		objects := s.objects[resource]
		next := len(request.URL.Query().Get("continue"))
		if next < len(objects) {
			list.Items = objects[next : next+1]
		}
		if next+1 < len(objects) {
			list.Continue = strings.Repeat("x", next+1)
		}
		answer = list
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(string(body))),
	}, err
}

// recorder records events.
type recorder struct {
	mu      sync.Mutex
	written []string
}

func (r *recorder) Eventf(regarding, _ runtime.Object, eventtype, reason, action, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	about, err := reference.GetReference(nil, regarding)
	if err != nil {
		r.written = append(r.written, err.Error())
		return
	}
	r.written = append(r.written, fmt.Sprintf("%s %s %s %s %s/%s: ", eventtype, reason, action, about.Kind, about.Namespace, about.Name)+
		fmt.Sprintf(note, args...))
}

// next returns the events that were written since the last call.
func (r *recorder) next() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.written = nil }()
	return r.written
}

// newTestReporter returns a reporter for off that asks a server, and the recorder of its events.
func newTestReporter(t *testing.T, s *server) (*reporter, *recorder) {
	t.Helper()
	s.lists = map[string]int{}
	reader, err := metadata.NewForConfigAndClient(&rest.Config{Host: "http://hub", QPS: -1}, &http.Client{Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{group})
	mapper.Add(group.WithKind("Request"), meta.RESTScopeNamespace)
	mapper.Add(group.WithKind("Grant"), meta.RESTScopeNamespace)
	written := &recorder{}
	return &reporter{
		off: []systems.Entry{off}, reader: reader, mapper: mapper, events: written, logged: map[string]string{}, reported: map[types.UID]time.Time{},
	}, written
}

func object(name string, deleted bool, finalizers ...string) metav1.PartialObjectMetadata {
	o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name), Finalizers: finalizers}}
	if deleted {
		o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	}
	return o
}

// Only an object that is being deleted and has a finalizer of the system has an event, whichever page it is in, and whatever happens to the other
// resources of the system.
func TestObjectsThatAreBeingDeletedHaveEvents(t *testing.T) {
	s := &server{objects: map[string][]metav1.PartialObjectMetadata{
		"requests": {
			object("stays", false, "example.com/request"), object("other", true, "other.io/x"),
			object("waits", true, "other.io/x", "example.com/request"),
		},
		"grants": {object("granted", true, "example.com/of-7", "example.com/of-8")},
	}}
	r, written := newTestReporter(t, s)
	r.look(t.Context())
	got := written.next()
	const end = " Nothing does that here, because the system leasing is off. An administrator of the hub turns it on, or releases the finalizer: " +
		"placement uninstall --release-finalizers --system=leasing"
	want := []string{
		"Warning DeletionWaiting Delete Request a/waits: The deletion waits for the finalizer example.com/request, which stays until the request " +
			"has left its grant." + end,
		"Warning DeletionWaiting Delete Grant a/granted: The deletion waits for the finalizer example.com/of-<uid>, which stays until the request " +
			"with that UID is gone." + end,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if want := map[string]int{"requests": 3, "grants": 1}; !maps.Equal(s.lists, want) {
		t.Errorf("lists: %v, want %v", s.lists, want)
	}
	if got, want := r.logged["leasing"], "example.com/of-<uid> example.com/request"; got != want {
		t.Errorf("logged %q, want %q", got, want)
	}
}

func TestAnEventIsRepeatedBeforeItIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{objects: map[string][]metav1.PartialObjectMetadata{"requests": {object("waits", true, "example.com/request")}}}
		r, written := newTestReporter(t, s)
		ended := make(chan error, 1)
		go func() { ended <- r.Start(t.Context()) }()
		var at []time.Duration
		began := time.Now()
		for time.Since(began) < 2*time.Hour {
			synctest.Wait()
			for range written.next() {
				at = append(at, time.Since(began))
			}
			<-time.After(interval)
		}
		if want := []time.Duration{0, repetition, 2 * repetition}; !slices.Equal(at, want) {
			t.Errorf("events after %v, want %v", at, want)
		}
		s.objects = nil
		<-time.After(interval)
		synctest.Wait()
		if len(r.reported) > 0 || r.logged["leasing"] != "" {
			t.Errorf("it remembers %v and %q of an object that is gone", r.reported, r.logged["leasing"])
		}
	})
}

// Users create and delete the objects, so that their number does not decide how many events are written at once, nor delay the events of another
// namespace. Each object has its event.
func TestManyObjectsHaveEventsOneLookAfterTheOther(t *testing.T) {
	s := &server{objects: map[string][]metav1.PartialObjectMetadata{}}
	for n := range objectsPerLook + 1 {
		s.objects["grants"] = append(s.objects["grants"], object(strconv.Itoa(n), true, "example.com/of-7"))
	}
	other := object("other", true, "example.com/of-7")
	other.Namespace = "z"
	s.objects["grants"] = append(s.objects["grants"], other)
	r, written := newTestReporter(t, s)
	for look, want := range []int{objectsPerLook + 1, 1, 0} {
		r.look(t.Context())
		if got := len(written.next()); got != want {
			t.Errorf("%d events after look %d, want %d", got, look, want)
		}
	}
}

// Without the right to list a resource, or without the resource, there is nothing to report, and the others are reported.
func TestWhatCannotBeListed(t *testing.T) {
	for code, want := range map[int]int{http.StatusForbidden: 1, http.StatusNotFound: 1, http.StatusInternalServerError: 0} {
		s := &server{
			objects: map[string][]metav1.PartialObjectMetadata{"grants": {object("granted", true, "example.com/of-7")}},
			codes:   map[string]int{"requests": code},
		}
		r, written := newTestReporter(t, s)
		r.reported["before"] = time.Now()
		r.look(t.Context())
		if got := written.next(); len(got) != want {
			t.Errorf("requests answer %d: events %q, want %d", code, got, want)
		}
		if _, known := r.reported["before"]; known == (want == 1) {
			t.Errorf("requests answer %d: what is known of objects before it is kept: %t", code, known)
		}
	}
}
