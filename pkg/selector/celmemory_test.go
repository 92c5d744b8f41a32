package selector

import (
	"fmt"
	"runtime"
	"testing"
)

// size is how many programs the compiler knows.
func (c *Compiler) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()

	return len(c.programs)
}

// A program stays for as long as a selector has it, and is compiled anew after that.
func TestProgramsGoWithTheirSelectors(t *testing.T) {
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

	// Cleanups run some time after the collection that finds the program gone.
	for compiler.size() > 1 {
		runtime.GC()
		runtime.Gosched()
	}

	if compiler.get(first.source) != first {
		t.Error("the program that is still in use is not known")
	}

	runtime.KeepAlive(kept)
}
