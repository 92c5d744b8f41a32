// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/history"
)

const (
	// Label is on the ConfigMaps.
	Label = "placement-hub.open-cluster-management.io/history"
	// LabelValue is its value.
	LabelValue = "rows"
	// Prefix begins the names of the ConfigMaps.
	Prefix = "placement-history-"

	// MaxAge is how old rows become.
	MaxAge = 30 * 24 * time.Hour
	// MaxBytes is how much memory an Archive takes at most. The ConfigMaps take twice as much.
	MaxBytes = 4 << 20

	// formatKey has the format, and numberKey the place of a ConfigMap in their order.
	formatKey = "format"
	format    = "1"
	numberKey = "number"
	rowsKey   = "rows"

	// pageSize is how many ConfigMaps a request reads.
	pageSize = 8
	// period is the time between writes, and agePeriod that between looks for old shards.
	period    = 5 * time.Second
	agePeriod = time.Hour
	// timeout bounds the reads and writes of one round, and lastTimeout those of a process that ends.
	timeout     = 30 * time.Second
	lastTimeout = 2 * time.Second
	// longestWait is the longest time between attempts that fail.
	longestWait = 5 * time.Minute
)

// Archive keeps rows in ConfigMaps. It is safe for concurrent use.
type Archive struct {
	client    client.Client
	namespace string
	memory    int
	added     chan struct{}

	mu  sync.Mutex
	log *log
	// refused are names that a ConfigMap without the label has.
	refused map[string]bool
}

// New returns an Archive in a namespace that takes at most a number of bytes of memory. The client reads the API server itself.
func New(live client.Client, namespace string, memory int) *Archive {
	return &Archive{
		client: live, namespace: namespace, memory: memory, added: make(chan struct{}, 1), log: newLog(memory),
		refused: map[string]bool{},
	}
}

// Add has a row written by Run. A row that is too large is not.
func (a *Archive) Add(move *history.Move) error {
	of, err := encode(move)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.log.add(of) {
		return fmt.Errorf("the row of %s/%s with %d clusters takes %d bytes, and the most is %d",
			move.Namespace, move.Name, len(move.Gained)+len(move.Lost), len(of.line), min(mostRow, a.memory))
	}
	select {
	case a.added <- struct{}{}:
	default:
	}
	return nil
}

// Load reads all rows, in the order of their times.
func (a *Archive) Load(ctx context.Context) ([]*history.Move, error) {
	_, moves, err := a.read(ctx)
	return moves, err
}

// read reads all shards and returns their rows.
func (a *Archive) read(ctx context.Context) (*log, []*history.Move, error) {
	read, rows := newLog(a.memory), &rows{known: map[identity]bool{}}
	list := &corev1.ConfigMapList{}
	for {
		err := a.client.List(ctx, list, client.InNamespace(a.namespace), client.MatchingLabels{Label: LabelValue}, client.Limit(pageSize),
			client.Continue(list.Continue))
		if err != nil {
			return nil, nil, fmt.Errorf("listing the ConfigMaps of the history: %w", err)
		}
		for i := range list.Items {
			found := &list.Items[i]
			read.taken[found.Name] = true
			number, err := strconv.Atoi(found.Data[numberKey])
			if found.Data[formatKey] != format || err != nil || number <= 0 || read.shards[number] != nil {
				klog.FromContext(ctx).Info(
					"A ConfigMap of the history is not of this version and is left alone; delete it if no other version of the hub runs",
					"configMap", klog.KObj(found), "format", found.Data[formatKey])
				continue
			}
			read.put(number, found.Name, found.ResourceVersion, rows.decode(ctx, found))
		}
		if list.Continue == "" {
			break
		}
	}

	rows.sort()
	for _, of := range rows.entries {
		if !read.keep(of) {
			of.line = ""
		}
	}
	return read, rows.moves, nil
}

// Run writes rows until ctx ends. It begins with reading what there is, and does so again after a write that failed, because another process may have
// written. Loaded is called with the rows that were read, and adds those that are missing: rows that were to be written are forgotten.
func (a *Archive) Run(ctx context.Context, loaded func([]*history.Move)) {
	wait, known, soon := time.Duration(0), false, true
	for timer := time.NewTimer(0); ; {
		select {
		case <-ctx.Done():
			a.last(ctx, known)
			return
		case <-a.added:
			if !soon {
				soon = true
				timer.Reset(period)
			}
			continue
		case <-timer.C:
		}
		err := a.round(ctx, known, loaded)
		known, soon = err == nil, err != nil
		if err != nil && ctx.Err() == nil {
			wait = min(max(2*wait, period), longestWait)
			if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
				klog.FromContext(ctx).Info("Another process writes the ConfigMaps of the history, which are read again", "after", wait.String())
			} else {
				klog.FromContext(ctx).Error(err, "The history was not written to ConfigMaps, and is written later", "after", wait.String())
			}
			timer.Reset(wait)
			continue
		}
		wait = 0
		timer.Reset(agePeriod)
	}
}

