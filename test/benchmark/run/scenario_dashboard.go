// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

const (
	dashboardName = "dashboard"
	// pagesOpen is the number of pages that are open at a time, and pagesWatched how long they are.
	pagesOpen    = 100
	pagesWatched = 10 * time.Second
	// changesPerSecond is the rate of the changes that the open pages follow.
	changesPerSecond = 10
	pagesRead        = 10
	// pagesOfReader is the number of open pages of one user.
	pagesOfReader = 20
	// changesSeen is the number of changes for which a page is awaited, and longestSeen how long.
	changesSeen = 10
	longestSeen = 10 * time.Second
)

var dashboardAddress = regexp.MustCompile(`"Serving the dashboard over HTTPS" address="([^"]+)"`)

// reader is an administrator who reads pages.
type reader struct {
	client *http.Client
	url    string
	token  string
}

// get gets a page as browsers do, and returns its bytes on the wire. opened handles the body; nil reads all of it.
func (r *reader) get(ctx context.Context, path string, opened func(io.Reader) error) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+path, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", path, err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := r.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", path, err)
	}
	defer func() { _ = response.Body.Close() }() // Everything was read, or the stream ends.
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("reading %s: %w", path, &refusedError{response.StatusCode})
	}
	if opened != nil {
		return 0, opened(response.Body)
	}
	var bytes counter
	text, err := gzip.NewReader(io.TeeReader(response.Body, &bytes))
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", path, err)
	}
	if _, err := io.Copy(io.Discard, text); err != nil {
		return 0, fmt.Errorf("reading %s: %w", path, err)
	}
	return int(bytes), nil
}

// counter counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// dashboard measures pages: how long one takes, and what open ones cost, at rest and with changes.
func (s *stage) dashboard(ctx context.Context) error {
	if err := s.retire(); err != nil {
		return err
	}
	var err error
	if s.hub, err = startHub(ctx, s.programs.hub, s.directory, s.kubeconfig, "placement", "--dashboard-listen=127.0.0.1:0"); err != nil {
		return err
	}
	if err := s.hub.awaitReady(ctx); err != nil {
		return fmt.Errorf("waiting until the hub is ready: %w", err)
	}
	if _, err := s.settle(ctx, s.hub.process); err != nil {
		return err
	}
	readers := make([]*reader, 0, pagesOpen/pagesOfReader)
	for i := range pagesOpen / pagesOfReader {
		by, err := s.reader(ctx, "dashboard-reader-"+strconv.Itoa(i))
		if err != nil {
			return err
		}
		readers = append(readers, by)
	}
	path := s.pagePath(0)
	for name, page := range map[string]string{
		"page": path + "?rows=200", "all-rows": path + "?rows=all", "picture": path + "/fleet", "overview": "/",
	} {
		if err := s.readPages(ctx, readers[0], name, page); err != nil {
			return err
		}
	}
	if err := s.openPages(ctx, readers); err != nil {
		return err
	}
	if err := s.greed(ctx, readers[0]); err != nil {
		return err
	}
	if err := s.retire(); err != nil {
		return err
	}
	_, err = s.startAgain(ctx, dashboardName, &start{}) // The next scenario needs a hub.
	return err
}

// reader returns an administrator of the stage, whose ServiceAccount has a namespace of its own: limits count tenants.
func (s *stage) reader(ctx context.Context, name string) (*reader, error) {
	err := s.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil {
		return nil, fmt.Errorf("making the namespace of %s: %w", name, err)
	}
	err = s.api.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name}})
	if err != nil {
		return nil, fmt.Errorf("making %s: %w", name, err)
	}
	account, err := s.environment.ServiceAccountConfig(ctx, name, name)
	if err != nil {
		return nil, err
	}
	err = s.api.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: name, Name: name}},
	})
	if err != nil {
		return nil, fmt.Errorf("giving %s rights: %w", name, err)
	}
	found := dashboardAddress.FindStringSubmatch(s.hub.output.String())
	if found == nil {
		return nil, errors.New("the hub does not say where its dashboard is")
	}
	// Nobody signed the certificate of the hub.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true, MaxConnsPerHost: 0}
	return &reader{client: &http.Client{Transport: transport}, url: "https://" + found[1], token: account.BearerToken}, nil
}

// readPages notes how long a page takes, and its bytes.
func (s *stage) readPages(ctx context.Context, by *reader, name, path string) error {
	var took []time.Duration
	size := 0
	for range pagesRead {
		begin := time.Now()
		var err error
		if size, err = by.get(ctx, path, nil); err != nil {
			return err
		}
		took = append(took, time.Since(begin))
		if err := pause(ctx, max(politePause, 3*took[len(took)-1])); err != nil { // Users who ask again at once have to wait.
			return err
		}
	}
	s.run.AddTime(dashboardName, name+"-p50", report.Percentile(took, 50))
	s.run.Add(dashboardName, name+"-bytes", report.Bytes, float64(size))
	s.logf("%s: %s takes %v, %d bytes", dashboardName, name, report.Percentile(took, 50), size)
	return nil
}

