// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"runtime"
	"testing"
)

// size returns the number of cached programs.
func (c *Compiler) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.programs)
}

// TestProgramsAreCollectedWithTheirSelectors checks that a program is cached while a Selector refers to it, and compiled again after that.
func TestProgramsAreCollectedWithTheirSelectors(t *testing.T) {
	const expressions = 100
	compiler := NewCompiler()
	kept := make([]*Selector, 0, expressions)
	for n := range expressions {
		s, errs := compiler.Compile(paths(), Spec{CEL: []string{fmt.Sprintf("managedCluster.metadata.name == 'c%d'", n)}})
		if err := errs.ToAggregate(); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, s)
	}

	runtime.GC()
	if got := compiler.size(); got != expressions {
		t.Errorf("%d programs are known, want the %d in use", got, expressions)
	}
	first := kept[0].programs[0]
	again, err := compiler.program(first.source)
	if again != first || err != nil {
		t.Errorf("a program in use was compiled again, with the error %v", err)
	}
	kept = nil

	// A cleanup runs some time after the program was collected.
	for compiler.size() > 1 {
		runtime.GC()
		runtime.Gosched()
	}
	if compiler.get(first.source) != first {
		t.Error("the program that is still in use is not known")
	}
	runtime.KeepAlive(kept)
}