// last writes what is left before the process ends.
func (a *Archive) last(ctx context.Context, known bool) {
	if !known {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTimeout)
	defer cancel()
	if err := a.write(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "The last rows of the history were not written to ConfigMaps")
	}
}

// round reads the shards unless they are known, and writes.
func (a *Archive) round(ctx context.Context, known bool, loaded func([]*history.Move)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if !known {
		read, moves, err := a.read(ctx)
		if err != nil {
			return err
		}
		a.mu.Lock()
		maps.Copy(read.taken, a.refused)
		a.log = read
		a.mu.Unlock()
		loaded(moves)
	}
	if err := a.write(ctx); err != nil {
		return err
	}
	return a.deleteOld(ctx)
}

// write writes what is to be written.
func (a *Archive) write(ctx context.Context) error {
	for {
		a.mu.Lock()
		next, some := a.log.next()
		var found *corev1.ConfigMap
		if some {
			found = a.configMap(next)
		}
		a.mu.Unlock()
		if !some {
			return nil
		}
		if err := a.put(ctx, next, found); err != nil {
			return err
		}
	}
}

// configMap returns the ConfigMap that is written; mu must be held.
func (a *Archive) configMap(of write) *corev1.ConfigMap {
	var lines strings.Builder
	for _, each := range of.entries {
		lines.WriteString(each.line)
		lines.WriteByte('\n')
	}
	found := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: of.name, Labels: map[string]string{Label: LabelValue}},
		Data:       map[string]string{formatKey: format, numberKey: strconv.Itoa(of.number), rowsKey: lines.String()},
	}
	if !of.created {
		found.ResourceVersion = a.log.shards[of.number].resourceVersion
	}
	return found
}

// put writes a ConfigMap, and deletes the one that it takes the place of.
func (a *Archive) put(ctx context.Context, of write, found *corev1.ConfigMap) error {
	var err error
	if of.created {
		err = a.client.Create(ctx, found)
	} else {
		err = a.client.Update(ctx, found)
	}
	if apierrors.IsAlreadyExists(err) {
		a.refused[found.Name] = true
	}
	if err != nil {
		return fmt.Errorf("writing the ConfigMap %s: %w", found.Name, err)
	}
	a.mu.Lock()
	a.log.done(of, found.ResourceVersion)
	a.mu.Unlock()
	if of.goes == 0 {
		return nil
	}
	return a.delete(ctx, of.goes)
}

// delete deletes a shard.
func (a *Archive) delete(ctx context.Context, number int) error {
	a.mu.Lock()
	found := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.namespace, Name: a.log.shards[number].name}}
	a.mu.Unlock()
	if err := a.client.Delete(ctx, found); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting the ConfigMap %s: %w", found.Name, err)
	}
	a.mu.Lock()
	a.log.gone(number)
	a.mu.Unlock()
	return nil
}

// deleteOld deletes the shards all of whose rows are too old.
func (a *Archive) deleteOld(ctx context.Context) error {
	a.mu.Lock()
	old := a.log.old(time.Now().Add(-MaxAge))
	a.mu.Unlock()
	errs := make([]error, 0, len(old))
	for _, number := range old {
		errs = append(errs, a.delete(ctx, number))
	}
	return errors.Join(errs...)
}

// rows are those of shards that are read.
type rows struct {
	moves   []*history.Move
	entries []*entry
	known   map[identity]bool
}

// decode returns the entries of a shard. A row that another shard has too is left out, and so is a line that is none.
func (r *rows) decode(ctx context.Context, found *corev1.ConfigMap) []*entry {
	var entries []*entry
	for line := range strings.Lines(found.Data[rowsKey]) {
		line = strings.TrimSuffix(line, "\n")
		move, err := decode(line)
		if err != nil {
			klog.FromContext(ctx).Error(err, "A line of the history cannot be read and is left out", "configMap", klog.KObj(found))
			continue
		}
		of := newEntry(move, strings.Clone(line))
		if r.known[of.identity] {
			continue
		}
		r.known[of.identity] = true
		r.moves, r.entries, entries = append(r.moves, move), append(r.entries, of), append(entries, of)
	}
	return entries
}

// sort sorts by time.
func (r *rows) sort() {
	slices.SortStableFunc(r.moves, byTime)
	slices.SortStableFunc(r.entries, func(a, b *entry) int { return a.time.Compare(b.time) })
}

func byTime(a, b *history.Move) int { return a.Time.Compare(b.Time) }

// decode returns the row of a line.
func decode(line string) (*history.Move, error) {
	move := &history.Move{}
	if err := json.Unmarshal([]byte(line), move); err != nil {
		return nil, fmt.Errorf("decoding a row of the history: %w", err)
	}
	if move.Namespace == "" || move.Kind == "" || move.Name == "" || move.Time.IsZero() {
		return nil, errors.New("decoding a row of the history: it lacks time, namespace, kind or name")
	}
	slices.Sort(move.Gained)
	slices.Sort(move.Lost)
	return move, nil
}
