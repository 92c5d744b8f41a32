// SPDX-License-Identifier: Apache-2.0

package toy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"

	"github.com/placement-hub/placement-hub/conformance"
)

const (
	pageSize      = 100
	schedulerName = "toy"
	ownerLabel    = "toy.example.com/placement"
	askedAt       = "toy.example.com/asked"
)

// Producer writes the decisions that it is asked for. A cluster never changes its slice while it is selected, so that it is in one at every moment;
// an empty slice before others stays, so that the indices have no gap. It is a conformance.Driver and a conformance.Restarter.
type Producer struct {
	// Client writes the slices.
	Client versioned.Interface
	// Breaks is the rule that the producer breaks; empty for none.
	Breaks string

	mu      sync.Mutex // guards what is below
	wishes  map[types.NamespacedName][]conformance.ProfileRef
	asked   int // how often the same was asked for again
	stopped context.CancelFunc
	ended   chan struct{}
	work    chan struct{}
	failed  error
}

var (
	_ conformance.Driver    = (*Producer)(nil)
	_ conformance.Restarter = (*Producer)(nil)
)

// Start starts the producer, also after Kill, with the wishes from before.
func (p *Producer) Start(ctx context.Context) error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.mu.Lock()
	defer p.mu.Unlock()
	restarted := p.work != nil
	if p.wishes == nil {
		p.wishes = map[types.NamespacedName][]conformance.ProfileRef{}
	}
	p.stopped, p.ended, p.work = cancel, make(chan struct{}), make(chan struct{}, 1)
	p.work <- struct{}{}
	go p.run(running, p.work, p.ended, restarted)
	return nil
}

// Kill ends the producer before its next write.
func (p *Producer) Kill(context.Context) error {
	p.mu.Lock()
	stop, ended := p.stopped, p.ended
	p.mu.Unlock()
	stop()
	<-ended
	return nil
}

// Decide has the producer decide that a placement selects profiles.
func (p *Producer) Decide(_ context.Context, placement types.NamespacedName, profiles []conformance.ProfileRef) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, known := p.wishes[placement]; known && slices.Equal(before, profiles) {
		p.asked++
	}
	p.wishes[placement] = slices.Clone(profiles)
	return p.wake()
}

// Delete has the producer delete the slices of a placement.
func (p *Producer) Delete(_ context.Context, placement types.NamespacedName) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.wishes, placement)
	return p.wake()
}

// wake has the producer look at all wishes. It returns the error of an earlier look.
func (p *Producer) wake() error {
	select {
	case p.work <- struct{}{}:
	default:
	}
	return p.failed
}

func (p *Producer) run(ctx context.Context, work <-chan struct{}, ended chan<- struct{}, restarted bool) {
	defer close(ended)
	if restarted && p.Breaks == conformance.RuleRestart {
		p.note(ctx, p.deleteSlices(ctx, func(*inventory.PlacementDecision) bool { return true }))
	}
	for {
		select {
		case <-work:
			p.note(ctx, retry.OnError(retry.DefaultBackoff, wasOvertaken, func() error { return p.sync(ctx) }))
		case <-ctx.Done():
			return
		}
	}
}

// wasOvertaken is true if slices changed after they were listed: the API server may complete a request of the producer that was killed before.
func wasOvertaken(err error) bool {
	return apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}

// note keeps an error of a producer that was not killed.
func (p *Producer) note(ctx context.Context, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() == nil && err != nil {
		p.failed = err
	}
}

// sync writes what is asked for, and deletes the slices of other placements.
func (p *Producer) sync(ctx context.Context) error {
	p.mu.Lock()
	wishes, asked := maps.Clone(p.wishes), p.asked
	p.mu.Unlock()
	for placement, wish := range wishes {
		if err := p.syncPlacement(ctx, placement, wish, asked); err != nil {
			return err
		}
	}
	if p.Breaks == conformance.RuleDeletes {
		return nil
	}
	return p.deleteSlices(ctx, func(slice *inventory.PlacementDecision) bool {
		_, wished := wishes[p.placementOf(slice)]
		return !wished
	})
}

