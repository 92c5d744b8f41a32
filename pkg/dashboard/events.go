// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/slowclients"
)

const (
	// updateInterval is the least time between two updates of a page, and refreshInterval the time after which a page is made again without a change
	// that was noticed: objects that no watch follows, and rights, change too.
	updateInterval  = 500 * time.Millisecond
	refreshInterval = 15 * time.Second
	// streamPace is how many times as long as making its page does the turn of a stream lasts, so that all streams together take that part of a
	// core, and at most half of one where pages take longer than burst. A page whose Placement has changed does not wait for that until they
	// have taken burst more.
	streamPace = 3
	burst      = 500 * time.Millisecond
	// retryMilliseconds is how long a browser waits before it connects again.
	retryMilliseconds = 1000
)

// collected is the response of a page for the event stream.
type collected struct {
	header http.Header
	made   *page
	err    error
}

var (
	_ http.ResponseWriter = (*collected)(nil)
	_ collector           = (*collected)(nil)
)

func (c *collected) Header() http.Header            { return c.header }
func (c *collected) Write(text []byte) (int, error) { return len(text), nil }
func (c *collected) WriteHeader(int)                {}
func (c *collected) collect(made *page, err error)  { c.made, c.err = made, err }

// update is a part of a page that has changed.
type update struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
	HTML string `json:"html"`
}

// events serves the parts of a page that change, until the browser leaves, or the caller may no longer see the page.
func (s *Server) events(w http.ResponseWriter, request *http.Request) {
	shown, err := url.Parse(request.URL.Query().Get("page"))
	if err != nil || shown.IsAbs() || shown.Host != "" || !strings.HasPrefix(shown.Path, "/") {
		http.Error(w, "page: name a page of this server, such as /placements/team-a/web", http.StatusBadRequest)
		return
	}
	caller, err := s.gate.Caller(request)
	if err != nil {
		told := callerProblem(err)
		if told.code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", retryAfter)
		}
		http.Error(w, told.text, told.code)
		return
	}
	lane := s.followers
	if mayTakeLong(shown) {
		lane = s.searchers
	}
	tenant := turns.TenantOf(caller)
	turn, joined := lane.turns.Join(tenant)
	if !joined {
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, fmt.Sprintf("you have %d open pages that follow changes; close some", maxStreamsOfUser), http.StatusTooManyRequests)
		return
	}
	defer lane.turns.Leave(tenant)
	inside, leave, entered := s.streams.Enter(request.Context(), tenant)
	defer leave()
	if !entered {
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "too many pages are open; this one does not follow changes, so reload it", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	stream := &stream{writer: w, control: http.NewResponseController(w), inFlight: s.inFlight, lane: lane, turn: turn, tenant: tenant}
	stream.hashes = hashesIn(request.URL.Query().Get("have"))
	// The time to read a request, which a server bounds, is over; the stream goes on.
	if err := stream.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	if err := stream.send("retry: %d\n\n", retryMilliseconds); err != nil {
		return
	}
	s.followInside(inside, request, shown, stream)
}

// followInside follows changes until the browser leaves, or the stream has lost its place.
func (s *Server) followInside(inside context.Context, request *http.Request, shown *url.URL, into *stream) {
	err := s.follow(request.WithContext(inside), shown, into)
	if errors.Is(context.Cause(inside), turns.ErrPlaceTaken) && request.Context().Err() == nil {
		told := problem{code: http.StatusServiceUnavailable, text: "you have most of the pages that follow changes, and others need some; reload it"}
		err = errors.Join(err, into.end(&told))
	}
	if err != nil && request.Context().Err() == nil {
		klog.FromContext(inside).V(4).Info("A page follows no more changes", "page", shown.Path, "err", err)
	}
}

