// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/utils/lru"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

const (
	// clusterVariable is the name of the variable that has the ManagedCluster in an expression.
	clusterVariable = "managedCluster"
	// maxFailures is how many distinct expressions with compile errors a Compiler caches, and maxFailureLength their maximum length in
	// bytes.
	maxFailures      = 1024
	maxFailureLength = 4 << 10
	// maxErrorLength is the length in bytes to which the text of an evaluation error is cut, which may have texts of the cluster.
	maxErrorLength = 1 << 10
)

// Compiler compiles selectors. It compiles each distinct CEL expression once while a Selector refers to it, because a program takes 18 KiB
// and about twenty times the size of its text; compile errors are cached up to a limit. It is safe for concurrent use.
type Compiler struct {
	failures *lru.Cache

	mu       sync.Mutex
	programs map[string]weak.Pointer[program]
}

// NewCompiler returns a Compiler with empty caches.
func NewCompiler() *Compiler {
	return &Compiler{failures: lru.New(maxFailures), programs: map[string]weak.Pointer[program]{}}
}

// program is a compiled CEL expression.
type program struct {
	source  string
	program cel.Program
	reads   []clusterinfo.Property
	// compares has the literals with which labels and claims are compared.
	compares []RequiredValue
	// weight is that of the part of the expression that is always evaluated.
	weight weight
	// memo has results; nil if they depend on more of a cluster than a few labels.
	memo *memo
}

// String returns the text of the clause.
func (p *program) String() string { return "CEL " + p.source }

// environment returns the CEL environment, which has exactly the variable and the functions of the upstream controller.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.OptionalTypes(), ext.Strings(),
		library.Lists(), library.Regex(), library.URLs(), library.Quantity(), library.IP(), library.CIDR(), library.Format(),
		library.SemverLib(),
		cel.Variable(clusterVariable, cel.MapType(cel.StringType, cel.DynType)),
		scoresFunction(), parseJSONFunction(), quantityFunctions(),
	)
})

func (c *Compiler) program(source string) (*program, error) {
	if known := c.get(source); known != nil {
		return known, nil
	}
	if failure, ok := c.failures.Get(source); ok {
		if err, ok := failure.(error); ok {
			return nil, err
		}
	}

	made, err := compile(source) // It may take long, so the mutex is not held.
	if err != nil {
		if len(source) <= maxFailureLength {
			c.failures.Add(source, err)
		}
		return nil, err
	}
	return c.add(made), nil
}

// get returns the program of an expression; nil if no Selector refers to it.
func (c *Compiler) get(source string) *program {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.programs[source].Value()
}

// add caches a program while a Selector refers to it. It returns the program that another goroutine added for the expression meanwhile, if
// there is one.
func (c *Compiler) add(made *program) *program {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.programs[made.source].Value(); known != nil {
		return known
	}
	c.programs[made.source] = weak.Make(made)
	runtime.AddCleanup(made, c.remove, made.source)
	return made
}

// remove removes an expression whose program was collected, unless it was compiled again.
func (c *Compiler) remove(source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.programs[source].Value() == nil {
		delete(c.programs, source)
	}
}

func compile(source string) (*program, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("making the CEL environment: %w", err)
	}
	if err := checkMacros(source); err != nil {
		return nil, err
	}

	parsed, issues := env.Parse(source)
	if issues.Err() != nil {
		return nil, errors.New("compilation failed: " + compileErrors(env, issues))
	}
	if err := checkGrowth(parsed.NativeRep().Expr()); err != nil { // The types of such values grow as well.
		return nil, err
	}

	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, errors.New("compilation failed: " + compileErrors(env, issues))
	}
	if out := checked.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("must be a boolean expression, but its type is %s", out)
	}
	if err := checkOptionals(checked); err != nil {
		return nil, err
	}

	estimate, err := env.EstimateCost(checked, costs)
	if err != nil {
		return nil, fmt.Errorf("estimating the cost: %w", err)
	}

	// The string functions estimate MaxUint64 for a string of unknown length, which is no lower bound.
	if estimate.Min > expressionCost && estimate.Min != math.MaxUint64 {
		return nil, fmt.Errorf("costs at least %d, more than the %d that one evaluation may cost", estimate.Min, expressionCost)
	}
	return build(env, source, checked)
}

