// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"
	"time"
)

// federated-selector F40: a change of the annotations of the Namespace, which may be a mistake of somebody else, counts for the removal budget of
// its objects; a change of the annotations of the object does not.
func TestANamespaceIsOutsideOfItsObjects(t *testing.T) {
	h := newHub()
	h.works = withWorks("eu1", "eu2", "us1")
	past, budget := Past{Target: h.evaluate(configMap(nil)).OwnTarget()}, Budget{Percent: 30, Hub: Limits{Percent: 30}}
	usa := `[{"key":"location","operator":"in","values":["usa"]}]`

	own := h.evaluate(configMap(map[string]string{SelectorAnnotation: usa})).
		withdrawal(WorkPlan{Lose: []string{"eu1", "eu2"}}, nil, budget, past, epoch)
	if own.Outside || own.Held != "" || len(own.Allowed) != 2 {
		t.Errorf("after a change of the object: got %+v", own)
	}
	own.OutOfScope = map[string]time.Time{"eu2": epoch}
	if own.Counts("eu1") || !own.Counts("eu2") {
		t.Error("after a change of the object the removals of clusters that are out of scope count, and no others")
	}
	h.namespace.Annotations = map[string]string{SelectorAnnotation: usa}

	others := h.evaluate(configMap(nil)).withdrawal(WorkPlan{Lose: []string{"eu1", "eu2"}}, nil, budget, past, epoch)
	if !others.Outside || others.Reason != ReasonRemovalHeld || len(others.Allowed) != 0 {
		t.Errorf("after a change of the Namespace: got %+v", others)
	}
}