// follow sends the parts of a page that change.
func (s *Server) follow(request *http.Request, shown *url.URL, into *stream) error {
	ctx := request.Context()
	changes := s.hub.Changes(ctx)
	refresh := time.NewTicker(refreshInterval)
	defer refresh.Stop()
	var last *state
	for changed := true; ; {
		if changed || !s.holds(request, last) {
			made, parts, err := s.collect(request, shown, into, last)
			if err != nil {
				told := problemOf(ctx, err)
				switch told.code {
				case http.StatusTooManyRequests, http.StatusServiceUnavailable: // The next round is another try.
				default:
					return errors.Join(err, into.refuse(ctx, told, last == nil))
				}
			} else if err := into.sendChanged(ctx, parts); err != nil {
				return err
			}
			if changed = made == nil; made != nil {
				last = made
			}
		}
		if err := pause(ctx, updateInterval); err != nil {
			return err
		}
		select {
		case <-changes:
			changed = true
			if err := pause(ctx, last.settling()); err != nil {
				return err
			}
		case <-refresh.C:
			if err := into.send(": still here\n\n"); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// state says of when a page is that was made for a stream. It does not keep the page, which takes megabytes for a large fleet.
type state struct {
	placement inventory.Key
	watched   bool
	until     time.Time
	version   uint64
	// own is the number of Hub.VersionOf of its Placement.
	own     uint64
	settle  time.Duration
	reviews *access.Trail
}

// settling returns how long the page waits for the end of changes; 0 for a page that was never made.
func (s *state) settling() time.Duration {
	if s == nil {
		return 0
	}
	return s.settle
}

// isUrgent reports whether the Placement of a page has changed since.
func (s *Server) isUrgent(last *state) bool {
	return last != nil && last.placement != inventory.Key{} && s.hub.VersionOf(last.placement) != last.own
}

// holds reports whether a page would be the same if it were made again: no object has changed, it is not the time for a change, and the caller has
// the same rights.
func (s *Server) holds(request *http.Request, last *state) bool {
	if last.version == 0 || last.version != s.hub.Version() || !last.watched || !last.until.IsZero() && !s.now().Before(last.until) {
		return false
	}
	if _, err := s.gate.Caller(request); err != nil {
		return false // Making the page says why.
	}
	return s.hub.Holds(request.Context(), last.reviews)
}

// collect makes a page as a request for it does, when it is the turn of the stream: the users with open pages come one after the other. A page whose
// Placement has changed goes first. last is the page as it was made before; nil for the first time.
func (s *Server) collect(request *http.Request, shown *url.URL, into *stream, last *state) (*state, []renderedPart, error) {
	ctx := request.Context()
	done := into.lane.turns.TakeUrgent(ctx, into.turn, func() bool { return s.isUrgent(last) })
	if done == nil {
		return nil, nil, ctx.Err()
	}
	urgent, began := s.isUrgent(last), time.Now()
	defer func() { time.AfterFunc(into.lane.spent.add(began, time.Now(), urgent), done) }()

	made := &state{version: s.hub.Version()}
	if last != nil {
		made.own = s.hub.VersionOf(last.placement)
	}
	ctx, made.reviews = access.WithTrail(ctx)
	asked := request.Clone(ctx)
	asked.URL, asked.RequestURI = shown, ""
	response := &collected{header: http.Header{}}
	s.pages.ServeHTTP(response, asked)
	page := response.made
	switch {
	case response.err != nil:
		return nil, nil, response.err
	case page == nil || page.Static:
		return nil, nil, refuse(http.StatusNotFound, "there is no page %s that follows changes", shown.Path)
	}
	made.placement, made.watched, made.until, made.settle = page.Placement, page.Watched, page.Until, page.Settle
	if last == nil {
		made.own = s.hub.VersionOf(made.placement)
	}
	parts, err := renderParts(page)
	if err != nil {
		return nil, nil, err
	}
	return made, parts, nil
}

// followers are event streams of which one makes its page at a time, and spent is that one's.
type followers struct {
	turns *turns.Turns
	spent spending
}

func newFollowers() *followers { return &followers{turns: turns.New(1, maxStreamsOfUser)} }

// spending is the time that streams have taken and not yet waited for. It is for the stream whose turn it is.
type spending struct {
	owed time.Duration
	at   time.Time
}

// add notes that a page was made in some time, and returns how long the next one has to wait: no longer than burst, or than the page took if that was
// longer, so that a user with slow pages does not keep the streams of others for many times as long.
func (s *spending) add(began, ended time.Time, urgent bool) time.Duration {
	took := ended.Sub(began)
	s.owed, s.at = min(max(0, s.owed-ended.Sub(s.at)/streamPace)+took, 2*burst), ended
	wait := max(0, s.owed-burst) * streamPace
	if !urgent { // It pays for what those that were urgent have taken, and does not keep the next of them for long.
		wait = max(wait, min(s.owed, 2*took)*streamPace-took)
	}
	return min(max(0, wait), max(took, burst))
}

// stream is an event stream to a browser.
type stream struct {
	writer  http.ResponseWriter
	control *http.ResponseController
	// inFlight is that of the Server.
	inFlight *turns.Bytes
	// hashes are those of the parts that the browser has, by their IDs.
	hashes map[string]string
	// turn is that of the tenant among the streams of the lane.
	lane   *followers
	turn   *turns.Turn
	tenant turns.Tenant
}

// send sends an event or a comment.
func (s *stream) send(format string, arguments ...any) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(pageTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("sending an event: %w", err)
	}
	if _, err := fmt.Fprintf(s.writer, format, arguments...); err != nil {
		return fmt.Errorf("sending an event: %w", err)
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("sending an event: %w", err)
	}
	// Over HTTP/2 a deadline that passes ends the stream, also while nothing is being sent.
	if err := s.control.SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("sending an event: %w", err)
	}
	return nil
}

// sendChanged sends the parts of a page that differ from what the browser has.
func (s *stream) sendChanged(ctx context.Context, parts []renderedPart) error {
	size := int64(0)
	parts = slices.DeleteFunc(parts, func(part renderedPart) bool { return s.hashes[part.ID] == part.Hash })
	for _, part := range parts {
		size += int64(len(part.HTML))
	}
	if size == 0 {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	release, err := s.inFlight.Acquire(waiting, s.tenant, size, nil)
	if err != nil {
		return fmt.Errorf("sending a part of a page: %w", err)
	}
	defer release()

	for _, part := range parts {
		text, err := json.Marshal(update{ID: part.ID, Hash: part.Hash, HTML: string(part.HTML)})
		if err != nil {
			return fmt.Errorf("encoding a part of a page: %w", err)
		}
		if err := s.send("event: part\ndata: %s\n\n", text); err != nil {
			return err
		}
		s.hashes[part.ID] = part.Hash
	}
	return nil
}

// refuse ends the stream of a page. Who has seen nothing of it may not see it, and would try again at once.
func (s *stream) refuse(ctx context.Context, told *problem, unseen bool) error {
	if unseen {
		slowclients.Delay(ctx)
	}
	return s.end(told)
}

// end sends the reason why the stream ends.
func (s *stream) end(told *problem) error {
	text, err := json.Marshal(map[string]any{"code": told.code, "problem": told.text})
	if err != nil {
		return fmt.Errorf("encoding a problem: %w", err)
	}
	return s.send("event: end\ndata: %s\n\n", text)
}

// hashOf returns the hash of a part of a page.
func hashOf(html []byte) string {
	sum := sha256.Sum256(html)
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// hashesIn parses the hashes of the parts that a browser has, "ID.HASH" separated by commas.
func hashesIn(have string) map[string]string {
	hashes := map[string]string{}
	for each := range strings.SplitSeq(have, ",") {
		if id, hash, valid := strings.Cut(each, "."); valid {
			hashes[id] = hash
		}
	}
	return hashes
}
