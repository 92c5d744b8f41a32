// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/history"
)

// server is an API server that counts writes. It refuses them while err is set.
type server struct {
	client.Client

	writes int
	err    error
}

func newServer(objects ...client.Object) *server {
	s := &server{}
	count := func(do func() error) error {
		if s.err != nil {
			return s.err
		}
		s.writes++
		return do()
	}
	s.Client = interceptor.NewClient(fake.NewClientBuilder().WithObjects(objects...).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return count(func() error { return c.Create(ctx, object, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return count(func() error { return c.Update(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return count(func() error { return c.Delete(ctx, object, options...) })
		},
	})
	return s
}

// process is a process of the hub with the rows of its ring.
type process struct {
	*Archive

	own  []*history.Move
	stop func()
}

// lead starts a process that leads.
func lead(t *testing.T, s *server, own ...*history.Move) *process {
	t.Helper()
	p := &process{Archive: New(s, "hub", MaxBytes), own: own}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Run(ctx, func(stored []*history.Move) {
			all, missing := Merge(stored, p.own)
			p.own = all
			for _, move := range missing {
				if err := p.Archive.Add(move); err != nil {
					t.Error(err)
				}
			}
		})
	}()
	p.stop = func() {
		cancel()
		<-ended
	}
	synctest.Wait()
	return p
}

// happened adds a row.
func (p *process) happened(t *testing.T, move *history.Move) {
	t.Helper()
	p.own = append(p.own, move)
	if err := p.Add(move); err != nil {
		t.Error(err)
	}
}

// stored returns the rows that an API server has.
func stored(t *testing.T, s *server) []*history.Move {
	t.Helper()
	moves, err := New(s, "hub", MaxBytes).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return moves
}

func expect(t *testing.T, what string, got, want []*history.Move) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// HI12: rows of some seconds are one write, and a process that starts on them writes nothing.
func TestHI12RowsSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		p := lead(t, s)
		all := []*history.Move{row("a", 1, 2), row("b", 2, 3)}
		p.happened(t, all[0])
		<-time.After(3 * time.Second)
		p.happened(t, all[1])
		synctest.Wait()
		if s.writes != 0 {
			t.Errorf("%d writes before the time of a batch", s.writes)
		}
		<-time.After(3 * time.Second)
		expect(t, "after a batch", stored(t, s), all)
		if s.writes != 1 {
			t.Errorf("%d writes for a batch", s.writes)
		}

		last := row("a", 9, 1)
		p.happened(t, last)
		p.stop()
		expect(t, "after a clean end", stored(t, s), append(slices.Clone(all), last))

		s.writes = 0
		again := lead(t, s)
		<-time.After(24 * time.Hour)
		if s.writes != 0 {
			t.Errorf("%d writes of a process without a new row", s.writes)
		}
		again.stop()
		expect(t, "rows of the next process", again.own, append(slices.Clone(all), last))
	})
}

// HI14: a standby that takes over has what the leader has written, and writes what it alone has seen.
func TestHI14ANewLeaderGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		first := lead(t, s)
		first.happened(t, row("a", 1, 1))
		<-time.After(2 * period)
		first.stop()

		derived := row("a", 1, 1)
		derived.Derived = true
		next := lead(t, s, derived, row("a", 5, 1))
		<-time.After(2 * period)
		next.stop()
		expect(t, "rows", stored(t, s), []*history.Move{row("a", 1, 1), row("a", 5, 1)})
	})
}

// HI15: two processes that both write lose nothing and write no row twice.
func TestHI15TwoWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		one, two := lead(t, s), lead(t, s)
		one.happened(t, row("a", 1, 1))
		<-time.After(2 * period)
		two.happened(t, row("b", 2, 1))
		<-time.After(2 * period)
		one.happened(t, row("a", 3, 1))
		<-time.After(4 * period)
		one.stop()
		two.stop()
		expect(t, "rows", stored(t, s), []*history.Move{row("a", 1, 1), row("b", 2, 1), row("a", 3, 1)})
	})
}

// HI15: a write that fails is repeated, less and less often.
func TestHI15WritesThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		p := lead(t, s)
		s.err = errors.New("no room")
		p.happened(t, row("a", 1, 1))
		<-time.After(time.Hour)
		p.happened(t, row("a", 2, 1))
		s.err = nil
		<-time.After(2 * longestWait)
		p.stop()
		expect(t, "rows", stored(t, s), []*history.Move{row("a", 1, 1), row("a", 2, 1)})
	})
}

// HI13, HI15: what is not of the hub, of another version or no row is left alone; a shard of old rows goes.
func TestHI15ForeignAndOldConfigMaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(name string, label map[string]string, data ...string) *corev1.ConfigMap {
			found := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "hub", Name: name, Labels: label}, Data: map[string]string{}}
			for i := 0; i < len(data); i += 2 {
				found.Data[data[i]] = data[i+1]
			}
			return found
		}
		line := func(number int) string {
			of, err := encode(row("a", number, 1))
			if err != nil {
				t.Fatal(err)
			}
			return of.line + "\n"
		}
		ours := map[string]string{Label: LabelValue}
		later := row("a", 1, 1)
		later.Time = time.Now()
		young, err := encode(later)
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(
			of("placement-history-mine", ours, formatKey, format, rowsKey, line(1)),
			of("placement-vocabulary", nil, rowsKey, line(1)),
			of(nameOf(0), nil, formatKey, format, numberKey, "1", rowsKey, line(1)), // Somebody has taken the label away.
			of(nameOf(7), ours, formatKey, "2", rowsKey, "?"),
			of(nameOf(3), ours, formatKey, format, numberKey, "5", rowsKey, "no row\n{}\n"+young.line+"\n"),
		)
		expect(t, "rows", stored(t, s), []*history.Move{later})

		p := lead(t, s)
		another := row("b", 9, 1)
		another.Time = time.Now()
		p.happened(t, another)
		<-time.After(2 * period)
		list := &corev1.ConfigMapList{}
		names := func() (names []string) {
			if err := s.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			for i := range list.Items {
				names = append(names, strings.TrimPrefix(list.Items[i].Name, Prefix))
			}
			return names
		}
		// The row was appended to the latest one that is known.
		if got, want := names(), []string{"00", "03", "07", "mine", "placement-vocabulary"}; !slices.Equal(got, want) {
			t.Errorf("ConfigMaps: %v, want %v", got, want)
		}
		<-time.After(MaxAge + 2*agePeriod)
		if got, want := names(), []string{"00", "07", "mine", "placement-vocabulary"}; !slices.Equal(got, want) {
			t.Errorf("ConfigMaps after %s: %v, want %v", MaxAge, got, want)
		}
		last := row("b", 10, 1)
		last.Time = time.Now()
		p.happened(t, last)
		p.stop()
		<-time.After(time.Minute)
		again := lead(t, s, last)
		<-time.After(4 * period)
		again.stop()
		expect(t, "rows beside a ConfigMap that has lost its label", stored(t, s), []*history.Move{last})
	})
}
