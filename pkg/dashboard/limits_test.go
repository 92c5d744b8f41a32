// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
)

// unread is a response whose writes block until read is closed.
type unread struct {
	*httptest.ResponseRecorder

	writing chan struct{}
	read    chan struct{}
}

func (u *unread) Write(text []byte) (int, error) {
	u.writing <- struct{}{}
	<-u.read
	return len(text), nil
}

// docs/spec/trust.md T22: tenants who do not read their pages take their own shares of the bytes in flight. They keep no turn while they wait for
// that.
func TestT22PagesOfTenantsWhoDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := newPages(newTestHub(world()...))
		size := int64(as(t, pages, "jane", http.MethodGet, "/placements/team-a/web", "").Body.Len())
		pages.inFlight = turns.NewBytes(100*size, size+size/2) // As 8 MiB are for large pages.
		writing, read := make(chan struct{}, 100), make(chan struct{})
		var answers sync.WaitGroup
		for n := range maxRunning + 1 {
			for account := range 4 {
				answers.Go(func() {
					request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/placements/team-a/web", http.NoBody)
					request.Header.Set("Authorization", fmt.Sprintf("Bearer system:serviceaccount:attacker-%d:%d", n, account))
					pages.ServeHTTP(&unread{httptest.NewRecorder(), writing, read}, request)
				})
			}
		}
		synctest.Wait()
		if len(writing) != maxRunning+1 {
			t.Errorf("%d pages are being written, want one of each tenant", len(writing))
		}
		began := time.Now()
		got := as(t, pages, "jane", http.MethodGet, "/placements/team-a/web", "")
		if took := time.Since(began); got.Code != http.StatusOK || took > time.Second {
			t.Errorf("another user gets %d after %v", got.Code, took)
		}
		close(read)
		answers.Wait()
	})
}

// docs/spec/trust.md T22: a preview shows little of what was sent, and nothing to who may not ask for the preview.
func TestT22PreviewsRepeatLittle(t *testing.T) {
	const path, mark = "/placements/team-a/web/preview", "sent-by-the-user"
	send := func(pages *Server, size int) *httptest.ResponseRecorder {
		body := "# " + mark + " " + strings.Repeat("x", size)
		return as(t, pages, "jane", http.MethodPost, path, body, "Content-Type", "application/yaml")
	}
	hub := newTestHub(world()...)
	pages := newPages(hub)
	if got := send(pages, 100); !strings.Contains(got.Body.String(), mark) {
		t.Errorf("a small Placement is not shown again: %d %s", got.Code, got.Body)
	}
	if got := send(pages, maxEchoBytes); strings.Contains(got.Body.String(), mark) || got.Body.Len() > maxEchoBytes/2 {
		t.Errorf("a large Placement is shown again: %d with %d bytes", got.Code, got.Body.Len())
	}
	hub.err = &access.RefusalError{User: "jane", Lacks: []access.Asked{{
		Verb: "get", Resource: schema.GroupVersionResource{Resource: "placements"}, Namespace: "team-a", Name: "web",
	}}}
	if got := send(pages, 100); got.Code != http.StatusForbidden || strings.Contains(got.Body.String(), mark) {
		t.Errorf("to who may not ask, the Placement is shown again: %d %s", got.Code, got.Body)
	}
	// The hub says what is wrong with a Placement before it reviews rights.
	hub.err = &endpoint.AnswerError{Err: errors.New("apiVersion: is required")}
	hub.Client = interceptor.NewClient(hub.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "placements"}, "web", errors.New("refused"))
		},
	})
	if got := send(pages, 100); got.Code != http.StatusForbidden || strings.Contains(got.Body.String(), mark) {
		t.Errorf("to who may not read, the Placement is shown again: %d %s", got.Code, got.Body)
	}
}

// docs/spec/trust.md T21: a newcomer gets the place of a stream of the tenant who has most. That stream says so when it ends, and the next of the
// tenant is refused.
func TestT21StreamsLoseTheirPlacesToNewcomers(t *testing.T) {
	const total = 3
	pages := newPages(newTestHub(world()...))
	pages.streams = turns.NewPlaces(total)
	server := httptest.NewServer(pages)
	t.Cleanup(server.Close)
	var last <-chan event
	for n := range total {
		events, code := eventsOf(t, server, fmt.Sprintf("system:serviceaccount:attacker:%d", n), "page=%2Fclusters")
		if code != http.StatusOK {
			t.Fatalf("stream %d of the first tenant has the status %d", n, code)
		}
		last = events
	}
	if _, code := eventsOf(t, server, "system:serviceaccount:attacker:more", "page=%2Fclusters"); code != http.StatusServiceUnavailable {
		t.Errorf("one more stream of the first tenant has the status %d, want 503", code)
	}
	if _, code := eventsOf(t, server, "jane", "page=%2Fclusters"); code != http.StatusOK {
		t.Errorf("the stream of a newcomer has the status %d", code)
	}
	var ended event
	for each := range last { // It is closed when the stream ends.
		ended = each
	}
	if ended.name != "end" || !strings.Contains(ended.data, "503") || !strings.Contains(ended.data, "others need some") {
		t.Errorf("the stream that has lost its place ends with %v", ended)
	}
}

// docs/spec/trust.md T21: the stream of a page that shows nothing to a caller without rights ends, so that it takes no place.
func TestT21StreamsOfPagesThatShowNothingEnd(t *testing.T) {
	hub := newTestHub(world()...)
	hub.Client = interceptor.NewClient(hub.Client.(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("refused"))
		},
	})
	server := httptest.NewServer(newPages(hub))
	t.Cleanup(server.Close)
	for _, page := range []string{
		"/", "/placements", "/requests", "/workloads", "/objects", "/clusters", "/placements?namespace=team-a", "/requests?namespace=team-a",
		"/workloads?namespace=team-a", "/?namespace=team-a", "/objects?namespace=team-a",
	} {
		t.Run(page, func(t *testing.T) {
			events, code := eventsOf(t, server, "nobody", "page="+url.QueryEscape(page))
			if code != http.StatusOK {
				t.Fatalf("status %d", code)
			}
			select {
			case first := <-events:
				if first.name != "end" {
					t.Errorf("the first event is %.100v, want the end", first)
				}
			case <-time.After(30 * time.Second):
				t.Error("the stream goes on")
			}
		})
	}
}