// openPage is a page that is followed.
type openPage struct {
	path string
	// parts counts what was received by all pages, and seen receives the times of this one's; nil for no interest.
	parts *atomic.Int64
	seen  chan time.Time
}

// follow reads the event stream of a page until ctx ends.
func (p openPage) follow(ctx context.Context, by *reader) error {
	_, err := by.get(ctx, "/events?"+url.Values{"page": {p.path}}.Encode(), func(body io.Reader) error {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if !strings.HasPrefix(lines.Text(), "data: ") {
				continue
			}
			p.parts.Add(1)
			select {
			case p.seen <- time.Now():
			default: // Nobody waits for it.
			}
		}
		return lines.Err()
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // The page was closed.
	}
	return err
}

// openPages opens the pages of many Placements, and measures what they cost and how soon they show a change.
func (s *stage) openPages(ctx context.Context, readers []*reader) error {
	closed, err := s.hub.resetMemory()
	if err != nil {
		return err
	}
	open, closeAll := context.WithCancel(ctx)
	defer closeAll()
	pages, open := errgroup.WithContext(open)
	parts, seen := &atomic.Int64{}, make(chan time.Time, 1)
	for i := range pagesOpen {
		page := openPage{path: s.pagePath(i), parts: parts} // The first ones select by the label that changes.
		if i == 0 {
			page.seen = seen
		}
		pages.Go(func() error { return page.follow(open, readers[i%len(readers)]) })
	}
	if err := poll(open, 100*time.Millisecond, func() (bool, error) { return parts.Load() >= pagesOpen*4, s.hub.ended() }); err != nil {
		closeAll()
		return fmt.Errorf("opening %d pages: %w", pagesOpen, errors.Join(pages.Wait(), err)) // A page that ended has ended the others.
	}
	rest, err := s.costs(ctx, nil)
	if err != nil {
		return err
	}
	change := func(n int) error {
		return s.relabel(ctx, fleet.ClusterName(fleet.SteeredCluster), fleet.Concern, []string{"yes", ""}[n%2])
	}
	delays, err := s.awaitSeen(ctx, change, seen)
	if err != nil {
		return err
	}
	busy, err := s.costs(ctx, change)
	if err != nil {
		return err
	}
	if err := change(1); err != nil { // The scenario begins and ends without the label, however many changes there were.
		return err
	}
	peak, err := s.hub.memory()
	if err != nil {
		return err
	}
	closeAll()
	s.run.Add(dashboardName, "open-cpu-per-second", report.Seconds, rest)
	s.run.Add(dashboardName, "changing-cpu-per-second", report.Seconds, busy)
	s.run.Add(dashboardName, "open-memory", report.Bytes, float64(peak-closed))
	s.run.AddTime(dashboardName, "visible-p50", report.Percentile(delays, 50))
	s.logf("%s: %d open pages take %.3f of a CPU at rest, %.3f with %d changes a second, and %d MiB of the hub's %d; visible after %v",
		dashboardName, pagesOpen, rest, busy, changesPerSecond, (peak-closed)>>20, peak>>20, delays)
	return pages.Wait() //nolint:wrapcheck // What runs in the group names its errors.
}

// awaitSeen makes changes one after the other, and returns how long it took until a page showed each.
func (s *stage) awaitSeen(ctx context.Context, change func(n int) error, seen <-chan time.Time) ([]time.Duration, error) {
	delays := make([]time.Duration, 0, changesSeen)
	for n := range changesSeen {
		if err := pause(ctx, time.Second); err != nil { // The page has shown all of the change before.
			return nil, err
		}
		select {
		case <-seen:
		default: // It has.
		}
		begin := time.Now()
		if err := change(n); err != nil {
			return nil, err
		}
		select {
		case at := <-seen:
			delays = append(delays, at.Sub(begin))
		case <-time.After(longestSeen):
			return nil, fmt.Errorf("a page has not shown a change for %s", longestSeen)
		}
	}
	return delays, nil
}

// costs returns the part of a CPU that the hub takes while changes are made, or none.
func (s *stage) costs(ctx context.Context, change func(n int) error) (float64, error) {
	before, err := s.hub.cpu()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	tick := time.NewTicker(time.Second / changesPerSecond)
	defer tick.Stop()
	for n := 0; time.Since(begin) < pagesWatched; n++ {
		if change != nil {
			if err := change(n); err != nil {
				return 0, err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	after, err := s.hub.cpu()
	return (after - before).Seconds() / time.Since(begin).Seconds(), err
}
