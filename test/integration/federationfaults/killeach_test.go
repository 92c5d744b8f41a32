// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// isPassageWrite matches all writes of the controller: those of works, and of the finalizers of ConfigMaps. Events are no part of a passage.
var isPassageWrite = faults.Match{Verbs: isWrite.Verbs, Resources: []string{worksResource, "configmaps"}}

// passage is something that the hub does to one object, each time to another one.
type passage struct {
	reason string
	// before and after are the clusters of the object.
	before, after []string
	// begin begins the passage of an object that is delivered.
	begin func(ctx context.Context, w *world, name string)
	// agents gives the works the finalizers of agents, which keep works that are being deleted.
	agents bool
	// left are the clusters whose works agents keep until they have given up the copies.
	left []string
	// sent are writes that belong to the passage.
	sent []string
}

func named(w *world, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
}

// moveTo selects by another label, changes the content, or both.
func moveTo(label, content string) func(ctx context.Context, w *world, name string) {
	return func(ctx context.Context, w *world, name string) {
		GinkgoHelper()
		suite.Edit(ctx, named(w, name), func(cm *corev1.ConfigMap) {
			cm.Annotations[federation.SelectorAnnotation] = selecting(label, "yes")
			cm.Data["key"] = content
		})
	}
}

// keepHere selects no cluster by the text for it: a selector that matches none would withdraw nothing.
func keepHere(ctx context.Context, w *world, name string) {
	GinkgoHelper()
	suite.Edit(ctx, named(w, name), func(cm *corev1.ConfigMap) {
		cm.Annotations[federation.SelectorAnnotation] = federation.ControlPlaneOnly
	})
}

func remove(ctx context.Context, w *world, name string) {
	GinkgoHelper()
	Expect(suite.Client.Delete(ctx, named(w, name))).To(Succeed())
}

// orphan deletes an object whose copies stay.
func orphan(ctx context.Context, w *world, name string) {
	GinkgoHelper()
	suite.Edit(ctx, named(w, name), func(cm *corev1.ConfigMap) { cm.Annotations[federation.OrphanAnnotation] = "true" })
	remove(ctx, w, name)
}

var passages = []passage{
	{
		reason: "delivers an object", after: suite.Shorts(1, 4), begin: moveTo("from", "value"),
		sent: []string{"patch configmaps", "patch " + worksResource},
	},
	{
		reason: "changes the content", before: suite.Shorts(1, 4), after: suite.Shorts(1, 4), begin: moveTo("from", "other"),
		sent: []string{"patch " + worksResource},
	},
	{
		reason: "moves an object and changes its content", before: suite.Shorts(1, 4), after: suite.Shorts(3, 6), begin: moveTo("to", "other"),
		sent: []string{"patch " + worksResource, "delete " + worksResource},
	},
	{
		reason: "withdraws an object from all clusters", before: suite.Shorts(1, 4), begin: keepHere,
		sent: []string{"delete " + worksResource},
	},
	{
		reason: "deletes the copies of an object that is deleted", before: suite.Shorts(1, 4), begin: remove,
		sent: []string{"delete " + worksResource, "patch configmaps"},
	},
	{
		reason: "leaves the copies of an object that is deleted", before: suite.Shorts(1, 4), begin: orphan, agents: true,
		left: suite.Shorts(1, 4), sent: []string{"patch " + worksResource, "delete " + worksResource},
	},
}

// keepWorks does what agents do to the works of an object at first: they add their finalizer.
func (w *world) keepWorks(ctx context.Context, name string, shorts []string) {
	GinkgoHelper()
	for _, short := range shorts {
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: w.fleet.Name(short), Name: w.identity(name).WorkName()}}
		suite.Edit(ctx, work, func(work *workv1.ManifestWork) { work.Finalizers = []string{workv1.ManifestWorkFinalizer} })
		DeferCleanup(suite.DropFinalizers, work)
	}
}