// placementOf returns the placement of a slice that is of the producer.
func (p *Producer) placementOf(slice *inventory.PlacementDecision) types.NamespacedName {
	namespace, name, _ := strings.Cut(slice.Labels[ownerLabel], "_")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// deleteSlices deletes slices of the producer.
func (p *Producer) deleteSlices(ctx context.Context, goes func(*inventory.PlacementDecision) bool) error {
	list, err := p.Client.ApisV1alpha1().PlacementDecisions(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list PlacementDecisions: %w", err)
	}
	for i := range list.Items {
		slice := &list.Items[i]
		own := slice.Labels[ownerLabel] != "" || p.Breaks == conformance.RuleForeign
		if !own || !goes(slice) {
			continue
		}
		err := p.Client.ApisV1alpha1().PlacementDecisions(slice.Namespace).Delete(ctx, slice.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete PlacementDecision %s/%s: %w", slice.Namespace, slice.Name, err)
		}
	}
	return nil
}

// syncPlacement writes the slices of one placement.
func (p *Producer) syncPlacement(ctx context.Context, placement types.NamespacedName, wish []conformance.ProfileRef, asked int) error {
	list, err := p.Client.ApisV1alpha1().PlacementDecisions(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		LabelSelector: ownerLabel + "=" + placement.Namespace + "_" + placement.Name,
	})
	if err != nil {
		return fmt.Errorf("list PlacementDecisions of %s: %w", placement, err)
	}
	existing := list.Items
	slices.SortFunc(existing, func(a, b inventory.PlacementDecision) int { return strings.Compare(a.Name, b.Name) })
	if p.Breaks == conformance.RuleFollows && len(wish) == 0 && len(existing) > 0 {
		return nil
	}

	pages := assign(existing, wish)
	if p.Breaks == conformance.RuleStays && len(existing) > 0 && p.differs(existing, p.slices(placement, pages, asked)) {
		ofThis := func(slice *inventory.PlacementDecision) bool { return p.placementOf(slice) == placement }
		if err := p.deleteSlices(ctx, ofThis); err != nil {
			return err
		}
		existing = nil
	}
	return p.write(ctx, existing, p.slices(placement, pages, asked))
}

func (p *Producer) differs(existing []inventory.PlacementDecision, wanted []*inventory.PlacementDecision) bool {
	for i := range wanted {
		if i >= len(existing) || !equality.Semantic.DeepEqual(existing[i].Decisions, wanted[i].Decisions) {
			return true
		}
	}
	return len(existing) != len(wanted)
}

// assign returns the profiles of each slice: those that it has and that are asked for, then others where there is room.
func assign(existing []inventory.PlacementDecision, wish []conformance.ProfileRef) [][]conformance.ProfileRef {
	open, byName := map[conformance.ProfileRef]bool{}, map[string]conformance.ProfileRef{}
	for _, profile := range wish {
		open[profile], byName[profile.Name] = true, profile
	}
	pages := slices.Repeat([][]conformance.ProfileRef{nil}, max(len(existing), 1))
	for i := range existing {
		for _, decision := range existing[i].Decisions {
			profile := conformance.ProfileRef{Namespace: decision.ClusterProfileRef.Namespace, Name: decision.ClusterProfileRef.Name}
			if profile.Namespace == "" { // The rule of namespaces is broken.
				profile = byName[profile.Name]
			}
			if open[profile] {
				pages[i] = append(pages[i], profile)
				delete(open, profile)
			}
		}
	}

	at := 0
	for _, profile := range wish {
		if !open[profile] {
			continue
		}
		for at < len(pages) && len(pages[at]) == pageSize {
			at++
		}
		if at == len(pages) {
			pages = append(pages, nil)
		}
		pages[at] = append(pages[at], profile)
	}
	for len(pages) > 1 && len(pages[len(pages)-1]) == 0 {
		pages = pages[:len(pages)-1]
	}
	return pages
}