// build returns the program of a checked expression. Its nodes charge a meter; the cost of cel-go itself, which is charged after the work is
// done and leaves out most of it, is not tracked.
func build(env *cel.Env, source string, checked *cel.Ast) (*program, error) {
	known, err := implementations()
	if err != nil {
		return nil, err
	}
	parts, weight := weigh(checked.NativeRep().Expr())
	nodes := &decorator{
		weights: parts, implementations: known,
		instructions: uint64(freeInstructions + instructionsPerByte*len(source)),
	}

	built, err := env.Program(checked, cel.CustomDecoratorV2(nodes.decorate), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, fmt.Errorf("building the program: %w", err)
	}
	made := &program{source: source, program: built, reads: reads(checked), compares: compares(checked), weight: weight}
	made.memo = newMemo(checked, made.reads)
	return made, nil
}

// compileErrors returns all compile errors in one line, with columns that count from 1.
func compileErrors(env *cel.Env, issues *cel.Issues) string {
	texts := make([]string, 0, len(issues.Errors()))
	for _, issue := range issues.Errors() {
		texts = append(texts, fmt.Sprintf("%d:%d: %s", issue.Location.Line(), issue.Location.Column()+1,
			issue.Message+compileHint(env, issue.Message)))
	}
	return strings.Join(texts, "; ")
}

// clusterValue is the variable managedCluster of an expression: the object as a map, and the inputs of scores().
type clusterValue struct {
	traits.Mapper

	info       *clusterinfo.ClusterInfo
	evaluation *EvalContext
	meter      *meter
}

// evaluate returns the result of the expression for a cluster and charges its cost to the evaluation, whether the result was known or not.
func (p *program) evaluate(info *clusterinfo.ClusterInfo, evaluation *EvalContext) (bool, error) {
	known, key, found := p.memo.result(info, evaluation.limit())
	if found {
		evaluation.Charge(known.cost)
		return known.holds, known.err
	}

	before := evaluation.Cost()
	holds, err := p.run(info, evaluation)
	if !evaluation.Stopped() && !evaluation.Cancelled() {
		p.memo.add(key, memoResult{holds: holds, err: err, cost: evaluation.Cost() - before})
	}
	return holds, err
}

// run runs the expression for a cluster and charges its cost to the evaluation.
func (p *program) run(info *clusterinfo.ClusterInfo, evaluation *EvalContext) (bool, error) {
	result, err := p.value(info, evaluation)
	if err != nil {
		return false, err
	}
	holds, ok := result.Value().(bool)
	if !ok {
		return false, fmt.Errorf("must be a boolean, but is %s", result.Type().TypeName())
	}
	return holds, nil
}

func (p *program) value(info *clusterinfo.ClusterInfo, evaluation *EvalContext) (ref.Val, error) {
	m := newMeter(evaluation.limit(), evaluation.Done)

	result, err := p.valueOf(&clusterValue{Mapper: lazyCluster(info, m), info: info, evaluation: evaluation, meter: m})
	evaluation.Charge(min(m.cost, m.limit))
	switch {
	case stopped(err):
		evaluation.stopped = true
	case err == nil || len(err.Error()) <= maxErrorLength:
	default:
		err = errors.New(strings.ToValidUTF8(err.Error()[:maxErrorLength], "") + "...")
	}
	if err != nil {
		if hint := evaluationHint(p.source, err); hint != "" {
			err = errors.New(err.Error() + hint)
		}
	}
	return result, err
}

// valueOf runs the expression. Program.Eval recovers the panics of the meter.
func (p *program) valueOf(cluster *clusterValue) (ref.Val, error) {
	if p.weight.cost > cluster.meter.limit || p.weight.bytes > expressionBytes {
		return nil, interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: costExceededMessage}
	}
	cluster.meter.cost, cluster.meter.bytes = p.weight.cost, p.weight.bytes
	result, _, err := p.program.Eval(&activation{cluster: cluster, meter: cluster.meter})
	return result, err //nolint:wrapcheck // The text of the evaluation error is for the user.
}
