// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

const (
	// greedyReaders is the number of users who read pages without a pause.
	greedyReaders = 100
	// politeReads is the number of pages of the user beside them, and politePause the time between two.
	politeReads = 100
	politePause = 250 * time.Millisecond
	// greedyBefore is how long the greedy readers read before the user beside them: they all come at once.
	greedyBefore = 10 * time.Second
)

// refusedError is about a page that the hub does not make now.
type refusedError struct{ code int }

func (e *refusedError) Error() string { return http.StatusText(e.code) }

// greed measures what users who read pages without a pause do to another user and to the decisions of the hub.
func (s *stage) greed(ctx context.Context, polite *reader) error {
	readers := make([]*reader, 0, greedyReaders)
	for i := range greedyReaders {
		by, err := s.reader(ctx, "greedy-reader-"+strconv.Itoa(i))
		if err != nil {
			return err
		}
		readers = append(readers, by)
	}
	for i, by := range readers { // Reviews of new tokens are bounded. These users have logged in before.
		if err := by.logIn(ctx, s.pagePath(i)); err != nil {
			return err
		}
	}
	alone, decidedAlone, err := s.politeRead(ctx, polite)
	if err != nil {
		return err
	}
	greedy, stop := context.WithCancel(ctx)
	defer stop()
	pages, greedy := errgroup.WithContext(greedy)
	for i, by := range readers {
		pages.Go(func() error { return by.readWithoutPause(greedy, s.pagePath(i)) })
	}
	if err := pause(ctx, greedyBefore); err != nil {
		return err
	}
	beside, decidedBeside, err := s.politeRead(ctx, polite)
	stop()
	if err := errors.Join(err, pages.Wait()); err != nil {
		return err
	}
	s.run.AddTime(dashboardName, "page-alone-p99", report.Percentile(alone, 99))
	s.run.AddTime(dashboardName, "page-beside-greedy-p99", report.Percentile(beside, 99))
	s.run.AddTime(dashboardName, "decisions-alone-p50", report.Percentile(decidedAlone, 50))
	s.run.AddTime(dashboardName, "decisions-beside-greedy-p50", report.Percentile(decidedBeside, 50))
	s.logf("%s: beside %d greedy readers a page takes p99 %v, p50 %v, alone %v, %v; the last decision after a change p50 %v, alone %v", dashboardName,
		greedyReaders, report.Percentile(beside, 99), report.Percentile(beside, 50), report.Percentile(alone, 99), report.Percentile(alone, 50),
		report.Percentile(decidedBeside, 50), report.Percentile(decidedAlone, 50))
	return nil
}

// pagePath is the path of the page of a placement, counted from 0.
func (s *stage) pagePath(i int) string {
	placement := s.size.Placement(i % s.size.Placements)
	return "/placements/" + placement.Namespace + "/" + placement.Name
}

// politeRead reads a page now and then, and returns how long each took. After that it changes a label, and returns how long the last decisions took.
func (s *stage) politeRead(ctx context.Context, by *reader) (pages, decided []time.Duration, err error) {
	for range politeReads {
		begin := time.Now()
		if _, err := by.get(ctx, s.pagePath(s.size.Placements/2), nil); err != nil {
			return nil, nil, err
		}
		pages = append(pages, time.Since(begin))
		if err := pause(ctx, max(politePause, 3*pages[len(pages)-1])); err != nil { // Users who ask again at once have to wait.
			return nil, nil, err
		}
	}
	l := &latencies{}
	_, err = s.toggles(ctx, l)
	return pages, l.last, err
}

// logIn reads a page until it is not refused.
func (r *reader) logIn(ctx context.Context, path string) error {
	return poll(ctx, politePause, func() (bool, error) {
		_, err := r.get(ctx, path, nil)
		if _, refused := errors.AsType[*refusedError](err); refused {
			return false, nil
		}
		return err == nil, err
	})
}

// readWithoutPause reads a page until ctx ends. A page that is refused is asked for again at once.
func (r *reader) readWithoutPause(ctx context.Context, path string) error {
	for ctx.Err() == nil {
		var refused *refusedError
		if _, err := r.get(ctx, path, nil); err != nil && ctx.Err() == nil && !errors.As(err, &refused) {
			return fmt.Errorf("a greedy reader: %w", err)
		}
	}
	return nil
}
