// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// eventful is the resourceVersion from which a watch has an event.
const eventful = "5"

// target is a server that records its requests. A watch stays open until its client disconnects.
type target struct {
	*httptest.Server

	mu   sync.Mutex
	seen []string
	gone chan struct{}
}

func startTarget(t *testing.T) *target {
	t.Helper()
	s := &target{gone: make(chan struct{}, 10)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			if r.URL.Query().Get("resourceVersion") == eventful {
				_, _ = w.Write([]byte(`{"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}}`))
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
			s.gone <- struct{}{}
			return
		}
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}`))
	}))
	t.Cleanup(s.Close)
	return s
}

func (t *target) requests() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.seen)
}

func startProxy(t *testing.T) (*target, *Proxy, kubernetes.Interface) {
	t.Helper()
	s := startTarget(t)
	p, err := Start(&rest.Config{Host: s.URL, BearerToken: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	api, err := kubernetes.NewForConfig(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	return s, p, api
}

func create(ctx context.Context, api kubernetes.Interface) error {
	_, err := api.CoreV1().ConfigMaps("ns").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	return err
}

func dropped(err error) bool {
	return err != nil && (errors.Is(err, syscall.ECONNRESET) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown)
}

func TestFaults(t *testing.T) {
	creation := Request{Verb: "create", Resource: "configmaps", Namespace: "ns"}
	for _, tc := range []struct {
		reason  string
		fault   Fault
		want    func(error) bool
		carried int // requests that reach the target
	}{
		{"the client may come back, and client-go does so by itself", TooManyRequests, func(err error) bool { return err != nil }, 0},
		{"an answer like that of an API server", InternalError, apierrors.IsInternalError, 0},
		{"an answer like that of an API server", Unavailable, apierrors.IsServiceUnavailable, 0},
		{"an answer like that of an API server", Conflict, apierrors.IsConflict, 0},
		{"an answer like that of an API server", Invalid, apierrors.IsInvalid, 0},
		{"an answer like that of an API server", Timeout, apierrors.IsTimeout, 0},
		{"it names no version that could be gone", Gone, func(err error) bool { return err == nil }, 1},
		{"it happens, and the client gives up before it knows", Delay, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, 1},
		{"the connection breaks before anything happens", Reset, dropped, 0},
		{"it happens, and the answer is lost", Lost, dropped, 1},
		{"the client gives up", Hang, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }, 0},
		{"the client reads a body that does not come", Stall, func(err error) bool {
			return errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), "reading response body")
		}, 0},
	} {
		t.Run(string(tc.fault), func(t *testing.T) {
			s, p, api := startProxy(t)
			if _, err := api.CoreV1().ConfigMaps("ns").Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
				t.Fatalf("opening the connection: %v", err)
			}
			before := len(s.requests())
			mend := p.Break(Rule{Match: Match{Verbs: []string{"create"}, Resources: []string{"configmaps"}}, Fault: tc.fault})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			switch tc.fault {
			case TooManyRequests: // It gives up before client-go tries again, after a second.
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 900*time.Millisecond)
			case Hang, Delay, Stall: // The request has to reach the target first, or the header of the response the client.
				cancel()
				ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
			case InternalError, Unavailable, Conflict, Invalid, Timeout, Reset, Lost, Gone:
			}
			defer cancel()
			if err := create(ctx, api); !tc.want(err) {
				t.Errorf("%s: the client gets %v", tc.reason, err)
			}
			if got := s.requests(); len(got)-before != tc.carried {
				t.Errorf("%s: the target sees %q, want %d creations", tc.reason, got, tc.carried)
			}
			if _, err := api.CoreV1().ConfigMaps("ns").Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
				t.Errorf("another verb is broken too: %v", err)
			}
			mend()
			mend()
			if err := create(t.Context(), api); err != nil {
				t.Errorf("the rule has ended: %v", err)
			}
			if got := p.Requests(Match{Verbs: []string{"create"}}); !slices.Equal(got, []Request{creation, creation}) {
				t.Errorf("the proxy has counted %v", got)
			}
			if got := s.requests(); got[len(got)-1] != "POST /api/v1/namespaces/ns/configmaps Bearer secret" {
				t.Errorf("the target sees %q", got)
			}
		})
	}
}

func TestAfterLetsSomePass(t *testing.T) {
	s, p, api := startProxy(t)
	mend := p.Break(Rule{Match: Match{Namespace: "ns"}, Fault: Conflict, After: 2})
	defer mend()
	for n, want := range []bool{false, false, true, true} {
		if err := create(t.Context(), api); (err != nil) != want {
			t.Errorf("request %d: %v", n, err)
		}
	}
	if got := len(s.requests()); got != 2 {
		t.Errorf("the target sees %d requests, want 2", got)
	}
}

// A process that is cut off may have carried out one request more than it knows of.
func TestThenBreaksTheRest(t *testing.T) {
	s, p, api := startProxy(t)
	defer p.Break(Rule{Match: Match{Verbs: []string{"create"}}, Fault: Lost, After: 1, Then: Reset})()
	for n, want := range []bool{false, true, true, true} {
		if err := create(t.Context(), api); (err != nil) != want {
			t.Errorf("request %d: %v", n, err)
		}
	}
	if got := len(s.requests()); got != 2 {
		t.Errorf("the target sees %d requests, want the one that passes and the one whose answer is lost", got)
	}
}

func TestHangingEndsWithItsRule(t *testing.T) {
	_, p, api := startProxy(t)
	mend := p.Break(Rule{Fault: Hang})
	ended := make(chan error, 1)
	go func() { ended <- create(t.Context(), api) }()
	for len(p.Requests(Match{})) == 0 {
		select {
		case err := <-ended:
			t.Fatalf("it does not hang: %v", err)
		default:
		}
	}
	mend()
	if err := <-ended; !dropped(err) {
		t.Errorf("the client gets %v, want a broken connection", err)
	}
}

// The proxy distinguishes a watch with initial events from a resumed one.
func TestWatchesThatGoOn(t *testing.T) {
	_, p, api := startProxy(t)
	for _, anew := range []bool{true, false} {
		watching, err := api.CoreV1().ConfigMaps("ns").Watch(t.Context(), metav1.ListOptions{SendInitialEvents: &anew})
		if err != nil {
			t.Fatal(err)
		}
		watching.Stop()
		if got := p.Requests(Match{Verbs: []string{"watch"}}); got[len(got)-1].Resumed == anew {
			t.Errorf("begins with everything: %t, told as %+v", anew, got[len(got)-1])
		}
	}
}

// The proxy distinguishes requests for metadata from those for whole objects.
func TestRequestsForMetadata(t *testing.T) {
	_, p, api := startProxy(t)
	for accept, want := range map[string]bool{
		"application/json": false, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1": true,
	} {
		request := api.CoreV1().RESTClient().Get().Resource("configmaps").SetHeader("Accept", accept)
		if err := request.Do(t.Context()).Error(); err != nil {
			t.Fatal(err)
		}
		if got := p.Requests(Match{}); got[len(got)-1].Metadata != want {
			t.Errorf("%s: told as %+v", accept, got[len(got)-1])
		}
	}
}

func TestOpenWatchesAreBrokenOff(t *testing.T) {
	s, p, api := startProxy(t)
	open := map[string]watch.Interface{}
	for _, namespace := range []string{"ns", "other"} {
		watching, err := api.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(watching.Stop)
		open[namespace] = watching
	}
	mend := p.Break(Rule{Match: Match{Verbs: []string{"watch"}, Namespace: "ns"}, Fault: Unavailable})
	defer mend()
	if event, more := <-open["ns"].ResultChan(); more {
		t.Errorf("the watch tells of %v, and is to end", event)
	}
	<-s.gone
	if _, err := api.CoreV1().ConfigMaps("ns").Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("a new watch gets %v", err)
	}
	select {
	case <-open["other"].ResultChan():
		t.Error("a watch that the rule does not mean has ended")
	default:
	}
}

// A delayed watch stays open and shows no events, while a watch of another namespace continues. Afterwards all events arrive.
func TestEventsAreDelayed(t *testing.T) {
	_, p, api := startProxy(t)
	mend := p.Break(Rule{Match: Match{Verbs: []string{"watch"}, Namespace: "ns"}, Fault: Delay})
	open := map[string]watch.Interface{}
	for _, namespace := range []string{"ns", "other"} {
		watching, err := api.CoreV1().ConfigMaps(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: eventful})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(watching.Stop)
		open[namespace] = watching
	}
	if event := <-open["other"].ResultChan(); event.Type != watch.Added {
		t.Errorf("a watch that the rule does not mean shows %v", event)
	}
	select {
	case event, more := <-open["ns"].ResultChan():
		t.Errorf("a watch that is held back shows %v (open: %t)", event, more)
	case <-time.After(100 * time.Millisecond):
	}
	mend()
	if event, more := <-open["ns"].ResultChan(); event.Type != watch.Added {
		t.Errorf("after the end of the rule: %v (open: %t)", event, more)
	}
	_ = p.Break(Rule{Match: Match{Verbs: []string{"watch"}}, Fault: Delay})
	for namespace, watching := range open {
		select {
		case _, more := <-watching.ResultChan():
			t.Errorf("a rule that holds back has ended the watch of %s (open: %t)", namespace, more)
		default:
		}
	}
}

// A client whose resourceVersion is gone has to start again without one.
func TestVersionsAreGone(t *testing.T) {
	s, p, api := startProxy(t)
	watching, err := api.CoreV1().ConfigMaps("ns").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "7"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watching.Stop)
	defer p.Break(Rule{Match: Match{Verbs: []string{"list", "watch"}}, Fault: Gone})()
	if event, more := <-watching.ResultChan(); more {
		t.Errorf("an open watch shows %v, and is to end", event)
	}
	<-s.gone
	for version, gone := range map[string]bool{"7": true, "0": false, "": false} {
		options := metav1.ListOptions{ResourceVersion: version}
		if _, err := api.CoreV1().ConfigMaps("ns").List(t.Context(), options); apierrors.IsResourceExpired(err) != gone {
			t.Errorf("a list since %q gets %v", version, err)
		}
		watching, err := api.CoreV1().ConfigMaps("ns").Watch(t.Context(), options)
		if apierrors.IsResourceExpired(err) != gone {
			t.Errorf("a watch since %q gets %v", version, err)
		}
		if err == nil {
			watching.Stop()
		}
	}
}

func TestClientCertificatesAreRefused(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CertData: []byte("certificate")}}
	if _, err := Start(config); err == nil {
		t.Error("a certificate would silently be lost")
	}
}

// While the proxy refuses connections, clients fail at once, also on open connections; afterwards they succeed again.
func TestRefuse(t *testing.T) {
	_, proxy, client := startProxy(t)
	get := func() error {
		_, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), "a", metav1.GetOptions{})
		return err
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	accept, err := proxy.Refuse()
	if err != nil {
		t.Fatal(err)
	}
	if err := get(); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want that the connection is refused", err)
	}
	if err := accept(); err != nil {
		t.Fatal(err)
	}
	if err := get(); err != nil {
		t.Error(err)
	}
}