// slices returns the slices of pages, with the rule broken that is to be.
func (p *Producer) slices(placement types.NamespacedName, pages [][]conformance.ProfileRef, asked int) []*inventory.PlacementDecision {
	wanted := make([]*inventory.PlacementDecision, 0, len(pages))
	for i, page := range pages {
		slice := &inventory.PlacementDecision{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: placement.Namespace, Name: placement.Name + "-" + strconv.Itoa(i),
				Labels: map[string]string{
					ownerLabel: placement.Namespace + "_" + placement.Name, inventory.DecisionKeyLabel: placement.Name,
					inventory.DecisionIndexLabel: strconv.Itoa(i),
				},
			},
			SchedulerName: schedulerName, Decisions: []inventory.ClusterDecision{},
		}
		for _, profile := range page {
			slice.Decisions = append(slice.Decisions, inventory.ClusterDecision{ClusterProfileRef: inventory.ClusterProfileReference{
				Namespace: profile.Namespace, Name: profile.Name,
			}})
		}
		p.breakSlice(slice, i, asked)
		wanted = append(wanted, slice)
	}
	return wanted
}

// breakSlice breaks a rule in the slice of an index.
func (p *Producer) breakSlice(slice *inventory.PlacementDecision, index, asked int) {
	p.breakDecisions(slice, index)
	switch p.Breaks {
	case conformance.RuleDecisionKey:
		if index > 0 {
			slice.Labels[inventory.DecisionKeyLabel] += "-" + strconv.Itoa(index)
		}
	case conformance.RuleDecisionIndex:
		slice.Labels[inventory.DecisionIndexLabel] = strconv.Itoa(index + 1)
	case conformance.RuleOneNamespace:
		if index > 0 {
			slice.Namespace = metav1.NamespaceDefault
		}
	case conformance.RuleSchedulerName:
		slice.SchedulerName = ""
	case conformance.RuleQuiet:
		slice.Annotations = map[string]string{askedAt: strconv.Itoa(asked)}
	}
}

// breakDecisions breaks a rule about the decisions of a slice.
func (p *Producer) breakDecisions(slice *inventory.PlacementDecision, index int) {
	n := len(slice.Decisions)
	switch p.Breaks {
	case conformance.RuleNamespace:
		for i := range slice.Decisions {
			slice.Decisions[i].ClusterProfileRef.Namespace = ""
		}
	case conformance.RuleReference:
		if index == 0 && n < pageSize {
			slice.Decisions = append(slice.Decisions, inventory.ClusterDecision{
				ClusterProfileRef: inventory.ClusterProfileReference{Namespace: slice.Namespace, Name: "gone"},
			})
		}
	case conformance.RuleNoDuplicate:
		if n > 0 && n < pageSize {
			slice.Decisions = append(slice.Decisions, slice.Decisions[0])
		}
	}
}

// write creates and updates slices that differ, and deletes those that are surplus. Any of them may be missing: a producer that was killed may have
// deleted the first one.
func (p *Producer) write(ctx context.Context, existing []inventory.PlacementDecision, wanted []*inventory.PlacementDecision) error {
	surplus := map[types.NamespacedName]*inventory.PlacementDecision{}
	for i := range existing {
		surplus[keyOf(&existing[i])] = &existing[i]
	}
	for _, slice := range wanted {
		before, exists := surplus[keyOf(slice)]
		delete(surplus, keyOf(slice))
		decisions := p.Client.ApisV1alpha1().PlacementDecisions(slice.Namespace)
		var err error
		if !exists {
			_, err = decisions.Create(ctx, slice, metav1.CreateOptions{})
		} else if !equality.Semantic.DeepEqual(before.Decisions, slice.Decisions) ||
			!equality.Semantic.DeepEqual(before.Labels, slice.Labels) || before.Annotations[askedAt] != slice.Annotations[askedAt] {
			slice.ResourceVersion = before.ResourceVersion
			_, err = decisions.Update(ctx, slice, metav1.UpdateOptions{})
		}
		if err != nil {
			return fmt.Errorf("write PlacementDecision %s/%s: %w", slice.Namespace, slice.Name, err)
		}
	}
	for _, slice := range slices.Backward(existing) {
		if surplus[keyOf(&slice)] == nil {
			continue
		}
		err := p.Client.ApisV1alpha1().PlacementDecisions(slice.Namespace).Delete(ctx, slice.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete PlacementDecision %s/%s: %w", slice.Namespace, slice.Name, err)
		}
	}
	return nil
}

func keyOf(slice *inventory.PlacementDecision) types.NamespacedName {
	return types.NamespacedName{Namespace: slice.Namespace, Name: slice.Name}
}