// serve acts as the agents of works that keep their copies: it writes their status, and removes its finalizer from a deleted work. It reports
// whether there are none any more.
func (w *world) serve(ctx context.Context, g Gomega, name string, shorts []string) bool {
	gone := 0
	for _, short := range shorts {
		work := &workv1.ManifestWork{}
		err := suite.Client.Get(ctx, types.NamespacedName{Namespace: w.fleet.Name(short), Name: w.identity(name).WorkName()}, work)
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		switch {
		case err != nil:
			gone++
		case work.DeletionTimestamp != nil:
			g.Expect(work.Spec.DeleteOption).NotTo(BeNil())
			g.Expect(work.Spec.DeleteOption.PropagationPolicy).To(Equal(workv1.DeletePropagationPolicyTypeOrphan), "the copy in %s stays", short)
			work.Finalizers = nil
			g.Expect(suite.Client.Update(ctx, work)).To(Succeed())
		default:
			applied := metav1.Condition{
				Type: workv1.WorkApplied, Status: metav1.ConditionTrue, Reason: "AppliedManifestWorkComplete", ObservedGeneration: work.Generation,
			}
			if meta.SetStatusCondition(&work.Status.Conditions, applied) {
				g.Expect(client.IgnoreNotFound(suite.Client.Status().Update(ctx, work))).To(Succeed())
			}
		}
	}

	return gone == len(shorts)
}

// arrived reports whether an object is delivered to exactly these clusters with its present content, or is gone with its works.
func (w *world) arrived(ctx context.Context, g Gomega, name string, shorts []string) bool {
	object := named(w, name)
	err := suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
	g.Expect(client.IgnoreNotFound(err)).To(Succeed())
	found := w.list(ctx, g, name)
	if err != nil || len(found) != len(shorts) {
		return err != nil && len(found) == 0
	}
	hash := hashOf(g, object)

	for _, short := range shorts {
		work, delivered := found[short]
		if !delivered || work.DeletionTimestamp != nil || work.Annotations[federation.HashAnnotation] != hash {
			return false
		}
	}
	return object.DeletionTimestamp == nil
}

// kill has the hub carry out a passage of the world.
func (p *passage) kill(ctx context.Context, w *world) suite.Passage {
	var name string
	done := func(g Gomega) bool {
		return (len(p.left) == 0 || w.serve(ctx, g, name, p.left)) && w.arrived(ctx, g, name, p.after)
	}
	return suite.Passage{
		Writes: func() faults.Match {
			match := isPassageWrite
			match.Names = []string{name, w.identity(name).WorkName()}
			return match
		},
		Prepare: func(n int) {
			name = fmt.Sprintf("p%d-%d", len(p.reason), n)
			label := "from"
			if len(p.before) == 0 {
				label = "none"
			}
			w.configMap(ctx, name, selecting(label, "yes"))
			w.expectDelivered(ctx, name, p.before...)
			if p.agents {
				w.keepWorks(ctx, name, p.before)
			}
		},
		Begin:  func() { p.begin(ctx, w, name) },
		Done:   done,
		Killed: func() { w.expectOrder(ctx) },
		Complete: func() {
			Eventually(done).WithContext(ctx).WithTimeout(2*suite.Timeout).Should(BeTrue(), p.reason)
			w.expectOrder(ctx)
		},
	}
}

var _ = Describe("A hub that is killed before each of its writes", Ordered, ContinueOnFailure, func() {
	// A hub carries all passages out side by side, and is killed when each of them has come to its nth write.
	var refused [][]string
	underTest.Behind()

	BeforeAll(func(ctx SpecContext) {
		var all []suite.Passage
		shared := newWorld(ctx)
		shared.members(ctx, "set", 1, 6, always("aboard"))
		shared.relabel(ctx, "from", "yes", suite.Shorts(1, 4)...)
		shared.relabel(ctx, "to", "yes", suite.Shorts(3, 6)...)
		shared.record(ctx)
		for i := range passages {
			all = append(all, passages[i].kill(ctx, shared.another(ctx)))
		}
		refused = suite.KillEach(ctx, underTest.Proxy, underTest.Start, all...)
	})

	for i, p := range passages {
		It("federated-selector F35: "+p.reason+", and no work of a cluster that stays is deleted or made again", func() {
			Expect(refused[i]).To(ContainElements(p.sent))
		})
	}
})
